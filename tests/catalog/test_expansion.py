"""Small files that name a schema many times: what is read takes work in proportion to their size.

Work is counted in calls of what follows a reference, which no machine makes faster or slower.
"""

import json

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.support.catalogs import read_openapi, read_schemas
from tests.support.properties import examples
from toolscope_core.catalog.formats import flattening, operations
from toolscope_core.catalog.schema import definitions, references
from toolscope_core.catalog.schema.budget import measure

PLACES = {"tool": "#/$defs/", "openapi": "#/components/schemas/"}


def read(form, schemas, start="S0"):
    place = PLACES[form]
    text = json.dumps(schemas).replace("@", place)
    named = json.loads(text)
    top = {"$ref": f"{place}{start}"}
    if form == "tool":
        schema = {"type": "object", "$defs": named, "allOf": [top, top]}
        return read_schemas(schema)
    body = {"content": {"application/json": {"schema": top}}}
    operation = {"operationId": "a", "requestBody": body, "responses": {}}
    return read_openapi({"/a": {"post": operation}}, components={"schemas": named})


@pytest.fixture
def followed(monkeypatch):
    """How often a reference was followed."""
    count = [0]
    for module in (references, definitions, operations, flattening):
        real = module.resolve

        def counted(root, reference, real=real):
            count[0] += 1
            return real(root, reference)

        monkeypatch.setattr(module, "resolve", counted)
    return count


def doubled(n):
    """A chain in which each schema is twice the next: 2 ** n if every naming is followed."""
    chain = {f"S{i}": {"allOf": [{"$ref": f"@S{i + 1}"}] * 2} for i in range(n)}
    return {**chain, f"S{n}": {"type": "object", "properties": {"x": {"type": "string"}}}}


@pytest.mark.parametrize("form", PLACES)
def test_a_chain_of_doubled_parts_is_followed_once_a_link(followed, form):
    counts = []
    for n in (10, 20, 40):
        followed[0] = 0
        (tool,) = read(form, doubled(n)).tools
        assert "x" in json.dumps(tool.schema)
        flattening.plain_object(tool.schema)
        counts.append(followed[0])
    assert counts[2] <= 5 * counts[0], counts


@pytest.mark.parametrize("form", PLACES)
def test_a_part_that_names_itself_twice_ends(followed, form):
    assert len(read(form, {"S0": {"allOf": [{"$ref": "@S0"}] * 2}}).tools) == 1
    assert followed[0] < 50


def ring(n):
    """Schemas in a circle, each a part of the one before and a property of the one after."""
    return {
        f"S{i}": {
            "allOf": [{"$ref": f"@E{i}"}],
            "properties": {
                "next": {"allOf": [{"$ref": f"@S{(i + 1) % n}"}]},
                "back": {"$ref": f"@S{(i - 1) % n}"},
            },
        }
        for i in range(n)
    } | {f"E{i}": {"type": "object", "properties": {f"e{i}": {}}} for i in range(n)}


def diamonds(n):
    """Each schema has two parts, which share the next."""
    schemas = {"S0": {"properties": {"x": {}}}}
    for i in range(n):
        sides = {f"{side}{i}": {"allOf": [{"$ref": f"@S{i}"}], "title": side} for side in "LR"}
        both = [{"$ref": f"@{side}{i}"} for side in "LR"]
        schemas |= {**sides, f"S{i + 1}": {"allOf": both}}
    return schemas


@pytest.mark.parametrize("form", PLACES)
@pytest.mark.parametrize(("shape", "sizes"), [(ring, (25, 50, 100)), (diamonds, (10, 20, 40))])
def test_work_and_result_grow_as_the_number_of_schemas(followed, form, shape, sizes):
    counts, extents = [], []
    for n in sizes:
        followed[0] = 0
        (tool,) = read(form, shape(n), "S0" if shape is ring else f"S{n}").tools
        counts.append(followed[0] / n)
        extents.append(measure(tool.schema).values / n)
    assert max(counts) <= 1.5 * min(counts), counts
    assert extents[-1] <= 1.2 * extents[0], extents


def graphs():
    """Schemas that name each other at random: circles, diamonds, rings."""
    ends = st.lists(st.integers(0, 14), min_size=0, max_size=4)
    words = st.sampled_from(["allOf", "properties", "anyOf", "items"])
    return st.lists(st.tuples(words, ends), min_size=1, max_size=15)


@examples(40, suppress_health_check=list(HealthCheck))
@given(graphs(), st.sampled_from(list(PLACES)))
def test_whatever_names_whatever_the_work_is_bounded(followed, drawn, form):
    schemas = {}
    for row, (word, ends) in enumerate(drawn):
        parts = [{"$ref": f"@S{end % len(drawn)}"} for end in ends]
        value = {"properties": {f"p{i}": part for i, part in enumerate(parts)}, "items": {}}
        schemas[f"S{row}"] = {word: value.get(word, parts) if word != "items" else parts[:1]}
    followed[0] = 0
    catalog = read(form, schemas)
    assert catalog.tools or catalog.problems
    size = sum(len(ends) + 1 for _, ends in drawn)
    assert followed[0] <= 40 * size * len(drawn), (followed[0], size)


def test_a_type_with_blanks_is_read_at_once():
    schema = {"type": "object", "properties": {"a": {"type": "string" + " " * 200_000}}}
    (tool,) = read_schemas(schema).tools
    assert tool.parameters[0].type == "string"
