"""The command that compares tools by what they answer to the same calls."""

import json
import re
import sys

import pytest
from typer.testing import CliRunner

from tests.calls import planted_server
from tests.support.json_files import read_json, read_lines, write_json, write_lines
from toolscope_core.cli import app, connect_command

NAMES = ("add", "get_issue", "get_price", "get_user", "lies")
EQUAL = ("--pair", "left/add", "right/add")
DIFFERENT = ("--pair", "left/get_price", "right/get_price")
STARTED = ("--start", "left", "--start", "right")


@pytest.fixture
def run(tmp_path):
    """Runs a command in a folder with a catalog of two planted servers and their configuration."""
    records = [planted_server.record(name) for name in NAMES]
    servers = [{"name": side, "tools": records} for side in ("left", "right")]
    write_json(tmp_path / "tools.json", {"servers": servers})
    entries = {
        side: {"command": sys.executable, "args": ["-I", "-S", planted_server.__file__, side]}
        for side in ("left", "right")
    }
    write_json(tmp_path / "mcp.json", {"mcpServers": entries})

    def run(*args, code=0, command="compare-calls", answers=None):
        places = [tmp_path / "tools.json", "--config", tmp_path / "mcp.json"]
        fast = ["--per-minute", 60_000]
        every = [*places, *args, *fast] if command == "compare-calls" else args
        done = CliRunner().invoke(app, [command, *map(str, every)], input=answers)
        assert done.exit_code == code, done.output
        return done.output

    return run


def test_two_that_answer_alike(run, tmp_path):
    output = run(*EQUAL, *STARTED)
    assert "same on 10 of 10" in output
    assert '{"a":3,"b":3}' in output


def test_a_difference_is_kept_and_speaks_against_a_merge(run, tmp_path):
    log, catalog = tmp_path / "d.jsonl", tmp_path / "tools.json"
    output = run(*DIFFERENT, *STARTED, "--decisions", log, code=1)
    assert "`price`" in output
    assert "100 times" in output
    run(*EQUAL, *STARTED, "--decisions", log)
    first, second = read_lines(log)
    assert (first["action"], first["seq"], second["seq"]) == ("compare", 1, 2)
    assert sorted(first["ids"]) == ["left/get_price", "right/get_price"]
    assert first["detail"]["versions"] == ["1.2", "1.2"]
    out = tmp_path / "bundle"
    run(catalog, "--out", out, "--decisions", log, "--accept", "none", command="merge")
    rows = read_lines(out / "calls.jsonl")
    assert [row["left"] for row in rows] == ["left/add", "left/get_price"]
    assert rows[1]["rows"][0]["differences"][0]["path"] == "price"
    reasons = {
        tuple(one["members"]): " ".join(one["reasons"]) for one in read_json(out / "clusters.json")
    }
    assert "calls to" in reasons["left/get_price", "right/get_price"]
    assert "calls to" not in reasons["left/add", "right/add"]
    # what was compared is no longer so once a tool has changed
    document = json.loads(catalog.read_text("utf-8").replace("of get price", "of any price"))
    write_json(catalog, document)
    run(catalog, "--out", out, "--decisions", log, "--accept", "none", command="merge")
    assert [row["left"] for row in read_lines(out / "calls.jsonl")] == ["left/add"]


def test_json_has_each_call(run):
    output = run(*DIFFERENT, *STARTED, "--json", code=1)
    (report,) = json.loads(output[: output.rindex("]") + 1])
    assert report["calls"] == len(report["rows"]) == report["differing"] == 5
    assert {"path", "kind", "left", "right"} == report["rows"][0]["differences"][0].keys()


def test_proposed_merges_are_compared_and_what_may_not_be_called_is_named(run):
    output = run("--proposed", *STARTED, code=1)
    assert "add: same on" in output
    assert "get_price: differs in" in output
    assert "--reads-only right/lies" in output
    assert "lies: " not in output


def test_a_tool_that_a_person_ticked_is_called(run):
    output = run("--pair", "left/lies", "right/lies", *STARTED, "--reads-only", "right/lies",
                 "--reads-only", "left/lies")  # fmt: skip
    assert "stopped: left/lies reports an effect" in output


def test_a_persons_calls_come_first(run, tmp_path):
    calls = write_lines(
        tmp_path / "calls.jsonl",
        {"tool": "left/add", "arguments": {"a": 77, "b": 1}},
        {"tool": "right/add", "arguments": {"a": 77, "b": 1}},
    )
    output = run(*EQUAL, *STARTED, "--calls", calls, "--most-calls", 1)
    assert '{"a":77,"b":1}' in output
    assert "same on 1 of 1" in output
    write_lines(calls, {"tool": "left/unknown", "arguments": {}})
    assert "line 1" in run(*EQUAL, *STARTED, "--calls", calls, code=2)


def test_recorded_results_are_compared_and_nothing_is_called(run, tmp_path):
    def turn(number, name, arguments, result, **more):
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        back = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": result, **more}
        messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [back]}]
        return {"messages": [{"role": "user", "content": "How much?"}, *messages]}

    def price(count, amount):
        return [{"type": "text", "text": json.dumps({"count": count, "price": amount})}]

    log = write_lines(
        tmp_path / "log.jsonl",
        *(turn(f"l{n}", "mcp__left__get_price", {"count": n}, price(n, 1999 * n)) for n in (1, 2)),
        *(
            turn(f"r{n}", "mcp__right__get_price", {"count": n}, price(n, 19.99 * n))
            for n in (2, 3)
        ),
    )
    refused = turn("l9", "mcp__left__get_price", {"count": 3}, "too many", is_error=True)
    later = write_lines(tmp_path / "later.jsonl", refused)
    arguments = ["compare-calls", str(tmp_path / "tools.json"), *DIFFERENT, "--recorded", str(log)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 1, done.output
    assert "differs in 1 of 1: `price`" in done.output
    done = CliRunner().invoke(app, [*arguments, "--recorded", str(later)])
    assert "left/get_price refuses 1 of 2" in done.output
    assert "either --config" in run(*EQUAL, "--recorded", log, code=2)


def test_no_server_starts_unless_somebody_allows_it(run, monkeypatch):
    assert "nothing was started" in run(*EQUAL, "--yes", code=2)
    assert "nothing was started" in run(*EQUAL, "--start", "left", code=2)
    monkeypatch.setattr(connect_command, "is_terminal", lambda: True)
    assert "right may not be started" in run(*EQUAL, code=2, answers="y\nn\n")
    assert "same on" in run(*EQUAL, answers="y\ny\n")
    assert "same on" in run(*EQUAL, "--yes")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "either --pair"),
        ((*EQUAL, "--proposed"), "either --pair"),
        (("--pair", "left/add", "left/none"), "left/none"),
        (("--pair", "left/add", "left/add"), "two different tool"),
        ((*EQUAL, "--server", "nobody=left"), "nobody"),
        (("--pair", "left/lies", "right/lies"), "both tools be called"),
        ((*EQUAL, "--most-calls", 0), "more than 0"),
    ],
)
def test_what_cannot_be_compared_is_said(run, options, words):
    assert words in run(*options, *STARTED, code=2)


QUESTION = re.compile(r"^([0-9a-f]{12}): ", re.MULTILINE)
OPEN = ("--pair", "left/get_issue", "right/get_issue", "--model", "m")


def model_calls(*texts):
    """A model that writes these calls of each tool."""
    return lambda body: {
        "answers": [
            {"question": question, "calls": [*texts]}
            for question in QUESTION.findall(body["messages"][-1]["content"])
        ]
    }


def test_a_model_gives_values_where_the_schema_says_nothing_of_them(run, model_server):
    bad = ("{", '{"issue_id": 3}', '{"issue_id": "a", "more": 1}', '{"city": "Oslo"}', "[" * 900)
    model_server.answer = model_calls('{"issue_id": "ENG-1"}', *bad)
    output = run(*OPEN, *STARTED)
    assert "1 question in 1 call" in output
    assert '{"issue_id":"ENG-1"}' in output
    assert "5 calls of the model" in output
    # a refusal of a model's guess tells nothing
    assert "nothing compared: refused" in output
    (request,) = model_server.received
    assert "--- begin t1 " in request.user
    assert '["issue_id"]' in request.user
    run(*OPEN, *STARTED)
    assert len(model_server.received) == 1


def test_no_model_is_asked_about_values_that_the_schema_states(run, model_server):
    assert "same on 10 of 10" in run(*EQUAL, "--model", "m", *STARTED)
    assert "same on 4 of 4" in run(
        "--pair", "left/get_user", "right/get_user", "--model", "m", *STARTED
    )
    assert not model_server.received


def test_an_unusable_answer_ends_the_command_before_any_call(run, model_server):
    model_server.answer = lambda body: {"answers": [{"question": "other", "calls": 3}]}
    output = run(*OPEN, *STARTED, code=1)
    assert "cannot be used" in output
    assert "issue_id" not in output
