"""Records that some client of MCP cannot read are mended without loss, or named."""

import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import accepting
from toolscope_core.catalog.formats.mcp_records import readable_record, readable_results

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
        ({"a": header("bad name\r\nX: y")}, "header name"),
        ({"a": header(5)}, "header name"),
        ({"a": header("A"), "b": header("a")}, "is given twice"),
        ({"a": header("A", "number")}, "a parameter that"),
        ({"a": {"type": "array", "items": header("A")}}, "at a place"),
        ({"a": {"anyOf": [{"properties": {"b": header("A")}}]}}, "at a place"),
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


# What tools say of their results, as clients compile it: never less is taken than before.

TEXT = {"type": "string"}


def results(**parts):
    return {"type": "object", **parts}


def part(schema):
    """Results with one part."""
    return results(properties={"a": schema})


@pytest.mark.parametrize(
    "fine",
    [
        results(),
        results(properties={"a": {"$ref": "#/$defs/a"}}, **{"$defs": {"a": TEXT}}),
        results(**{"$schema": "http://json-schema.org/draft-07/schema#"}),
        results(**{"$schema": "https://json-schema.org/draft/2020-12/schema"}),
        results(properties={"kids": {"type": "array", "items": {"$ref": "#"}}}),
        results(anyOf=[results(required=["a"]), {"type": "null"}]),
        part({"pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}),
        results(properties={"id": TEXT, "$ref": TEXT, "pattern": TEXT}),
    ],
)
def test_what_all_clients_compile_stays(fine):
    assert readable_results(fine) == (fine, "")


@pytest.mark.parametrize(
    "other",
    [
        *(None, True, "text", [], {}),
        {"type": "array", "items": TEXT},
        {"type": ["object", "null"]},
        {"anyOf": [results(), {"type": "array"}]},
    ],
)
def test_what_is_no_object_is_left_out(other):
    schema, message = readable_results(other)
    assert schema is None
    assert "not an object" in message


@pytest.mark.parametrize(
    ("odd", "mended"),
    [
        ({"properties": {"a": TEXT}}, part(TEXT)),
        ({"$ref": "#/$defs/a", "$defs": {"a": results()}}, results()),
        (part({"$ref": "#/$defs/no"}), part({})),
        (part({"default": {"$ref": "#/nothing"}}), part({})),
        (part({"$ref": "#/properties/a"}), part({})),
        (accepting(a={"$ref": "#a"}, b={"$anchor": "a", **TEXT}),
         accepting(a={"$ref": "#/properties/b"}, b=TEXT)),
        (results(**{"$schema": "https://x.test/own"}), results()),
        (results(**{"$schema": "http://json-schema.org/draft-04/schema#"}),
         results(**{"$schema": "https://json-schema.org/draft/2020-12/schema"})),
        (results(id="http://x.test/a", properties={"id": TEXT}), results(properties={"id": TEXT})),
        (part({"items": [TEXT], "additionalItems": False}), part({"prefixItems": [TEXT]})),
        (part({**TEXT, "nullable": True}), part({"type": ["string", "null"]})),
        (part({"enum": []}), part({})),
        (part({"pattern": "(?P<x>a)"}), part({})),
        (results(patternProperties={r"\Aa": TEXT, "b": TEXT}, additionalProperties=False), results()),
        (results(**{"not": {"pattern": r"\Aa"}}), results()),
        (results(oneOf=[{"pattern": r"\Aa"}, TEXT]), results(anyOf=[{}, TEXT])),
    ],
)  # fmt: skip
def test_what_not_all_compile_is_said_in_another_way(odd, mended):
    schema, message = readable_results(odd)
    assert schema == mended
    assert "outputSchema" in message and "compile" in message
    Draft202012Validator.check_schema(mended)
    assert readable_results(mended) == (mended, "")


@pytest.mark.parametrize(
    ("pattern", "is_read"),
    [
        *((one, True) for one in (r"^\d{4}-\d{2}$", r"[^\w.-]+@\S+", r"(?:a|b)*?\.", r"(a)\1")),
        *((one, True) for one in (r"[-\w]", r"a{2,}", r"(?<=a)b", r"[\x41-\u0050]", r"\/\bé")),
        *((one, False) for one in (r"a\Z", r"(?i)a", r"a\-b", r"[\w-.]", r"(?P<n>a)", r"a*+")),
        *((one, False) for one in (r"a{,3}", r"{", r"]", r"(?=a)*", r"^*", r"\_", r"\111")),
    ],
)
def test_a_pattern_that_javascript_does_not_read_goes(pattern, is_read):
    schema, _ = readable_results(part({"pattern": pattern}))
    assert schema["properties"]["a"] == ({"pattern": pattern} if is_read else {})
