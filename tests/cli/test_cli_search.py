"""``search`` and ``evaluate`` over the bundled example, with the real model."""

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from tests.cli.test_cli import EXAMPLE, run, run_json
from tests.support.json_files import read_lines, write_json, write_lines
from tests.support.printed import figures
from toolscope_core.cli.searcher import SearchedTools, Searcher, SearchKnobs, SearchOptions
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.search_configuration import PAPER_SEARCHES, RetrievalConfig
from toolscope_core.retrieval.decomposition import decompose

FRENCH = "wordsmith-text/translate_to_french"
QUERIES = (
    {"id": "1", "query": "Say this in French", "gold": [FRENCH]},
    {
        "id": "2",
        "query": "What is 20 dollars in euros?",
        "gold": ["wayfare-travel/convert_currency"],
    },
    {"id": "3", "query": "No tool is asked for"},
)


@pytest.fixture
def queries(tmp_path):
    return write_lines(tmp_path / "queries.jsonl", *QUERIES)


def test_a_request_is_answered_with_a_table():
    parts = ("Translate this to French", "write it to a file")
    done = run("search", EXAMPLE, ", then ".join(parts), "-k", 3)
    lines = done.output.splitlines()
    assert lines[:2] == [f"part {n}: {part}" for n, part in enumerate(parts, 1)]
    assert [line.split()[0] for line in lines[2:]] == ["1", "2", "3"]
    assert {"translate_to_french", "wordsmith-text"} <= {*lines[2].split()}
    assert "part 2" in done.output
    whole = run("search", EXAMPLE, "Translate this, then write it", "--decompose", "none")
    assert "part" not in whole.output
    assert len(whole.output.splitlines()) == 10


def test_words_alone_answer_while_many_texts_are_encoded(tmp_path, monkeypatch):
    monkeypatch.setenv("TOOLSCOPE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("toolscope_core.cli.search_command.NOTICED", 60)
    first = run("search", EXAMPLE, "Translate this to French", "-k", 2)
    assert "BM25" in first.stderr
    assert "translate_to_french" in first.stderr
    again = run("search", EXAMPLE, "Translate this to French", "-k", 2)
    assert "By words alone" not in again.stderr
    assert again.stdout == first.stdout


def test_it_says_where_no_tool_does_what_is_asked():
    first, nearest = run(
        "search", EXAMPLE, "Which proteins fold like insulin?", "-k", 1
    ).output.splitlines()
    assert "No tool does this" in first and nearest.split()[0] == "1"
    assert "No tool" not in run("search", EXAMPLE, "Translate this to French").output


class OneWord:
    """A cross-encoder by which documents with the word of its name fit."""

    def __init__(self, name):
        self.name = name

    def scores(self, text, others):
        return np.array([self.name in other for other in others], np.float32)


def test_the_search_of_toolscope_is_one_setting(monkeypatch, no_model_is_found):
    asked = ("search", EXAMPLE, "send a note", "-k", 3, "--as-in-paper", "toolscope")
    assert "gone cannot be loaded" in run(*asked, "--rerank", "gone", code=2).output
    plain = run(*asked, "--rerank", "none").output.splitlines()[0]
    assert "dense 1.00  sparse 0.00" in plain and "untag" not in plain
    monkeypatch.setattr("toolscope_core.llm.embedding.CrossScorer", OneWord)
    first = run(*asked, "--rerank", "untag").output.splitlines()[0].split()
    assert first[1:8] == "1.000 dense 0.00 sparse 0.00 rerank 1.00".split()
    assert first[8] == "untag_note"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), RetrievalConfig()),
        (("--alpha", ".3", "--candidates", "7"), RetrievalConfig(dense_weight=0.3, candidates=7)),
        (
            ("--as-in-paper", "rps", "--alpha", ".9"),
            replace(PAPER_SEARCHES["rps"], dense_weight=0.9),
        ),
        (
            ("--assembly", "top1", "--rerank-weight", "inf", "--step-weight", "inf"),
            RetrievalConfig(assembly="top1", rerank_weight=math.inf, step_weight=math.inf),
        ),
        (
            ("--as-in-paper", "tool-to-agent", "--subquery-weight", "2", "--corpus", "tools"),
            replace(PAPER_SEARCHES["tool-to-agent"], subquery_weight=2.0, corpus="tools"),
        ),
    ],
)
def test_every_setting_of_the_search_is_an_option(options, expected, monkeypatch):
    configs = []

    def answer(catalog, request, searched, engine):
        configs.append(searched.config)

    monkeypatch.setattr("toolscope_core.cli.search_command._answer", answer)
    run("search", EXAMPLE, "send a note", *options)
    assert configs == [expected]


def test_queries_of_tool2vec_are_whole(queries):
    whole = ("--decompose", "none", "--alpha", "1", "--rerank", "none")
    asked = ("evaluate", EXAMPLE, "--queries", queries, "--at", "3")
    assert run(*asked, "--as-in-paper", "tool2vec").output == run(*asked, *whole).output


@pytest.mark.parametrize("paper", ["toolscope", "tool-to-agent"])
def test_queries_of_a_paper_with_steps_are_split_by_them(paper):
    def split(*decomposition):
        options = SearchOptions(5, SearchedTools(*decomposition), SearchKnobs(paper))
        asked = [Query("1", "Note it and send it", steps=("send it",)), Query("2", "Note and send")]
        return [one.subqueries for one in Searcher(Catalog(()), options).requests(asked)]

    assert split() == [("send it",), ()]
    assert split("rules") == [decompose("Note it and send it"), decompose("Note and send")]


def test_a_query_set_becomes_rankings(queries, tmp_path):
    out = tmp_path / "run.jsonl"
    done = run("search", EXAMPLE, "--queries", queries, "--out", out, "-k", 4)
    assert "3 queries; rankings" in done.output
    rows = read_lines(out)
    assert [row["id"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["ranking"][0] == FRENCH
    assert all(len(row["ranking"]) == len(row["scores"]) == 4 for row in rows)
    assert all(row["scores"] == sorted(row["scores"], reverse=True) for row in rows)


def test_a_set_is_measured_before_and_after_a_merge(queries, bundle):
    done = run("evaluate", EXAMPLE, "--queries", queries, "--bundle", bundle, "--at", "1,5")
    assert figures(done.output, "2 queries") == [2, 1, 69]
    assert "recall@5      1.000 [1.000, 1.000]  after 1.000" in done.output
    report = run_json("evaluate", EXAMPLE, "--queries", queries)
    assert report["queries"] == 2
    assert set(report["metrics"]["recall@10"]) == {"mean", "low", "high"}
    assert "merged" not in report


def test_it_is_measured_how_often_no_tool_is_said_to_fit(tmp_path):
    rows = [
        {"query": "Translate this to French", "gold": [FRENCH]},
        {"query": "Which proteins fold like insulin?", "gold": []},
    ]
    asked = ("evaluate", EXAMPLE, "--queries", write_lines(tmp_path / "q.jsonl", *rows))
    refusals = run_json(*asked)["refusals"]
    assert refusals["served"]["mean"] == 0.0
    assert (refusals["unserved"]["mean"], refusals["auroc"]) == (1.0, 1.0)
    assert "AUROC 1.000" in run(*asked).output
    assert "refusals" not in run_json(*asked, "--as", "codex")


def test_a_model_decides_whether_any_tool_fits_where_that_is_uncertain(monkeypatch):
    shown = []

    def answered(request, nearest, asker):
        shown.append([tool.name for tool in nearest])
        return len(shown) == 1

    monkeypatch.setattr("toolscope_core.cli.asking.asking", lambda _: nullcontext((0, 0)))
    monkeypatch.setattr("toolscope_core.evaluation.selection.none_by_model", answered)
    asked = ("search", EXAMPLE, "book a table at a restaurant", "-k", 2)
    assert "No tool does this" not in run(*asked).output
    assert "No tool does this" in run(*asked, "--none-by", "model").output
    assert shown == [["book_hotel", "book_flight"]]
    run("search", EXAMPLE, "Translate this to French", "--none-by", "model")
    assert len(shown) == 1
    unserved = ("search", EXAMPLE, "Which proteins fold like insulin?", "--none-by", "model")
    assert "No tool does this" not in run(*unserved).output


def test_a_bundle_of_other_tools_is_refused(queries, small, tmp_path):
    write_json(tmp_path / "o.json", [{"name": "a", "description": "Does it."}])
    run("merge", tmp_path / "o.json", "--out", tmp_path / "other")
    done = run("evaluate", small, "--queries", queries, "--bundle", tmp_path / "other", code=2)
    assert "blueaero_check_fares" in done.output


def test_a_recall_that_is_asked_for_is_a_gate(queries, small):
    run("evaluate", small, "--queries", queries, "--min-recall", "5=.9")
    question = {"query": "Say this in French", "gold": ["wayfare-travel/search_hotels"]}
    hard = write_json(queries.parent / "hard.jsonl", question)
    done = run("evaluate", small, "--queries", hard, "--min-recall", "3=.9", code=1)
    assert "recall@3 is 0.000, below 0.9" in done.output


def test_gold_answers_that_are_no_tools_are_listed(tmp_path):
    file = write_json(tmp_path / "q.jsonl", {"query": "x", "gold": ["gone/tool"]})
    done = run("evaluate", EXAMPLE, "--queries", file, code=2)
    assert "not have: gone/tool" in done.output
    done = run("evaluate", EXAMPLE, "--queries", file, "--skip-unknown", code=2)
    assert "has a gold answer" in done.output


def test_document_variants_are_searched_and_counted(queries, small, small_bundle, tmp_path):
    rows = [
        {"tool": FRENCH, "expanded": "Says things en français.", "questions": ["Bonjour, Paris!"]},
        {"tool": "gone", "expanded": "x", "questions": []},
    ]
    variants = write_lines(tmp_path / "variants.jsonl", *rows)
    command = ("search", small, "Bonjour to all of Paris", "-k", 1)
    assert "translate_to_french" in run(*command, "--variants", variants).output
    evaluated = ("evaluate", small, "--queries", queries, "--variants", variants)
    assert figures(run(*evaluated).output, "document variant") == [1, 1]
    report = run_json(*evaluated, "--bundle", small_bundle)
    assert (report["augmented"], report["unknown_variants"]) == (1, 1)
    stressed = run("stress", small, "--queries", queries, "--variants", variants)
    assert "closest" in stressed.output
    swept = ("sweep", small, "--queries", queries, "--move", "k", "--rerank", "none")
    assert "recall@k" in run(*swept, "--variants", variants).output
    refused = run("search", small, "x", "--variants", queries, code=2)
    assert "`tool` is None" in refused.stderr
