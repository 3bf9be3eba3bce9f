"""Findability in ``inspect`` and ``check``, and a search in the way of a client."""

from tests.cli.test_cli import EXAMPLE, run, run_json
from tests.support.json_files import read_json, write_json, write_lines

TOOLS = [
    {"name": "send_mail", "description": "Send a letter to a person.", "inputSchema": {}},
    {"name": "get_forecast", "description": "Tell the weather.", "inputSchema": {}},
]
QUERIES = [{"id": "a", "query": "rain tomorrow?", "gold": ["get_forecast"]}]


def test_a_tool_that_no_word_leads_to_is_named_and_fails_the_check(tmp_path):
    tools = write_json(tmp_path / "tools.json", {"tools": TOOLS})
    queries = write_lines(tmp_path / "queries.jsonl", *QUERIES)
    options = ("--findability", "--queries", queries)
    by_search = run_json("inspect", tools, *options)["findability"]
    assert by_search["codex"]["share"] == 0.5 and by_search["own"]["share"] == 1.0
    lost, *_ = by_search["codex"]["tools"]
    assert (lost["tool"], lost["requests"], lost["found"]) == ("get_forecast", 1, 0)
    assert "get_forecast (queries)" in run("inspect", tools, *options).stdout
    limits = ("--baseline", tools, "--queries", queries, "--min-findability")
    assert "below 0.6" in run("check", tools, *limits, "codex=.6", code=1).stderr
    run("check", tools, *limits, "codex=.5", "--min-findability", "own=1")
    assert "codex=.9" in run("check", tools, *limits, "Codex=.5", code=2).stderr


def test_a_search_in_the_way_of_a_client_gives_what_the_client_gives():
    found = run("search", EXAMPLE, "what is the weather", "--as", "codex", "-k", "3").stdout
    assert "current_weather" in found and "No tool does this" not in found
    run("search", EXAMPLE, "weather", "--as", "codex", "--servers", code=2)


def test_a_merge_leaves_to_a_search_what_it_finds_and_nobody_calls(tmp_path):
    tools = write_json(tmp_path / "tools.json", {"tools": TOOLS})
    queries = write_lines(tmp_path / "queries.jsonl", *QUERIES)
    log = write_lines(tmp_path / "log.jsonl", {"tool": "send_mail", "outcome": "ok"})

    def eager(*options):
        run("merge", tools, "--out", tmp_path / "out", *options)
        return read_json(tmp_path / "out" / "manifest.json")["configuration"].get("eager")

    assert eager("--eager-tokens", 500) == []
    both = eager("--eager-tokens", 500, "--queries", queries, "--usage", log)
    assert both == ["get_forecast", "send_mail"]
    refused = run("merge", tools, "--out", tmp_path / "out", "--usage", log, code=2)
    assert "--eager-tokens" in refused.stderr
