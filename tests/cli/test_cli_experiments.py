"""``stress`` and ``sweep`` over the bundled example, and what ``evaluate`` says of a merge."""

import re
from pathlib import Path

import pytest

from tests.cli.test_cli import EXAMPLE, run, run_json
from tests.support.json_files import read_json, read_lines, write_json, write_lines

QUERIES = Path(EXAMPLE).with_name("queries.jsonl")
SMALL = ("pinboard-notes", "wordsmith-text")
AT_FIVE = ("evaluate", EXAMPLE, "--queries", QUERIES, "--at", "5")
PLANS = ("evaluate", EXAMPLE, "--queries", QUERIES, "--plan", "--decompose", "steps")
SWEEP = ("--queries", QUERIES, "--accept", "all", "--rerank", "none")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("merged") / "bundle"
    run("merge", EXAMPLE, "--out", folder, "--accept", "all")
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two servers of the example, for what does not depend on how many there are."""
    servers = [one for one in read_json(Path(EXAMPLE)) if one["server"] in SMALL]
    return write_json(tmp_path_factory.mktemp("small") / "catalog.json", servers)


@pytest.fixture(scope="module")
def swept():
    """The sweep of the threshold over the example."""
    return run_json("sweep", EXAMPLE, *SWEEP)


def test_both_toolsets_are_searched_among_distractors(bundle, small):
    done = run("stress", EXAMPLE, "--queries", QUERIES, "--bundle", bundle)
    lines = done.output.splitlines()
    assert lines[0] == "26 queries; 95 % bootstrap intervals in brackets"
    toolsets = ["as it is, whole", "as it is, by rule", "merged, whole", "merged, by rule"]
    assert [line.split(":")[0] for line in lines if not line.startswith(" ")][1:] == toolsets
    assert len(lines) == 1 + 4 * 13
    result = run_json("stress", small, "--queries", QUERIES, "--skip-unknown")
    assert list(result["toolsets"]) == ["as it is, whole", "as it is, by rule"]
    assert len(result["toolsets"]["as it is, whole"][0]["recalls"]) == 7


def test_requests_are_split_in_several_ways_and_stand_against_not_split(tmp_path):
    ids = [one["id"] for one in read_lines(QUERIES)]
    rows = [{"id": one, "context": ["find a note", "mail it"]} for one in ids]
    splits = write_lines(tmp_path / "splits.jsonl", *rows)
    arguments = ("stress", EXAMPLE, "--queries", QUERIES, "--decompose", "context")
    ways = ("--decompose", "rules", "--splits", splits, "--alpha", "1")
    result = run_json(*arguments, *ways)["toolsets"]
    whole, by_rule, context = result.values()
    assert list(result) == [
        f"as it is, {one}" for one in ("whole", "by rule", "by a model in context")
    ]
    assert "gain" not in whole[0] and all(0 < one["gain"]["p"] <= 1 for one in by_rule)
    assert context[11]["recall"]["mean"] < whole[11]["recall"]["mean"], "the same for each"
    assert context[11]["gain"]["p_one_sided"] > 0.9
    assert "of no gain by splitting" in run(*arguments, *ways).output
    assert "--decompose is 'x'" in run(*arguments, "--decompose", "x", code=2).output


def test_without_queries_requests_are_made_and_called_so():
    assert "made from descriptions" in run("stress", EXAMPLE, "--decompose", "none").output


def test_a_higher_threshold_merges_less(swept, small):
    sizes = [point["tools"] for point in swept["points"]]
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1]
    assert all(point["tccr"] == 1.0 for point in swept["points"])
    table = run("sweep", small, *SWEEP, "--skip-unknown", "--move", "k").output.splitlines()
    assert table[1].split()[0] == "k"
    assert [line.split()[0] for line in table[2:5]] == ["1", "2", "3"]


def test_the_floor_of_a_sweep_is_given_and_merges_with_a_gateway_are_more(swept):
    result = run_json("sweep", EXAMPLE, *SWEEP, "--threshold", ".5", "--routers")
    assert result["points"][0]["value"] == 0.5
    assert result["points"][0]["tools"] < swept["points"][0]["tools"]
    assert set(result["points"][0]["metrics"]) >= {"recall", "ndcg", "csr"}


def test_the_parts_are_switched_on_and_off(small):
    result = run_json("ablation", EXAMPLE, "--queries", QUERIES)
    parts = [(row["reranker"], row["merger"], row["correction"]) for row in result["rows"]]
    assert len(set(parts)) == len(parts) == 10
    sizes = {row["merger"]: row["tools"] for row in result["rows"]}
    assert sizes["none"] > sizes["drop-in"] > sizes["gateway"]
    words = ("--queries", QUERIES, "--skip-unknown")
    table = run("ablation", small, *words).output.splitlines()
    assert table[1].split()[:3] == ["reranker", "merger", "correction"] and len(table) == 12


def test_a_sweep_reranks_with_the_cross_encoder_that_is_named(small, tmp_path):
    arguments = ("sweep", small, "--queries", QUERIES, "--skip-unknown", "--move", "k")
    refused = run(*arguments, "--rerank", tmp_path / "gone", code=2).output
    assert "cannot be loaded" in refused and "gone" in refused


def test_encoders_are_measured_by_their_names():
    arguments = ("sweep", EXAMPLE, "--queries", QUERIES, "--move", "encoder", "--rerank", "none")
    table = run(*arguments, "--encoder", "all-MiniLM-L6-v2").output.splitlines()
    assert table[2].split()[:2] == ["all-MiniLM", "65"]
    gone = run(*arguments, "--encoder", "no/such model", code=2)
    assert "no/such model" in gone.stderr


def test_a_merge_is_measured_with_its_gold_calls_and_every_query(bundle):
    arguments = (*AT_FIVE, "--bundle", bundle)
    text = run(*arguments).output
    assert "gold calls that run: 14 of 14, after 14 (share, TCCR: 1.000, 1.000; equal" in text
    assert " won, " in text
    report = run_json(*arguments)
    assert len(report["result"]["queries"]) == 26
    assert report["result"]["after"]["metrics"] == report["merged"]["metrics"]


def test_each_merge_of_a_bundle_is_a_row(bundle):
    arguments = (*AT_FIVE, "--bundle", bundle)
    rows = [row for row in run(*arguments, "--each-change").output.splitlines() if " + " in row]
    changes = run_json(*arguments, "--each-change")["changes"]
    assert len(rows) == len(changes) > 3
    assert all("after Holm; not enough queries to tell (n = " in row for row in rows)
    assert rows[0].startswith(f"{' + '.join(changes[0]['tools'])}: {changes[0]['queries']} quer")
    refused = run(*AT_FIVE, "--each-change", code=2).output
    assert "--each-change is of merges; give --bundle" in refused


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("stress", EXAMPLE, "--queries", "gone.jsonl"), "gone.jsonl cannot be read"),
        (("stress", EXAMPLE, "--bundle", "gone"), "cannot be read"),
        (("sweep", EXAMPLE, "--rerank", " "), "rerank is empty"),
        (("sweep", EXAMPLE, "--move", "encoder"), "--move encoder and --encoder go together"),
        (("sweep", EXAMPLE, "--encoder", "x"), "--move encoder and --encoder go together"),
    ],
)
def test_what_cannot_be_measured_is_said(args, message):
    assert message in run(*args, code=2).output


def test_labelled_pairs_show_wrong_merges(bundle, tmp_path):
    files = ["wordsmith-text/summarize_text", "wordsmith-text/summarize"]
    rows = [
        {"left": files[0], "right": files[1], "label": "keep"},
        {"left": "pinboard-notes/get_note", "right": "pinboard-notes/fetch_note", "label": "merge"},
        {"left": "pinboard-notes/get_note", "right": "odds-and-ends/calculate", "label": "merge"},
    ]
    labels = write_lines(tmp_path / "labels.jsonl", *rows)
    arguments = (*AT_FIVE, "--labels", labels)
    output = run(*arguments, "--bundle", bundle).output
    assert "labelled pairs merged: 1 right, 1 wrong (wordsmith-text/summarize + wordsmith" in output
    assert "1 left apart that may be merged" in output
    assert "--labels are of merges; give --bundle" in run(*arguments, code=2).output
    write_json(labels, {"left": "a", "right": "b", "label": "no"})
    refused = run(*arguments, "--bundle", bundle, code=2).output
    assert "line 1: give `left` and `right` as tool ids" in refused


def test_selections_of_the_search_itself_are_measured(bundle):
    arguments = (*AT_FIVE, "--select", "best")
    alone = run(*arguments).output
    assert re.search(r"^csr@5 +0\.\d+", alone, re.MULTILINE)
    assert re.search(r"^parts@1 +0\.\d+", alone, re.MULTILINE)
    both = run(*arguments, "--bundle", bundle).output
    assert re.search(r"^csr@5 .* after 0\.\d+", both, re.MULTILINE)
    refused = run(*arguments, "--servers", code=2).output
    assert "--select takes tools, not servers" in refused


def test_plans_of_a_query_set_are_measured_before_and_after(bundle):
    before, after = run_json(*PLANS, "--bundle", bundle)["sides"]
    assert (before["toolset"], after["toolset"]) == ("as it is", "merged")
    assert before["queries"] == 26 and before["jobs"] == pytest.approx(31 / 26)
    assert 0 < before["recall"]["low"] < before["recall"]["mean"] <= 1
    (wide,) = run_json(*PLANS, "--per-job", 10, "--once")["sides"]
    assert wide["tools_shown"] == pytest.approx(310 / 26) and wide["searches"] == wide["jobs"]
    assert "tools called of" in run(*PLANS, "--filter").output
    refused = run(*PLANS, "--select", "best", code=2).output
    assert "--plan measures sets of tools" in refused


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


def test_a_model_is_the_worker_of_plans(first_tool):
    (side,) = run_json(*PLANS, "--worker", "model", "--once", "--per-job", 3)["sides"]
    assert side["calls"] == side["questions"] == len(first_tool.received) == 31
    assert side["tokens_in"] > 0 and side["tools_shown"] == pytest.approx(93 / 26)
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


def test_a_model_selects_and_is_asked_once(first_tool):
    arguments = (*AT_FIVE, "--decompose", "steps", "--select", "model")
    first = run(*arguments).output
    calls = len(first_tool.received)
    assert calls == 23 + 2 + 3 + 3, "one for each job"
    assert first_tool.received[0].user.count("--- begin tool") == 5
    assert run(*arguments).output == first
    assert len(first_tool.received) == calls, "the ledger has the answers"
    paused = run(*arguments, "--at", "4", "--budget-calls", 1, code=2)
    assert "paused: budget: 1 calls" in paused.stderr
    assert re.search(r"^csr@5 +0\.\d+", first, re.MULTILINE)


def test_answers_of_a_file_are_replayed_without_a_key_and_a_store(
    first_tool, small, tmp_path, monkeypatch
):
    file = tmp_path / "answers.jsonl"
    own = ("evaluate", small, "--queries", QUERIES, "--skip-unknown", "--select", "model")
    arguments = (*own, *"--at 5 --decompose steps --rerank none --answers".split(), file)
    first = run(*arguments).output
    lines, calls = file.read_bytes(), len(first_tool.received)
    assert calls == len(lines.splitlines()) > 0
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{tmp_path / 'other.db'}")
    for name in ("TOOLSCOPE_BASE_URL", "TOOLSCOPE_MODEL"):
        monkeypatch.delenv(name)
    assert run(*arguments, "--replay").output == first
    stale = run(*arguments, "--replay", "--model", "another", code=1).stderr
    assert "selection: " in stale and "another" in stale and "give the command without" in stale
    assert len(first_tool.received) == calls, "nobody was asked again"
    assert "give it with --answers" in run(*own, "--replay", code=2).stderr
