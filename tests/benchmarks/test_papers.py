"""Every table of the papers that is made here, on the example in place of its benchmark."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.papers import __main__ as papers
from benchmarks.papers.paper_sets import PaperSet
from benchmarks.papers.toolscope_tables import ablation, by_name
from tests.support.model_server import ModelServer
from toolscope_core.evaluation.call_coverage import GoldCall
from toolscope_core.evaluation.example import example_path, example_queries
from toolscope_core.evaluation.laboratory import ExperimentOptions, Laboratory
from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.model.environment import read_environment
from toolscope_core.model.tool import Tool

MADE = [name for name, table in papers.TABLES.items() if table.rows]
README = Path(papers.__file__).with_name("README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def example():
    options = ExperimentOptions(example_queries())
    return PaperSet("bfcl", Laboratory([example_path()], options, read_environment()))


@pytest.mark.parametrize("name", [one for one in MADE if not papers.TABLES[one].asks])
def test_a_table_has_rows_of_plain_values(name, example):
    rows = list(papers.TABLES[name].rows(example))
    assert rows and json.loads(json.dumps(rows))
    shares = [
        one for row in rows for key, one in row.items() if re.search(r"^(csr|recall|ndcg)@", key)
    ]
    assert all(0 <= low <= mean <= high <= 1 for mean, low, high in shares)


def answer(body):
    """A model that takes the first tool, whatever it is asked, and grades everything a 2."""
    user = body["messages"][-1]["content"]
    own = {"tool": 1, "calls": [{"tool": 1, "arguments": []}], "needed": [1], "phrasings": []}
    graded = {"reason": "So.", "score": 2, "lacking": ["result"]}
    grades = [{"question": one, **graded} for one in re.findall(r"^(\w{12}): tool", user, re.M)]
    answers = [{"question": one, **own} for one in re.findall(r"^(\w{12}): ", user, re.M)]
    return {"answers": answers, "grades": grades}


@pytest.mark.parametrize("name", ["ts-2", "ts-figure-5", "rps-8"])
def test_a_row_that_needs_a_model_is_made_with_one(name, example, monkeypatch, capsys):
    monkeypatch.setattr(papers, "_read", lambda own, asker: PaperSet(own, example.laboratory, asker))
    sets = ("--sets", papers.TABLES[name].sets[0], "--json")
    with ModelServer(answer) as server:
        papers.main([name, *sets, "--model", "scripted", "--base-url", server.url])
    assert server.received
    rows = list(map(json.loads, capsys.readouterr().out.splitlines()))
    if name == "ts-figure-5":
        assert [(row["quality"], row["tools"]) for row in rows] == [
            ("low", len(example.tools)), ("medium", 0), ("high", 0)
        ]  # fmt: skip
    else:
        shares = [row["csr@5"] if name == "ts-2" else row["recall"] for row in rows if row]
        assert len(rows) >= 3 and all(0 <= one[0] <= 1 for one in shares)


def test_what_is_missing_says_why_and_the_others_how_long_they_take(capsys):
    assert all(bool(one.rows) != bool(one.missing) for one in papers.TABLES.values())
    papers.main(["--list"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(papers.TABLES)
    assert sum(bool(re.search(r": \d+ min, ", line)) for line in lines) == len(MADE)
    papers.main(["ts-2", "--json"])
    assert json.loads(capsys.readouterr().out)["missing"].startswith("needs a language model")


@pytest.mark.parametrize("name", papers.TABLES)
def test_the_readme_has_every_table_with_its_data_and_minutes(name):
    (line,) = re.findall(rf"^\| `{re.escape(name)}` \|.*$", README, re.MULTILINE)
    table = papers.TABLES[name]
    assert table.what in line
    assert (f"| {', '.join(table.sets)} | {table.minutes} |" if table.rows else table.missing) in line


def test_the_papers_figure_stands_at_the_row_that_it_is_of(example):
    rows = {row["parts"]: row["paper CSR"] for row in ablation(example)}
    assert (rows["none"], rows["gateway corrected"]) == (0.888, 0.938)
    assert rows["drop-in corrected"] is None, "the paper's tools are always written anew"


def test_calls_are_kept_by_the_names_of_their_arguments():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    toolset = Toolset("x", (Tool("a", "a", schema=schema),))
    often, rare = GoldCall("b", {"q": 7}), GoldCall("b", {"z": 1})
    assert by_name([often] * 4, toolset) == [1.0, 1.0, None]
    assert by_name([*[often] * 4, rare], toolset) == [0.8, 0.5, 0.0]
