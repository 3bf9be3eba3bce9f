"""``stress``, ``sweep`` and ``ablation``, and what ``evaluate`` says of a merge."""

import re

import pytest

from tests.cli.test_cli import EXAMPLE, run, run_json
from tests.support.fakes import WordEmbedder
from tests.support.json_files import read_lines, write_json, write_lines
from tests.support.printed import figures
from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.tokens import tool_tokens
from toolscope_core.evaluation.query_sets import example_queries

QUERIES = example_queries()
BY_STEPS = ("--plan", "--decompose", "steps")
PLAIN = ("--rerank", "none")


@pytest.fixture
def five(small, small_queries):
    """Evaluates the five queries; what is said, or all figures."""

    def evaluate(*more, code=0, with_run=run):
        given = ("evaluate", small, "--queries", small_queries, "--at", "5", *PLAIN)
        done = with_run(*given, *more, code=code)
        return done.output if with_run is run else done

    return evaluate


def swept_points(*args):
    return run_json("sweep", *args, *PLAIN, "--accept", "all")["points"]


@pytest.fixture(scope="module")
def swept(small, small_queries):
    """The sweep of the threshold."""
    return swept_points(small, "--queries", small_queries)


def test_both_toolsets_are_searched_among_distractors(small, small_queries, small_bundle):
    given = ("stress", small, "--queries", small_queries)
    lines = run(*given, "--bundle", small_bundle).output.splitlines()
    assert figures(lines[0], "intervals") == [5, 95]
    toolsets = ["as it is, whole", "as it is, by rule", "merged, whole", "merged, by rule"]
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")][1:] == toolsets
    assert len(lines) == 1 + 4 * 13
    toolsets = run_json("stress", small, "--queries", QUERIES, "--skip-unknown")["toolsets"]
    assert list(toolsets) == ["as it is, whole", "as it is, by rule"]
    assert len(toolsets["as it is, whole"][0]["recalls"]) == 7


def test_requests_are_split_in_several_ways_and_stand_against_not_split(
    small, small_queries, tmp_path
):
    rows = [
        {"id": row["id"], "context": ["pack a suitcase", "boil an egg"]}
        for row in read_lines(small_queries)
    ]
    splits = write_lines(tmp_path / "splits.jsonl", *rows)
    arguments = ("stress", small, "--queries", small_queries, "--decompose", "context")
    ways = ("--decompose", "rules", "--splits", splits, "--alpha", "1")
    result = run_json(*arguments, *ways)["toolsets"]
    whole, by_rule, context = result.values()
    assert list(result) == [
        f"as it is, {one}" for one in ("whole", "by rule", "by a model in context")
    ]
    assert "gain" not in whole[0] and all("gain" in one for one in by_rule)
    assert context[11]["recall"]["mean"] < whole[11]["recall"]["mean"], "the same for each"
    assert "of no gain by splitting" in run(*arguments, *ways).output
    assert "--decompose is 'x'" in run(*arguments, "--decompose", "x", code=2).output


def test_the_floor_of_a_sweep_is_given_and_merges_with_a_gateway_are_more(
    swept, small, small_queries
):
    first, *_ = swept_points(small, "--queries", small_queries, "--threshold", ".5", "--gateway")
    assert first["value"] == 0.5
    assert first["tools"] < swept[0]["tools"]
    assert set(first["metrics"]) >= {"recall", "ndcg", "csr"}


def test_the_parts_are_switched_on_and_off(small, small_queries):
    given = ("ablation", small, "--queries", small_queries)
    result = run_json(*given)
    parts = [(row["reranker"], row["merger"], row["correction"]) for row in result["rows"]]
    assert len(set(parts)) == len(parts) == 10
    sizes = {row["merger"]: row["tools"] for row in result["rows"]}
    assert sizes["none"] > sizes["drop-in"] > sizes["gateway"]
    table = run(*given).output.splitlines()
    assert table[1].split()[:3] == ["reranker", "merger", "correction"] and len(table) == 12


def test_the_search_of_an_ablation_is_chosen(small, small_queries, no_model_is_found):
    def rows(*more):
        result = run_json("ablation", small, "--queries", small_queries, *more)
        return {(row["reranker"], row["merger"]): row["metrics"] for row in result["rows"]}

    assert rows("--alpha", "0") != rows("--as-in-paper", "rps")
    refused = run(
        "ablation", small, "--queries", small_queries, "--as-in-paper", "toolscope", code=2
    )
    assert "cross-encoder" in refused.stderr, "the reranker is the paper's"


def test_encoders_are_measured_by_their_names(small, small_queries, no_model_is_found, monkeypatch):
    given = ("sweep", small, "--queries", small_queries, "--move", "encoder", *PLAIN, "--encoder")
    assert "no/such model" in run(*given, "no/such model", code=2).stderr
    monkeypatch.setattr(
        "toolscope_core.llm.embedding.SentenceEmbedder", lambda name: WordEmbedder()
    )
    table = run(*given, "words").output.splitlines()
    assert table[2].split()[0] == "words"


def test_a_merge_is_measured_with_its_gold_calls_and_every_query(five, small_bundle):
    text = five("--bundle", small_bundle)
    assert re.search(r"gold calls .*3 of 3, after 3 .* 1\.000, 1\.000; equal", text)
    assert " won, " in text
    report = five("--bundle", small_bundle, with_run=run_json)
    assert len(report["result"]["queries"]) == 5
    assert report["result"]["after"]["metrics"] == report["merged"]["metrics"]


def test_each_merge_of_a_bundle_is_a_row(five, small_bundle):
    given = ("--bundle", small_bundle, "--each-change")
    rows = [row for row in five(*given).splitlines() if " + " in row]
    changes = five(*given, with_run=run_json)["changes"]
    assert len(rows) == len(changes) > 1
    assert all("not enough queries" in row and "(n = " in row for row in rows)
    assert rows[0].startswith(f"{' + '.join(changes[0]['tools'])}: {changes[0]['queries']} quer")
    assert "use --bundle" in five("--each-change", code=2)


def test_labelled_pairs_show_wrong_merges(five, small_bundle, tmp_path):
    pairs = {
        ("wordsmith-text/summarize_text", "wordsmith-text/summarize"): "keep",
        ("wayfare-travel/convert_currency", "wordsmith-text/convert_currency"): "merge",
        ("wordsmith-text/translate", "wordsmith-text/detect_language"): "merge",
    }
    rows = [
        {"left": left, "right": right, "label": label} for (left, right), label in pairs.items()
    ]
    labels = write_lines(tmp_path / "labels.jsonl", *rows)
    given = ("--labels", labels)
    output = five(*given, "--bundle", small_bundle)
    assert "1 right, 1 wrong (" in output
    assert " + ".join(sorted(next(iter(pairs)))) in output
    assert "1 left apart that may be merged" in output
    assert "use --bundle" in five(*given, code=2)
    write_json(labels, {"left": "a", "right": "b", "label": "no"})
    refused = five(*given, "--bundle", small_bundle, code=2)
    assert "use tool ids for `left`" in refused


def test_selections_of_the_search_itself_are_measured(five, small_bundle):
    output = five("--select", "best", "--bundle", small_bundle)
    assert re.search(r"^csr@5 +[01]\.\d+.* after [01]\.\d+", output, re.MULTILINE)
    assert re.search(r"^parts@1 +[01]\.\d+", output, re.MULTILINE)
    refused = five("--select", "best", "--servers", code=2)
    assert "not servers" in refused


def test_plans_of_a_query_set_are_measured_before_and_after(five, small, small_bundle):
    before, after = five(*BY_STEPS, "--bundle", small_bundle, with_run=run_json)["sides"]
    assert (before["toolset"], after["toolset"]) == ("as it is", "merged")
    assert before["queries"] == 5 and before["jobs"] == pytest.approx(6 / 5)
    assert 0 < before["recall"]["low"] <= before["recall"]["mean"] <= 1
    tokens = [tool_tokens(tool) for tool in read_files([small]).tools]
    (wide,) = five(*BY_STEPS, "--per-job", len(tokens), "--once", with_run=run_json)["sides"]
    assert wide["searches"] == wide["jobs"]
    assert wide["tools_shown"] == pytest.approx(len(tokens) * 6 / 5)
    assert wide["tokens_shown"] == pytest.approx(sum(tokens) * 6 / 5)
    assert "shown tools called" in five(*BY_STEPS, "--filter")
    assert "--plan measures sets of tools" in five(*BY_STEPS, "--select", "best", code=2)


@pytest.fixture
def first_tool(model_server):
    """An endpoint that takes, and calls, the first tool that it is shown for each job."""

    def answer(body):
        user = body["messages"][-1]["content"]
        row = {"tool": 1, "calls": [{"tool": 1, "arguments": []}]}
        ids = re.findall(r"^(\w{12}): job", user, re.MULTILINE)
        return {"answers": [{"question": one, **row} for one in ids]}

    model_server.answer = answer
    return model_server


def test_a_model_is_the_worker_of_plans(first_tool, five):
    given = ("--worker", "model", "--once", "--per-job", 3)
    (side,) = five(*BY_STEPS, *given, with_run=run_json)["sides"]
    assert side["calls"] == side["questions"] == len(first_tool.received) == 6
    assert side["tokens_in"] > 0 and side["tools_shown"] == pytest.approx(18 / 5)
    assert side["tools_called"] <= side["jobs"]


def test_a_worker_is_given_the_whole_pool_of_a_request(first_tool, tmp_path):
    queries = write_lines(tmp_path / "queries.jsonl", read_lines(QUERIES)[0])
    arguments = ("stress", EXAMPLE, "--queries", queries, "--decompose", "none", "--alpha", 1)
    (points,) = run_json(*arguments, "--select", "model")["toolsets"].values()
    shown = sorted(one.user.count("--- begin tool") for one in first_tool.received)
    assert shown == [1, 11, 11, 21, 21, 31, 31, 41, 41, 51, 51]
    assert points[0]["recall"]["mean"] == 1.0, "the only one of its pool"
    assert all(point["precision"]["mean"] in (0.0, 1.0) for point in points), "one is taken"
    (own,) = run_json(*arguments, "--select", "best")["toolsets"].values()
    assert all(point["precision"]["mean"] in (0.0, 1.0) for point in own)


def test_a_model_selects_and_is_asked_once(first_tool, five):
    given = ("--decompose", "steps", "--select", "model")
    first = five(*given)
    calls = len(first_tool.received)
    assert calls == 4 + 2, "one for each job"
    assert first_tool.received[0].user.count("--- begin tool") == 5
    assert five(*given) == first
    assert len(first_tool.received) == calls, "the ledger has the answers"
    assert "paused: budget used up (1 calls" in five(
        *given, "--at", "4", "--budget-calls", 1, code=2
    )
    assert re.search(r"^csr@5 +[01]\.\d+", first, re.MULTILINE)


def test_answers_of_a_file_are_replayed_without_a_key_and_a_store(
    first_tool, five, tmp_path, monkeypatch
):
    file = tmp_path / "answers.jsonl"
    given = ("--decompose", "steps", "--select", "model", "--answers", file)
    first = five(*given)
    lines, calls = file.read_bytes(), len(first_tool.received)
    assert calls == len(lines.splitlines()) > 0
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{tmp_path / 'other.db'}")
    for name in ("TOOLSCOPE_BASE_URL", "TOOLSCOPE_MODEL"):
        monkeypatch.delenv(name)
    assert five(*given, "--replay") == first
    stale = five(*given, "--replay", "--model", "another", code=1)
    assert "selection: " in stale and "another" in stale and "without --replay" in stale
    assert len(first_tool.received) == calls, "nobody was asked again"
    assert "--answers" in five("--select", "model", "--replay", code=2)
