import pytest

from toolscope_core.decisions.document_rules import document_problems
from toolscope_core.model.cluster import Document

SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
BEFORE = Document("get_page", "Reads a page.", SCHEMA)


def problems(name="get_page", description="Reads a page.", schema=SCHEMA):
    return document_problems(Document(name, description, schema), BEFORE, frozenset({"taken"}))


def test_a_document_as_it_was_has_no_problem():
    assert problems() == ()
    assert problems(schema=None) == ()
    assert problems(name="read_page.v2-x") == ()


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"name": "read page"}, "'read page'"),
        ({"name": ""}, "1 to 64"),
        ({"name": "x" * 65}, "1 to 64"),
        ({"name": "taken"}, "another tool"),
        ({"description": "  "}, "description is empty"),
        ({"schema": {"type": "string"}}, "of an object"),
        ({"schema": {**SCHEMA, "properties": {"x": {"type": "strnig"}}}}, "properties/x/type"),
        ({"schema": {**SCHEMA, "required": ["x", "y"]}}, "`y` is required"),
        ({"schema": {**SCHEMA, "properties": {"x": False}}}, "`x`"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(changed, word):
    (problem,) = problems(**changed)
    assert word in problem


def test_a_name_that_was_always_odd_is_not_held_against_it():
    odd = Document("odd name", "Reads.", None)
    assert document_problems(odd, odd, frozenset({"odd name"})) == ()
