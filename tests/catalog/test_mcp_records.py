"""Records that some client of MCP cannot read are mended without loss, or named."""

import pytest

from tests.support.catalogs import accepting
from toolscope_core.catalog.formats.mcp_records import readable_record

PLAIN = accepting(id={"type": "string"}, list={"type": "array", "items": True})


def record(**parts):
    return {"name": "store", "description": "Store it.", "inputSchema": PLAIN, **parts}


def parameters(**properties):
    return record(inputSchema=accepting(**properties))


def header(name, kind="string"):
    return {"type": kind, "x-mcp-header": name}


@pytest.mark.parametrize(
    "fine",
    [
        record(outputSchema=PLAIN),
        record(title="Store", icons=[{"src": "a.png", "sizes": ["48x48"], "theme": "dark"}]),
        record(annotations={"readOnlyHint": True, "audience": ["user"]}, _meta={"a": 1}),
        record(execution={"taskSupport": "optional"}),
        parameters(a=accepting(b=header("B")), c=header("C", "integer")),
    ],
)
def test_a_record_that_all_clients_read_stays_as_it_is(fine):
    readable = readable_record(fine)
    assert readable.record is fine
    assert (readable.faults, readable.obstacle) == ((), "")


def test_true_and_false_become_objects_that_take_the_same():
    schema = accepting(any=True, none=False, id={})
    readable = readable_record(record(inputSchema=schema, outputSchema=schema))
    objects = {"any": {}, "none": {"not": {}}, "id": {}}
    assert readable.record["inputSchema"]["properties"] == objects
    assert readable.record["outputSchema"]["properties"] == objects
    fixes = [("any", "{}"), ("none", '{"not":{}}')]
    assert [(one.value, one.fix) for one in readable.faults] == fixes * 2
    assert "'any' is declared as true" in readable.faults[0].message
    assert not readable.obstacle


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"a": header("bad name\r\nX: y")}, "is no name of a header"),
        ({"a": header(5)}, "is no name of a header"),
        ({"a": header("A"), "b": header("a")}, "is given twice"),
        ({"a": header("A", "number")}, "no text, integer or boolean"),
        ({"a": {"type": "array", "items": header("A")}}, "stands where no parameter is"),
        ({"a": {"anyOf": [{"properties": {"b": header("A")}}]}}, "stands where no parameter is"),
    ],
)
def test_a_header_that_is_not_valid_cannot_be_mended(schema, words):
    readable = readable_record(parameters(**schema))
    assert words in readable.obstacle
    assert [one.fix for one in readable.faults] == [""]


@pytest.mark.parametrize(
    ("odd", "left"),
    [
        ({"title": 5}, {}),
        ({"annotations": {"readOnlyHint": "yes", "title": "T"}}, {"annotations": {"title": "T"}}),
        ({"icons": {}}, {}),
        ({"icons": [{"src": "a", "sizes": "48x48"}]}, {}),
        ({"execution": {"taskSupport": "maybe"}}, {}),
        ({"_meta": []}, {}),
        ({"outputSchema": None}, {}),
        ({"outputSchema": {"type": "array"}}, {}),
    ],
)
def test_what_else_no_client_reads_is_left_out(odd, left):
    readable = readable_record({"name": "store", "inputSchema": PLAIN, **odd})
    assert readable.record == {"name": "store", "inputSchema": PLAIN, **left}
    assert [one.value for one in readable.faults] == list(odd)
    assert not readable.obstacle
