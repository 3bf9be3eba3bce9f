"""Every table of the papers that is made here, on the example in place of its benchmark."""

import json
import re

import pytest

from benchmarks import papers
from toolscope_core.evaluation.example import example_path, example_queries
from toolscope_core.evaluation.laboratory import ExperimentOptions, Laboratory
from toolscope_core.model.environment import read_environment

MADE = [name for name, table in papers.TABLES.items() if table.rows]


@pytest.fixture(scope="module")
def example():
    return Laboratory([example_path()], ExperimentOptions(example_queries()), read_environment())


@pytest.mark.parametrize("name", MADE)
def test_a_table_has_rows_of_plain_values(name, example):
    rows = list(papers.TABLES[name].rows(example, "bfcl"))
    assert rows and json.loads(json.dumps(rows))
    shares = [
        one for row in rows for one in row.values() if isinstance(one, list) and len(one) == 3
    ]
    assert all(low <= mean <= high for mean, low, high in shares if mean <= 1)


def test_what_is_missing_says_why_and_the_others_how_long_they_take(monkeypatch, capsys):
    assert all(bool(one.rows) != bool(one.missing) for one in papers.TABLES.values())
    monkeypatch.setattr("sys.argv", ["papers", "--list"])
    papers.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(papers.TABLES)
    assert sum(bool(re.search(r": \d+ min, ", line)) for line in lines) == len(MADE)
    monkeypatch.setattr("sys.argv", ["papers", "ts-2", "--json"])
    papers.main()
    assert json.loads(capsys.readouterr().out)["missing"].startswith("needs a language model")


def test_the_papers_figure_stands_at_the_row_that_it_is_of(example):
    rows = {row["parts"]: row["paper CSR"] for row in papers.ablation(example, "bfcl")}
    assert (rows["none"], rows["gateway corrected"]) == (0.888, 0.938)
    assert rows["drop-in corrected"] is None, "the paper's tools are always written anew"
