from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import FILES, SUM, catalog
from toolscope_core.export.checked_plan import (
    broken_rules,
    checked_plan,
    disambiguated,
    held_back,
    toolset_refusals,
    toolsets,
)
from toolscope_core.merging.clusters import apply_clusters, build_clusters
from toolscope_core.merging.former_names import with_tools
from toolscope_core.model.catalog import Finding
from toolscope_core.model.cluster import Group
from toolscope_core.model.decision import Constraints
from toolscope_core.model.errors import ExportError
from toolscope_core.model.tool import Tool


def planned(*tools, format="mcp"):
    return apply_clusters(replace(catalog(*tools), format=format), (), gateway=False)


def test_what_came_in_broken_may_go_out_so_but_no_more():
    plan = planned(replace(FILES, name="a b"), SUM)
    assert [found.rule for found in broken_rules(plan, "mcp")] == ["name"]
    assert toolset_refusals(plan, None) == ()
    assert checked_plan(plan, None, fix=False) is plan
    assert [found.rule for found in toolset_refusals(plan, "mcp")] == ["name"]
    worse = with_tools(plan, {SUM.id: replace(SUM, name="c d")})
    assert [found.tool_id for found in toolset_refusals(worse, None)] == [SUM.id]
    with pytest.raises(ExportError, match=r"1 rules of MCP.*--fix .* 1"):
        checked_plan(worse, None, fix=False)
    names = [item.tool.name for item in checked_plan(worse, None, fix=True).tools]
    assert names == ["a_b", "c_d"]


def test_a_fixed_name_is_none_that_a_merged_tool_had():
    plan = planned(Tool("1", "a.b"), Tool("2", "a_b"))
    renamed = with_tools(plan, {"2": Tool("2", "other")})
    assert checked_plan(renamed, "anthropic", fix=True).tools[0].tool.name.startswith("a_b_")


def test_too_many_tools_are_refused_or_split_and_none_is_dropped():
    plan = planned(*(Tool(f"t{n:03}", f"n{n}") for n in range(129)), format="generic")
    with pytest.raises(ExportError, match=r"(?s)--fix .*1.* 128 .*2 files"):
        checked_plan(plan, "openai-chat", fix=False)
    assert checked_plan(plan, None, fix=False) is plan
    assert checked_plan(plan, "openai-chat", fix=True) == plan
    assert broken_rules(plan, "openai-chat", fix=True) == ()
    parts = toolsets(plan, "openai-chat", fix=True)
    assert [len(part) for part in parts] == [128, 1]
    assert tuple(item for part in parts for item in part) == plan.tools
    assert toolsets(plan, "openai-chat", fix=False) == (plan.tools,)
    assert toolsets(plan, "neutral", fix=True) == (plan.tools,)


def named(server, name, number=""):
    return Tool(f"{server}/{name}{number}", name, server=server)


def test_all_tools_of_one_name_get_their_servers_name():
    plan = planned(*(named(server, "find") for server in ("a", "b", "c")), named("a", "send"))
    names = [item.tool.name for item in checked_plan(plan, "openai-chat", fix=True).tools]
    assert names == ["a_find", "send", "b_find", "c_find"]
    fixed = [tool.name for tool in disambiguated(plan, "anthropic").values()]
    assert fixed == ["a_find", "b_find", "c_find"]
    assert disambiguated(plan, "mcp") == {}, "a server has its own names"
    assert disambiguated(plan, "neutral") == {}
    taken = planned(named("a", "find"), named("b", "Find"), named("c", "a_find"))
    first, _ = [tool.name for tool in disambiguated(taken, "gemini").values()]
    assert first.startswith("a_find_"), "another tool is called a_find"


def test_tools_of_one_server_and_blocked_ones_take_no_name_from_others():
    twice = planned(named("a", "find"), named("a", "find", 2))
    assert disambiguated(twice, "openai-chat") == {}
    plan = planned(named("a", "find"), named("b", "find"))
    bad = Finding("b/find", "block", "hidden", "description", "hidden characters")
    shadowed = replace(plan, catalog=replace(plan.catalog, findings=(bad,)))
    assert disambiguated(shadowed, "openai-chat") == {}
    names = [item.tool.name for item in checked_plan(shadowed, "openai-chat", fix=True).tools]
    assert names == ["find", "b_find"]


def with_header(tool_id, header="bad header"):
    region = {"type": "string", "x-mcp-header": header}
    return Tool(tool_id, tool_id, "Route.", "lab", {"type": "object", "properties": {"to": region}})


def ids_of(plan):
    return [item.tool.id for item in plan.tools]


@pytest.mark.parametrize("fix", [False, True])
def test_only_the_tool_that_no_client_of_mcp_reads_is_held_back(fix):
    plan = planned(with_header("odd"), with_header("zero\u200bed", "a\u200b"), SUM, format="gemini")
    left = checked_plan(plan, "mcp", fix)
    stays = ["zero\u200bed"] if fix else []  # a name of a header without the hidden character
    assert ids_of(left) == [SUM.id, *stays]
    assert left.phi["odd"] is None
    assert "'odd'" in held_back(left)[0] and '"bad header"' in held_back(left)[0]
    assert checked_plan(left, "mcp", fix) == left
    assert checked_plan(plan, "neutral", fix=False) is plan
    assert ids_of(checked_plan(planned(with_header("odd"), SUM), None, fix)) == [SUM.id, "odd"]


@pytest.mark.parametrize("fix", [False, True])
def test_a_tool_that_is_refused_holds_back_itself_if_asked_to(fix):
    def at_top(tool_id, **more):
        parameters = {"type": "object", "properties": {"a b": {}}, **more}
        return Tool(tool_id, tool_id, "Does.", "lab", parameters)

    plan = planned(at_top("stuck", propertyNames={"maxLength": 9}), at_top("mended"), SUM)
    with pytest.raises(ExportError, match="--leave-out"):
        checked_plan(plan, "anthropic", fix)
    left = checked_plan(plan, "anthropic", fix, leave_out=True)
    assert ids_of(left) == sorted([SUM.id, *(["mended"] if fix else [])])
    assert left.phi["stuck"] is None and toolset_refusals(left, "anthropic", fix) == ()
    assert "'stuck'" in held_back(left)[-1] and "'a b'" in held_back(left)[-1]


def test_what_else_breaks_a_rule_of_mcp_still_refuses_the_export():
    plan = planned(with_header("odd"), replace(SUM, name="a b"))
    with pytest.raises(ExportError, match=r"1 rules of MCP.*--fix .* 1"):
        checked_plan(plan, "mcp", fix=False)
    assert [item.tool.name for item in checked_plan(plan, "mcp", fix=True).tools] == ["a_b"]


def test_a_merge_that_no_client_reads_comes_apart_and_its_readable_members_stay():
    odd, sound = with_header("a"), replace(with_header("b", "Region"), name="a", server="post")
    came = catalog(odd, sound, SUM)
    groups = [Group(("a", "b"), 0.95, decided=True)]
    (cluster,) = build_clusters(came, groups, Constraints(), {}, 0.9)
    merged = apply_clusters(came, (cluster,), gateway=True)
    assert ids_of(merged) == ["a", SUM.id]
    left = checked_plan(merged, "mcp", fix=False)
    assert ids_of(left) == ["b", SUM.id]
    assert left.phi == {"a": None, "b": "b", SUM.id: SUM.id}
    assert (left.arguments, left.applied) == ((), ())
    assert left.clusters[0].state == "conflict"
    sentences = ["'a' is held back", "'a', 'b' are not merged"]
    assert [one.split(":")[0] for one in held_back(left)] == sentences


def test_an_unknown_format():
    with pytest.raises(ExportError, match="'xml' is unknown"):
        checked_plan(planned(SUM), "xml", fix=False)
