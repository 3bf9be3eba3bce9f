"""The command that counts calls in logs and traces."""

import json

import pytest
from typer.testing import CliRunner

from tests.support.json_files import read_json, write_json
from tests.support.printed import figures
from tests.usage.test_trace_formats import LOG, OPENAI, lines
from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli import app

CATALOG = {
    "servers": [
        {"name": "a", "tools": [{"name": "read", "inputSchema": {"type": "object"}}]},
        {"name": "b", "tools": [{"name": "write", "inputSchema": {"type": "object"}}]},
    ]
}


@pytest.fixture
def files(tmp_path):
    catalog, log, trace = (tmp_path / name for name in ("c.json", "log.jsonl", "trace.json"))
    write_json(catalog, CATALOG)
    log.write_bytes(lines(LOG))
    write_json(trace, OPENAI)
    return [str(log), str(trace), "--catalog", str(catalog)]


def usage(*words):
    return CliRunner().invoke(app, ["usage", *map(str, words)])


def test_calls_are_counted_over_all_files(files):
    done = usage(*files, "--unused-days", ".5")
    assert done.exit_code == 0
    total, of_read, unused, *ids = done.stdout.splitlines()
    assert total.startswith("3 calls of 1 tool, 2026-01-01 to 2026-01-03; 1 call ")
    assert of_read.startswith("  a/read: ") and figures(of_read, "last")[:2] == [3, 1]
    assert of_read.endswith(" 2026-01-02")
    assert unused.startswith("2 tools unused for 0.5 days")
    assert ids == ["  a/read", "  b/write"]
    assert "2.0 days" in usage(*files).stdout


@pytest.mark.case(92)
def test_a_call_that_two_files_tell_of_counts_once_and_what_was_not_read_is_said(files, tmp_path):
    log, trace, *rest = files
    again = tmp_path / "again.jsonl"
    again.write_bytes(lines([*LOG, {"type": "response_item"}, 7]))
    done = usage(log, again, trace, trace, *rest)
    assert done.stdout.startswith("3 calls of 1 tool")
    assert "2 records" in done.stderr
    assert json.loads(usage(log, again, *rest, "--json").stdout)["unread"] == 2


def test_all_figures_as_json_and_requests_where_they_are_asked_for(files, tmp_path):
    queries = tmp_path / "q.jsonl"
    report = json.loads(usage(*files, "--json").stdout)
    assert report["by_id"] == {
        "a/read": {
            "calls": 3,
            "errors": 1,
            "malformed": 0,
            "last": "2026-01-02T10:00:00+00:00",
            "days": {"": [1, 0], "2026-01-01": [1, 0], "2026-01-02": [1, 1]},
        }
    }
    assert not queries.exists()
    assert "1 query written" in usage(*files, "--queries", queries).stdout
    assert read_json(queries) == {"id": "t1", "query": "Read a.txt", "gold": ["a/read"]}


def test_calls_before_and_after_each_merge_that_a_file_accepts(files, tmp_path):
    ids, decisions = ["a/read", "b/write"], tmp_path / "decisions.jsonl"
    one = {"seq": 1, "at": "2026-01-02T00:00:00+00:00", "reviewer": "ann", "action": "accept"}
    tools = read_files([tmp_path / "c.json"]).by_id
    prints = [tools[one].fingerprint for one in ids]
    write_json(decisions, {**one, "ids": ids, "fingerprints": prints, "detail": {}})
    rows = [{**LOG[0], "at": f"2026-01-0{1 + late}", "outcome": ["ok", "error"][late > 1]}
            for late in (0, 2) for _ in range(9)]  # fmt: skip
    (tmp_path / "log.jsonl").write_bytes(lines(rows))
    said = usage(*files, "--decisions", decisions)
    assert "went bad: a/read, b/write" in said.stdout
    report = json.loads(usage(*files, "--decisions", decisions, "--json").stdout)
    assert report["merges"]["a/read, b/write"]["after"] == [9, 9]


def test_what_cannot_be_used_is_said(files, tmp_path):
    for words, what in (
        (["--unused-days", "0"], "use more than 0"),
        ([str(tmp_path / "none.jsonl")], "cannot be read"),
    ):
        done = usage(*words, *files)
        assert (done.exit_code, what in done.stderr) == (2, True)
