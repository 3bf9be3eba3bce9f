import pytest

from tests.support.catalogs import read_data, read_json
from toolscope_core.catalog.formats.unread_documents import what_it_is
from toolscope_core.model.errors import CatalogError


@pytest.mark.parametrize(
    ("value", "title", "remedy"),
    [
        ({"info": {"name": "n", "schema": "https://schema.getpostman.com/v2.1.0"}, "item": []},
         "a Postman collection", "as OpenAPI"),
        ({"_type": "export", "resources": [{"name": "a"}]}, "an Insomnia export", "as OpenAPI"),
        ({"arazzo": "1.0.1", "workflows": []}, "an Arazzo", "sourceDescriptions"),
        ({"asyncapi": "3.0.0", "channels": {}}, "an AsyncAPI", "tools/list"),
        ({"__schema": {"types": []}}, "a GraphQL schema", "a server that wraps it"),
        ({"kind": "discovery#directoryList", "items": []}, "Google's APIs", "discoveryRestUrl"),
        ({"name": "io.x/y", "version": "1", "packages": [{"identifier": "y"}]},
         "server.json of the MCP registry", "tools/list"),
        ({"schema_version": "v1", "name_for_model": "a", "api": {"url": "u"}},
         "ChatGPT plugin", "api.url"),
        ({"name": "a", "skills": [{"id": "s", "name": "S", "description": "D."}],
          "capabilities": {}}, "an agent card", "tools that the agent calls"),
        ({"name": "flow", "nodes": [{"name": "a"}], "connections": {}}, "an n8n workflow", "MCP"),
        ({"log": {"entries": []}}, "HAR", "OpenAPI"),
        ({"name": "a", "version": "1.0.0", "devDependencies": {}}, "package.json", "tools/list"),
    ],
)  # fmt: skip
def test_a_document_without_tools_is_named_for_what_it_is(value, title, remedy):
    with pytest.raises(CatalogError) as refused:
        read_json(value)
    assert title in str(refused.value) and remedy in str(refused.value)
    beside = read_json([{"name": "a", "description": "Does.", "parameters": {}}, value])
    assert [tool.name for tool in beside.tools] == ["a"]
    assert [title in problem.reason for problem in beside.problems] == [True]


@pytest.mark.parametrize(
    "value",
    [None, [], "text", {}, {"info": 5, "item": []}, {"name": "a", "version": "1"},
     {"name": "a", "nodes": 5, "connections": {}}],
)  # fmt: skip
def test_other_values_are_no_such_document(value):
    assert what_it_is(value) == ""


def test_a_tool_is_one_whatever_else_it_says():
    record = {"name": "a", "version": "1", "packages": [], "inputSchema": {"type": "object"}}
    assert [tool.name for tool in read_json([record]).tools] == ["a"]
    assert read_data("mcp_servers.json").problems == ()
