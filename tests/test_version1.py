"""What people have of version 1 stays: its store opens, its decisions hold, its bundles are read.

What is *proposed* is today's judge's business and not compared.
"""

import json
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from typer.testing import CliRunner

from toolscope_core.bundle import argument_row
from toolscope_core.cli import app
from toolscope_core.config import PlanConfig, read_environment
from toolscope_core.datamodel import Pair
from toolscope_core.decision_log import active, constraints
from toolscope_core.relabelling import read_relabelling
from toolscope_core.workspace.workspace import Workspace

FOLDER = Path(__file__).parent / "data" / "version1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))
CATALOGS = {f"{item['name']} {item['number']}": item for item in EXPECTED["catalogs"]}
TOWN = CATALOGS["Town 1"]
DECIDED = PlanConfig(accept="none")
NOT_OPEN = ("accepted", "stale", "conflict")
"""The states that follow from decisions alone."""


@pytest.fixture(scope="module")
def work(tmp_path_factory, vector_cache):
    folder = tmp_path_factory.mktemp("version1")
    shutil.copy(FOLDER / "store.db", folder / "store.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{folder / 'store.db'}")
        patch.setenv("TOOLSCOPE_CACHE_DIR", str(vector_cache))
        settings = read_environment()
    workspace = Workspace(settings)
    yield workspace
    workspace.close()


@pytest.fixture(params=CATALOGS)
def expected(request):
    return CATALOGS[request.param]


def settled(clusters):
    """What does not follow from a judge, of clusters as a plan or as a file has them."""
    return {
        tuple(row["members"]): (row["canonical"], row["kind"], row["state"])
        for row in clusters
        if row["state"] in NOT_OPEN
    }


def rows_of(plan):
    return [
        {"members": c.members, "canonical": c.canonical, "kind": c.kind, "state": c.state}
        for c in plan.clusters
    ]


def test_the_log_is_whole_and_the_same_decisions_stand(work, expected):
    log = work.review.log(expected["id"])
    assert (len(log), len(active(log))) == (expected["log"], expected["standing"])
    assert Counter(item.action for item in log) == expected["actions"]
    assert Counter(item.action for item in active(log)) == expected["standing_actions"]


def test_what_people_accepted_stays_as_it_was(work, expected):
    plan = work.review.plan(expected["id"], DECIDED)
    assert settled(rows_of(plan)) == settled(expected["clusters"])
    names = {c.members: c.document.name for c in plan.clusters if c.state == "accepted"}
    before = [row for row in expected["clusters"] if row["state"] == "accepted"]
    assert names == {tuple(row["members"]): row["name"] for row in before}


def test_the_same_tools_are_switched_off_and_their_calls_lead_where_they_did(work, expected):
    plan = work.review.plan(expected["id"], DECIDED)
    assert {row.old_id: row.new_id for row in plan.relabels} == expected["phi"]
    arguments = {alpha.tool_id: argument_row(alpha) for alpha in plan.arguments}
    assert arguments == expected["arguments"]
    wider = work.review.plan(expected["id"], PlanConfig(accept="none", routers=True))
    moved = {row.old_id: row.new_id for row in wider.relabels if row.old_id != row.new_id}
    assert moved == expected["routers"]


def test_pairs_that_are_never_to_be_merged_stay_apart(work, expected):
    catalog, log = work.catalogs.open(expected["id"]), work.review.log(expected["id"])
    apart = constraints(catalog, log).cannot
    assert sorted([pair.left, pair.right] for pair in apart) == expected["never_merge"]
    plan = work.review.plan(expected["id"], PlanConfig(accept="all", routers=True))
    inside = {Pair(*two) for c in plan.clusters for two in combinations(c.members, 2)}
    assert not apart & inside


def test_a_prune_that_would_be_a_family_today_stays_a_prune(work):
    plan = work.review.plan(TOWN["id"], DECIDED)
    analysis = work.analyses.get(TOWN["id"])
    accepted = [c for c in plan.clusters if c.state == "accepted" and c.kind == "prune"]
    today = {analysis.verdict(Pair(*c.members)).outcome for c in accepted if len(c.members) == 2}
    assert "family" in today
    assert "parametric" not in {cluster.relation for cluster in accepted}


def run(*args):
    done = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="toolscope")
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def merged(tmp_path_factory):
    """A bundle of today of the same catalog with the decisions of the old bundle."""
    out = tmp_path_factory.mktemp("merged") / "bundle"
    decisions = FOLDER / "bundle" / "decisions.jsonl"
    catalog = FOLDER / "catalog.json"
    run("merge", catalog, "--out", out, "--accept", "none", "--decisions", decisions)
    return out


def loaded(folder, name):
    return json.loads((folder / name).read_text("utf-8"))


def test_the_decisions_of_an_old_bundle_replay_to_the_same_merges(merged):
    old, new = (loaded(folder, "clusters.json") for folder in (FOLDER / "bundle", merged))
    assert settled(new) == settled(TOWN["clusters"])
    assert settled(new).items() <= settled(old).items()
    members = {member for ids in settled(new) for member in ids}
    phi = [
        {row["old_id"]: row for row in loaded(folder, "relabel.json")["entries"]}
        for folder in (FOLDER / "bundle", merged)
    ]
    maps = [loaded(folder, "arguments.json")["maps"] for folder in (FOLDER / "bundle", merged)]
    assert all(phi[0][member] == phi[1][member] for member in members)
    assert maps[1] == {old: row for old, row in maps[0].items() if old in members}
    assert len(maps[1]) == 20
    assert loaded(merged, "never_merge.json") == loaded(FOLDER / "bundle", "never_merge.json")
    old, new = (
        [json.loads(line) for line in (folder / "decisions.jsonl").read_text("utf-8").splitlines()]
        for folder in (FOLDER / "bundle", merged)
    )
    assert [{k: v for k, v in row.items() if k != "tools"} for row in new] == old


def test_relabel_reads_an_old_bundle_and_writes_the_same_bytes(tmp_path):
    out = tmp_path / "relabelled.jsonl"
    run("relabel", FOLDER / "queries.jsonl", "--bundle", FOLDER / "bundle", "--out", out)
    assert out.read_bytes() == (FOLDER / "relabelled.jsonl").read_bytes()


def test_both_old_bundles_are_read_whole():
    for name in ("bundle", "bundle_routers"):
        relabelling = read_relabelling(FOLDER / name)
        assert relabelling.phi.keys() == TOWN["phi"].keys()
        for old, alpha in relabelling.arguments.items():
            assert argument_row(alpha) == loaded(FOLDER / name, "arguments.json")["maps"][old]
            assert alpha.to == relabelling.phi[old]
