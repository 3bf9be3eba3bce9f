from dataclasses import replace

import pytest

from tests.support.decisions import decision_on, logged, undo
from toolscope_core.decisions.constraints import (
    constraints,
    deferrals,
    edits,
    namespace_descriptions,
    omitted,
    suspended_decisions,
)
from toolscope_core.decisions.decision_lines import decision_of_row, decision_row
from toolscope_core.decisions.forms import BY_SEARCH, IN_EVERY_PROMPT, check_form
from toolscope_core.decisions.log import active, admit, recorded, version_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Constraints, Decision, Edit
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool

TOOLS = {name: Tool(id=name, name=name, description=f"does {name}") for name in "abcdef"}
CATALOG = Catalog(tools=tuple(TOOLS.values()))


def fps(names, tools=TOOLS):
    return tuple(tools[name].fingerprint for name in names)


def decide(action, names, reviewer="ann", tools=TOOLS, **detail):
    """A decision on tools named by letters; letters in the detail become fingerprints."""
    if action in ("split", "recut"):
        detail = {"groups": [list(fps(group, tools)) for group in detail["groups"]]}
    elif action == "drop":
        detail = {"drop": list(fps(detail["drop"], tools))}
    elif action == "canonical":
        detail = {**detail, "canonical": tools[detail["canonical"]].fingerprint}
    return decision_on([tools[name] for name in names], action, reviewer, **detail)


def changed(catalog, name):
    return replace_tool(catalog, name, replace(catalog.by_id[name], description="something new"))


def replace_tool(catalog, name, *tools):
    kept = [tool for tool in catalog.tools if tool.id != name]
    return replace(catalog, tools=tuple(sorted([*kept, *tools], key=lambda tool: tool.id)))


def pairs(text):
    return frozenset(Pair.of(*pair) for pair in text.split())


def sets(text):
    return tuple(frozenset(group) for group in text.split())


# What a decision asks for


@pytest.mark.parametrize(
    ("proposals", "must", "cannot"),
    [
        ([decide("accept", "abc")], "abc", ""),
        ([decide("keep_apart", "abc")], "", "ab ac bc"),
        ([decide("split", "abcde", groups=["ab", "cd", "e"])], "ab cd", "ac ad ae bc bd be ce de"),
        ([decide("drop", "abcd", drop="cd")], "ab", "ac bc ad bd"),
        ([decide("recut", "abc", groups=["a", "b", "c"])], "", "ab ac bc"),
        ([decide("accept", "ab"), decide("accept", "bc"), decide("accept", "ef")], "abc ef", ""),
        ([decide("accept", "ab"), undo(1)], "", ""),
        ([decide("canonical", "ab", canonical="b"), decide("edit", "ab", name="x")], "", ""),
    ],
)
def test_constraints_of_a_log(proposals, must, cannot):
    asked = constraints(CATALOG, logged(*proposals))
    assert asked == Constraints(must=sets(must), cannot=pairs(cannot))


def test_a_recut_keeps_apart_joins_nobody_and_leaves_each_group_on_a_card():
    asked = constraints(CATALOG, logged(decide("recut", "abcde", groups=["abc", "de"])))
    assert asked.must == ()
    assert asked.cannot == pairs("ad ae bd be cd ce")
    assert asked.put_forward == pairs("ab ac bc de")
    cuts = (("abcde", ["abcd", "e"]), ("abcd", ["abc", "d"]))
    twice = logged(*(decide("recut", names, groups=groups) for names, groups in cuts))
    assert constraints(CATALOG, twice).put_forward == pairs("ab ac bc")
    assert constraints(CATALOG, (*twice, admit(twice, undo(2)))).put_forward == pairs(
        "ab ac ad bc bd cd"
    )
    assert admit(twice, decide("accept", "abc")).seq == 3
    with pytest.raises(DecisionError, match=r"decision 2 \(recut"):
        admit(twice, decide("accept", "abcd"))
    family = as_family(decide("recut", "abc", groups=["ab", "c"]))
    assert constraints(CATALOG, logged(family)) == Constraints(cannot=pairs("ac bc"))


def omit(names, reason="nobody calls it"):
    return replace(decide("omit", names), detail={"reason": reason})


def test_a_tool_that_was_left_out_is_in_no_link_and_comes_back_with_undo_or_a_change():
    log = logged(decide("accept", "abc"), decide("keep_apart", "ad"), omit("a"))
    asked = constraints(CATALOG, log)
    assert asked == Constraints(must=sets("bc"), omitted=frozenset("a"))
    assert omitted(CATALOG, log)["a"].seq == 3
    back = (*log, admit(log, undo(3)))
    assert constraints(CATALOG, back) == constraints(CATALOG, log[:2])
    assert omitted(changed(CATALOG, "a"), log) == {}
    with pytest.raises(DecisionError, match=r"' ' in .*; use one"):
        logged(omit("a", " "))


def test_loading_and_namespaces_are_those_that_were_chosen_last():
    def said(names, action, **detail):
        return decision_on([served.by_id[name] for name in names], action, **detail)

    served = Catalog(tuple(replace(one, server="s") for one in CATALOG.tools))
    log = logged(
        said("ab", "load", loading=BY_SEARCH),
        said("b", "load", loading=IN_EVERY_PROMPT),
        said("ab", "namespace", description="First."),
        said("ab", "namespace", description=" Last. "),
    )
    assert deferrals(served, log) == {"a": True, "b": False}
    assert namespace_descriptions(served, log) == {"s": "Last."}
    empty = (*log, admit(log, said("a", "namespace", description=" ")))
    assert namespace_descriptions(served, empty) == {}
    assert deferrals(changed(served, "a"), log) == {"b": False}
    with pytest.raises(DecisionError, match=r"'now'.* prompt"):
        logged(said("a", "load", loading="now"))
    with pytest.raises(DecisionError, match="up to 1,000"):
        logged(said("a", "namespace", description="x" * 1_001))


def test_a_threshold_is_the_catalogs_and_a_share():
    def threshold(**detail):
        return decision_on([], "threshold", similarity=0.7, **detail)

    (row,) = logged(threshold(same_job=0.9))
    assert decision_of_row(CATALOG, decision_row(row)) == row
    for bad in ({}, {"same_job": 2}, {"same_job": True}, {"same_job": "0.7"}):
        with pytest.raises(DecisionError, match="same_job"):
            logged(threshold(**bad))
    with pytest.raises(DecisionError, match="names a"):
        logged(replace(decide("accept", "a"), action="threshold", detail=row.detail))


# Catalogs that changed under the log


@pytest.mark.case(52)
def test_a_changed_member_suspends_what_joins_and_is_stale():
    log = logged(decide("accept", "abc"), decide("accept", "de"))
    asked = constraints(changed(CATALOG, "a"), log)
    assert asked == Constraints(must=sets("de"), stale=sets("abc"))
    asked = constraints(changed(CATALOG, "a"), logged(decide("keep_apart", "abc")))
    assert asked == Constraints(cannot=pairs("bc"), doubtful=pairs("ab ac"))


@pytest.mark.parametrize(
    ("later", "stale", "must"),
    [(("accept", "abc"), "", "abc"), (("accept", "ab"), "", "ab"), (("accept", "bd"), "ac", "bd")],
)
def test_a_later_decision_on_the_new_definition_ends_staleness(later, stale, must):
    today = changed(CATALOG, "a")
    log = logged(decide("accept", "abc"), decide(*later, tools=today.by_id))
    asked = constraints(today, log)
    assert (asked.stale, asked.must) == (sets(stale), sets(must))


def test_an_earlier_decision_on_the_same_definition_does_not_end_staleness():
    today = changed(CATALOG, "a")
    log = logged(decide("keep_apart", "af", tools=today.by_id), decide("accept", "ab"))
    assert constraints(today, log).stale == sets("ab")


def test_a_repeat_after_a_change_and_back_is_recorded_and_ends_staleness():
    other = changed(CATALOG, "a").by_id
    log = logged(decide("accept", "ab"), decide("keep_apart", "ab", tools=other))
    assert constraints(CATALOG, log).doubtful == pairs("ab")
    again = admit(log, decide("accept", "ab"))
    assert again.seq == 3
    assert constraints(CATALOG, (*log, again)) == Constraints(must=sets("ab"))


def test_a_member_that_left_is_left_out():
    log = logged(decide("split", "abcd", groups=["abc", "d"]))
    asked = constraints(replace_tool(CATALOG, "a"), log)
    assert asked == Constraints(must=sets("bc"), cannot=pairs("bd cd"))


def test_a_renamed_id_is_the_same_member_and_may_be_that_of_one_that_left():
    log, other_id = logged(decide("accept", "abc")), replace(TOOLS["b"], id="z")
    assert constraints(replace_tool(CATALOG, "b", other_id), log).must == sets("acz")
    taken_over = replace_tool(CATALOG, "a")
    taken_over = replace_tool(taken_over, "b", replace(other_id, id="a"))
    assert constraints(taken_over, log) == Constraints(must=sets("ac"))


def test_copies_are_told_apart_by_their_recorded_ids():
    copies = [replace(TOOLS["a"], id=name) for name in ("a1", "a2", "a3")]
    today = replace_tool(CATALOG, "a", *copies)
    tools = today.by_id
    names = ("a2", "a3", "b")
    log = logged(decide("split", names, tools=tools, groups=[("a2", "b"), ("a3",)]))
    asked = constraints(today, log)
    assert asked.must == (frozenset({"a2", "b"}),)
    assert asked.cannot == {Pair.of("a2", "a3"), Pair.of("b", "a3")}
    fewer = replace_tool(today, "a2")
    assert constraints(fewer, log).must == (frozenset({"a1", "b"}),)


def test_joined_groups_that_hold_a_separated_pair_are_in_conflict_and_not_enforced():
    answers = (("accept", "ab"), ("accept", "bc"), ("keep_apart", "ac"), ("accept", "de"))
    log = tuple(replace(decide(*one), seq=seq) for seq, one in enumerate(answers, 1))
    asked = constraints(CATALOG, log)
    assert asked == Constraints(sets("de"), pairs("ac"), conflict=sets("abc"))


# Families


def as_family(decision):
    return replace(decision, detail={**decision.detail, "relation": "family"})


@pytest.mark.parametrize(
    ("proposals", "families"),
    [
        ([as_family(decide("accept", "abc"))], "abc"),
        ([as_family(decide("drop", "abcd", drop="d"))], "abc"),
        ([as_family(decide("split", "abcde", groups=["ab", "cd", "e"]))], "ab cd"),
        ([as_family(decide("accept", "ab")), undo(1)], ""),
        ([decide("accept", "ab"), decide("accept", "bc", relation="duplicate")], ""),
        ([as_family(decide("accept", "ab")), decide("accept", "cd")], "ab"),
    ],
)
def test_what_was_put_together_as_a_family_is_one(proposals, families):
    assert constraints(CATALOG, logged(*proposals)).families == sets(families)


def test_a_group_that_holds_a_family_is_one_and_a_part_of_it_is_not():
    log = logged(as_family(decide("accept", "ab")), decide("accept", "bc"))
    links = constraints(CATALOG, log)
    assert links.must == sets("abc")
    assert links.is_family("abc") and links.is_family("ab")
    assert not links.is_family("bc") and not Constraints().is_family("ab")


def test_the_same_tools_as_another_relation_are_another_decision():
    log = logged(as_family(decide("accept", "ab")))
    assert admit(log, decide("accept", "ab", relation="duplicate")).seq == 2
    assert admit(log, as_family(decide("accept", "ab"))) == log[0]


# Edits


def test_later_edits_override_field_by_field_and_belong_to_their_member_set():
    log = logged(
        decide("edit", "ab", name="one", description="first"),
        decide("canonical", "ab", canonical="a"),
        decide("edit", "ab", name="two"),
        decide("canonical", "ab", canonical="b"),
        decide("edit", "abc", description="of three"),
        decide("accept", "ab"),
    )
    both = Edit("b", {"name": "two", "description": "first"})
    by_members = {frozenset("ab"): both, frozenset("abc"): Edit(None, {"description": "of three"})}
    assert edits(CATALOG, log) == by_members
    assert edits(changed(CATALOG, "c"), log) == {frozenset("ab"): both}
    assert edits(replace_tool(CATALOG, "b"), log)[frozenset("a")].canonical is None


# What may join the log


def test_admitted_decisions_are_numbered_and_an_undo_names_what_it_retracts():
    log = logged(decide("accept", "ab"), undo(1), decide("keep_apart", "ab"))
    assert [item.seq for item in log] == [1, 2, 3]
    assert (log[1].fingerprints, log[1].ids) == (fps("ab"), ("a", "b"))
    assert active(log) == log[2:]
    for seq, words in ((2, "itself an undo"), (1, "already been undone by decision 2")):
        with pytest.raises(DecisionError, match=words):
            admit(log, undo(seq))


@pytest.mark.parametrize(
    ("standing", "proposal", "cited"),
    [
        ([decide("keep_apart", "ab", "bo")], decide("accept", "abc"), "decision 1"),
        ([decide("accept", "ab", "bo")], decide("keep_apart", "abc"), "decision 1"),
        (
            [decide("accept", "ab"), decide("accept", "bc", "bo")],
            decide("keep_apart", "ac"),
            "decision 2",
        ),
        (
            [decide("accept", "ab"), decide("accept", "cd"), decide("keep_apart", "ad", "bo")],
            decide("accept", "bc"),
            "decision 3",
        ),
        ([decide("split", "abc", "bo", groups=["ab", "c"])], decide("accept", "bc"), "decision 1"),
        ([decide("drop", "abc", "bo", drop="c")], decide("keep_apart", "ab"), "decision 1"),
    ],
)
def test_a_contradiction_is_refused_naming_the_standing_decision(standing, proposal, cited):
    log = logged(*standing)
    with pytest.raises(DecisionError, match=rf" {cited} \([a-z ]+ by bo, 2026-01-02\)"):
        admit(log, proposal)
    assert admit((*log, admit(log, undo(int(cited[-1])))), proposal)


def test_copies_kept_apart_may_not_be_joined():
    twins = {"a": TOOLS["a"], "z": replace(TOOLS["a"], id="z"), "b": TOOLS["b"]}
    log = logged(decide("keep_apart", "az", tools=twins))
    with pytest.raises(DecisionError, match="decision 1 "):
        admit(log, decide("accept", "abz", tools=twins))
    assert admit(log, decide("accept", "ab", tools=twins)).seq == 2


@pytest.mark.parametrize(
    ("proposal", "words"),
    [
        (decide("accept", "a"), "at least 2"),
        (decide("edit", "", name="x"), "at least 1"),
        (replace(decide("accept", "ab"), ids=("a",)), "different tool id"),
        (decide("accept", "ab", reviewer=" "), "no reviewer"),
        (decide("split", "abc", groups=["ab", "bc"]), "contain each member once"),
        (decide("split", "ab", groups=["ab"]), "contain each member once"),
        (replace(decide("accept", "ab"), action="split"), "two or more lists"),
        (
            replace(decide("keep_apart", "ab"), action="split", detail={"groups": [1]}),
            r"is \[1\] in .*; use",
        ),
        (decide("drop", "abcdef", drop="abcdef"), "on a, b, c, d, e and 1 more; .* not all"),
        (decide("drop", "ab", drop=""), "not all"),
        (decide("drop", "abc", drop="d"), "not all"),
        (replace(decide("accept", "ab"), action="drop"), "is None in .*; use some"),
        (decide("canonical", "ab", canonical="c"), "one of its tools"),
        (decide("edit", "ab"), "use only name"),
        (decide("edit", "ab", title="x"), r"\['title'\]"),
        (decide("edit", "ab", name=" "), "not blank"),
        (decide("edit", "ab", name=7), "not blank"),
        (decide("edit", "ab", description=7), "is 7 in .*; use a string"),
        (decide("edit", "ab", schema=[]), r"is \[\] in .*; use a JSON object"),
        (decide("edit", "ab", renames={"x": 1}), "old and new"),
        (decide("augment", "a"), "variants"),
        (decide("augment", "a", variants=[]), "variants"),
        (decide("augment", "a", variants=[{"expanded": 5}]), "an object of `expanded`"),
        (decide("augment", "a", variants=[{"expanded": "", "questions": 1}]), "'questions': 1}"),
        (undo(9), "no decision 9"),
    ],
)
def test_a_malformed_decision_is_refused(proposal, words):
    with pytest.raises(DecisionError, match=words):
        admit(logged(decide("accept", "ef")), proposal)


@pytest.mark.case(70)
def test_a_stale_version_is_refused_with_who_did_what():
    log = logged(decide("accept", "ab"))
    seen = version_of(fps("ab"), log)
    log += (admit(log, decide("edit", "bc", "bo", name="x")),)
    with pytest.raises(StaleDecisionError, match=r" 2 \(edit by bo, 2026-01-02\)"):
        admit(log, decide("edit", "ab", name="y"), seen)
    with pytest.raises(StaleDecisionError, match="differently"):
        admit(log, decide("edit", "ef", name="y"), seen)
    assert admit(log, decide("edit", "ab", name="y"), version_of(fps("ba"), log)).seq == 3


def test_a_version_ignores_decisions_on_other_tools_and_notices_an_undo():
    log = logged(decide("accept", "ab"), decide("accept", "cd"))
    assert version_of(fps("ab"), log) == version_of(fps("ab"), log[:1])
    undone = (*log, admit(log, undo(1)))
    assert version_of(fps("ab"), undone) == version_of(fps("ab"), ())
    with pytest.raises(StaleDecisionError, match="decision 3"):
        admit(undone, undo(1), version_of(fps("ab"), log))


@pytest.mark.parametrize(
    "proposal", [decide("accept", "ab"), decide("split", "abc", groups=["ab", "c"])]
)
def test_a_double_click_adds_nothing(proposal):
    seen = version_of(proposal.fingerprints, ())
    log = (admit((), proposal, seen),)
    assert admit(log, replace(proposal, at="later"), seen) == log[0]
    with pytest.raises(StaleDecisionError, match=f"{proposal.action} by ann"):
        admit(log, replace(proposal, reviewer="bo"), seen)


# Lines of a file


def test_a_line_may_name_tools_by_id_only():
    author = {"reviewer": "ann", "at": "2026-01-02"}
    groups = {"groups": [["a", "c"], [*fps("b")]]}
    line = {"action": "split", "ids": ["a", "b", "c"], "detail": groups, **author}
    assert decision_of_row(CATALOG, line) == decide("split", "abc", groups=["ac", "b"])
    chosen = {"action": "canonical", "ids": ["a"], "detail": {"canonical": "a", "note": "a"}}
    assert decision_of_row(CATALOG, chosen).detail == {"canonical": fps("a")[0], "note": "a"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"ids": ["a", "b"]}, "action` is None"),
        ({"action": "merge"}, "'merge'; use one of accept"),
        ({"action": "accept", "ids": ["a", "x"]}, "tool id 'x'"),
        ({"action": "accept", "fingerprints": ["x"]}, "fingerprint 'x'"),
        ({"action": "accept", "ids": "ab"}, "ids` is 'ab'"),
        ({"action": "accept", "ids": ["a"], "detail": [1]}, "use an object"),
        ({"action": "undo", "seq": "1"}, "whole number"),
        ({"action": "accept", "ids": ["a", "b"], "at": "\ud800"}, "use a time such as"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused(line, words):
    with pytest.raises(DecisionError, match=words):
        decision_of_row(CATALOG, line)


def test_a_suspended_decision_contradicts_nothing():
    log = logged(decide("accept", "abc"))
    apart, today = decide("keep_apart", "ac"), changed(CATALOG, "b")
    with pytest.raises(DecisionError, match="contradicts"):
        admit(log, apart)
    assert suspended_decisions(CATALOG, log) == frozenset()
    assert suspended_decisions(today, log) == {1}
    assert admit(log, apart, None, suspended_decisions(today, log)).action == "keep_apart"


def test_a_recorded_log_replays_whatever_it_contradicts_today():
    log = (replace(decide("accept", "abc"), seq=10),)
    apart = replace(decide("keep_apart", "ac"), seq=20)
    with pytest.raises(DecisionError, match="contradicts"):
        admit(log, apart)
    both = (*log, recorded(log, apart))
    assert constraints(CATALOG, both).conflict == sets("abc")
    back = replace(undo(10), seq=30)
    taken = recorded(both, back)
    assert (taken.seq, taken.ids) == (30, tuple("abc"))
    assert constraints(CATALOG, (*both, taken)).cannot == pairs("ac")
    with pytest.raises(DecisionError, match="comes after"):
        recorded(both, replace(apart, seq=20))
    with pytest.raises(DecisionError, match="reviewer"):
        recorded(both, replace(apart, seq=40, reviewer=" "))


def test_a_decision_in_parts_by_the_ids_it_had():
    assert decide("accept", "abc").parts == (("a", "b", "c"),)
    assert decide("drop", "abc", drop="b").parts == (("b",), ("a", "c"))
    for action in ("split", "recut"):
        parts = decide(action, "abcd", groups=["bd", "ac"]).parts
        assert parts == (("b", "d"), ("a", "c"))
    copies = Decision("split", ("x", "x", "y"), ("p", "q", "r"), "ann", detail={})
    assert replace(copies, detail={"groups": [["x", "x"], ["y"]]}).parts == (("p", "q"), ("r",))
    assert replace(copies, detail={"groups": [["x", "y"], ["x"]]}).parts == (("p", "r"), ("q",))


def test_a_canonical_may_choose_the_kind_which_stays_until_another_is_chosen():
    details = ({"canonical": "a", "kind": "drop_in"}, {"canonical": "b"})
    log = logged(*(decide("canonical", "ab", **one) for one in details))
    assert edits(CATALOG, log) == {frozenset("ab"): Edit("b", kind="drop_in")}
    gateway = logged(decide("canonical", "ab", canonical="b", kind="gateway"), log=log)
    assert edits(CATALOG, gateway)[frozenset("ab")].kind == "gateway"
    with pytest.raises(DecisionError, match=r"'both'.*'gateway'"):
        check_form(decide("canonical", "ab", canonical="a", kind="both"))
