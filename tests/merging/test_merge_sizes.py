"""How much agents have to read before and after a merge, and where it grows."""

from dataclasses import replace

import pytest

from toolscope_core.catalog.tokens import Costs, tool_size
from toolscope_core.merging.analysing import (
    _growing_parts,
    is_larger_gateway,
    lost_text,
    merge_size,
    size_reason,
)
from toolscope_core.merging.auto_accept import accept
from toolscope_core.merging.clusters import build_clusters, documented
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Group
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Constraints
from toolscope_core.model.tool import Tool

FORMAT = "openai-chat"
SERVERS = ("paper-shelf-2024", "preprint-mirror-7", "thesis-vault-xl")
ALL = PlanConfig(accept="all", gateway=True)


def merged(*texts):
    """A cluster of tools on as many servers, which needs a gateway, and the tools by id."""
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    tools = tuple(
        Tool(f"{server}/find", "find", text, server, schema)
        for server, text in zip(SERVERS, texts, strict=False)
    )
    group = Group(tuple(tool.id for tool in tools), 0.95, unfit=frozenset(t.id for t in tools))
    (cluster,) = build_clusters(Catalog(tools), [group], Constraints(), {}, 0.9)
    assert cluster.kind == "gateway" and cluster.selector == "server"
    return cluster, {tool.id: tool for tool in tools}


@pytest.mark.parametrize("format", ["openai-chat", "mcp"])
def test_a_merge_takes_what_its_one_tool_takes_in_place_of_its_members(format):
    cluster, tools = merged("Find it.", "Look it up.")
    size = merge_size(cluster, tools, format, Costs())
    one, other = (tool_size(tool, format) for tool in tools.values())
    assert size.before == one + other and size.name == format
    assert size.after == tool_size(documented(tools[cluster.canonical], cluster.document), format)


def test_what_grows_is_named_where_the_merged_tool_is_larger():
    short, tools = merged("Find it.", "Look it up.")
    size = merge_size(short, tools, FORMAT, Costs())
    words = size_reason(short, tools, size)
    assert size.grows
    assert "the description of `server` (+" in words and "the enum of `server` (+" in words
    parts = _growing_parts(short, tools)
    of_server = {f"the {part} of `server`" for part in ("description", "enum", "type")}
    assert set(parts) == of_server, "not the argument that both have"
    long, tools = merged(*["Find what people wrote about a subject, the newest first. " * 9] * 3)
    size = merge_size(long, tools, FORMAT, Costs())
    assert not size.grows and size_reason(long, tools, size) == ""


def test_texts_for_single_values_are_named_by_themselves():
    plain = "Find it."
    cluster, tools = merged(plain, f'{plain} Use the syntax ti:"words" AND au:"name".')
    words = size_reason(cluster, tools, merge_size(cluster, tools, FORMAT, Costs()))
    assert "single tools (+" in words


def test_a_saving_that_is_lost_documentation_says_so():
    texts = "Find it.", "Look it up. Words in quotes stand together, OR and AND join them. " * 9
    cluster, tools = merged(*texts)
    document = replace(cluster.document, description=texts[0])
    short = replace(cluster, document=document)
    size = merge_size(short, tools, FORMAT, Costs())
    longest, lost = lost_text(short, tools)
    assert longest.description == texts[1]
    words = size_reason(short, tools, size)
    assert f"{lost:,} are documentation" in words and f"{longest.server}/find" in words
    kept = replace(short, document=replace(document, description=texts[1]))
    assert lost_text(kept, tools)[1] == 0


def test_a_gateway_that_is_larger_is_accepted_by_no_policy():
    cluster, tools = merged("Find it.", "Look it up.")

    def is_larger(one):
        return is_larger_gateway(one, merge_size(one, tools, FORMAT, Costs()))

    assert accept([cluster], ALL, frozenset())[0].state == "accepted"
    assert accept([cluster], ALL, frozenset(), is_larger)[0].state == "proposed"
    assert not is_larger(replace(cluster, state="accepted")), "a person has accepted it"
    assert not is_larger(replace(cluster, kind="drop_in"))
