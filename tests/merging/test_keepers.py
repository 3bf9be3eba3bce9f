"""All merges between two servers keep the tools of the one that the other replaces less."""

import numpy as np

from tests.support.analyses import analysed
from tests.support.scripted import judge_says
from toolscope_core.merging.analysing import plan_merge, replaceable_shares
from toolscope_core.merging.group_syntheses import GroupSyntheses
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.tool import Tool

JOBS = ("convert_units", "add_numbers", "round_number", "sort_numbers")


def tool(server, name, text=""):
    schema = {"type": "object", "properties": {}}
    return Tool(f"{server}/{name}", name, f"Will {name} {text}.", server, schema)


def shares(tools, first, *pairs):
    left, right = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    return replaceable_shares(tools, np.array(first, dtype=np.int32), left, right)


def test_shares_count_copies_and_merges_on_other_servers():
    tools = [tool("a", "x"), tool("a", "y"), tool("b", "x"), tool("b", "z"), tool("c", "w")]
    first = [0, 1, 0, 3, 4]
    assert shares(tools, first) == {"a": 0.5, "b": 0.5, "c": 0.0}
    assert shares(tools, first, (1, 3), (2, 4)) == {"a": 1.0, "b": 1.0, "c": 1.0}
    assert shares([tool("", "x"), tool("a", "x")], [0, 1], (0, 1)) == {"a": 0.0}


def test_the_server_with_more_stays_in_every_merge(tmp_path, monkeypatch):
    tools = [tool("zeta", name, "quickly and well") for name in JOBS]
    tools += [tool("alpha", name) for name in JOBS[:3]]
    tools = tuple(sorted(tools, key=lambda one: one.id))
    judge_says(monkeypatch, {(f"alpha/{name}", f"zeta/{name}"): 0.9 for name in JOBS[:3]})
    catalog = Catalog(tools, (Server("alpha"), Server("zeta")), "mcp")
    plan = plan_merge(analysed(catalog, tmp_path), (), PlanConfig())
    assert [one.canonical for one in plan.clusters] == [f"zeta/{name}" for name in sorted(JOBS[:3])]


def test_a_default_length_that_only_the_kept_tool_has_is_said():
    texts = {"url": {"type": "string"}}
    limit = {"max_length": {"type": "integer", "default": 5000}}
    whole, cut = (
        Tool(f"{server}/fetch", "fetch", "Fetch a page.", server, {"properties": properties})
        for server, properties in (("a", texts), ("b", texts | limit))
    )
    syntheses = GroupSyntheses(Catalog((whole, cut)))
    made = syntheses.synthesis((whole.id, cut.id), cut.id, kind="drop_in")
    (sentence,) = syntheses.differences((whole.id, cut.id), made).arguments
    assert "`max_length`" in sentence and "5,000" in sentence
    made = syntheses.synthesis((whole.id, cut.id), whole.id, kind="drop_in")
    assert not any(
        "max_length" in one for one in syntheses.differences((whole.id, cut.id), made).arguments
    )
