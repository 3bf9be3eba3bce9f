"""Every table of the papers that is made here, on the example in place of its benchmark."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks.papers import __main__ as papers
from benchmarks.papers import toolscope_tables
from benchmarks.papers.paper_sets import PLANS, PaperSet
from benchmarks.papers.rps_tables import PLANS as PLANS_OF_PAPER
from benchmarks.papers.toolscope_tables import by_name
from tests.support.json_files import read_lines, write_lines
from toolscope_core.evaluation.comparison import GoldCall
from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.evaluation.query_sets import example_path, example_queries
from toolscope_core.model.tool import Tool
from ui.evaluation.measure_panel import PAPER_TABLES

MADE = list(papers.TABLES)
README = Path(papers.__file__).with_name("README.md").read_text("utf-8")


@pytest.fixture(scope="module")
def sets(tmp_path_factory, small, small_queries):
    """The example under the name of a benchmark, or two servers of it and so many of their queries;
    variants and splits are recorded.
    """
    data, queries = tmp_path_factory.mktemp("data"), read_lines(example_queries())
    splits = [{"id": one["id"], "dummy": ["look"], "context": ["look", "write"]} for one in queries]
    variant = {"expanded": "Looks.", "questions": ["Could you look?"]}
    (data / "bfcl").mkdir()
    write_lines(data / "bfcl" / "augmented.jsonl", {"tool": "wordsmith-text/translate", **variant})
    write_lines(data / "bfcl" / PLANS, *splits)

    @cache
    def read(most=None):
        catalog, rows = (small, read_lines(small_queries)) if most else (example_path(), queries)
        return PaperSet.of("bfcl", catalog, write_lines(data / f"{most}.jsonl", *rows[:most]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLSCOPE_DATA", str(data))
        yield read


@pytest.fixture(scope="module")
def rows(sets):
    most = {name: None if name.startswith("t2v") else 5 for name in MADE}
    return cache(lambda name: list(papers.TABLES[name].rows(sets(most[name]))))


AT_NIGHT = {"t2v-1", "t2v-a", "t2v-b", "t2v-5.1", "t2v-4.2", "rps-5", "rps-10"}
"""They take long: five train, two index every document variant or plan."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.nightly] if name in AT_NIGHT else []) for name in MADE],
)
def test_a_table_has_rows_of_plain_values(name, rows):
    assert rows(name) and json.loads(json.dumps(rows(name)))
    shares = [
        one
        for row in rows(name)
        for key, one in row.items()
        if re.search(r"^(csr|recall|ndcg)@", key)
    ]
    assert all(0 <= low <= mean <= high <= 1 for mean, low, high in shares)


def test_the_list_says_how_long_each_takes(capsys):
    papers.main(["--list"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(papers.TABLES)
    assert sum(bool(re.search(r": \d+ min, ", line)) for line in lines) == len(MADE)


@pytest.mark.parametrize("name", papers.TABLES)
def test_the_readme_has_every_table_with_its_data_and_minutes(name):
    (line,) = re.findall(rf"^\| `{re.escape(name)}` \|.*$", README, re.MULTILINE)
    table = papers.TABLES[name]
    assert table.what in line
    assert f"| {', '.join(table.sets)} | {table.minutes} |" in line


def test_each_view_of_evaluation_names_the_tables_that_it_makes():
    names = {one for _, own in PAPER_TABLES.values() for one in own.split()}
    assert names <= set(MADE)


def test_the_papers_figure_stands_at_the_row_that_it_is_of(rows):
    papers_csr = {row["parts"]: row["paper CSR"] for row in rows("ts-3")}
    assert (papers_csr["none"], papers_csr["gateway corrected"]) == (0.888, 0.938)
    assert papers_csr["drop-in corrected"] is None, "the paper's tools are always written anew"


def test_plans_stand_beside_the_row_of_the_same_documents_and_k():
    of = {title: paper for title, paper in PLANS_OF_PAPER.items() if paper}
    augmented = [paper for (_, documents, *_), paper in of.items() if documents == "augmented"]
    assert any(".557 / .325" in paper for paper in augmented), "K 5 to 15 is of augmented documents"
    assert any(".424 / .396" in paper for paper in augmented)
    wide = [paper for (_, _, k, _), paper in of.items() if k == 10]
    assert len(wide) == 2 and all(".465" in one or ".247" in one for one in wide)


def test_the_constants_agree_with_what_the_papers_say_of_them():
    gains = {"seal-tools": (5, 0.346), "ultratool": (30, 0.386), "bfcl": (5, 0.088)}
    for name, (k, gain) in gains.items():
        own, last = toolscope_tables.CSR_BY_K[name], 5 if name == "bfcl" else 30
        merged, dense = own[toolscope_tables.MERGED], own[toolscope_tables.DENSE_ONLY]
        assert merged[k] - own[toolscope_tables.BM25][k] == pytest.approx(gain), "gains of table 2"
        nothing, *_, every = toolscope_tables.CSR[name]
        assert (dense[last], merged[last]) == (nothing, every), "tables 3 and 4"
    smaller = {"bfcl": (400, 344), "seal-tools": (4076, 3992), "ultratool": (1885, 1408)}
    for name, (before, after) in smaller.items():
        assert toolscope_tables.SMALLER[name] == pytest.approx(1 - after / before, abs=0.001)
    rare = {"bfcl": 324 / 395, "seal-tools": 1013 / 1057, "ultratool": 2498 / 2891}
    assert {name: round(one, 2) for name, one in rare.items()} == {
        name: round(one, 2) for name, (_, _, one) in toolscope_tables.CALLS.items()
    }
    saved = {"bfcl": 0.9856, "seal-tools": 0.9989, "ultratool": 0.9848}
    for name, (_, before, after) in toolscope_tables.TOKENS.items():
        assert 1 - after / before == pytest.approx(saved[name], abs=0.0001)
    recall = toolscope_tables.RECALL
    for name, before in (("seal-tools", 0.550), ("bfcl", 0.945)):
        assert recall[name][toolscope_tables.MERGED][10] > before, "§4.4"


def test_calls_are_kept_by_the_names_of_their_arguments():
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    toolset = Toolset("x", (Tool("a", "a", schema=schema),))
    often, rare = GoldCall("b", {"q": 7}), GoldCall("b", {"z": 1})
    assert by_name([often] * 4, toolset) == [1.0, 1.0, None]
    assert by_name([*[often] * 4, rare], toolset) == [0.8, 0.5, 0.0]
