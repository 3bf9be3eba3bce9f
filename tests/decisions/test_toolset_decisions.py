"""Decisions on the toolset beyond its merges: tools left out, edited alone, another threshold."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.analyses import analysed
from tests.support.catalogs import example_catalog
from tests.support.properties import examples
from toolscope_core.catalog.evaluation_rows import relabel_query
from toolscope_core.decisions.decision_lines import decision_of_row
from toolscope_core.decisions.log import admit
from toolscope_core.export.bundle import bundle_of
from toolscope_core.merging.analysing import (
    alone,
    own_thresholds,
    plan_merge,
    thresholds_of,
    unapplied_edits,
)
from toolscope_core.merging.pair_graph import judged_edges
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import MergeThresholds, PlanConfig
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool

ALL = PlanConfig(accept="all", gateway=True)
TIDE = Tool("", "get_tide", description="Get the tide of a harbour.")
TIDES = tuple(replace(TIDE, id=f"s{n}/get_tide", server=f"s{n}") for n in range(3))


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The bundled example, and one tool that three more servers have."""
    catalog = example_catalog()
    tools = sorted((*catalog.tools, *TIDES), key=lambda tool: tool.id)
    catalog = replace(catalog, tools=tuple(tools))
    return analysed(catalog, tmp_path_factory.mktemp("decided"), threshold=0.4)


def logged(analysis, *rows):
    log = ()
    for row in rows:
        said = {"reviewer": "ann", "at": "2026-01-02", **row}
        log = (*log, admit(log, decision_of_row(analysis.catalog, said)))
    return log


def omit(*ids):
    return {"action": "omit", "ids": ids, "detail": {"reason": "nobody calls it"}}


def edit(tool_id, **detail):
    return {"action": "edit", "ids": [tool_id], "detail": detail}


def merged(plan, size=2):
    return next(c for c in plan.applied if len(c.members) >= size)


def unclustered(analysis):
    """Tools that nothing merges with."""
    inside = {m for c in plan_merge(analysis, (), ALL).clusters for m in c.members}
    return [tool for tool in analysis.catalog.tools if tool.id not in inside]


def written(plan, tool_id):
    return next((item.tool for item in plan.tools if item.tool.id == tool_id), None)


def files(analysis, log, config=ALL):
    return dict(bundle_of(analysis, plan_merge(analysis, log, config), log, config).files())


def test_a_tool_left_out_has_no_image_and_is_in_no_merge(example):
    before = plan_merge(example, (), ALL)
    gone = merged(before, 3).members[0]
    log = logged(example, omit(gone))
    plan = plan_merge(example, log, ALL)
    (row,) = [r for r in plan.relabels if r.old_id == gone]
    assert (row.new_id, row.new_name, row.status) == (None, None, "removed")
    assert plan.removed == (gone,)
    assert not [c for c in plan.clusters if gone in (*c.members, *c.newcomers)]
    assert not [item for item in plan.tools if gone in item.members]
    assert all(gone not in (pair.left, pair.right) for pair in judged_edges(example, log))
    bundle = files(example, log)
    entries = {e["old_id"]: e for e in json.loads(bundle["relabel.json"])["entries"]}
    assert (entries[gone]["status"], entries[gone]["new_id"]) == ("removed", None)
    assert json.loads(bundle["manifest.json"])["counts"]["tools_removed"] == 1
    assert gone in bundle["README.md"].decode()
    phi = {old: e["new_id"] for old, e in entries.items()}
    other = next(old for old, new in phi.items() if new == old)
    asked = {"gold": [gone, other], "calls": [{"tool": gone, "arguments": {}}]}
    query = relabel_query(asked, phi, {})
    assert query.row == {"gold": [other], "calls": asked["calls"]}
    assert (query.removed_tools, query.is_emptied, query.unknown_ids) == ((gone,), False, ())
    assert relabel_query({"gold": [gone]}, phi, {}).is_emptied
    assert not relabel_query({"gold": []}, phi, {}).is_emptied


@examples(20)
@given(data=st.data())
def test_whoever_is_left_out_every_other_merge_stays(example, data):
    before = plan_merge(example, (), ALL)
    ids = [tool.id for tool in example.catalog.tools]
    gone = data.draw(st.sets(st.sampled_from(ids), min_size=1, max_size=4))
    plan = plan_merge(example, logged(example, omit(*sorted(gone))), ALL)
    untouched = [c for c in before.clusters if not gone & {*c.members, *c.newcomers}]
    assert {c.members for c in untouched} <= {c.members for c in plan.clusters}
    assert len(plan.tools) == len({r.new_id for r in plan.relabels} - {None})


def test_where_the_first_of_copies_is_left_out_the_others_are_still_one(tmp_path):
    analysis = analysed(Catalog(TIDES), tmp_path)
    log = logged(analysis, omit("s0/get_tide"))
    (cluster,) = plan_merge(analysis, log, ALL).clusters
    assert cluster.members == ("s1/get_tide", "s2/get_tide")
    assert set(judged_edges(analysis, log)) == {Pair("s1/get_tide", "s2/get_tide")}


def test_a_description_is_edited_though_nothing_merges_with_the_tool(example):
    tool = next(t for t in unclustered(example) if t.server)
    log = logged(example, edit(tool.id, description="What we say of it."))
    plan = plan_merge(example, log, PlanConfig(accept="none"))
    assert written(plan, tool.id) == replace(tool, description="What we say of it.")
    assert [c.kind for c in plan.edited] == ["drop_in"]
    assert not [c for c in plan.clusters if tool.id in c.members]
    bundle = files(example, log)
    fastmcp = json.loads(bundle["clients/fastmcp.json"])["mcpServers"][tool.server]["tools"]
    assert fastmcp[tool.name] == {"description": "What we say of it."}


def test_a_new_name_or_parameter_needs_a_gateway_and_gets_an_argument_map(example):
    tool = next(t for t in unclustered(example) if t.parameters)
    old = tool.parameters[0].name
    schema = json.loads(json.dumps(tool.schema).replace(json.dumps(old), '"renamed"'))
    detail = {"name": "our_name", "schema": schema, "renames": {old: "renamed"}}
    log = logged(example, edit(tool.id, **detail))
    without = plan_merge(example, log, PlanConfig(accept="none"))
    assert written(without, tool.id) == tool
    assert (set(without.held_back), without.edited) == ({tool.id}, ())
    plan = plan_merge(example, log, PlanConfig(accept="none", gateway=True))
    assert written(plan, tool.id).name == "our_name"
    (row,) = [r for r in plan.relabels if r.old_id == tool.id]
    assert (row.new_id, row.new_name, row.status) == (tool.id, "our_name", "renamed")
    (alpha,) = [a for a in plan.arguments if a.tool_id == tool.id]
    assert (old, "renamed") in [(move.source, move.target) for move in alpha.moves]


@pytest.mark.case(92)
def test_an_edit_that_the_toolset_does_not_show_is_named_with_the_reason(example):
    clusters = plan_merge(example, (), PlanConfig()).clusters
    waiting = next(one for one in clusters if one.state == "proposed").members
    lone, other, gone = [tool.id for tool in unclustered(example)][:3]
    merge = next(one for one in plan_merge(example, ()).applied if len(one.members) == 2).members
    log = logged(
        example,
        edit(lone, name="other_name"),
        {**edit(other, description="Ours."), "fingerprints": ["f" * 64]},
        edit(merge[0], description="Ours."),
        edit(gone, description="Ours."),
        omit(gone),
        {**edit(lone, description="Ours."), "ids": waiting},
        {**edit(lone, description="Ours."), "ids": merge},
        {**edit(lone, description="Ours."), "ids": [lone, other]},
        edit(other, description="Ours."),
    )
    reasons = unapplied_edits(plan_merge(example, log), log)
    words = ("gateway", "edit again", "the merge of", "left out", "proposed", "not merged")
    assert [*reasons] == [1, 2, 3, 4, 6, 8]
    assert all(word in why for word, why in zip(words, reasons.values(), strict=True))


def test_two_edited_tools_do_not_take_one_name(example):
    one, other = [t.id for t in example.catalog.tools][:2]
    log = logged(example, edit(one, name="same_name"), edit(other, name="same_name"))
    assert alone(example, log, one).state == "conflict"
    assert not plan_merge(example, log, PlanConfig("none", gateway=True)).edited


def test_the_document_of_an_accepted_merge_outweighs_that_of_a_member(example):
    cluster = merged(plan_merge(example, (), ALL))
    log = logged(example, edit(cluster.canonical, description="Alone."))
    assert written(plan_merge(example, log, ALL), cluster.canonical).description != "Alone."
    reject = {"action": "keep_apart", "ids": cluster.members}
    apart = logged(example, reject, edit(cluster.canonical, description="Alone."))
    assert written(plan_merge(example, apart, ALL), cluster.canonical).description == "Alone."


def threshold(similarity, same_job):
    return {"action": "threshold", "detail": {"similarity": similarity, "same_job": same_job}}


def test_an_applied_threshold_is_the_cut_of_the_plan_until_it_is_taken_back(example):
    own = own_thresholds(example)
    log = logged(example, threshold(0.9, 0.95))
    assert thresholds_of(example, log) == MergeThresholds(0.9, 0.95)
    plan, before = (plan_merge(example, one, PlanConfig()) for one in (log, ()))
    assert len(plan.clusters) < len(before.clusters)
    assert set(judged_edges(example, log)) < set(judged_edges(example, ()))
    said = json.loads(files(example, log)["manifest.json"])["configuration"]
    assert (said["threshold"], said["same_job"]) == (0.9, 0.95)
    back = (*log, admit(log, decision_of_row(example.catalog, undo(1))))
    assert thresholds_of(example, back) == own
    assert plan_merge(example, back, PlanConfig()) == before
    low = thresholds_of(example, logged(example, threshold(0.0, 0.0)))
    assert low == MergeThresholds(own.similarity, 0.5), "what was not judged is not proposed"


def undo(seq):
    return {"action": "undo", "reviewer": "ann", "detail": {"retracts": seq}}
