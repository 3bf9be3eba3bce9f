import json

import pytest

from tests.support.catalogs import accepting
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.schema.references import merge_parts, settle_references, without_unused
from toolscope_core.catalog.schema.walking import resolve
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.tokens import tool_tokens, unused_tokens
from toolscope_core.llm.tasks.fence import prompt_text
from toolscope_core.model.plan import MergedTool

NAME = {"type": "string"}
PET = {"type": "object", "properties": {"name": NAME}, "required": ["name"]}


def test_a_reference_at_the_top_shows_the_parameters():
    defs = {"a": {"$ref": "#/$defs/b"}, "b": PET}
    settled = settle_references({"$ref": "#/$defs/a", "description": "Mine.", "$defs": defs})
    assert (settled["properties"], settled["description"]) == ({"name": NAME}, "Mine.")
    apart = {"$ref": "#/$defs/b", "type": "string", "$defs": {"b": PET}}
    assert settle_references(apart) == apart, "what contradicts its reference stays as it is"


@pytest.mark.parametrize(
    "reference",
    ["http://x.test/a.json", "file:///etc/passwd", "other.json#/a", "#named", "#/$defs/list/9"],
)
def test_only_local_references_are_followed(reference):
    root = {"properties": {"a": {"$ref": reference, "type": "string"}}, "$defs": {"list": [PET]}}
    invalid = {"type": "string", "x-invalid": {"reference": reference}}
    assert settle_references(root)["properties"]["a"] == invalid


@pytest.mark.parametrize("key", ["default", "examples", "const", "example", "x-own"])
def test_no_dead_reference_stays_under_any_key(key):
    root = {"properties": {"a": {key: [{"$ref": "#/nothing"}], "title": "A"}}}
    settled = settle_references(root)
    assert "$ref" not in str(settled) and settled["properties"]["a"]["title"] == "A"
    assert "#/nothing" in str(settled), "it is kept, where nobody follows it"


@pytest.mark.parametrize(
    "defs",
    [
        {"a": {"$ref": "#/$defs/a"}},
        {"a": {"anyOf": [{"not": {"$ref": "#/$defs/b"}}]}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}},
        {f"{'a' if n == 0 else n}": {"$ref": f"#/$defs/{n + 1}"} for n in range(500)},
    ],
)
def test_circles_and_endless_chains_are_cut(defs):
    settled = settle_references({"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": defs})
    assert settled["properties"]["x"] == {"x-invalid": {"reference": "#/$defs/a"}}


def test_nothing_that_is_set_aside_can_be_followed():
    wrong = {"properties": {"a": [{"$ref": "#/no"}], "$ref": {}}, "$ref": 5}
    assert settle_references({"x-invalid": wrong, "not": {"$ref": "#/no"}})["x-invalid"] == {
        "properties": {"a": [{"reference": "#/no"}], "$ref": {}},
        "reference": 5,
        "not": {"x-invalid": {"reference": "#/no"}},
    }


def test_a_tree_may_hold_itself():
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}
    assert settle_references(tree) == tree


def test_all_of_is_merged_where_nothing_is_said_twice():
    root = {
        "$defs": {"pet": PET},
        "allOf": [{"$ref": "#/$defs/pet"}, {"properties": {"age": {"type": "integer"}}}],
        "title": "Mine",
    }
    assert settle_references(root) == {
        **accepting(name=NAME, age={"type": "integer"}),
        **{"$defs": {"pet": PET}, "title": "Mine", "required": ["name"]},
    }
    inner = {"allOf": [PET, {"minProperties": 1}]}
    nested = {"allOf": [{"$ref": "#/$defs/b"}], "$defs": {"b": inner}}
    assert settle_references(nested)["properties"] == {"name": NAME}
    other_name = {"properties": {"name": {"type": "integer"}}}
    for other in (other_name, {"additionalProperties": False}, {"type": "null"}):
        clash = {"allOf": [PET, other]}
        assert settle_references(clash) == clash
    text = {"allOf": [PET, True]}
    assert settle_references(text) == text
    values = {"enum": [{"$ref": "#/x"}], "default": {"allOf": 3}}
    assert settle_references(values)["default"] == {"allOf": 3}


def test_merging_parts_and_resolving():
    assert merge_parts([{"required": ["b"]}, {"required": ["a", "b"]}]) == {"required": ["a", "b"]}
    assert merge_parts([{"description": "one"}, {"description": "two"}]) == {"description": "one"}
    assert merge_parts([{"minimum": 1}, {"minimum": 2}]) is None
    root = {"a/b": [{"~": 1}], "é": 2}
    assert resolve(root, "#/a~1b/0/~0") == 1
    assert resolve(root, "#/%C3%A9") == 2
    assert resolve(root, "#") is root
    assert resolve(root, 5) is None


LEADS_TO_C = {"$ref": "#/$defs/c"}
DISCRIMINATED = {"discriminator": {"mapping": {"c": "#/$defs/c"}}}


@pytest.mark.parametrize(
    ("body", "used"),
    [
        ({"properties": {"x": PET}}, ""),
        ({"properties": {"x": {"$ref": "#/$defs/a"}}}, "ab"),
        ({"items": [{"not": {"$ref": "#/$defs/b/properties/y"}}]}, "b"),
        ({"properties": {"x": {"$ref": "#/%24defs/c"}}}, "c"),
        ({"properties": {"x": {"$ref": "#/$defs/d~1e"}}}, ["d/e"]),
        ({"properties": {"x": DISCRIMINATED}}, "c"),
        (LEADS_TO_C, "c"),
        ({"properties": {"x": {"$ref": "#named"}}}, ["a", "b", "c", "d/e"]),
        ({"properties": {"x": {"$dynamicRef": "#named"}}}, ["a", "b", "c", "d/e"]),
        ({"properties": {"x": {"$id": "other", **LEADS_TO_C}}}, ["a", "b", "c", "d/e"]),
    ],
)
@pytest.mark.parametrize("place", ["$defs", "definitions"])
def test_definitions_that_nothing_reaches_are_dropped(body, used, place):
    defs = {"a": {"$ref": "#/$defs/b"}, "b": PET, "c": {**LEADS_TO_C}, "d/e": PET}
    text = json.dumps({**body, "$defs": defs}).replace("$defs", place).replace("%24defs", place)
    lean = without_unused(json.loads(text))
    assert sorted(lean.get(place, {})) == sorted(used)
    assert (place in lean) == bool(used)


def _mapped(mapping, **defs):
    pet = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in defs]}
    pet["discriminator"] = {"propertyName": "kind", "mapping": mapping}
    return {"type": "object", "properties": {"pet": pet}, "$defs": defs}


@pytest.mark.parametrize("format", ["mcp", "generic", "openai-chat", "anthropic"])
def test_a_discriminator_names_only_schemas_that_leave_with_it(format):
    cat, dog = {"const": "cat"}, {"properties": {"pup": {"$ref": "#/$defs/Dog"}}}
    mapping = {
        "cat": "#/$defs/Cat",
        "dog": "Dog",
        "fish": "#/$defs/Fish",
        "ant": "Ant",
        "x": "a.json#/X",
    }
    record = {
        "name": "add",
        "description": "Adds.",
        "inputSchema": _mapped(mapping, Cat=cat, Dog=dog),
    }
    catalog = read_catalog([Source("x.json", json.dumps([record]).encode())])
    tools = [MergedTool(tool, (tool.id,)) for tool in catalog.tools]
    text = json.dumps(write_toolset(tools, (), format))
    assert '"mapping": {"cat": "#/$defs/Cat", "dog": "Dog"}' in text
    whole = _mapped({"cat": "#/$defs/Cat"}, Cat=cat)
    assert without_unused(whole) is whole
    gone = without_unused(_mapped({"fish": "#/$defs/Fish"}, Cat=cat))
    assert gone["properties"]["pet"]["discriminator"] == {"propertyName": "kind"}


def test_unused_definitions_are_priced_and_scanned_and_leave_prompts_and_exports():
    wide = {f"part_{at}": {"type": "string", "description": "Of no use. " * 40} for at in range(60)}
    schema = {"type": "object", "properties": {"name": NAME}}
    hidden = {"secret": {"description": "Hidden: \u202etxet"}}
    records = [
        {"name": "lean", "description": "Ring.", "inputSchema": schema},
        {"name": "wide", "description": "Ring.", "inputSchema": {**schema, "$defs": wide}},
        {"name": "sly", "description": "Ring.", "inputSchema": {**schema, "$defs": hidden}},
    ]
    catalog = read_catalog([Source("a.json", json.dumps({"tools": records}).encode())])
    lean, wide_tool = catalog.by_id["lean"], catalog.by_id["wide"]
    assert wide_tool.schema == lean.schema
    assert prompt_text(wide_tool).cut == 0
    assert tool_tokens(wide_tool) == tool_tokens(lean)
    assert unused_tokens(wide_tool) > 60 * 80 > unused_tokens(lean) == 0
    (finding,) = (one for one in catalog.findings if one.tool_id == "wide")
    assert (finding.code, finding.severity) == ("unused-definitions", "info")
    assert f"{unused_tokens(wide_tool):,}" in finding.message
    assert catalog.blocked == {"sly"}
    written = write_toolset([MergedTool(one, (one.id,)) for one in catalog.tools], (), "mcp")
    assert [one["inputSchema"] for one in written["tools"]] == [schema] * 3
