"""Names such as null, 007, 1e5 stay exact; an unclosed quote is an error."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.catalogs import read_data, read_text
from toolscope_core.catalog.flaws import Flaw
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.values import looks_like_table, read_table
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
        ('name,note\na,"open\nb,c\n', "ends in line 3"),
        ('name,description\na,"x"y\n', "expected after"),
        ("title,text\na,b\n", "'title', 'text'"),
        ("name,note,note\na,b,c\n", "has two columns 'note'"),
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
    values = ("3 cells under 2", "is not JSON", "no name", '"a b"', "parameters/x is NaN")
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
