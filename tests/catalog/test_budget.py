"""What a document writes out where it refers to itself: linear, within one budget, and said so.

Work is counted in calls of what follows a reference, which no machine makes faster or slower.
"""

import json

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.support.catalogs import accepting, answer, component, read_openapi
from tests.support.catalogs import read_schemas as read
from tests.support.properties import examples
from toolscope_core.catalog import readers
from toolscope_core.catalog.flaws import MAX_DEPTH
from toolscope_core.catalog.formats import parameter_names
from toolscope_core.catalog.schema import definitions, walking
from toolscope_core.catalog.schema.pointers import ExpansionBudget, measure
from toolscope_core.model.tool import canonical_json


def named(name):
    return {"$ref": f"#/$defs/{name}"}


def openapi(operations, schemas):
    def get(row, schema):
        return {"get": {"operationId": f"op{row}", "responses": {"200": answer(schema)}}}

    paths = {f"/p{row}": get(row, schema) for row, schema in enumerate(operations)}
    return read_openapi(paths, components={"schemas": schemas})


def size(tool):
    return measure([tool.schema, tool.returns]).values


@pytest.fixture
def small_budget(monkeypatch):
    monkeypatch.setattr(readers, "ExpansionBudget", lambda: ExpansionBudget(2_000))


def diamonds(n):
    """Each schema holds the next twice: 2 ** n values if everything is written out."""
    schemas = {
        f"S{i}": {"properties": {side: {"allOf": [named(f"S{i + 1}")]} for side in "ab"}}
        for i in range(n)
    }
    last = {f"S{n}": {"properties": {"y": {"type": "string"}}}}
    return {**accepting(x=named("S0")), "$defs": {**schemas, **last}}


def test_what_is_too_large_written_out_stays_as_it_is_and_is_named(small_budget):
    catalog = read(diamonds(40))
    (tool,) = catalog.tools
    assert size(tool) < 3_000
    (finding,) = (item for item in catalog.findings if item.code == "shortened-schema")
    assert (finding.severity, finding.field) == ("info", "parameters")
    assert "allOf" in finding.message
    assert not [item for item in read(diamonds(4)).findings if item.code == "shortened-schema"]


def test_all_tools_of_a_document_share_one_budget(small_budget):
    catalog = read(*[diamonds(6)] * 30)
    assert len(catalog.tools) == 30
    assert sum(map(size, catalog.tools)) < 30 * size(read(diamonds(0)).tools[0]) * 6 + 2_000
    shortened = {item.tool_id for item in catalog.findings if item.code == "shortened-schema"}
    assert 0 < len(shortened) < 30


def graphs():
    """Schemas whose parts, properties and items name each other at random."""
    ends = st.lists(st.integers(0, 9), max_size=3)
    return st.lists(st.tuples(ends, ends, ends, st.booleans()), min_size=1, max_size=10)


@pytest.mark.case(61)
@examples(40, suppress_health_check=list(HealthCheck))
@given(graphs())
def test_whatever_leads_wherever_work_and_result_keep_their_limits(small_budget, followed, drawn):
    defs = {}
    followed[0] = 0
    for row, (whole, inner, plain, titled) in enumerate(drawn):
        beside = {"title": f"t{row}"} if titled else {}
        refs = [
            [named(f"S{end % len(drawn)}") | beside for end in ends]
            for ends in (whole, inner, plain)
        ]
        properties = {f"i{i}": {"allOf": [ref]} for i, ref in enumerate(refs[1])}
        properties |= {f"p{row}{i}": ref for i, ref in enumerate(refs[2])}
        defs[f"S{row}"] = {
            "type": "object",
            **({"allOf": refs[0]} if refs[0] else {}),
            "properties": {**properties, f"own{row}": {"type": "string"}},
        }
    every = {f"x{row}": named(f"S{row}") for row in range(len(drawn))}
    schema = {"type": "object", "properties": every, "$defs": defs}
    catalog = read(schema)
    (tool,) = catalog.tools
    named_parts = sum(len(ends) for row in drawn for ends in row[:3])
    assert followed[0] <= 40 * (named_parts + len(drawn)) * len(drawn)
    extent = measure(tool.schema)
    assert extent.values <= measure(schema).values * 2 + 2_000
    assert extent.levels <= MAX_DEPTH + 10
    assert canonical_json(parameter_names.plain_object(tool.schema) or {})
    assert all(f"own{row}" in canonical_json(tool.schema) for row in range(len(drawn)))


def everything_leads_to_everything(n):
    return {
        f"S{i}": {"properties": {f"p{j}": component(f"S{j}") for j in range(n)}} for i in range(n)
    }


def test_operations_share_what_fits_the_same_for_all(small_budget):
    schemas = everything_leads_to_everything(12)
    catalog = openapi([component(f"S{row}") for row in range(12)], schemas)
    assert len(catalog.tools) == 12
    carried = [len(tool.returns.get("$defs", {})) for tool in catalog.tools]
    assert min(carried) == max(carried) > 0, "the same share for all"
    assert sum(map(size, catalog.tools)) < 4_000
    findings = [item for item in catalog.findings if item.code == "shortened-schema"]
    assert len(findings) == 12
    left_out = 12 - carried[0]
    assert f"{left_out} of 12 schemas" in findings[0].message


def test_what_fits_is_carried_whole_beside_what_does_not(small_budget):
    schemas = everything_leads_to_everything(40) | {"Small": {"properties": {"a": component("B")}}}
    schemas["B"] = {"type": "string"}
    catalog = openapi([component("S0"), component("Small")], schemas)
    big, small = catalog.tools
    assert "B" in small.returns["$defs"]
    shortened = [item.tool_id for item in catalog.findings if item.code == "shortened-schema"]
    assert shortened == [big.id]


def shared_parameters(operations, parameters):
    """Many paths that are one item, whose parameters all of them would carry."""
    listed = [{"name": f"q{i}", "in": "query", "schema": {}} for i in range(parameters)]
    item = {"get": {"responses": {}, "description": "Reads."}, "parameters": listed}
    paths = {f"/p{i}": {"$ref": "#/components/pathItems/one"} for i in range(operations)}
    return read_openapi(paths, components={"pathItems": {"one": item}})


def test_what_operations_share_by_reference_is_charged(small_budget):
    catalog = shared_parameters(30, 60)
    assert len(catalog.tools) + len(catalog.problems) == 30
    assert catalog.tools
    assert "expands the document" in catalog.problems[0].reason
    assert sum(map(size, catalog.tools)) < 5_000


def test_a_key_as_long_as_a_file_is_not_repeated_for_each_value_below_it():
    key = "k" * 500_000
    schema = {"type": "object", "properties": {"a": {"default": {key: list(range(20_000))}}}}
    catalog = read(schema)
    assert len(catalog.tools) == 1
    assert max((len(item.field) for item in catalog.findings), default=0) <= 300


def test_alternatives_inside_alternatives_are_opened_within_a_limit():
    schemas = {
        f"S{i}": {"anyOf": [{**named(f"S{i + 1}"), "title": f"{n}"} for n in range(10)]}
        for i in range(14)
    }
    last = {"S14": {"type": "object", "properties": {"y": {"type": "string"}}}}
    schema = {"type": "object", "anyOf": [named("S0")], "$defs": {**schemas, **last}}
    assert parameter_names.plain_object(schema)["type"] == "object"


PLACES = {"tool": "#/$defs/", "openapi": "#/components/schemas/"}


def read_form(form, schemas, start="S0"):
    place = PLACES[form]
    text = json.dumps(schemas).replace("@", place)
    named = json.loads(text)
    top = {"$ref": f"{place}{start}"}
    if form == "tool":
        schema = {"type": "object", "$defs": named, "allOf": [top, top]}
        return read(schema)
    operation = {"operationId": "a", "requestBody": answer(top), "responses": {}}
    return read_openapi({"/a": {"post": operation}}, components={"schemas": named})


@pytest.fixture
def followed(monkeypatch):
    """How often a reference was followed."""
    count = [0]
    for module in (walking, definitions):
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
    } | {f"E{i}": {"type": "object", "properties": {f"e{i}": {}, "x": {}}} for i in range(n)}


def sides(n):
    """Each schema has two parts, which share the next."""
    schemas = {"S0": {"properties": {"x": {}}}}
    for i in range(n):
        both_sides = {f"{side}{i}": {"allOf": [{"$ref": f"@S{i}"}], "title": side} for side in "LR"}
        both = [{"$ref": f"@{side}{i}"} for side in "LR"]
        schemas |= {**both_sides, f"S{i + 1}": {"allOf": both}}
    return schemas


@pytest.mark.parametrize("form", PLACES)
@pytest.mark.parametrize(
    ("shape", "sizes"), [(ring, (25, 50, 100)), (sides, (10, 20, 40)), (doubled, (10, 20, 40))]
)
def test_work_and_result_grow_as_the_number_of_schemas(followed, form, shape, sizes):
    counts, extents = [], []
    for n in sizes:
        followed[0] = 0
        (tool,) = read_form(form, shape(n), f"S{n}" if shape is sides else "S0").tools
        assert '"x"' in json.dumps(tool.schema)
        parameter_names.plain_object(tool.schema)
        counts.append(followed[0] / n)
        extents.append(measure(tool.schema).values / n)
    assert max(counts) <= 1.5 * min(counts), counts
    assert extents[-1] <= 1.2 * extents[0], extents


def test_a_type_with_blanks_is_read_at_once():
    schema = {"type": "object", "properties": {"a": {"type": "string" + " " * 200_000}}}
    (tool,) = read(schema).tools
    assert tool.parameters[0].type == "string"
