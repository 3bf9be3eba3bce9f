"""Documents edited by people: what follows, what is refused, and the rows of the parameters."""

import json
from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import Functions, by_name
from toolscope_core.model.cluster import Document
from toolscope_core.model.errors import DecisionError
from ui.documents import edited_documents
from ui.documents.edited_documents import (
    Draft,
    ParameterRow,
    parsed,
    rows_of,
    schema_of,
    with_cells,
)


@pytest.fixture
def desk(own):
    work, catalog_id = own
    return Functions(work, edited_documents), catalog_id, work


# Documents -----------------------------------------------------------------------------------


def edited(draft, **changes):
    return replace(draft, document=replace(draft.document, **changes))


def renamed(draft, old, new):
    rows = [replace(r, name=new) if r.name == old else r for r in rows_of(draft)]
    schema, renames = schema_of(draft, rows)
    return Draft(replace(draft.document, schema=schema), renames)


def test_a_second_rename_is_still_told_from_the_first_name(desk):
    documents, i, work = desk
    mail = by_name(work, i, "send_mail")
    documents.edit(i, mail, renamed(documents.draft_of(i, mail), "to", "recipient"), "ann")
    mail = by_name(work, i, "send_mail")
    draft = documents.draft_of(i, mail)
    assert rows_of(draft)[0].origin == "to"
    draft = renamed(draft, "recipient", "addressee")
    assert draft.renames == {"to": "addressee"}
    documents.edit(i, mail, draft, "ann")
    assert all(a.lossless for a in by_name(work, i, "send_mail").arguments)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": "get_weather"}, "belongs to another tool"),
        ({"description": " "}, "the description is empty"),
        ({}, "nothing was changed"),
    ],
)
def test_an_edit_that_cannot_stand_is_refused(desk, changes, told):
    documents, i, work = desk
    mail = by_name(work, i, "send_mail")
    with pytest.raises(DecisionError, match=told):
        documents.edit(i, mail, edited(documents.draft_of(i, mail), **changes), "ann")
    assert work.snapshot(i).log == ()


# Rows of parameters --------------------------------------------------------------------------


SCHEMA = {
    "type": "object",
    "properties": {
        "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
        "days": {"type": "integer", "enum": [1, 7], "minimum": 1},
        "place": {"anyOf": [{"type": "string"}, {"type": "object"}], "description": "Where."},
    },
    "required": ["place", "unit"],
    "additionalProperties": False,
}


@pytest.fixture
def draft():
    return Draft(Document("get_weather", "Tell the weather.", SCHEMA))


LARGE = [pytest.param(name, marks=pytest.mark.nightly) for name in ("seal-tools", "ultratool")]


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["docker-mcp", "livemcpbench", *LARGE])
def test_a_form_that_nobody_touched_gives_every_schema_back_to_the_byte(benchmark_catalog, name):
    declared = [tool for tool in benchmark_catalog(name).tools if tool.schema is not None]
    declared = declared[:: len(declared) // 300 or 1]
    for one in declared:
        draft = Draft(Document(one.name, one.description, one.schema))
        rows = with_cells(rows_of(draft), {"edited_rows": {}, "added_rows": [], "deleted_rows": []})
        assert json.dumps(schema_of(draft, rows)[0]) == json.dumps(one.schema)
        if rows:  # one cell more leaves all that the others say as it was
            rows = with_cells(rows_of(draft), {"edited_rows": {0: {"description": "Which one."}}})
            changed = schema_of(draft, rows)[0]
            name, schema = next(iter(one.schema["properties"].items()))
            assert changed["properties"][name]["description"] == "Which one."
            properties = {**changed["properties"], name: schema}
            assert {**changed, "properties": properties} == one.schema
    assert len(declared) >= 300


def test_a_cell_changes_only_what_it_shows(draft):
    unit, days, place = rows_of(draft)
    rows = [
        replace(unit, description="Degrees.", required=False),
        replace(days, enum=("1", "14")),
        replace(place, type="string"),
        ParameterRow(name="lang", required=True, enum=("de",)),
    ]
    schema, _ = schema_of(draft, rows)
    made = schema["properties"]
    assert made["unit"] == {**SCHEMA["properties"]["unit"], "description": "Degrees."}
    assert made["days"] == {"type": "integer", "enum": [1, 14], "minimum": 1}
    assert made["place"] == {"type": "string", "description": "Where."}
    assert made["lang"] == {"type": "string", "enum": ["de"]}
    assert schema["required"] == ["place", "lang"]


def test_allowed_values_can_be_taken_away_and_need_not_fit(draft):
    unit, days, place = rows_of(draft)
    rows = [replace(unit, enum=()), replace(days, enum=("soon",))]
    rows.append(replace(place, type="string|null"))
    made = schema_of(draft, rows)[0]["properties"]
    assert "enum" not in made["unit"]
    assert made["days"]["enum"] == ["soon"]
    assert made["place"]["type"] == ["string", "null"]


@pytest.mark.parametrize("name", ["", " ", "days"])
def test_a_blank_or_repeated_parameter_name_is_refused(draft, name):
    unit, *others = rows_of(draft)
    with pytest.raises(DecisionError, match="blank or repeat"):
        schema_of(draft, [replace(unit, name=name), *others])


@pytest.mark.parametrize(
    ("text", "told"),
    [('{"type":\n x}', "line 2, column 2"), ("[]", "not an object"), ("[" * 100_000, "nested")],
)
def test_a_schema_that_cannot_be_read_says_where(text, told):
    with pytest.raises(DecisionError, match=told):
        parsed(text)
    assert parsed('{"type": "object"}') == {"type": "object"}
