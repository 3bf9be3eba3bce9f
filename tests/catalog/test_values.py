"""Tables and YAML: no value is guessed, and what is neither is refused."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.catalogs import read_data, read_text
from toolscope_core.catalog import values
from toolscope_core.catalog.flaws import Flaw
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.values import looks_like_table, read_table, read_yaml
from toolscope_core.model.errors import CatalogError


@pytest.mark.case(36)
def test_cells_are_the_text_that_they_are():
    catalog = read_data("documents/tools.csv")
    assert [tool.name for tool in catalog.tools] == ["007", "1e5", "null"]
    assert (catalog.format, catalog.files[0].format) == ("generic", "csv")
    licence, count, nothing = catalog.tools
    assert licence.raw["Team"] == "red"
    assert licence.schema["properties"] == {"n": {"type": "integer"}}
    assert count.schema["required"] == ["up_to"]
    assert (nothing.schema, nothing.description) == (None, "Nothing, really.")
    tabs = read_data("documents/tools.tsv")
    assert [(tool.server, tool.name) for tool in tabs.tools] == [("None", "True"), ("nan", "NA")]
    assert tabs.by_id["None/True"].description == "two\nlines"


@pytest.mark.case(36)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('name,note\na,"open\nb,c\n', "ending on line 3"),
        ('name,description\na,"x"y\n', "expected after"),
        ("title,text\na,b\n", "'title', 'text'"),
        ("name,note,note\na,b,c\n", "'note'"),
        ("name,description\n" + "x" * 200_000 + ",b\n", "field limit"),
    ],
)
def test_what_is_no_table_is_refused_whole(text, reason):
    refused = read_table(text)
    assert isinstance(refused, Flaw)
    assert reason in refused.reason
    with pytest.raises(CatalogError, match=r"t\.csv"):
        read_text(text, "t.csv")


def test_bad_rows_are_problems_with_their_line():
    text = 'name,params\nok,\nlong,1,2\n\nbad,"{""a"": }"\n,[]\nnot,a b\nnan,"{""x"": NaN}"\n'
    catalog = read_text(text, "t.csv")
    assert [tool.name for tool in catalog.tools] == ["ok"]
    reasons = {problem.position: problem.reason for problem in catalog.problems}
    assert list(reasons) == [f"t.csv: line {line}" for line in (3, 5, 6, 7, 8)]
    values = ("3 cells for 2", "is not JSON", "no name", '"a b"', "parameters/x is NaN")
    assert all(value in why for value, why in zip(values, reasons.values(), strict=True)), reasons


def test_the_delimiter_and_the_kind_are_found():
    tables = ("name;description\na;b,c", "Function\tSummary\na\tb,c", '"name","Desc"\na,"b,c"')
    for text in tables:
        assert looks_like_table(text)
        assert read_table(text)[0][1] == {"name": "a", "description": "b,c"}
        assert read_text(text, "notes.txt").files[0].format == "csv"
    assert not looks_like_table("name\na\n")
    assert not looks_like_table('"x\r')
    forced = read_catalog([Source("x.txt", b"name\na\n", "csv")])
    assert forced.tools[0].name == "a"
    assert read_table("tool,Function name\na,b\n")[0][1] == {"name": "a", "Function name": "b"}


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_every_cell_comes_back(rows):
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("name", "description"), *rows])
    told = [row for row in rows if any(cell.strip() for cell in row)]
    records = [record for _, record in read_table(out.getvalue(), ",")]
    assert [(one.get("name", ""), one.get("description", "")) for one in records] == told
    assert all(value for record in records for value in record.values())


@pytest.mark.parametrize("text", [b",,,\n,,,\n", b"\n\n", b" , \n", b'"","",""'])
def test_a_table_without_a_cell_is_a_sentence(text):
    with pytest.raises(CatalogError):
        read_text(text, "a.csv")


def one(text):
    (value,) = read_yaml(text)
    return value


def test_plain_words_follow_yaml_1_2_and_nothing_is_guessed():
    words = ["no", "yes", "007", "0x1F", "2024-01-02", "1_000"]
    values = "~, null, true, 0, -3, +4, 1e5, .5, 1., '1', \"n\""
    read = [None, None, True, 0, -3, 4, 1e5, 0.5, 1.0, "1", "n"]
    assert one(f"[{', '.join(words)}, {values}]") == [*words, *read]
    assert one("200: ok\ntrue: 1\nx:\n  - !!str 5\n") == {"200": "ok", "true": 1, "x": ["5"]}
    assert read_yaml("--- 1\n--- 2\n") == (1, 2)
    assert read_yaml("# nothing") == ()


def test_aliases_and_merge_keys():
    text = "a: &x {p: 1, q: 2}\nb: *x\nc: {<<: *x, q: 3}\nd: {<<: [*x, {r: 4}], p: 0}\n"
    both = {"p": 1, "q": 2}
    merged = {"c": {"p": 1, "q": 3}, "d": {"p": 0, "q": 2, "r": 4}}
    assert one(text) == {"a": both, "b": both, **merged}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("!!python/object/apply:os.system ['true']", None),
        ("a: !!python/name:os.system x", "'!!python/name:os.system'"),
        ("a: !!binary aGk=", "'!!binary'"),
        ("a: {[1]: 2}", "mapping as a key"),
        ("a: {<<: 5}", "uses <<"),
    ],
)
def test_what_json_cannot_hold_is_a_flaw(text, reason):
    value = one(text)
    if reason:
        assert reason in value["a"].reason
    else:
        assert value == ["true"], "a tag on a list is nothing but a tag"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [1", "not YAML: "),
        ("a: \x00", "a character"),
        ("&a [*a]", "*a "),
        ("[" * 101 + "]" * 101, " 100"),
        ("- " * 5000 + "x", " 100"),
        ("a: *b", "*b "),
    ],
)
def test_what_is_refused_as_a_whole(text, reason):
    refused = read_yaml(text)
    assert isinstance(refused, Flaw)
    assert reason in refused.reason


def test_aliases_that_multiply_or_grow_without_end_are_refused_at_once():
    text = f"a: &a {'x' * 900_000}\n" + "".join(f"k{n}: *a\n" for n in range(7_000))
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    for told, what in ((text, "67,108,864 characters"), ("\n".join(lines), "1,000,000 values")):
        assert f"more than {what}" in read_yaml(told).reason


def test_without_the_c_library(monkeypatch):
    import yaml

    monkeypatch.setattr(values, "LOADER", yaml.SafeLoader)
    assert one("a: [1, {b: no}]") == {"a": [1, {"b": "no"}]}
    assert isinstance(read_yaml("a: [1"), Flaw)
    assert isinstance(read_yaml("\x00"), Flaw)


@given(st.text(max_size=40) | st.text("-:[]{}&*!|>'\"?,# \na1", max_size=40))
def test_any_text_is_read_or_refused(text):
    read_yaml(text)
