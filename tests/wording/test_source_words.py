"""Names and texts that OpenAPI operations were declared under, read in place of the made ones."""

from dataclasses import replace

import pytest

from tests.support.catalogs import read_openapi
from toolscope_core.catalog.operation_names import identifier
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import declared_as, source_name, source_text
from ui.shared.tools.catalog_tables import matching, tool_rows


def read(method="post", path="/x", **operation):
    return read_openapi({path: {method: operation}})


def tool(**operation):
    return read(**operation).tools[0]


LABELS = {
    "operationId": "actions/add-custom-labels",
    "summary": "Add custom labels to a runner",
    "description": "Adds them to one that an organization hosts itself.",
}


@pytest.mark.parametrize(
    ("operation", "name", "spelled"),
    [
        (LABELS, "actionsadd_custom_labels", "actions/add-custom-labels"),
        ({"operationId": "list_users__get"}, "list_users", "list_users"),
        ({"operationId": "…", "summary": "Tidy the user's desk"}, "Tidy_the_users_desk",
         "Tidy the user's desk"),
        ({"operationId": "获取文件"}, "HuoQuWenJian", "获取文件"),
        ({"method": "get", "path": "/sacks/{sack}"}, "GET_sackssack", "GET /sacks/{sack}"),
    ],
)  # fmt: skip
def test_the_name_is_made_for_agents_and_the_source_keeps_its_separators(operation, name, spelled):
    made = tool(**operation)
    assert (made.name, source_name(made)) == (name, spelled)
    assert made.name == identifier(spelled)


def test_the_second_of_a_name_is_still_known_by_its_source():
    catalog = read_openapi({"/x": {"get": LABELS, "put": LABELS}})
    assert [made.name[-2:] for made in catalog.tools] == ["ls", "_2"]
    assert {source_name(made) for made in catalog.tools} == {"actions/add-custom-labels"}


def test_a_renamed_tool_and_one_of_no_document_are_called_by_their_names():
    assert source_name(replace(tool(**LABELS), name="label_runner")) == "label_runner"
    renamed = replace(tool(**LABELS), name="actionsadd_custom_labels_all")
    assert source_name(renamed) == renamed.name
    for told in ("odd", {"summary": 7}):
        odd = Tool("t", "t", "Does it.", raw={"_meta": {"toolscope/openapi": told}})
        assert (source_name(odd), source_text(odd), declared_as(odd)) == ("t", "Does it.", "")


def test_the_summary_stands_before_the_description_unless_it_says_the_same():
    assert source_text(tool(**LABELS)) == f"{LABELS['summary']}. {LABELS['description']}"
    alone = tool(operationId="a", summary="Add it")
    assert source_text(alone) == alone.description == "Add it"
    again = tool(operationId="a", summary="Add it.", description="This will add it twice.")
    assert source_text(again) == again.description


def test_the_list_finds_and_shows_it():
    catalog = read(**LABELS)
    rows = tool_rows(catalog, {made.id: 1 for made in catalog.tools})
    assert rows[0].operation == f"{LABELS['operationId']} · {LABELS['summary']}"
    assert matching(rows, "actions/add runner", None) == rows
    assert matching(rows, "actions/drop", None) == ()
    same = read(operationId="add_labels", description="Adds.")
    assert tool_rows(same, {made.id: 1 for made in same.tools})[0].operation == ""


def test_ids_fingerprints_and_what_agents_see_stay_as_they_were():
    made, bare = tool(**LABELS), tool(**{**LABELS, "summary": "Quite another"})
    assert (made.id, made.fingerprint) == (bare.id, bare.fingerprint)
    assert made == replace(bare, raw=made.raw)
    assert made.description == LABELS["description"]
