"""Sub-queries as a file has them, and as a model gives them, over real HTTP."""

import json
import re

import pytest

from tests.cli.test_cli import EXAMPLE, run
from tests.support.fakes import WordEmbedder
from toolscope_core.model.errors import ConfigError
from toolscope_core.retrieval.decomposition import IN_VIEW, recorded_splits

PARTS = ["Translate a text to French", "Write a file"]


@pytest.fixture(autouse=True)
def _an_embedder_of_words(monkeypatch):
    monkeypatch.setattr("toolscope_core.llm.embedding.MiniLmEmbedder", WordEmbedder)


def answer(body):
    user = body["messages"][-1]["content"]
    asked = re.findall(r"^(\w{12}): request", user, re.MULTILINE)
    return {"answers": [{"question": one, "steps": PARTS} for one in asked]}


@pytest.fixture
def server(model_server):
    model_server.answer = answer
    return model_server


@pytest.fixture
def out(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.fixture
def search(queries, out):
    """Runs the command on a file of queries."""

    def search(splitter, *more, **expected):
        arguments = ("--queries", queries, "--out", out, "--decompose", splitter)
        return run("search", EXAMPLE, *arguments, *more, **expected)

    return search


@pytest.fixture
def queries(tmp_path):
    file = tmp_path / "q.jsonl"
    rows = [{"id": str(n), "query": f"Job {n}: do all of it", "steps": PARTS} for n in range(10)]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def subqueries(out):
    return [json.loads(line)["subqueries"] for line in out.read_text().splitlines()]


@pytest.mark.parametrize(("splitter", "calls"), [("dummy", 2), ("context", 10)])
def test_a_model_splits_and_is_asked_once(server, search, out, splitter, calls):
    search(splitter)
    assert subqueries(out) == [PARTS] * 10
    assert len(server.received) == calls
    shown = server.received[0].user.count("--- begin tool")
    assert shown == (IN_VIEW if splitter == "context" else 0)
    search(splitter)
    assert len(server.received) == calls, "the ledger has the answers"


def test_one_request_is_split_too(server):
    done = run("search", EXAMPLE, "Do all of it", "--decompose", "dummy", "-k", 2)
    assert f"part 1: {PARTS[0]}" in done.output and "translate_to_french" in done.output


def test_replies_that_cannot_be_used_end_the_search(server, search, out):
    server.mode = "malformed"
    assert "10 of 10 answers" in search("dummy", code=1).stderr and not out.exists()
    server.mode = "ok"
    search("dummy")
    assert subqueries(out) == [PARTS] * 10


def test_a_budget_pauses_and_nothing_is_written(server, search, out):
    stderr = search("dummy", "--budget-calls", 1, code=2).stderr
    assert "paused: budget used up (1 calls" in stderr and not out.exists()
    search("dummy")
    assert subqueries(out) == [PARTS] * 10
    assert len(server.received) == 2


def test_a_file_of_splits_is_taken_by_id_and_steps_are_the_querys_own(search, out, tmp_path):
    splits = tmp_path / "splits.jsonl"
    splits.write_text(json.dumps({"id": "3", "dummy": ["one thing", " ", "another"]}))
    done = search("dummy", "--splits", splits)
    assert "9 without steps" in done.output
    assert [one for one in subqueries(out) if one] == [["one thing", "another"]]
    search("steps")
    assert subqueries(out) == [PARTS] * 10


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"id": "a"}], "`dummy` is None"),
        ([{"id": "a", "dummy": [1]}], "`dummy` is"),
        ([{"dummy": ["x"]}], "repeated (''"),
        ([{"id": "a", "dummy": []}, {"id": "a", "dummy": []}], "repeated ('a'"),
    ],
)
def test_a_file_that_holds_no_splits_is_refused(tmp_path, rows, reason):
    file = tmp_path / "s.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ConfigError, match=re.escape(reason)):
        recorded_splits(file, "dummy")


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("x", "--splits", "s.jsonl"), "steps, dummy or context"),
        (("x", "--decompose", "steps"), "recorded steps"),
    ],
)
def test_options_that_do_not_go_together(args, reason):
    assert reason in run("search", EXAMPLE, *args, code=2).output
