import pytest

from tests.support.catalogs import accepting, read_json, unmerged
from toolscope_core.catalog.formats.format_table import MATRIX
from toolscope_core.catalog.formats.record_format import built_in_name, home_of
from toolscope_core.catalog.formats.target_rules import rule_violations, unreadable
from toolscope_core.catalog.formats.writers import write_toolset

OWN = {"name": "book", "description": "Books.", "input_schema": accepting()}
FUNCTION = {"type": "function", "name": "book", "description": "Books.", "parameters": None}
ANTHROPIC = [
    {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
    {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    {"type": "mcp_toolset", "mcp_server_name": "crm"},
]
OPENAI = [
    {"type": "web_search"},
    {"type": "web_search_preview_2025_03_11"},
    {"type": "mcp", "server_label": "crm", "server_url": "https://crm.example"},
    {"type": "custom", "name": "run", "description": "Runs.", "format": {"type": "text"}},
]
KINDS = [("anthropic", [*ANTHROPIC, OWN]), ("openai-responses", [*OPENAI, FUNCTION])]


@pytest.mark.parametrize(("home", "records"), KINDS)
def test_they_come_back_as_they_were_in_their_own_format_and_from_a_bundle(home, records):
    catalog = read_json(records)
    assert (catalog.format, catalog.problems) == (home, ())
    written = write_toolset(unmerged(catalog.tools), (), home)
    assert sorted(map(str, written)) == sorted(map(str, records))
    kept = read_json(write_toolset(unmerged(catalog.tools), (), "neutral"))
    assert [tool.id for tool in kept.tools] == [tool.id for tool in catalog.tools]
    again = write_toolset(unmerged(kept.tools), (), home)
    assert [one for one in records[:-1] if one not in again] == []


@pytest.mark.parametrize(("home", "records"), KINDS)
def test_no_other_target_takes_them_and_each_is_said(home, records):
    tools = read_json(records).tools
    for target in set(MATRIX) - {home, "neutral"}:
        assert len(unreadable(tools, target)) == len(records) - 1
        said = [v for v in rule_violations(unmerged(tools), target) if "built-in" in v.message]
        assert len(said) == len(records) - 1 and {v.fix for v in said} == {"left out"}
    assert unreadable(tools, home) == unreadable(tools, "neutral") == {}


@pytest.mark.parametrize(
    "record",
    [
        *(OWN, FUNCTION, {"type": "custom", **OWN}, {"type": "mcp", "name": "a"}),
        *({"type": "object"}, {"name": "a"}, {"a": {}}, {"googleSearch": 5}, {"type": 5}),
    ],
)
def test_what_is_none(record):
    assert home_of(record) == ""


def test_a_name_of_their_own_or_of_their_kind():
    names = [built_in_name(one) for one in (ANTHROPIC[0], ANTHROPIC[2], OPENAI[2])]
    assert names == ["web_search", "mcp_toolset_crm", "mcp_crm"]
    assert home_of({"googleSearch": {}}) == "gemini" and built_in_name({"codeExecution": {}})


@pytest.mark.case(79)
def test_those_of_gemini_stand_beside_its_declarations():
    declared = {"name": "book", "description": "Books.", "parametersJsonSchema": accepting()}
    switches = {"googleSearch": {}, "codeExecution": {}}
    given = [{"functionDeclarations": [declared]}, *({key: {}} for key in switches)]
    tools = read_json({"tools": given}).tools
    written = write_toolset(unmerged(tools), (), "gemini", sendable=True)
    assert written == {"functionDeclarations": [declared], **switches}
    assert [tool.id for tool in read_json(written).tools] == [tool.id for tool in tools]
    alone = [tool for tool in tools if tool.name in switches]
    assert write_toolset(unmerged(alone), (), "gemini") == switches
