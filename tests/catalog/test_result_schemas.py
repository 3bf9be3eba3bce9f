"""What tools say of their results, as clients compile it: never less is taken than before."""

import pytest
from jsonschema import Draft202012Validator

from tests.support.catalogs import accepting
from toolscope_core.catalog.formats.mcp_records import readable_results

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
    assert "declares no object" in message


@pytest.mark.parametrize(
    ("odd", "mended"),
    [
        ({"properties": {"a": TEXT}}, part(TEXT)),
        ({"$ref": "#/$defs/a", "$defs": {"a": results()}}, results(**{"$defs": {"a": results()}})),
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
