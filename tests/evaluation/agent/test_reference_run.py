"""Ten requests carried out with reference servers by a model whose steps are written here, right and
wrong ones, with both toolsets: what went wrong is counted as such. Each night.
"""

import json

import pytest

from tests.cli.test_cli import run
from tests.evaluation.agent.test_agent_run import calling, names_offered
from tests.mcp.gateway.test_reference_servers import merged, reference_servers  # noqa: F401
from toolscope_core.catalog.calls import map_call
from toolscope_core.evaluation.agent.toolset_pair import read_toolset_pair
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.model.configuration import AgentConfig

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1200)]
LAMP = {"name": "lamp", "entityType": "thing", "observations": ["red"]}
LAMPS = {"call": "memory/search_nodes", "arguments": {"query": "lamp"}, "gives": "red"}
LINE = "first line"


def requests(place):
    """Each request with what is right, and the calls and the answer of the model's script."""

    def file(folder, name="one.txt"):
        return {"path": str(place / folder / name)}

    def holds(folder, name, text):
        return {"call": f"files-{folder}/read_text_file", "arguments": file(folder, name),
                "gives": text}  # fmt: skip

    hello = {**file("a", "new.txt"), "content": "hello"}
    astray = {**file("b", "new.txt"), "content": "hello"}
    edit = {**file("a"), "edits": [{"oldText": LINE, "newText": "a new line"}], "dryRun": False}
    write, reading = ["files-a/write_file"], ["files-a/read_text_file"]
    return {
        "Keep hello in a": (write, holds("a", "new.txt", "hello"), [(*write, hello)], "Kept."),
        "Keep hello in a, not in b": (
            write, holds("a", "new.txt", "hello"), [("files-b/write_file", astray)], "Kept.",
        ),
        "Look and read a": (
            reading, LINE, [("files-a/list_directory", {"path": str(place / "a")}),
                            (*reading, file("a"))], "It begins with the first line.",
        ),
        "Read a and say what it says": (reading, LINE, [(*reading, file("a"))], "It is empty."),
        "Read what is not there": (reading, LINE, [(*reading, file("a", "no.txt"))], "Sorry."),
        "Remember the lamp": (
            ["memory/create_entities"], LAMPS,
            [("memory/create_entities", {"entities": [LAMP]})], "Remembered.",
        ),
        "Remember the red lamp": (["memory/create_entities"], LAMPS, [], "Remembered."),
        "Add 2 and 3": (
            ["everything/get-sum"], 5, [("everything/get-sum", {"a": 2, "b": 3})], "It is 5.",
        ),
        "Say the time": (
            ["time/get_current_time"], {"regex": "[0-9]{2}:[0-9]{2}"}, [("clock", {})], "Soon.",
        ),
        "Change the line": (
            ["files-a/edit_file"], holds("a", "one.txt", "a new line"),
            [("files-b/read_text_file", file("b")), ("files-a/edit_file", edit)], "Changed.",
        ),
    }  # fmt: skip


@pytest.fixture
def work(merged, tmp_path, model_server):  # noqa: F811
    """The report of the command, and its episodes by request and toolset."""
    config, _, bundle = merged
    place = config.parent
    scripts = requests(place)
    rows = [
        {"query": text, "gold": gold, "expected": expected, "allowed": ["files-a/list_directory"]}
        for text, (gold, expected, _, _) in scripts.items()
    ]
    queries = tmp_path / "queries.jsonl"
    queries.write_text("".join(json.dumps(row) + "\n" for row in rows))
    reset = tmp_path / "reset.sh"
    reset.write_text(
        f"cd {place} && for one in a b; do rm -rf $one; mkdir $one; "
        f"printf '{LINE}\\nsecond line\\n' > $one/one.txt; done; "
        "find . -name memory.jsonl -delete"
    )
    pair = read_toolset_pair(bundle, read_queries(queries), AgentConfig())

    def turn(body):
        messages = body["messages"]
        _, _, steps, answer = scripts[messages[1]["content"]]
        at = sum(one["role"] == "tool" for one in messages)
        if at == len(steps):
            return {"content": answer}
        tool_id, arguments = steps[at]
        side = next(
            ways for ways in pair.ways.values()
            if {one.route for one in ways.values()} == set(names_offered(body))
        )  # fmt: skip
        if tool_id not in side:
            return calling({tool_id: json.dumps(arguments)})
        way = side[tool_id]
        mapped = map_call(*way.maps, arguments).arguments if way.maps else arguments
        return calling({way.route: json.dumps(mapped)})

    model_server.turn = turn
    out = tmp_path / "run.jsonl"
    words = ("--config", config, "--queries", queries, "--out", out, "--reset", f"sh {reset}")
    report = json.loads(run("agent-run", bundle, *words, "--allow-changes", "--json").output)
    lines = map(json.loads, out.read_text().splitlines())
    return report, {(row["text"], row["toolset"]): row for row in lines}


def test_every_wrong_store_failed_call_and_wrong_answer_is_counted_as_such(work):
    report, episodes = work
    assert report["queries"] == 10 and len(episodes) == 20
    for side in report["sides"]:
        wrong = {
            text for (text, name), row in episodes.items()
            if name == side["name"] and row["grade"] != "right"
        }  # fmt: skip
        assert wrong == {
            "Keep hello in a, not in b",
            "Read a and say what it says",
            "Read what is not there",
            "Remember the red lamp",
            "Say the time",
        }
        assert (side["right"], side["wrong"], side["unanswered"]) == (5, 5, 0)
        assert side["correct"]["mean"] == 0.5, "and not where a folder too many was read"
        assert side["served"]["mean"] == 0.6
        assert (side["failed_calls"], side["unneeded_calls"]) == (0.2, 0.2)
    before, after = report["sides"]
    assert after["tools"] < before["tools"]
