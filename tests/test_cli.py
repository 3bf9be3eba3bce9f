"""The command line over real files, with the real model."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from typer.testing import CliRunner

from toolscope_core.bundle import FILES, read_relabelling
from toolscope_core.catalog import load_paths, read_catalog
from toolscope_core.cli import app
from toolscope_core.merging.calls import map_call, unmap_call
from toolscope_core.workspace.example import example_path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = str(example_path())
CATALOGS = {
    "bfcl": ("bfcl/tools.jsonl", 400),
    "bfcl-live": ("bfcl-live/tools.jsonl", 1073),
    "docker-mcp": ("docker-mcp/servers.json", 755),
    "livemcpbench": ("livemcpbench/servers.json", 527),
    "seal-tools": ("seal-tools/tools.jsonl", 4076),
    "ultratool": ("ultratool/tools.jsonl", 1323),
}


def run(*args, code=0):
    done = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="toolscope")
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def bundle(tmp_path):
    run("merge", EXAMPLE, "--out", tmp_path / "bundle", "--accept", "all", "--routers")
    return tmp_path / "bundle"


def test_merge_writes_a_bundle_and_says_what_it_did(bundle):
    assert {path.name for path in bundle.iterdir()} == set(FILES)
    manifest = json.loads((bundle / "manifest.json").read_text("utf-8"))
    assert manifest["counts"]["tools_after"] < manifest["counts"]["tools_before"]


@pytest.mark.parametrize(
    "shape", ["openai-chat", "openai-responses", "anthropic", "mcp", "neutral"]
)
def test_every_format_is_written_and_read_back(tmp_path, shape):
    run("merge", EXAMPLE, "--out", tmp_path / "b", "--accept", "auto", "--format", shape)
    toolset = tmp_path / "b" / "toolset.json"
    tools = json.loads((tmp_path / "b" / "relabel.json").read_text("utf-8"))["entries"]
    found = read_catalog(load_paths([toolset]))
    assert len(found.tools) == len({row["new_id"] for row in tools})
    assert found.problems == ()


def test_the_accept_policies_take_more_and_more(tmp_path):
    sizes = []
    for policy in ("none", "auto", "all"):
        out = tmp_path / policy
        run("merge", EXAMPLE, "--out", out, "--accept", policy)
        sizes.append(
            json.loads((out / "manifest.json").read_text("utf-8"))["counts"]["tools_after"]
        )
    assert sizes[0] == 28
    assert sizes[0] > sizes[1] > sizes[2]


def test_decisions_are_applied_and_come_out_again(tmp_path, bundle):
    clusters = json.loads((bundle / "clusters.json").read_text("utf-8"))
    ids = clusters[0]["members"]
    decisions = tmp_path / "decisions.jsonl"
    line = {"action": "reject", "ids": ids, "reviewer": "ann", "at": "2026-01-01T00:00:00Z"}
    decisions.write_text(json.dumps(line) + "\n\n", "utf-8")
    out = tmp_path / "again"
    run("merge", EXAMPLE, "--out", out, "--accept", "all", "--decisions", decisions)
    assert ids not in [c["members"] for c in json.loads((out / "clusters.json").read_text("utf-8"))]
    never = json.loads((out / "never_merge.json").read_text("utf-8"))
    assert sorted(ids)[:2] in never
    third = tmp_path / "third"
    run("merge", EXAMPLE, "--out", third, "--accept", "all", "--decisions", out / "decisions.jsonl")
    assert (third / "relabel.json").read_bytes() == (out / "relabel.json").read_bytes()


def test_equal_runs_write_equal_bytes(tmp_path):
    for name in ("one", "two"):
        run("merge", EXAMPLE, "--out", tmp_path / name)
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_judge_answers_in_the_order_asked(tmp_path):
    ids = [tool.id for tool in read_catalog(load_paths([example_path()])).tools]
    asked = [(ids[5], ids[2]), (ids[0], ids[1]), (ids[1], ids[0])]
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps({"left": a, "right": b}) + "\n" for a, b in asked), "utf-8")
    done = run("judge", EXAMPLE, "--pairs", pairs, "--out", tmp_path / "out" / "verdicts.jsonl")
    rows = [
        json.loads(line)
        for line in (tmp_path / "out" / "verdicts.jsonl").read_text("utf-8").splitlines()
    ]
    assert [(row["left"], row["right"]) for row in rows] == asked
    assert rows[1]["probability"] == rows[2]["probability"]
    assert all(row["evidence"] and row["verdict"] in ("merge", "unsure", "keep") for row in rows)
    assert "3 pairs" in done.output


def test_inspect_tells_format_counts_problems_findings_tokens(tmp_path):
    file = tmp_path / "mixed.json"
    tools = [{"name": "a", "description": "x\u200by", "inputSchema": {"type": "object"}}, 7]
    file.write_text(json.dumps({"tools": tools}), "utf-8")
    told = json.loads(run("inspect", file, "--json").output)
    assert (told["format"], told["tools"], told["records"]) == ("mcp", 1, 2)
    assert told["problems"][0]["position"]
    assert told["findings"]["counts"]["block"] == 1
    assert told["tokens"]["total"] > 0
    text = run("inspect", file).output
    assert "1 tools" in text
    assert "block" in text
    assert "problem" in text


def test_relabel_prints_counts_and_every_shrink(tmp_path, bundle):
    clusters = json.loads((bundle / "clusters.json").read_text("utf-8"))
    members = clusters[0]["members"]
    queries = tmp_path / "queries.jsonl"
    rows = [{"id": "q1", "query": "x", "gold": members}, {"id": "q2", "gold": ["nobody"]}]
    queries.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    done = run("relabel", queries, "--bundle", bundle, "--out", tmp_path / "new.jsonl")
    new = [json.loads(line) for line in (tmp_path / "new.jsonl").read_text("utf-8").splitlines()]
    assert len(new) == 2
    assert new[0]["gold"] == [clusters[0]["canonical"]]
    assert "2 queries, 1 changed, 1 shrunk, 1 unknown" in done.output
    assert all(member in done.output for member in members)


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (("inspect", "nowhere.json"), "nowhere.json"),
        (("merge", "bad.json", "--out", "o"), "bad.json"),
        (("merge", EXAMPLE, "--out", "o", "--threshold", "7"), "threshold is 7"),
        (("merge", EXAMPLE, "--out", "o", "--model", "no-such-model"), "no-such-model"),
        (("merge", EXAMPLE, "--out", "o", "--decisions", "bad.json"), "not JSON"),
        (("merge", EXAMPLE, "--out", "o", "--decisions", "unknown.jsonl"), "unknown.jsonl, line 1"),
        (("judge", EXAMPLE, "--pairs", "unknown.jsonl", "--out", "v"), "no tool id"),
        (("judge", EXAMPLE, "--pairs", "list.jsonl", "--out", "v"), "JSON object"),
        (("relabel", "unknown.jsonl", "--bundle", "nowhere", "--out", "v"), "cannot be read"),
        (("relabel", "nowhere.jsonl", "--bundle", "nowhere", "--out", "v"), "cannot be read"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(tmp_path, monkeypatch, args, word):
    monkeypatch.chdir(tmp_path)
    Path("bad.json").write_text("{", "utf-8")
    Path("list.jsonl").write_text("[1]\n", "utf-8")
    Path("unknown.jsonl").write_text(
        '{"action": "accept", "ids": ["x", "y"], "left": "x"}\n', "utf-8"
    )
    done = run(*args, code=2)
    assert word in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.output


def test_a_result_that_cannot_be_written_is_said(tmp_path):
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("", "utf-8")
    done = run("judge", EXAMPLE, "--pairs", pairs, "--out", pairs / "x.jsonl", code=2)
    assert "cannot be written" in done.stderr


def test_a_pipe_hears_no_progress(tmp_path):
    command = [
        sys.executable,
        "-m",
        "toolscope_core",
        "merge",
        EXAMPLE,
        "--out",
        str(tmp_path / "b"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "tools in" in done.stdout


def test_a_terminal_sees_progress(monkeypatch, capsys, tmp_path):
    from toolscope_core import cli
    from toolscope_core.backends import Step

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    show = cli._progress()
    show(Step("judge", 1, 2))
    show(Step("judge", 2, 2))
    assert capsys.readouterr().err == "\rjudge: 1 of 2\rjudge: 2 of 2\n"


def test_prepare_brings_the_example_once(tmp_path):
    assert "analysed" in run("prepare").output
    assert "analysed" in run("prepare").output


@pytest.mark.shared_data
@pytest.mark.parametrize("name", CATALOGS)
def test_every_catalog_merges_and_every_gold_call_is_kept(name, shared_data, tmp_path):
    file, count = CATALOGS[name]
    out = tmp_path / name
    run(
        "merge",
        shared_data / file,
        "--out",
        out,
        "--accept",
        "all",
        "--routers",
        "--format",
        "neutral",
    )
    relabelling = read_relabelling(out)
    toolset = json.loads((out / "toolset.json").read_text("utf-8"))["tools"]
    assert len(relabelling.phi) == count
    assert set(relabelling.phi.values()) == {tool["id"] for tool in toolset}
    assert len(toolset) < count
    queries = shared_data / Path(file).parent / "queries.dev.jsonl"
    if queries.exists():
        check_calls(queries, read_catalog(load_paths([shared_data / file])), relabelling, toolset)


def check_calls(queries, catalog, relabelling, toolset):
    """Every gold call to a merged tool validates as well as it did before, and maps back."""
    schemas = {tool["id"]: tool["parameters"] for tool in toolset}
    tools = catalog.by_id
    calls = [
        call
        for line in queries.read_text("utf-8").splitlines()
        for call in json.loads(line).get("calls", [])
        if call["tool"] in relabelling.arguments
    ]
    for call in calls:
        old, alpha = tools[call["tool"]], relabelling.arguments[call["tool"]]
        mapped = map_call(alpha, call["arguments"])
        assert mapped.lost == ()
        if valid(old.schema, call["arguments"]):
            assert valid(schemas[alpha.to], mapped.arguments), call
        types = {p.name: p.type for p in old.parameters}
        assert unmap_call(alpha, mapped.arguments, types) == call["arguments"]


def valid(schema, value):
    return Draft202012Validator(schema, registry=Registry()).is_valid(value)


def test_servers_without_tools_can_be_inspected_and_not_merged(tmp_path):
    config = ROOT / "tests" / "data" / "documents" / "claude_desktop_config.json"
    assert "0 tools on 2 servers" in run("inspect", config).output
    refused = run("merge", config, "--out", tmp_path / "out", code=2)
    assert "has no tools; add a file" in refused.output
