"""The command generate-queries, over real HTTP."""

import json
import re

import pytest

from tests.cli.test_cli import run
from tests.support.catalogs import example_catalog
from tests.support.fakes import WordEmbedder
from tests.support.json_files import read_lines
from tests.support.printed import figures
from tests.support.replies import served, two_wishes, writing
from toolscope_core.evaluation.query_sets import (
    example_path,
    example_queries,
    read_queries,
    unknown_gold,
)

EXAMPLE = str(example_path())
TOOLS = example_catalog().by_id


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("toolscope_core.llm.embedding.MiniLmEmbedder", WordEmbedder)


@pytest.fixture
def server(model_server):
    model_server.answer = served(writing())
    return model_server


def generate(out, *more, count=12, code=0):
    return run("generate-queries", EXAMPLE, "--out", out, "--count", count, *more, code=code)


def test_a_query_file_is_written_once_and_the_same_again(server, tmp_path):
    out = tmp_path / "q.jsonl"
    estimate = generate(out, "--estimate").output
    assert figures(estimate, "query drafts:")[:3] == [12, 12, 0]
    assert figures(estimate, "query polish:")[:2] == [12, 2]
    assert not server.received and not out.exists()
    output = generate(out).output
    queries = read_queries(out)
    assert figures(output, "queries written")[:2] == [12, len(queries)]
    assert "with a query: " in output
    assert len(queries) > 6 and not unknown_gold((q.gold for q in queries), TOOLS)
    assert all(2 <= len(query.gold) <= 5 for query in queries)
    before, calls = out.read_bytes(), len(server.received)
    assert "1 without a query" in output, "the server's words for it name the tool"
    assert "22 known before" in generate(out).output
    assert out.read_bytes() == before and len(server.received) == calls + 2, "it is asked again"
    assert "12 questions in 0" not in generate(out, "--seed", 1, "--estimate").output


def test_doubtful_ones_are_left_out_and_named(server, tmp_path):
    def draft(tools, due):
        text = f"Ask {due} friends for {len(tools)} cups of {tools[due]['name'][:3]} tea."
        named = {"request": f"{text} Then use list_files."} if due % 2 else {"request": text}
        return two_wishes(tools, due) | named

    server.answer = served(writing(draft))
    out = tmp_path / "q.jsonl"
    output = generate(out).output
    assert "doubtful, left out" in output and "it names the tool" in output
    assert all("list_files" not in query.text for query in read_queries(out))
    generate(out, "--keep-doubtful")
    rows = read_lines(out)
    assert any("it names the tool" in one for row in rows for one in row.get("violations", ()))
    assert len(read_queries(out)) == len(rows)


def test_queries_of_people_are_examples_and_are_not_copied(server, tmp_path):
    own = read_queries(example_queries())
    server.answer = served(writing(polish=lambda text: own[0].text.upper()))
    output = generate(tmp_path / "q.jsonl", "--examples", example_queries()).output
    shown = json.dumps([got.user for got in server.received])
    assert sum(one.text in shown for one in own) > 5
    assert f"the same as '{own[0].text[:20]}" in output
    broken = tmp_path / "people.jsonl"
    broken.write_text("{}")
    assert "line 1" in generate(tmp_path / "q.jsonl", "--examples", broken, code=2).stderr


def test_a_budget_pauses_and_goes_on_and_a_model_that_refuses_leaves_reasons(server, tmp_path):
    out = tmp_path / "q.jsonl"
    paused = generate(out, "--budget-calls", 3, code=2).stderr
    assert "paused: budget used up (3 calls" in paused and "run the same" in paused
    assert len(server.received) == 3 and not out.exists()
    assert re.search(r"[1-3] known before", generate(out).output) and out.exists()
    server.mode = "refusal"
    before, failed = out.read_text(), generate(out, "--seed", 5, count=2, code=1)
    assert "2 of 2 answers of" in failed.stderr and "the model refused" in failed.stderr
    assert out.read_text() == before


def test_without_a_model_or_with_odd_numbers_the_remedy_is_told(tmp_path, monkeypatch):
    monkeypatch.delenv("TOOLSCOPE_BASE_URL", raising=False)
    output = generate(tmp_path / "q.jsonl", code=2).stderr
    assert "--base-url" in output and "--model" in output
    assert "use 1 to 5,000" in generate(tmp_path / "q.jsonl", count=0, code=2).stderr
