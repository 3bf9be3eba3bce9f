"""The parameters of a cluster's members side by side, and what sets them apart."""

from dataclasses import replace

import pytest

from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import TEXT, tool
from toolscope_core.model.tool import Parameter
from ui.shared.cards.argument_panel import HINTS, argument_table, declared
from ui.shared.services import review

LETTER = "Send a letter to a person by mail."
ONE = tool("alpha", "send_letter", LETTER, to=TEXT, body=TEXT)
TWO = tool("beta", "send_letter", LETTER, to=TEXT, body={"type": "string", "enum": ["a", "b"]})


@pytest.fixture
def table():
    two = replace(TWO, annotations={"destructiveHint": True, "title": "x"})
    work, catalog_id = small_workspace.open_workspace(ONE, two)
    (cluster,) = review.queue(work.snapshot(catalog_id))
    card = review.card(work.snapshot(catalog_id), cluster)
    yield {line.name: line for line in argument_table(card)}
    work.close()


def test_equal_declarations_step_back_and_others_are_marked(table):
    assert not table["to"].differs
    assert [cell.declared for cell in table["to"].cells] == ["string, required"] * 2
    assert table["body"].differs
    shown = {cell.declared for cell in table["body"].cells}
    assert shown == {"string, optional", "string, optional, one of a | b"}
    assert [cell.differs for cell in table["body"].cells] == [False, True]


def test_what_servers_declare_of_effects_is_a_line_of_its_own(table):
    assert {cell.source for cell in table[HINTS].cells} == {"", "destructiveHint true"}
    assert table[HINTS].differs


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, "any, optional"),
        ({"type": "integer", "default": 5}, "integer, optional, default 5"),
        ({"enum": list("abcdefgh")}, "any, optional, one of a | b | c | d | e | f and 2 more"),
    ],
)
def test_a_declaration_in_one_line(schema, expected):
    assert declared(Parameter("p", False, schema)) == expected
