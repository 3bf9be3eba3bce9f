from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.merging.auto_accept import accept
from toolscope_core.merging.clusters import apply_clusters, build_clusters, check_plan
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.cluster import Group
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Constraints, Edit
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import Tool

TEXT = {"type": "string"}
NOTHING = Constraints()


def tool(tool_id, name, server="", description="", annotations=None, **properties):
    schema = {"type": "object", "properties": properties}
    return Tool(
        tool_id, name, description or f"{name}.", server, schema, annotations=annotations or {}
    )


def catalog(*tools, **more):
    return Catalog(tuple(sorted(tools, key=lambda t: t.id)), **more)


def clusters(cat, *groups, constraints=NOTHING, edits=None, auto_at=0.9):
    made = [Group(tuple(g), 0.95) if isinstance(g, str) else g for g in groups]
    return build_clusters(cat, made, constraints, edits or {}, auto_at)


def merged_by_auto(cat):
    accepted = accept(clusters(cat, "ab"), PlanConfig(accept="auto"), frozenset())
    return apply_clusters(cat, accepted, False)


def edit_of(ids="ab", **document):
    return {frozenset(ids): Edit(document=document)}


A, B = tool("a", "get_page", url=TEXT), tool("b", "fetch_page", url=TEXT)
C = tool("c", "list_rooms", building=TEXT)
CATALOG = catalog(A, B, C)


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.integers(1, 4), st.booleans())
def test_phi_holds_for_any_partition(ids, size, gateway):
    cat = catalog(*(tool(i, f"do_{i}", **{i: TEXT}) for i in "abcdefgh"))
    parts = [tuple(sorted(ids[at : at + size])) for at in range(0, len(ids), size)]
    built = clusters(cat, *(Group(part, 0.95) for part in parts if len(part) > 1))
    plan = apply_clusters(cat, accept(built, PlanConfig(accept="all"), frozenset()), gateway)
    phi = {row.old_id: row.new_id for row in plan.relabels}
    assert set(phi) == set("abcdefgh")
    assert set(phi.values()) == {item.tool.id for item in plan.tools}
    assert all(phi[new] == new for new in phi.values())
    assert sum(len(item.members) for item in plan.tools) == 8


def test_calls_that_two_tools_answered_differently_stop_auto():
    verdict = "differs in 3 of 12: `price`"
    seen = Constraints(compared={Pair.of("a", "b"): verdict})
    (cluster,) = clusters(CATALOG, "ab", constraints=seen)
    assert not cluster.safe
    assert verdict in " ".join(cluster.reasons)
    (cluster,) = clusters(CATALOG, "ab", constraints=Constraints(compared={Pair("a", "c"): "…"}))
    assert cluster.safe


def test_a_safe_cluster_is_taken_by_auto_and_its_members_get_maps():
    (cluster,) = clusters(CATALOG, "ab")
    assert cluster.safe
    assert (cluster.kind, cluster.canonical) == ("drop_in", "a")
    plan = merged_by_auto(CATALOG)
    assert [t.tool.id for t in plan.tools] == ["a", "c"]
    assert [alpha.tool_id for alpha in plan.arguments] == ["a", "b"]
    assert [(r.old_id, r.new_id, r.status) for r in plan.relabels] == [
        ("a", "a", "kept"),
        ("b", "a", "merged"),
        ("c", "c", "kept"),
    ]
    assert plan.applied[0].id == cluster.id


@pytest.mark.parametrize(
    ("group", "cat", "word"),
    [
        (Group(("a", "b"), 0.196), CATALOG, " 0.20,"),
        (Group(("a", "b"), 0.899), CATALOG, " 0.899,"),
        (Group(("a", "b"), 0.89996), CATALOG, " 0.899960,"),
        (Group(("a", "c"), 0.95, split=True), CATALOG, "outside this proposal"),
        (
            Group(("a", "b"), 0.95, split=True),
            catalog(A, tool("b", "fetch_blank_page", url=TEXT)),
            "outside this proposal",
        ),
        (
            Group(("a", "b"), 0.99),
            catalog(A, tool("b", "fetch_blank_page", url=TEXT)),
            "only `fetch_blank_page` says “blank”",
        ),
        (Group(("a", "b"), 0.95, intransitive=True), CATALOG, "through a third"),
        (Group(("a", "c"), 0.95), CATALOG, "gateway"),
        (
            Group(("a", "b"), 0.95),
            catalog(tool("a", "get_page", "x", url=TEXT), tool("b", "get_page", "y", url=TEXT)),
            "each server may have data",
        ),
        (
            Group(("a", "b"), 0.95),
            catalog(A, B, findings=(Finding("b", "block", "hidden", "name", "hidden"),)),
            "blocking",
        ),
        (
            Group(("a", "b"), 0.95),
            catalog(A, B, findings=(Finding("b", "warn", "insists", "description", "insists"),)),
            "addresses the model",
        ),
        (
            Group(("a", "b"), 0.95),
            catalog(
                tool("a", "page", annotations={"readOnlyHint": True}),
                tool("b", "page_x", annotations={"destructiveHint": True}),
            ),
            "effect",
        ),
    ],
)
def test_every_guard_is_a_sentence_and_stops_auto(group, cat, word):
    (cluster,) = clusters(cat, group)
    assert any(word in reason for reason in cluster.reasons)
    assert accept([cluster], PlanConfig(accept="auto"), cat.blocked) == (cluster,)


def test_being_split_from_a_chain_is_no_reason_where_every_word_is_matched():
    (cluster,) = clusters(CATALOG, Group(("a", "b"), 0.95, split=True))
    assert cluster.safe


def test_who_serves_by_the_model_is_kept():
    assert clusters(CATALOG, "ab")[0].canonical == "a"
    (cluster,) = clusters(CATALOG, Group(("a", "b"), 0.95, unfit=frozenset("a")))
    assert (cluster.kind, cluster.canonical, cluster.safe) == ("drop_in", "b", True)


def test_where_nobody_serves_all_by_the_model_it_is_no_drop_in():
    (cluster,) = clusters(CATALOG, Group(("a", "b"), 0.95, unfit=frozenset("ab")))
    assert cluster.kind == "gateway"
    assert "trusts none of them" in cluster.reasons[0]


@pytest.mark.parametrize("edit", [Edit(canonical="a"), Edit(kind="drop_in", canonical="a")])
def test_a_kept_tool_that_does_not_serve_by_the_model_needs_a_person(edit):
    group = Group(("a", "b"), 0.95, unfit=frozenset("a"))
    (cluster,) = clusters(CATALOG, group, edits={frozenset("ab"): edit})
    assert (cluster.kind, cluster.canonical) == ("drop_in", "a")
    (reason,) = cluster.reasons
    assert "model does not trust a " in reason


def test_all_takes_every_proposal_but_the_blocked():
    built = clusters(CATALOG, Group(("a", "b"), 0.1), Group(("c",), 1.0))
    (taken, _) = accept(built, PlanConfig(accept="all"), frozenset("c"))
    assert taken.state == "accepted"
    assert accept(built, PlanConfig(accept="all"), frozenset("b"))[0].state == "proposed"


def test_gateways_are_merged_only_when_asked():
    built = accept(clusters(CATALOG, "ac"), PlanConfig(accept="all"), frozenset())
    assert len(apply_clusters(CATALOG, built, gateway=False).tools) == 3
    plan = apply_clusters(CATALOG, built, gateway=True)
    assert len(plan.tools) == 2
    assert plan.applied[0].kind == "gateway"


@pytest.mark.parametrize(
    ("links", "group", "state"),
    [
        (NOTHING, Group(("a", "b"), 0.9, decided=True), "accepted"),
        (Constraints(stale=(frozenset("ax"),)), Group(("a", "b"), 0.9), "stale"),
        (Constraints(doubtful=frozenset({Pair("a", "b")})), Group(("a", "b"), 0.9), "stale"),
        (Constraints(doubtful=frozenset({Pair("a", "x")})), Group(("a", "b"), 0.9), "proposed"),
        (Constraints(conflict=(frozenset("bx"),)), Group(("a", "b"), 0.9), "conflict"),
        (NOTHING, Group(("a", "b"), 0.9), "proposed"),
    ],
)
def test_states_come_from_what_people_said(links, group, state):
    assert clusters(CATALOG, group, constraints=links)[0].state == state


def test_a_contradiction_names_the_tools_of_the_decisions():
    links = Constraints(conflict=(frozenset("bx"),))
    reason, *_ = clusters(CATALOG, Group(("a", "b"), 0.9), constraints=links)[0].reasons
    assert "`b`" in reason and "`x`" in reason


def test_a_new_description_keeps_the_drop_in_and_a_new_name_makes_a_gateway():
    (cluster,) = clusters(CATALOG, "ab", edits=edit_of(description="Reads one web page."))
    assert (cluster.kind, cluster.document.description) == ("drop_in", "Reads one web page.")
    (cluster,) = clusters(CATALOG, "ab", edits=edit_of(name="read_page"))
    assert cluster.kind == "gateway"
    built = accept([cluster], PlanConfig(accept="all"), frozenset())
    plan = apply_clusters(CATALOG, built, gateway=True)
    assert {(r.old_id, r.new_name, r.status) for r in plan.relabels} >= {
        ("a", "read_page", "renamed"),
        ("b", "read_page", "merged"),
    }


def test_other_words_for_an_argument_leave_its_maps_and_what_was_guessed():
    sent = tool("a", "mail", issue_id=TEXT, copy={"type": "boolean"})
    queued = tool("b", "queue", issue_number=TEXT, later={"type": "boolean"})
    (before,) = clusters(catalog(sent, queued), Group(("a", "b"), 0.95, family=True))
    assert any(alpha.inferred for alpha in before.arguments)
    schema = before.document.schema
    properties = {**schema["properties"], "issue_id": {**TEXT, "description": "Whose it is."}}
    edits = edit_of(schema={**schema, "properties": properties})
    (after,) = clusters(catalog(sent, queued), Group(("a", "b"), 0.95, family=True), edits=edits)
    assert after.document.schema["properties"] == properties
    assert (after.arguments, after.reasons) == (before.arguments, before.reasons)


def test_an_edit_that_loses_an_argument_is_never_applied():
    edits = edit_of(schema={"type": "object", "properties": {"address": TEXT}})
    (cluster,) = clusters(CATALOG, Group(("a", "b"), 0.95, decided=True), edits=edits)
    assert all(set(alpha.dropped) == {"url"} for alpha in cluster.arguments)
    assert cluster.state == "conflict"
    assert any("would be lost" in reason for reason in cluster.reasons)


def test_an_edit_that_loses_or_breaks_the_selector_is_never_applied():
    mail = tool("a", "send", "mail", to=TEXT, cc=TEXT)
    cat = catalog(mail, tool("b", "send", "chat", to=TEXT, room=TEXT))
    (gateway,) = clusters(cat, "ab")
    properties = dict(gateway.document.schema["properties"])
    assert properties["server"]["enum"] == ["mail", "chat"]
    for changed in (
        {k: v for k, v in properties.items() if k != "server"},
        {**properties, "server": {"type": "string", "enum": ["A", "B"]}},
    ):
        edits = edit_of(schema={"type": "object", "properties": changed})
        (cluster,) = clusters(cat, "ab", edits=edits)
        assert cluster.state == "conflict"
        assert any("no longer says" in reason for reason in cluster.reasons)


def test_two_clusters_may_not_end_in_one_name_however_it_is_spelled():
    d = tool("d", "show_rooms", building=TEXT)
    cat = catalog(A, B, C, d)
    edits = edit_of("ab", name="Look") | edit_of("cd", name="look")
    assert {c.state for c in clusters(cat, "ab", "cd", edits=edits)} == {"conflict"}


def test_blocked_text_needs_a_person_who_rewrites_it():
    findings = tuple(Finding(i, "block", "hidden", "description", "x") for i in "ab")
    cat = catalog(A, B, C, findings=findings)
    group = Group(("a", "b"), 0.95, decided=True)
    assert clusters(cat, group)[0].state == "conflict"
    edits = edit_of(description="Reads a page.")
    assert clusters(cat, group, edits=edits)[0].state == "accepted"


def test_a_blocked_tool_is_not_canonical_even_if_chosen():
    cat = catalog(A, B, findings=(Finding("b", "block", "hidden", "name", "x"),))
    assert clusters(cat, "ab", edits={frozenset("ab"): Edit(canonical="b")})[0].canonical == "a"


@pytest.mark.parametrize(("decided", "state"), [(True, "conflict"), (False, "proposed")])
def test_a_gateway_with_a_blocked_member_is_shown_whole_and_not_applied(decided, state):
    cat = catalog(A, C, findings=(Finding("c", "block", "hidden", "schema", "x"),))
    (cluster,) = clusters(cat, Group(("a", "c"), 0.95, decided=decided))
    assert (cluster.kind, cluster.state, cluster.members) == ("gateway", state, ("a", "c"))
    assert "blocking finding" in cluster.reasons[0]
    (after,) = accept([cluster], PlanConfig(accept="all"), cat.blocked)
    assert after.state == state
    assert len(apply_clusters(cat, [after], gateway=True).tools) == 2


def test_a_name_of_a_tool_outside_the_cluster_is_a_conflict():
    (cluster,) = clusters(CATALOG, "ab", edits=edit_of(name="list_rooms"))
    assert cluster.state == "conflict"
    assert any("list_rooms" in reason for reason in cluster.reasons)


def test_a_text_that_still_cites_a_pruned_name_is_listed():
    citing = tool("d", "help", description="Call fetch_page first, then get_page.", x=TEXT)
    nested = tool("e", "more", x={"type": "string", "description": "as for `fetch_page`."})
    pathed = tool("f", "late", description="Do it before web/fetch_page:first, not xfetch_page.")
    returns = {"type": "object", "properties": {"id": {"description": "Pass it to fetch_page."}}}
    returning = replace(tool("g", "open"), returns=returns)
    cat = catalog(A, B, citing, nested, pathed, returning)
    assert [(d.tool_id, d.cites, d.now) for d in merged_by_auto(cat).dangling] == [
        (tool_id, "fetch_page", "get_page") for tool_id in "defg"
    ]


def test_names_that_are_paths_are_found_whole():
    twins = [tool(i, f"web/{verb}_page", x=TEXT) for i, verb in (("a", "get"), ("b", "fetch"))]
    citing = tool("d", "help", description="Call web/fetch_page first, or (web/fetch_page).")
    cat = catalog(*twins, citing)
    assert [(d.tool_id, d.cites, d.now) for d in merged_by_auto(cat).dangling] == [
        ("d", "web/fetch_page", "web/get_page")
    ]


def test_a_plan_that_loses_a_tool_is_not_let_through():
    plan = apply_clusters(CATALOG, (), False)
    with pytest.raises(ValueError, match="partition"):
        check_plan(replace(plan, tools=plan.tools[1:]))
    merge = merged_by_auto(CATALOG)
    lossy = tuple(replace(alpha, lossy=("it is cut",)) for alpha in merge.arguments)
    with pytest.raises(ValueError, match="α loses nothing"):
        check_plan(replace(merge, arguments=lossy))
    other = replace(merge.clusters[0].document, schema={"type": "object"})
    with pytest.raises(ValueError, match="own schema"):
        check_plan(replace(merge, clusters=(replace(merge.clusters[0], document=other),)))
    with pytest.raises(ValueError, match="α covers"):
        check_plan(replace(plan, tools=(MergedTool(A, ("a", "b")), MergedTool(C, ("c",)))))
