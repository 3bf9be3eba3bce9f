"""The command agent-run: a scripted endpoint over HTTP, two gateways, and the town's servers."""

import asyncio
import json
import re
import sys

import pytest

from tests.cli.test_cli import run
from tests.mcp.gateway.stub_toolset import NORTH, configuration, write_stub_toolset
from toolscope_core.mcp.gateway.gateway_server import result_in_words

PAUSE = "toolscope_core.model.configuration.Patience.pause"
QUERIES = [
    {"id": "q1", "query": "Read the file a.txt", "gold": ["north/read_file"]},
    {"id": "q2", "query": "Repeat the number 3 of the south", "gold": ["south/same"]},
    {"id": "q3", "query": "Work in the south", "gold": ["south/work"]},
]
WISHES = {
    "Read the file": {"get": {"path": "a"}, "read_file": {"file_path": "a"}},
    "Repeat the number": {"south_same": {"x": 3}},
    "Work in the south": {
        "south_work": {"act": "x"},
        "north_work": {"act": "x"},
        "work": {"act": "x", "server": "south", "depth": 2},
    },
}


def scripted(body, wishes_of=WISHES):
    """Calls every tool that is offered and does what the user wants, then says so."""
    messages = body["messages"]
    if messages[-1]["role"] == "tool":
        return {"content": "Done."}
    wishes = next(one for words, one in wishes_of.items() if words in messages[1]["content"])
    offered = names_offered(body)
    return calling({name: json.dumps(wishes[name]) for name in wishes if name in offered})


def calling(arguments):
    """A turn that calls tools, by name, with arguments as text."""
    return {
        "tool_calls": [
            {"id": f"c-{name}", "type": "function", "function": {"name": name, "arguments": text}}
            for name, text in arguments.items()
        ]
    }


def names_offered(body):
    return [tool["function"]["name"] for tool in body["tools"]]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return write_stub_toolset(tmp_path_factory.mktemp("town"))


@pytest.fixture
def endpoint(model_server):
    model_server.turn = scripted
    return model_server


@pytest.fixture
def agent(bundle, tmp_path):
    """Runs the command."""
    config = tmp_path / "mcp.json"
    config.write_text(configuration(tmp_path))
    queries = tmp_path / "q.jsonl"
    queries.write_text("".join(json.dumps(row) + "\n" for row in QUERIES))

    def agent(*more, code=0):
        arguments = ("--config", config, "--queries", queries, "--out", tmp_path / "run.jsonl")
        return run("agent-run", bundle, *arguments, *more, code=code)

    return agent


def rows(tmp_path):
    lines = (tmp_path / "run.jsonl").read_text().splitlines()
    return {(row["query"], row["toolset"]): row for row in map(json.loads, lines)}


def test_the_merged_toolset_and_the_original_are_set_side_by_side(agent, endpoint, tmp_path):
    report = json.loads(agent("--json", "--allow-changes").output)
    before, after = report["sides"]
    assert (before["name"], before["tools"]) == ("as it is", 6)
    assert (after["name"], after["tools"]) == ("merged", 4)
    # with both copies at hand, the model calls both: one call more than is needed
    assert before["correct"]["mean"] == pytest.approx(2 / 3 - 1 / 3)
    assert after["correct"]["mean"] == 1.0
    assert before["served"]["mean"] == after["served"]["mean"] == 1.0
    assert before["calls"] > after["calls"] == 1.0
    assert before["unneeded_calls"] == pytest.approx(2 / 3) and after["unneeded_calls"] == 0.0
    assert (after["failed_calls"], after["unanswered"], after["turns"]) == (0.0, 0, 2.0)
    assert after["tokens_in"] == 100.0 and after["counted"]
    (call,) = rows(tmp_path)["q3", "merged"]["calls"]
    arguments = {"act": "x", "server": "south", "depth": 2}
    assert call.items() >= {"name": "work", "outcome": "ok", "tool_id": "south/work"}.items()
    assert call["arguments"] == arguments and json.loads(call["result"])["server"] == "south"
    assert before["right"] == before["wrong"] == 0, "nothing is expected, so nothing is graded"


def test_only_calls_that_succeed_at_the_right_original_serve_a_need(agent, endpoint, tmp_path):
    wrong_store = {"work": {"act": "x", "server": "north"}}
    failing = {"read_file": {}, "get": {}}

    wishes = {"Read the file": failing, "south": wrong_store}
    endpoint.turn = lambda body: scripted(body, wishes)
    side = json.loads(agent("--json", "--allow-changes", "--side", "merged").output)["sides"][0]
    assert side["correct"]["mean"] == side["served"]["mean"] == 0.0
    assert side["failed_calls"] == pytest.approx(1 / 3)
    assert {row[1] for row in rows(tmp_path)} == {"merged"}


def test_answers_are_graded_by_what_is_expected_and_by_a_judge(agent, endpoint, tmp_path):
    check = {"call": "south/same", "arguments": {"x": 4}, "gives": {"json": "arguments.x", "is": 4}}
    other = {"call": "north/read_file", "arguments": {"file_path": "b"}, "gives": '"path": "c"'}
    rights = [["Done", check], [other], None]
    asked = [{**row, "expected": one} for row, one in zip(QUERIES, rights, strict=True)]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))

    endpoint.answer = lambda body: f"Wrong: {body['model']} saw nobody in the south."
    options = ("--json", "--allow-changes", "--side", "merged", "--judge", "strict")
    side = json.loads(agent(*options).output)["sides"][0]
    whys = {query: row["why"] for (query, _), row in rows(tmp_path).items()}
    assert (side["right"], side["wrong"]) == (1, 2), whys
    assert whys["q1"] == ""
    assert whys["q2"].startswith('north/read_file {"file_path":"b"}: ')
    assert whys["q3"].startswith("strict saw nobody")


def test_every_request_begins_in_the_state_that_the_command_makes(agent, endpoint, tmp_path):
    mark = tmp_path / "mark"
    command = f"{sys.executable} -c \"open({str(mark)!r}, 'a').write('x')\""
    agent("--reset", command, "--first", 2)
    assert mark.read_text() == "x" * 4 and len(rows(tmp_path)) == 4
    assert [key[1] for key in rows(tmp_path)] == ["as it is", "merged"] * 2
    assert "concurrency of 1" in agent("--reset", command, "--concurrency", 2, code=2).output
    endless = f'{sys.executable} -c "import time; time.sleep(60)"'
    options = ("--request-deadline", 1, "--out", tmp_path / "endless.jsonl")
    assert "within 1 seconds" in agent("--reset", endless, *options, code=2).output
    failing = f"{sys.executable} -c \"raise SystemExit('no disk')\""
    options = ("--turns", 3, "--out", tmp_path / "other.jsonl")
    assert "1: no disk" in agent("--reset", failing, *options, code=2).output


def test_calls_that_may_change_something_are_not_carried_out_unless_allowed(
    agent, endpoint, tmp_path
):
    agent()
    outcomes = {call["outcome"] for row in rows(tmp_path).values() for call in row["calls"]}
    assert outcomes == {"not carried out"}
    assert "not carried out" in endpoint.received[-1].body["messages"][-1]["content"]


def test_a_run_that_the_budget_stopped_goes_on_and_repeats_nothing(agent, endpoint, tmp_path):
    stopped = agent("--budget-calls", 5, "--concurrency", 1, code=2).output
    assert re.search(r"budget .* 2 of 6 .*run\.jsonl", stopped)
    first = (tmp_path / "run.jsonl").read_text()
    missing = agent("--replay", code=1).stderr
    assert "4 requests: q2, as it is" in missing and len(endpoint.received) == 5
    output = agent("--concurrency", 1).output
    assert (tmp_path / "run.jsonl").read_text().startswith(first)
    assert len(rows(tmp_path)) == 6 and len(endpoint.received) == 5 + 2 * 4
    calls = len(endpoint.received)
    assert agent().output == agent("--replay").output == output
    assert len(endpoint.received) == calls
    assert "commit " in agent("--answers", "a.jsonl", code=2).stderr


def test_a_line_that_was_not_written_to_its_end_is_done_again(agent, endpoint, tmp_path):
    agent("--first", 1, "--concurrency", 1)
    path, calls = tmp_path / "run.jsonl", len(endpoint.received)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    agent("--first", 1, "--concurrency", 1)
    assert len(rows(tmp_path)) == 2 and len(endpoint.received) == calls + calls // 2
    assert path.read_bytes().startswith(whole.split(b"\n")[0] + b"\n")


@pytest.mark.parametrize("text", ["my notes", '{"a": 1}', '{"a": ', "x\n{"])
def test_a_file_that_is_none_of_a_run_stays_as_it_is(agent, endpoint, tmp_path, text):
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    agent("--first", 1, code=2)
    assert path.read_text() == text and not endpoint.received


def test_a_tool_that_breaks_its_own_schema_is_an_error_for_the_model():
    class Client:
        async def call_tool(self, name, arguments):
            raise RuntimeError(f"Tool {name} has an output schema but did not return that")

    text, is_error = asyncio.run(result_in_words(Client(), "work", {}))
    assert is_error and re.match("work .*cannot be read: Tool", text)


def test_a_file_of_another_run_is_kept_as_it_is(agent, endpoint, tmp_path):
    agent("--first", 1)
    before = (tmp_path / "run.jsonl").read_text()
    assert "belongs to a run" in agent("--turns", 3, code=2).output
    assert (tmp_path / "run.jsonl").read_text() == before
    (tmp_path / "run.jsonl").write_text(before.replace('"turns"', '"turn"'))
    assert "line 1 is not" in agent("--first", 1, code=2).output


def test_an_estimate_starts_and_sends_nothing(agent, endpoint, tmp_path):
    output = agent("--estimate").output
    assert "3 requests, at most 48" in output
    assert "as it is: 6 tools" in output and "merged: 4 tools" in output
    assert not endpoint.received and not (tmp_path / "run.jsonl").exists()


@pytest.mark.parametrize(
    ("mode", "parts"),
    [("busy", ["does not respond", "run the same"]), ("refused-key", ["asks for a key (401)"])],
)
def test_an_endpoint_that_gives_no_answer_stops_it(agent, endpoint, monkeypatch, mode, parts):
    monkeypatch.setattr(PAUSE, lambda *_: None)
    endpoint.mode = mode
    output = agent("--concurrency", 1, code=2).output
    assert all(part in output for part in parts)


def test_a_run_of_which_no_answer_can_be_used_ends_with_1(agent, endpoint):
    endpoint.turn = lambda body: {"content": "I will not.", "finish": "content_filter"}
    assert "no request" in agent("--first", 1, code=1).output


def test_a_flaky_endpoint_is_asked_again(agent, endpoint, monkeypatch):
    monkeypatch.setattr(PAUSE, lambda *_: 0.0)
    endpoint.mode = "flaky"
    report = json.loads(agent("--json", "--first", 2).output)
    assert [side["unanswered"] for side in report["sides"]] == [0, 0]


def test_a_model_that_calls_what_is_not_there_is_told(agent, endpoint, tmp_path):
    def lost(body):
        if body["messages"][-1]["role"] == "tool":
            return {"content": "I give up."}
        return calling({"teleport": "{}", "north_same": "{"})

    endpoint.turn = lost
    side = json.loads(agent("--json", "--first", 1).output)["sides"][1]
    assert side["failed_calls"] == 2.0 and side["correct"]["mean"] == 0.0
    results = [one["content"] for one in endpoint.received[-1].body["messages"][-2:]]
    assert "'teleport'" in results[0] and "not a JSON" in results[1]


def test_queries_and_servers_that_do_not_fit_are_said_before_anything_starts(
    agent, endpoint, tmp_path
):
    (tmp_path / "q.jsonl").write_text('{"query": "x", "gold": ["north/none"]}\n')
    assert "north/none" in agent(code=2).output
    assert "no query has a gold answer" in agent("--skip-unknown", code=2).output
    (tmp_path / "q.jsonl").write_text(json.dumps(QUERIES[0]))
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"north": {"command": "x"}}}')
    assert "no server called 'south'" in agent(code=2).output
    assert "use 1 to 50" in agent("--turns", 0, code=2).output
    assert not endpoint.received and len(NORTH) == 4
