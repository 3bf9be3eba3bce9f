"""import(export(x)) = x: any record of any shape, unknown fields and any script included."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalog.test_schemas import schemas
from tests.support.catalogs import accepting, unmerged
from tests.support.catalogs import read_json as read
from tests.support.properties import examples
from toolscope_core.catalog.formats.format_table import OUTPUTS, RECORD_FORMATS
from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import Tool

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
NAMES = TEXT.filter(str.strip)
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | TEXT
UNKNOWN = st.dictionaries(
    st.sampled_from(["_meta", "icons", "x-note", "cache_control", "naïve key"]),
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)


def put(record, path, value):
    for key in path[:-1]:
        record = record.setdefault(key, {})
    record[path[-1]] = value


@st.composite
def records(draw, format):
    """Records as a file of the shape may hold them."""
    shape = RECORD_FORMATS[format]
    rows = []
    for number, name in enumerate(draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))):
        row = json.loads(json.dumps(shape.template))
        row.update(draw(UNKNOWN))
        put(row, shape.places["name"][0], name)
        put(row, shape.places["description"][0], draw(TEXT))
        schema = draw(schemas)
        put(row, shape.places["schema"][0], schema)
        if format == "bfcl":
            row["parameters"] = {**schema, "type": "dict"}
        if format == "ultratool":
            row["results"] = accepting(r={"type": "string"})
        if "id" in shape.places:
            row["id"] = f"id {number}"
        if format == "neutral":
            row["server"], row["members"] = draw(st.sampled_from(["", "s"])), [f"id {number}"]
        rows.append(row)
    return rows


def exported(catalog):
    return write_toolset(unmerged(catalog.tools), catalog.servers, catalog.format)


@pytest.mark.parametrize("format", OUTPUTS)
@examples(15)
@given(data=st.data())
def test_any_record_comes_back_as_it_was(format, data):
    rows = data.draw(records(format))
    value = {"functionDeclarations": rows} if format == "gemini" else rows
    catalog = read(value, format)
    assert catalog.problems == ()
    back = read(exported(catalog), format)
    assert back.tools == catalog.tools
    assert back.version == catalog.version
    assert [tool.raw for tool in back.tools] == [tool.raw for tool in catalog.tools]
    assert sorted(json.dumps(tool.raw, sort_keys=True) for tool in back.tools) == sorted(
        json.dumps(row, sort_keys=True) for row in rows
    )
    assert exported(back) == exported(catalog)


@st.composite
def namespaces(draw):
    """What ``tools`` of the Responses API may hold: functions, and namespaces around functions."""
    bare = draw(st.just([]) | records("openai-responses"))
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    told = st.just({}) | st.builds(dict, description=TEXT | st.none())
    return bare + [
        {
            **draw(UNKNOWN),
            **{"type": "namespace", "name": name, **draw(told)},
            "tools": draw(st.just([]) | records("openai-responses")) if bare or n else [FUNCTION],
        }
        for n, name in enumerate(names)
    ]


FUNCTION = {"type": "function", "name": "f", "parameters": None, "strict": True}


def in_order(rows):
    """Rows as text, their tools in one order too."""
    return sorted(
        json.dumps({**row, "tools": in_order(row["tools"])} if "tools" in row else row, sort_keys=1)
        for row in rows
    )


@examples(15)
@given(rows=namespaces())
def test_any_namespace_comes_back_as_it_was(rows):
    catalog = read({"tools": rows})
    assert (catalog.format, catalog.problems) == ("openai-responses", ())
    assert in_order(exported(catalog)) == in_order(rows)
    assert read(exported(catalog)) == catalog


def test_only_functions_of_a_namespace_are_written_into_one():
    rows = [{"type": "namespace", "name": "s", "hue": 1, "tools": [FUNCTION]}]
    catalog = read(rows)
    tools, servers = (*catalog.tools, Tool("t/g", "g", "", "t")), (*catalog.servers, Server("t"))
    written = write_toolset(unmerged(tools), servers, "openai-responses")
    assert [row.get("tools", row["name"]) for row in written] == [[FUNCTION], "g"]
    (of_mcp,) = write_toolset(unmerged(catalog.tools), catalog.servers, "mcp")
    assert of_mcp.keys() == {"server", "tools"}
    custom = [{**rows[0], "tools": [FUNCTION, {"type": "custom", "name": "free"}]}]
    mixed = read(custom)
    assert mixed.format == "generic"
    assert in_order(exported(mixed)) == in_order(custom)


def test_a_namespace_in_two_files_is_written_apart_and_a_flawed_field_is_left_out():
    body = b'[{"type": "namespace", "name": "s", "hue": NaN, "size": 2, "tools": [%s]}]'
    data = body % json.dumps(FUNCTION).encode()
    catalog = read_catalog([Source("a.json", data), Source("b.json", data)])
    raw = {"type": "namespace", "name": "s", "size": 2}
    rows = [(server.name, server.raw) for server in catalog.servers]
    assert rows == [("s (a)", raw), ("s (b)", raw)]
    assert [row["name"] for row in exported(catalog)] == ["s (a)", "s (b)"]
    assert [tool.server for tool in read(exported(catalog)).tools] == ["s (a)", "s (b)"]
