"""Each object that looks like a tool is a tool or a problem, wherever it stands."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.catalogs import read_json as read
from tests.support.documents import KINDS, MARKER, PLACES, SPELLINGS, Grammar, planted, vanished
from tests.support.properties import examples
from toolscope_core.catalog.formats.format_table import OUTPUTS
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.model.errors import CatalogError


def tool(name, **more):
    return {"name": name, "description": "Does.", "inputSchema": {"type": "object"}, **more}


def api(paths, **more):
    return {"openapi": "3.2.0", "paths": paths, **more}


A, B = tool("zq0z"), tool("zq1z")
ACT = {"operationId": "zq0z"}


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ({"tools": [A], "functions": [B]}, ["zq0z", "zq1z"]),
        ({"servers": [{"name": "s", "tools": [A]}], "apis": [B]}, ["s/zq0z", "zq1z"]),
        ({"servers": [{"tools": [A]}, [B]]}, ["zq0z", "zq1z"]),
        ({"tools": [A], "servers": [[B], {"name": "bare"}]}, ["zq0z", "zq1z"]),
        ({"result": {"tools": [A]}, "tools": [B]}, ["zq0z", "zq1z"]),
        ({"functionDeclarations": [A], "function_declarations": [B]}, ["zq0z", "zq1z"]),
        ({"openapi": "3.1.0", "paths": {"/x": {"get": ACT}}, "tools": [B]}, ["zq0z", "zq1z"]),
        ([api({"/x": {"get": ACT}}), B], ["zq0z", "zq1z"]),
        (api({"/x": {"GET": ACT}}), ["zq0z"]),
        (api({"/x": {"additionalOperations": {"COPY": ACT}}}), ["zq0z"]),
        ({"tools": A, "functions": [B]}, ["zq0z", "zq1z"]),
        ({"tools": {"zq0z": {"description": "Does."}, "zq1z": B}}, ["zq0z", "zq1z"]),
        ({"tools": {"s": [A], "t": {"tools": [B]}}}, ["s/zq0z", "t/zq1z"]),
        ({"mcpServers": {"s": {"command": "x", "tools": [A]}}}, ["s/zq0z"]),
        ([[[[[[[A]]]]]]], ["zq0z"]),
        ({"name": "w", "servers": [{"name": "s", "tools": [A]}], "apis": [B]}, ["s/zq0z", "w/zq1z"]),
        ({"mcpServers": A, "tools": [B]}, ["zq0z", "zq1z"]),
    ],
)  # fmt: skip
def test_all_places_of_a_document_are_read(value, ids):
    catalog = read(value)
    assert sorted(tool.id for tool in catalog.tools) == ids
    assert catalog.problems == ()


@pytest.mark.parametrize(
    ("value", "position", "reason"),
    [
        ({"tools": [A], "payload": {"tools": [B]}}, "payload", "looks like the tool 'zq1z'"),
        ({"tools": [A], "tool": B}, "tool", "looks like the tool 'zq1z'"),
        ({"tools": [A], "server": {"name": "s", "tools": [B]}}, "server", "looks like"),
        ([A, {"name": "w", "description": "Does.", "more": [B]}], "tool 2, more", "looks like"),
        ([{**A, "function": B}], "tool 1, function", "looks like the tool 'zq1z'"),
        ([{**A, "tools": {"x": {"y": {"z": B}}}}], "tool 1, tools", "looks like the tool 'zq1z'"),
        ([A, {"name": "w", "annotations": {"tools": [B]}}], "tool 2, annotations", "looks"),
        ({"tools": [A], "more": {**B, "args": 5}}, "more", "looks like the tool 'zq1z'"),
        (
            {"tools": [A], "mcpServers": {"s": {"command": "x"}}},
            "mcpServers: server s",
            "is listed",
        ),
        (api({"/a": {"get": ACT}, "/x": {"get": None}}), "tool 2", "(GET /x) is null, not an"),
        (api({"/a": {"get": ACT, "fetch": {}}}), "tool 2", "(FETCH /a) has a method that OpenAPI"),
        (
            api({"/a": {"get": ACT}, "/x": 5}),
            "tool 2",
            "(/x) is 5, not an object; correct or remove it",
        ),
        (api({"/a": {"get": ACT}}, webhooks={"w": {}}), "tool 2", "(webhook w) is called by the"),
        (
            api([5], tools=[A]),
            "paths, tool 1",
            "(paths) is [5], not an object; correct or remove it",
        ),
        (
            api({"/a": {"$ref": "#/gone", "get": ACT}}),
            "tool 1",
            "(/a) refers to '#/gone', which is",
        ),
    ],
)
def test_what_is_in_no_place_is_a_problem_with_its_own(value, position, reason):
    catalog = read(value)
    assert any(tool.name == "zq0z" for tool in catalog.tools)
    (problem,) = catalog.problems
    assert problem.position == f"x.json: {position}"
    assert problem.reason.startswith(reason)


def test_a_path_has_its_own_operations_and_those_it_refers_to():
    shared = {"post": {"operationId": "zq1z"}, "parameters": [{"name": "q", "in": "query"}]}
    paths = {"/a": {"$ref": "#/components/pathItems/P", "get": ACT}}
    catalog = read(api(paths, components={"pathItems": {"P": shared}}))
    assert [tool.name for tool in catalog.tools] == ["zq0z", "zq1z"]
    assert [list(tool.schema["properties"]) for tool in catalog.tools] == [["q"], ["q"]]


def test_a_tool_with_tools_is_both_and_says_each_of_them_once():
    catalog = read([{**A, "tools": [B]}])
    assert [(tool.server, tool.name) for tool in catalog.tools] == [("", "zq0z"), ("zq0z", "zq1z")]
    assert catalog.by_id["zq0z"].raw == A
    texts = read([{**A, "tools": ["saw", "axe"]}])
    assert (texts.tools[0].raw["tools"], texts.problems) == (["saw", "axe"], ())


def test_commands_of_servers_with_tools_are_not_kept():
    started = {"command": "run-it", "env": {"KEY": "not-a-real-key"}, "tools": [A]}
    assert "not-a-real" not in repr(read({"mcpServers": {"s": started}, "tools": [B]}))


def test_lists_in_lists_without_end_are_a_problem():
    value = A
    for _ in range(30):
        value = {"tools": [value]}
    catalog = read({"tools": [B], "functions": [value]})
    assert [tool.name for tool in catalog.tools] == ["zq1z"]
    assert "20 lists deep" in catalog.problems[0].reason


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}]}]},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "f", "schema": {"type": "object"}}}},
        {"contents": [{"parts": [{"functionCall": {"name": "f", "args": {"type": "x"}}}]}]},
        {"prompts": [{"name": "f", "description": "Asks.", "arguments": [{"name": "x"}]}]},
        {"data": [1, 2], "items": [{"x": 1}], "servers": [{"name": "s", "description": "A server."}]},
        {"tool_choice": {"type": "function", "function": {"name": "zq0z"}}},
        {"calls": [{"name": "zq0z", "arguments": {"city": "Paris"}}]},
        {"plan": [{"name": "zq0z", "parameters": {}}]},
    ],
)  # fmt: skip
def test_what_is_no_tool_beside_tools_stays_unread(value):
    catalog = read({"tools": [A], **value})
    assert [tool.name for tool in catalog.tools] == ["zq0z"]
    assert catalog.problems == ()


def lost(source, forced=None):
    try:
        return vanished(source, read_catalog([source], forced))
    except CatalogError:
        return []


@pytest.mark.case(62)
@pytest.mark.parametrize("kind", range(len(KINDS)))
@examples(12)
@given(rng=st.randoms())
def test_no_tool_of_any_kind_of_document_vanishes(kind, rng):
    document = KINDS[kind](Grammar(rng))
    try:
        catalog = read_catalog([document.source])
    except CatalogError:
        return  # one that has tools only where none are read
    assert vanished(document.source, catalog) == []
    written = set(MARKER.findall(json.dumps(document.value)))
    told = repr((catalog.tools, catalog.problems, [*planted(document.value)]))
    assert written <= set(MARKER.findall(told))


@examples(40)
@given(first=st.sampled_from(PLACES), second=st.sampled_from(PLACES), rng=st.randoms())
def test_two_places_hide_nothing_from_each_other(first, second, rng):
    grammar = Grammar(rng)
    one, other = first(grammar, 2), second(grammar, 2)
    value = {**one, **{key: part for key, part in other.items() if key not in one}}
    assert lost(Source("x.json", json.dumps(value).encode())) == []


@given(forced=st.sampled_from([*OUTPUTS, "openapi", "mcp-client"]), rng=st.randoms())
def test_a_format_that_somebody_says_hides_nothing(forced, rng):
    assert lost(Grammar(rng).document().source, forced) == []


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_is_seen_by_the_rule_that_looks_for_what_is_lost(spelling):
    listed = [Grammar(Random(1)).tool(spelling), tool("other")]
    source = Source("x.json", json.dumps(listed).encode())
    nothing = read([tool("other")])
    assert vanished(source, nothing) == ["zq0z"]


def described(schema_key=None, schema=None):
    return {"name": "zq1z", "description": "Does.", **({schema_key: schema} if schema_key else {})}


FUNCTION = {"type": "function", "function": described()}
API = api({"/x": {"get": ACT}})


@pytest.mark.parametrize(
    "value",
    [
        {**API, "servers": [{"name": "s", "tools": [B]}]},
        {**API, "info": {"title": "x", "tools": [B]}},
        {**API, "webhooks": [B]},
        api({"/x": {"get": {**ACT, "tools": [B]}}}),
        api({"/x": {"get": ACT, "tools": [B]}}),
        {"tools": [A], "spec": api({"/y": {"get": {}}})},
        {"tools": [A], "TOOLS": [described()]},
        {"tools": [A], "more": [described("inputSchema", {})]},
        {"tools": [A], "more": [described("inputSchema", {"oneOf": [{"type": "object"}]})]},
        {"tools": [A], "more": [described("parameters", {"q": {"type": "string"}})]},
        {"tools": [A], "more": [described("parameters", [{"name": "q", "type": "string"}])]},
        {"tools": [A], "more": [described("args", {"q": {"type": "string"}})]},
        {"tools": [A], "more": [FUNCTION]},
        {"tools": [A], "more": [{"tool_name": "zq1z", "description": "Does."}]},
        {"tools": [A], "content": [{"type": "text", "text": json.dumps([B])}]},
        {"tools": [{**A, "_meta": {"tools": [B]}}]},
        {"records": [{"name": "zq0z"}], "data": [{"name": "zq1z"}]},
        {"name": "a catalog", "data": [described(), A]},
    ],
)  # fmt: skip
def test_tools_in_unusual_places_are_read_or_named(value):
    catalog = read(value)
    outcome = repr(([tool.name for tool in catalog.tools], catalog.problems))
    second = "an OpenAPI document" if "spec" in value else "zq1z"
    assert "zq0z" in outcome and second in outcome
