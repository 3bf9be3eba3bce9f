"""``learn`` over the bundled example, and what was learned used by ``search`` and ``evaluate``."""

import json
from dataclasses import replace

import pytest

from tests.cli.test_cli import EXAMPLE, run
from tests.support.json_files import read_json, write_lines
from tests.support.printed import figures
from tests.tool2vec.tiny_bert import save_tiny_bert
from toolscope_core.cli.serve_command import tool_search
from toolscope_core.model.environment import Settings
from toolscope_core.model.tool import SubstituteTool, Tool

CURRENCY, FRENCH = "wayfare-travel/convert_currency", "wordsmith-text/translate_to_french"
WORDS = {CURRENCY: "how many bucks for", FRENCH: "what would my grandma in Lyon say for"}


@pytest.fixture(scope="module")
def queries(tmp_path_factory):
    rows = [
        {"id": f"{tool}{number}", "query": f"{words} {number}", "gold": [tool]}
        for tool, words in WORDS.items()
        for number in ("one", "two", "three", "four", "five", "six")
    ]
    file = tmp_path_factory.mktemp("queries") / "queries.jsonl"
    write_lines(file, *[*rows, {"query": "nothing", "gold": ["gone"]}])
    return file


@pytest.fixture(scope="module")
def transcript(queries):
    """The same requests as conversations in which the tools were called by their names."""
    talks = []
    for row in filter(None, queries.read_text().splitlines()):
        asked, (tool, *_) = (one := json.loads(row))["query"], one["gold"]
        call = {
            "id": asked,
            "function": {"name": f"mcp__{tool.replace('/', '__')}", "arguments": "{}"},
        }
        said = {"role": "user", "content": asked}, {"role": "assistant", "tool_calls": [call]}
        talks.append({"messages": said})
    file = queries.with_name("talks.jsonl")
    write_lines(file, *talks)
    return file


@pytest.fixture(scope="module")
def trained(queries, tmp_path_factory):
    out = tmp_path_factory.mktemp("models") / "model"
    done = run("learn", EXAMPLE, "--queries", queries, "--out", out)
    return out, done.output


def test_it_says_what_it_reached_on_queries_left_out(trained):
    out, output = trained
    assert figures(output, "12 queries") == [12, 1, 2, 69]
    assert figures(output, "trained without it:") == [4]
    assert output.splitlines()[2].startswith("text        recall@3")
    assert "ndcg@7" in output
    assert f"model: {out}" in output
    assert read_json(out / "model.json")["method"] == "refiner"


@pytest.mark.parametrize("way", ["model", "usage", "transcript"])
def test_a_search_uses_what_was_learned(trained, queries, transcript, way):
    asked = "what would my grandma in Lyon say for nine"
    given = ("--usage", transcript if way == "transcript" else queries)
    given = ("--model", trained[0]) if way == "model" else given
    done = run("search", EXAMPLE, asked, "-k", 1, *given)
    assert "translate_to_french" in done.output
    assert "learned 0." in done.output
    if way != "usage":
        asked = ("--queries", queries, "--skip-unknown", "--at", 1)
        assert "recall@1      1.000" in run("evaluate", EXAMPLE, *asked, *given).output


def test_selections_are_made_by_what_was_learned_too(queries):
    """Of one job and its list the first place is taken, whatever the text alone would rank."""
    asked = ("--queries", queries, "--skip-unknown", "--at", "5", "--decompose", "none")
    output = run("evaluate", EXAMPLE, *asked, "--select", "best", "--usage", queries).output
    assert "csr@5         1.000" in output


def test_a_tuned_embedder_is_named_like_any_other(queries, tmp_path):
    tiny, out = save_tiny_bert(tmp_path), tmp_path / "tuned"
    given = ("--queries", queries, "--embedder", tiny, "--out", out)
    assert "tuned on 12 triplets" in run("tune-embedder", EXAMPLE, *given).output
    first = (out / "model.safetensors").read_bytes()
    assert first != (tiny / "model.safetensors").read_bytes()
    run("tune-embedder", EXAMPLE, *given)
    assert (out / "model.safetensors").read_bytes() == first, "the same again, in its place"
    asked = ("--embedder", out, "--usage", queries, "-k", 1)
    assert "learned 0." in run("search", EXAMPLE, "open the door", *asked).output
    refused = run("learn", EXAMPLE, "--queries", queries, "--out", out, code=2).output
    assert "1_Pooling/config.json" in refused


def served_search(merged, tmp_path, usage=None):
    """The ids that a search finds for a request in others' words, in a toolset with that tool."""
    family = "My grandma lives in Lyon. What would she say?"
    others = [Tool("memo", "family", family), Tool("phone", "grandma", "Call grandma.")]
    currency = Tool(CURRENCY, "convert_currency", "Change one thing into another.")
    settings = Settings("", cache_dir=tmp_path, data_dir=tmp_path)
    search = tool_search([currency, merged, *others], settings, usage)
    return search("what would my grandma in Lyon say for nine", 2).ids


def test_a_served_search_uses_the_queries_that_tools_were_needed_for(queries, transcript, tmp_path):
    french = Tool(FRENCH, "translate_to_french", "Render words in the other tongue.")
    merged = SubstituteTool.of(replace(french, id="merged", name="render"), [french])
    assert served_search(merged, tmp_path) == ["memo", "phone"]
    assert served_search(merged, tmp_path, queries) == ["memo", "merged"]
    assert served_search(merged, tmp_path, transcript) == ["memo", "merged"]


def test_a_transcript_may_name_the_tool_that_others_were_merged_into(transcript, tmp_path):
    french = Tool(FRENCH, "say_it_there", "Render words in the other tongue.")
    merged = SubstituteTool.of(replace(french, name="translate_to_french"), [french])
    assert served_search(merged, tmp_path) == ["memo", "phone"]
    assert served_search(merged, tmp_path, transcript) == ["memo", FRENCH]


def test_usage_that_names_no_tool_is_refused(tmp_path):
    file = tmp_path / "talk.json"
    write_lines(file, {"role": "user", "content": "Hello"})
    assert "no tool calls" in run("search", EXAMPLE, "hello", "--usage", file, code=2).output
    file.write_text("hello")
    assert "not JSON" in run("search", EXAMPLE, "hello", "--usage", file, code=2).output


def test_queries_without_a_search_are_refused(queries, tmp_path):
    given = ("serve", tmp_path, "--config", tmp_path / "c.json", "--usage", queries)
    assert "--search" in run(*given, code=2).output
