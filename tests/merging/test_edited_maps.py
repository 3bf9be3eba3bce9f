"""Argument maps by hand: what they change, what they lose, what is told."""

import pytest

from toolscope_core.catalog.calls import map_call, unmap_call
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.merging.edited_maps import with_edited_map
from toolscope_core.model.cluster import ArgumentMove
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Tool
from ui.documents.argument_editor import DROPPED, MapRow, given_by, map_rows, reachable

UNIT = {"type": "string", "enum": ["c", "f"]}
WORD = {"type": "string", "enum": ["celsius", "fahrenheit"]}


def tool(name, required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(f"s/{name}", name, "Weather.", "s", schema)


OLD = tool("old", ["town"], town={"type": "string"}, unit=UNIT, days={"type": "integer"})
NEW = tool("new", ["city"], city={"type": "string"}, scale=WORD)
FOUND = argument_map(OLD, NEW)
VALUES = [["c", "celsius"], ["f", "fahrenheit"]]


def edited_map(**parts):
    return with_edited_map(OLD, FOUND, NEW.schema, parts)


def test_a_rename_and_a_table_of_values_translate_there_and_back():
    alpha = edited_map(
        moves={"town": {"to": "city"}, "unit": {"to": "scale", "values": VALUES}},
        dropped={"days": "always today"},
    )
    call = {"town": "Oslo", "unit": "f"}
    there = map_call(alpha, call)
    assert there.arguments == {"city": "Oslo", "scale": "fahrenheit"}
    assert unmap_call(alpha, there.arguments, {}).arguments == call
    assert alpha.lossy == () and alpha.dropped == {"days": "always today"}
    assert ArgumentMove("unit", "scale", "map", (("c", "celsius"), ("f", "fahrenheit"))) in (
        alpha.moves
    )


@pytest.mark.parametrize(
    ("values", "sentence_part"),
    [
        ([["c", "celsius"]], "has no new value"),
        ([["c", "celsius"], ["f", "celsius"]], "told apart"),
        ([["c", "celsius"], ["f", "kelvin"]], "does not take"),
    ],
)
def test_a_table_of_values_with_a_fault_is_lossy(values, sentence_part):
    alpha = edited_map(moves={"town": {"to": "city"}, "unit": {"to": "scale", "values": values}})
    assert any(sentence_part in sentence for sentence in alpha.lossy)


def test_two_arguments_that_become_one_are_told():
    alpha = edited_map(moves={"town": {"to": "city"}, "unit": {"to": "city"}})
    assert any("`town` and `unit` of `old`" in sentence for sentence in alpha.lossy)


def test_a_constant_is_always_sent():
    alpha = edited_map(moves={"town": {"to": "city"}}, constants={"scale": "celsius"})
    assert map_call(alpha, {"town": "Oslo"}).arguments == {"city": "Oslo", "scale": "celsius"}


def test_a_target_that_was_renamed_is_followed_and_one_that_is_gone_is_lost():
    schema = {"type": "object", "properties": {"place": {"type": "string"}}}
    wish = {"moves": {"town": {"to": "city"}}}
    assert with_edited_map(OLD, FOUND, schema, wish, {"city": "place"}).moves[0].target == "place"
    assert "town" in with_edited_map(OLD, FOUND, schema, wish).dropped


def test_the_table_gives_back_only_what_it_says_otherwise():
    rows = list(map_rows(OLD, FOUND))
    assert given_by(OLD, FOUND, rows, "") == {}
    rows[0] = MapRow("town", "string", "city")
    rows[1] = MapRow("unit", "string", "scale", '{"c": "celsius", "f": "fahrenheit"}')
    rows[2] = MapRow("days", "integer", DROPPED, reason="always today")
    wish = given_by(OLD, FOUND, rows, '{"x": 1}')
    assert wish["moves"]["unit"] == {"to": "scale", "values": VALUES}
    assert wish["dropped"] == {"days": "always today"}
    assert wish["constants"] == {"x": 1}


@pytest.mark.parametrize(
    ("row", "constants", "sentence_part"),
    [
        (MapRow("days", "integer", DROPPED, reason=" "), "", "without a reason"),
        (MapRow("unit", "string", "scale", "c=celsius"), "", "use a JSON object"),
        (MapRow("unit", "string", "scale"), "[1]", "use a JSON object"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(row, constants, sentence_part):
    with pytest.raises(DecisionError, match=sentence_part):
        given_by(OLD, FOUND, [row], constants)


def test_old_values_that_are_no_texts_are_read_as_they_are():
    old = tool("old", level={"type": "integer", "enum": [1, 2]})
    alpha = argument_map(old, NEW)
    row = MapRow("level", "integer", "scale", '{"1": "celsius", "2": "fahrenheit"}')
    wish = given_by(old, alpha, [row], "")
    assert wish["moves"]["level"]["values"] == [[1, "celsius"], [2, "fahrenheit"]]


def test_a_required_argument_without_a_place_is_named():
    assert reachable([OLD], [edited_map(dropped={"town": "no need"})]) == (("old", "town"),)
