"""import(export(x)) = x: any record of any shape, unknown fields and any script included."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.catalog.test_schemas import schemas
from toolscope_core.catalog import FORMATS, Source, read_catalog, write_toolset
from toolscope_core.catalog.shapes import SHAPES
from toolscope_core.datamodel import MergedTool

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
    shape = SHAPES[format]
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
            row["results"] = {"type": "object", "properties": {"r": {"type": "string"}}}
        if "id" in shape.places:
            row["id"] = f"id {number}"
        if format == "neutral":
            row["server"], row["members"] = draw(st.sampled_from(["", "s"])), [f"id {number}"]
        rows.append(row)
    return rows


def read(value, forced=None):
    return read_catalog([Source("x.json", json.dumps(value).encode())], forced)


def exported(catalog):
    kept = [MergedTool(tool, (tool.id,)) for tool in catalog.tools]
    return write_toolset(kept, catalog.servers, catalog.format)


@pytest.mark.parametrize("format", FORMATS)
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


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
def test_any_shape_carries_what_it_can_of_any_other(format, data):
    other = data.draw(st.sampled_from(FORMATS))
    catalog = read(data.draw(records(other)), other)
    kept = [MergedTool(tool, (tool.id,)) for tool in catalog.tools]
    back = read(write_toolset(kept, catalog.servers, format), format)
    assert sorted((t.name, t.description) for t in back.tools) == sorted(
        (t.name, t.description) for t in catalog.tools
    )
    assert sorted(json.dumps(t.schema, sort_keys=True) for t in back.tools) == sorted(
        json.dumps(t.schema, sort_keys=True) for t in catalog.tools
    )
