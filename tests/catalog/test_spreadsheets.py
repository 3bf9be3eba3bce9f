import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.catalog.formats.spreadsheets import csv_bytes, relabel_csv, tools_csv
from toolscope_core.model.plan import MergedTool, Relabel
from toolscope_core.model.tool import Tool

SIGNS = "=+-@\uff1d\uff0b\uff0d\uff20"
BEHIND = "[;|\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029:^~,\\s]"
FORMULAS = (*SIGNS, "\t", "\r", "\n", " =", '"=', "\u3000\uff1d")


def rows(content, delimiter=","):
    text = io.StringIO(content.decode("utf-8"), newline="")
    return list(csv.reader(text, delimiter=delimiter))


def test_the_tool_table_and_the_mapping():
    tool = Tool("s/007", "007", '=cmd|"x"', "s", {"type": "object", "properties": {}})
    table = rows(tools_csv([MergedTool(tool, ("s/007", "s/8")), MergedTool(Tool("n", "null"), ())]))
    assert table[0] == ["id", "server", "name", "description", "parameters", "tokens", "members"]
    assert table[1][:4] == ["s/007", "s", "007", '\'=cmd|"x"']
    assert json.loads(table[1][4]) == tool.schema
    assert table[1][6] == '["s/007","s/8"]'
    assert table[2][:5] == ["n", "", "null", "", ""]
    row = Relabel("a", "b", "-s", "1e5", "NA", "merged")
    heads, cells = rows(relabel_csv([row]))
    assert heads == ["old_id", "new_id", "server", "old_name", "new_name", "status"]
    assert cells == ["a", "b", "'-s", "1e5", "NA", "merged"]


FRONTS = ["", *FORMULAS, "a;=", "a; \uff1d", "a\t=", "a;\u200b=", "a\n=", 'a\r"-']
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
CELLS = st.tuples(st.sampled_from(FRONTS), TEXT).map("".join)


@pytest.mark.case(49)
@given(st.lists(CELLS, min_size=1, max_size=9))
def test_no_cell_is_a_formula_and_all_others_are_exact(cells):
    (_, written) = rows(csv_bytes(["x"] * len(cells), [cells]))
    for cell, back in zip(cells, written, strict=True):
        for part in re.split("[;\t]", back):
            assert not part.lstrip(' "\u3000').startswith(tuple(SIGNS))
        assert not back.startswith(FORMULAS)
        is_formula = cell.strip("\"' \u3000").startswith(FORMULAS) or re.search(BEHIND, cell)
        if not is_formula and cell[:1] == cell.strip()[:1]:
            assert back == cell


@pytest.mark.case(49)
@pytest.mark.parametrize("delimiter", list(";\t|"))
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=4))
def test_no_cell_is_a_formula_to_who_splits_at_another_separator(delimiter, table):
    for row in rows(csv_bytes(["x", "y"], table), delimiter):
        for cell in row:
            assert not cell.lstrip('\u200b "\u3000\n\r').startswith(tuple(SIGNS))


@pytest.mark.case(49)
@pytest.mark.parametrize("delimiter", list(":^~ ,"))
@pytest.mark.parametrize("formula", ["=1+1", "\uff1d1", "-2+3+cmd|'/C'!A0", "@SUM(1)", "\u200b=1"])
@pytest.mark.parametrize("end", ["", " b"])
def test_no_formula_is_behind_what_ordinary_text_has(delimiter, formula, end):
    (_, (_, cell, *_)) = [
        line.split(delimiter) for line in csv_bytes(["x y:z,^~", "y"], [[f"a{delimiter}{formula}{end}"]])
        .decode().replace("x y:z,^~,y", f"x{delimiter}y").splitlines()
    ]  # fmt: skip
    assert not cell.lstrip('\u200b "').startswith(tuple(SIGNS))


@pytest.mark.case(49)
@pytest.mark.parametrize(
    "text",
    [
        "x = 1, y == 2 and z => 3", "default: -1", '{"default":-1,"x":[1,-1.5e-9],"d":"f(x)"}', "10:30 - 11:00",
        "run -f a, -b or --flag", "ask @name, a@b.example", "a - b (c)", "f(x) >= 1", "~5 ^2", '["@id","@type"]',
    ],
)  # fmt: skip
def test_ordinary_text_is_exact(text):
    assert rows(csv_bytes(["x"], [[text]]))[1] == [text]


def test_text_that_is_no_unicode_is_still_written():
    assert b"\\ud800" in csv_bytes(["x"], [["\ud800"]])


@pytest.mark.parametrize("front", ["\u200b", "\u2060 ", "\ufeff'", "\u202e"])
@pytest.mark.parametrize("sign", ["=", "\ufe66", "\ufe62", "\u207c", "\uff1d"])
def test_a_sign_behind_what_is_not_seen_is_no_formula(front, sign):
    for cell in (sign + "1+1", front + sign + "1+1"):
        (_, (written,)) = rows(csv_bytes(["x"], [[cell]]))
        assert written.replace(" '", " ") == f"'{cell}"
