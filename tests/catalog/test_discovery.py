import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import accepting, read_json
from toolscope_core.catalog.formats.api_descriptions import discovered_api
from toolscope_core.model.catalog import Server

QUARRY = {
    "kind": "discovery#restDescription",
    "name": "quarry",
    "title": "Quarry API",
    "description": "Stones.",
    "parameters": {"alt": {"type": "string", "location": "query"}},
    "auth": {"oauth2": {"scopes": {"https://q.example": {"description": "All."}}}},
    "schemas": {"Stone": {"id": "Stone", **accepting(
        weight={"type": "integer", "minimum": "0", "format": "int32"},
        parts={"type": "array", "items": {"$ref": "Stone"}},
        etag={"type": "string", "readOnly": True},
        id={"type": "string", "description": "Its own."},
    )}},
    "resources": {
        "pits": {
            "methods": {
                "list": {
                    "id": "quarry.pits.list", "path": "v1/pits", "httpMethod": "GET",
                    "description": "Lists pits.",
                    "parameters": {
                        "kinds": {"type": "string", "location": "query", "repeated": True,
                                  "enum": ["open", "shut"], "enumDescriptions": ["a", "b"]},
                        "max": {"type": "integer", "location": "query", "maximum": "50"},
                    },
                },
            },
            "resources": {"stones": {"methods": {"cut": {
                "id": "quarry.pits.stones.cut", "path": "v1/{+pit}:cut", "httpMethod": "POST",
                "parameters": {"pit": {"type": "string", "location": "path", "required": True}},
                "request": {"$ref": "Stone"}, "response": {"$ref": "Stone"},
            }}}},
        }
    },
}  # fmt: skip


def test_every_method_becomes_a_tool_with_its_arguments():
    catalog = read_json(QUARRY)
    assert catalog.servers == (Server("Quarry API", "Stones."),) and catalog.problems == ()
    tools = {tool.name: tool for tool in catalog.tools}
    assert tools.keys() == {"quarry_pits_list", "quarry_pits_stones_cut"}
    assert tools["quarry_pits_list"].schema["properties"] == {
        "kinds": {"type": "array", "items": {"type": "string", "enum": ["open", "shut"]}},
        "max": {"type": "integer", "maximum": 50},
    }
    cut = tools["quarry_pits_stones_cut"]
    assert set(cut.schema["properties"]) == {"pit", "weight", "parts", "id"}
    assert cut.schema["required"] == ["pit"] and "etag" in cut.returns["properties"]
    inner = {"pit": "a", "parts": [{"weight": 1, "parts": [{"weight": 2}]}]}
    assert Draft202012Validator(cut.schema).is_valid(inner)
    assert not Draft202012Validator(cut.schema).is_valid({"pit": "a", "parts": [{"weight": -1}]})


def test_two_methods_of_one_path_and_verb_are_both_read():
    same = {"path": "v1/a", "httpMethod": "POST"}
    methods = {"one": {"id": "q.one", **same}, "two": {"id": "q.two", **same}}
    catalog = read_json({"kind": QUARRY["kind"], "name": "q", "methods": methods})
    assert [tool.name for tool in catalog.tools] == ["q_one", "q_two"]


def test_tools_beside_the_methods_are_read_too():
    beside = {"name": "own", "description": "Does.", "inputSchema": {"type": "object"}}
    names = {tool.name for tool in read_json({**QUARRY, "tools": [beside]}).tools}
    assert names == {"own", "quarry_pits_list", "quarry_pits_stones_cut"}


@pytest.mark.parametrize("odd", [{"methods": 5}, {"methods": {"a": 5}}, {"resources": {"a": [1]}},
                                 {"schemas": []}, {"methods": {"a": {"parameters": {"b": 5}}}}])  # fmt: skip
def test_odd_documents_are_converted_without_a_failure(odd):
    assert discovered_api(odd)["openapi"] == "3.0.3"
