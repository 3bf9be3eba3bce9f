"""Going back in a log: to any row, whatever was decided and taken back in between."""

from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.decisions import decision_on, logged, undo
from toolscope_core.decisions.constraints import constraints, edits, owners, variants
from toolscope_core.decisions.decision_lines import decision_row, decisions_in
from toolscope_core.decisions.log import active, admit, notes, restoration, with_dependents
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool, canonical_json

TOOLS = tuple(Tool(f"{i}", f"tool {i}", "words") for i in range(6))
CATALOG = Catalog(TOOLS)
CHANGED = tuple(replace(tool, description="new words") for tool in TOOLS[:2])
REWORDED = Catalog((*CHANGED, *TOOLS[2:]))
NEXT = Catalog(
    (*CHANGED, TOOLS[2], replace(TOOLS[3], id="moved"), TOOLS[4], replace(TOOLS[4], id="copy"))
)
"""A new version: two tools have changed, one has another id, one has a copy, one is gone."""


def of(action, *places, reviewer="ann", **detail):
    if "canonical" in detail:
        detail["canonical"] = TOOLS[detail["canonical"]].fingerprint
    return decision_on([TOOLS[place] for place in places], action, reviewer, **detail)


def state(log, catalog=CATALOG):
    """What a log says of a catalog: constraints, edits, owners, variants, thresholds."""
    standing = [one for one in active(log) if one.action == "threshold"]
    return (
        constraints(catalog, log),
        edits(catalog, log),
        owners(catalog, log),
        variants(catalog, log),
        standing[-1].detail if standing else None,
    )


def restored(log, seq):
    way = restoration(log, seq)
    rows = [undo(one.seq, "bob") for one in way.to_undo]
    return logged(*rows, *(replace(one, seq=0, reviewer="bob") for one in way.to_redo), log=log)


def threshold(value):
    return decision_on([], "threshold", similarity=value, same_job=value)


def test_what_builds_on_a_decision_goes_back_with_it_newest_first():
    log = logged(*(of("accept", *ids) for ids in ((0, 1), (0, 1, 2), (1, 2, 3), (4, 5))))
    assert [one.seq for one in with_dependents(log, {1})] == [3, 2, 1]
    assert [one.seq for one in with_dependents(log, {4, 2})] == [4, 3, 2]
    with pytest.raises(DecisionError, match="later"):
        admit(log, undo(1, "bob"))


def test_an_edit_made_again_keeps_its_place_before_later_ones():
    edits_made = [of("edit", 0, description=text) for text in ("one", "two")]
    log = logged(*edits_made, undo(1, "bob"))
    way = restoration(log, 2)
    assert [one.seq for one in way.to_undo] == [2]
    assert [one.detail["description"] for one in way.to_redo] == ["one", "two"]
    assert state(restored(log, 2)) == state(log[:2])


def test_what_stood_all_the_time_is_left_alone():
    log = logged(of("accept", 0, 1), of("accept", 2, 3), undo(2, "bob"), of("accept", 4, 5))
    way = restoration(log, 2)
    assert [one.seq for one in way.to_undo] == [4]
    assert [one.seq for one in way.to_redo] == [2]
    assert not restoration(log, log[-1].seq)


def test_notes_stay_and_name_their_decision():
    log = logged(of("accept", 0, 1))
    log = logged(of("note", 0, 1, about=log[0].key, note="asked the team"), log=log)
    assert [one.detail["note"] for one in notes(log)[log[0].key]] == ["asked the team"]
    assert [one.seq for one in restoration(log, 0).to_undo] == [1]
    assert [one.seq for one in with_dependents(log, {1})] == [1], "a note builds on nothing"


def divided(action, order, cut, reviewer):
    """A split, recut or drop of the tools in this order, cut after so many."""
    tools = [TOOLS[at].fingerprint for at in order]
    detail = {"drop": tools[:cut]} if action == "drop" else {"groups": [tools[:cut], tools[cut:]]}
    return of(action, *order, reviewer=reviewer, **detail)


def worded(text):
    return [{"expanded": text, "questions": []}]


PLACES = st.integers(0, 5)
WHO = st.sampled_from(["ann", "bob"])
SETS = st.sets(PLACES, min_size=2, max_size=4).map(sorted)
TEXTS = st.sampled_from(["a", "b", "c"])
ROWS = st.one_of(
    st.builds(
        lambda action, places, who, tools: decision_on([tools[at] for at in places], action, who),
        st.sampled_from(["accept", "keep_apart", "propose"]),
        SETS,
        WHO,
        st.sampled_from([TOOLS, TOOLS, REWORDED.tools]),
    ),
    st.builds(
        divided,
        st.sampled_from(["split", "recut", "drop"]),
        st.permutations(range(6)).map(lambda order: order[:4]),
        st.integers(1, 3),
        WHO,
    ),
    st.builds(lambda places: of("canonical", *places, canonical=places[0]), SETS),
    st.builds(lambda places, text: of("edit", *places, description=text), SETS, TEXTS),
    st.builds(lambda place, text: of("edit", place, description=text), PLACES, TEXTS),
    st.builds(lambda place: of("omit", place, reason="old"), PLACES),
    st.builds(lambda place, text: of("owner", place, owner=text), PLACES, TEXTS),
    st.builds(lambda place, text: of("augment", place, variants=worded(text)), PLACES, TEXTS),
    st.builds(lambda place, text: of("flag", place, note=text), PLACES, TEXTS),
    st.builds(lambda place, text: of("note", place, about="k", note=text), PLACES, TEXTS),
    st.builds(threshold, st.sampled_from([0.5, 0.8])),
    st.builds(undo, st.integers(1, 20), st.just("bob")),
)
LOGS = st.lists(ROWS, max_size=16)


def admitted(rows):
    """The log of what two reviewers may say of it."""
    log = ()
    for row in rows:
        with suppress(DecisionError):
            log = logged(row, log=log)
    return log


@given(rows=LOGS, where=st.integers(0, 20), again=st.integers(0, 40))
def test_every_point_of_every_log_comes_back_and_so_does_the_point_before(rows, where, again):
    log = admitted(rows)
    back = restored(log, where)
    assert on_both(back) == on_both([one for one in log if one.seq <= where])
    assert back[: len(log)] == log, "no row is lost"
    forth = restored(back, again)
    assert on_both(forth) == on_both([one for one in back if one.seq <= again])


def check_standing(catalog, log):
    """What people said of tools holds, or it is told that it does not."""
    asked, today = constraints(catalog, log), catalog.by_id
    together = [*chain.from_iterable(asked.must)]
    assert len(together) == len(set(together))
    assert not any(
        {pair.left, pair.right} <= group for group in asked.must for pair in asked.cannot
    )
    assert {*chain.from_iterable((*asked.stale, *asked.conflict)), *together} <= today.keys()
    assert {*chain.from_iterable(asked.conflict)}.isdisjoint(together)
    for item in (one for one in active(log) if one.action in ("accept", "keep_apart")):
        later = {*chain.from_iterable(one.fingerprints for one in log if one.seq > item.seq)}
        ids = {one for one in item.ids if one not in asked.omitted}
        undecided = {one for one in ids if today[one].fingerprint not in later}
        if [today[one].fingerprint for one in item.ids] != [*item.fingerprints]:
            if item.action == "accept" and len(undecided) > 1:
                assert any(undecided <= group for group in asked.stale)
        elif item.action == "keep_apart":
            assert {Pair.of(*pair) for pair in combinations(ids, 2)} <= asked.cannot
        elif len(ids) > 1:
            assert any(ids <= group for group in (*asked.must, *asked.conflict))


@given(rows=LOGS)
def test_what_stands_in_a_log_holds_or_is_told_and_the_log_replays(rows):
    log = admitted(rows)
    for catalog in (CATALOG, REWORDED):
        check_standing(catalog, log)
    assert logged(*(replace(one, seq=0) for one in log)) == log


def on_both(log):
    """The state on both versions."""
    return state(log), state(log, NEXT)


@given(rows=LOGS)
def test_a_log_read_from_its_file_is_the_same_and_undone_whole_it_says_nothing(rows):
    log = admitted(rows)
    content = "".join(f"{canonical_json(decision_row(one))}\n" for one in log).encode()
    for catalog in (CATALOG, NEXT):
        replayed = decisions_in(catalog, content, "decisions.jsonl")
        assert state(replayed, catalog) == state(log, catalog)
        turned = replace(catalog, tools=catalog.tools[::-1])
        assert state(log, turned) == state(log, catalog), "the order of tools is of no account"
    assert decisions_in(CATALOG, content, "decisions.jsonl") == log
    emptied = log
    for one in active(log)[::-1]:
        emptied = logged(undo(one.seq, "bob"), log=emptied)
    assert state(emptied) == state(()) and state(emptied, NEXT) == state((), NEXT)
