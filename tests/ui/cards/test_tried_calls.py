"""An old call tried on a merged tool; the merged tool as a signature; checks of a document."""

from dataclasses import replace

import pytest

from tests.merging.test_edited_maps import FOUND, NEW, OLD
from toolscope_core.merging.edited_maps import with_edited_map
from toolscope_core.merging.synthesis import document_of
from toolscope_core.model.errors import DecisionError
from ui.documents.argument_editor import signature, try_call

ALPHA = with_edited_map(OLD, FOUND, NEW.schema, {"moves": {"town": {"to": "city"}}})
DOCUMENT = document_of(NEW)


def test_a_whole_call_of_a_vendor_is_read_too():
    text = '{"function": {"name": "old", "arguments": "{\\"town\\": \\"Oslo\\"}"}}'
    assert try_call(OLD, ALPHA, DOCUMENT, text).new == {"city": "Oslo"}


def test_what_is_lost_and_what_the_merged_tool_refuses_is_told():
    tried = try_call(OLD, ALPHA, DOCUMENT, '{"days": 3}')
    assert tried.losses == ("days",) and not tried.undone
    assert "required property" in tried.problems[0]


@pytest.mark.parametrize("text", ["{", "[1]", "[" * 100_000])
def test_what_is_no_object_is_refused_in_words(text):
    with pytest.raises(DecisionError, match="JSON object"):
        try_call(OLD, ALPHA, DOCUMENT, text)


@pytest.mark.parametrize(
    "hostile",
    [
        {"$ref": "http://127.0.0.1:9/schema"},
        {"$ref": "#/$defs/nowhere"},
        {"type": "string", "pattern": "(?<a"},
        {"type": "string", "pattern": "\udcff"},
    ],
)
def test_a_schema_that_no_validator_reads_refuses_nothing_and_fetches_nothing(hostile):
    schema = {"type": "object", "properties": {"city": hostile}}
    document = replace(DOCUMENT, schema=schema)
    tried = try_call(OLD, ALPHA, document, '{"town": "Oslo"}')
    assert tried.new == {"city": "Oslo"} and not tried.problems
    values = {"moves": {"unit": {"to": "city", "values": [["c", "celsius"], ["f", "far"]]}}}
    assert with_edited_map(OLD, FOUND, schema, values).moves


def test_the_signature_says_types_values_defaults_and_what_is_optional():
    scale = '  scale?: "celsius" | "fahrenheit"'
    assert signature(DOCUMENT).splitlines() == ["new(", "  city: string,", scale, ")"]
