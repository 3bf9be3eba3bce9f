"""The parameters of a cluster's members side by side, and what sets them apart."""

from dataclasses import replace

import pytest

from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import TEXT, tool
from toolscope_core.merging.synthesis import synthesise
from toolscope_core.model.cluster import ArgumentMove
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Parameter
from ui.shared.cards.argument_panel import (
    HINTS,
    argument_table,
    declared,
    new_calls,
    no_longer_told,
)
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
    assert not any(cell.differs for cell in table["to"].cells)
    assert [cell.declared for cell in table["to"].cells] == ["string, required"] * 2
    shown = {cell.declared for cell in table["body"].cells}
    assert shown == {"string, optional", "string, optional, one of a | b"}
    assert [cell.differs for cell in table["body"].cells] == [False, True]


def test_what_servers_declare_of_effects_is_a_line_of_its_own(table):
    assert {cell.source for cell in table[HINTS].cells} == {"", "destructiveHint true"}
    assert any(cell.differs for cell in table[HINTS].cells)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, "any, optional"),
        ({"type": "integer", "default": 5}, "integer, optional, default 5"),
        ({"anyOf": [TEXT, {"type": "null"}]}, "string or null, optional"),
        ({"oneOf": [{"type": ["integer", "null"]}, TEXT]}, "integer or null or string, optional"),
        ({"enum": list("abcdefgh")}, "any, optional, one of a | b | c | d | e | f and 2 more"),
    ],
)
def test_a_declaration_in_one_line(schema, expected):
    assert declared(Parameter("p", False, schema)) == expected


STATES = {"type": "string", "enum": ["open", "shut"], "format": "uuid"}


@pytest.mark.parametrize(
    ("merged", "values", "expected"),
    [
        (STATES, (), ["required"]),
        ({"anyOf": [{"type": "null"}, STATES]}, (), ["required"]),
        ({**STATES, "enum": ["open"]}, (), ["required", "one of shut"]),
        ({**STATES, "enum": ["open", "closed"]}, (("shut", "closed"),), ["required"]),
        (TEXT, (), ["required", "one of open | shut", "format uuid"]),
    ],
)
def test_what_agents_are_no_longer_told_of_an_argument(merged, values, expected):
    move = ArgumentMove("state", "status", "map" if values else "rename", values)
    told = no_longer_told(
        Parameter("state", True, STATES), Parameter("status", False, merged), move
    )
    assert list(told) == expected


def test_the_line_of_a_merged_parameter_has_what_agents_read(table):
    assert table["to"].declared == "string, required"
    (lost,) = (cell.lost for cell in table["body"].cells if "one of" in cell.declared)
    assert lost == (("one of a | b",) if "one of" not in table["body"].declared else ())


@pytest.fixture
def gateway_card():
    tools = (
        tool("alpha", "send_letter", LETTER, to=TEXT, stamp=TEXT),
        tool("beta", "send_letter", LETTER, to=TEXT, colour=TEXT),
    )
    work, catalog_id = small_workspace.open_workspace(*tools)
    (cluster,) = review.queue(work.snapshot(catalog_id))
    card = review.card(work.snapshot(catalog_id), cluster)
    made = synthesise(card.tools, keep_all=True)
    cluster = replace(
        cluster,
        kind=made.kind,
        document=made.document,
        arguments=made.arguments,
        selector=made.selector,
    )
    yield replace(card, cluster=cluster)
    work.close()


def test_a_new_call_says_what_each_server_is_sent(gateway_card):
    sent = {one.tool_id: one for one in new_calls(gateway_card, '{"to": "Ann", "stamp": "x"}')}
    alpha, beta = (sent[one] for one in sorted(sent))
    assert alpha.arguments == {"to": "Ann", "stamp": "x"}
    assert (alpha.unsent, beta.unsent) == ((), ("stamp",))
    assert beta.arguments == {"to": "Ann"}
    nothing = new_calls(gateway_card, "{}")
    assert all("to" in one.missing for one in nothing)


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_a_new_call_that_is_no_object_is_refused(gateway_card, text):
    with pytest.raises(DecisionError):
        new_calls(gateway_card, text)
