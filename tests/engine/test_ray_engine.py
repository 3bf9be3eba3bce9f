"""A merge on a Ray cluster of this machine: the same bundle, whoever dies on the way."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CATALOGS = ["examples/catalog.json", "tests/data/town.json", "tests/data/generic.jsonl"]
STAGES = {"_read_shard", "_encode", "_near_codes", "_judged", "_explained"}

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        find_spec("ray") is None and os.environ.get("CI") != "true",
        reason="needs ray: pip install 'ray[client]'",
    ),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """What ``ray_run`` gives, and the folder where its workers left their marks."""
    folder = tmp_path_factory.mktemp("ray")
    places = [f"Path({str(place)!r})" for place in (folder, *CATALOGS)]
    code = (
        "from pathlib import Path; from tests.support.ray_run import run; "
        f"print(run({', '.join(places)}))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1]), folder


def test_the_bundle_is_the_same_byte_for_byte(run):
    assert run[0]["equal"] == [True] * len(CATALOGS)


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_a_worker_is_killed_in_each_stage_and_two_share_its_work(run, stage):
    folder = run[1]
    assert (folder / stage).exists()
    assert len(list(folder.glob(f"{stage} *"))) >= 2


def test_the_dashboard_says_what_a_worker_does(run):
    names = run[0]["names"]
    assert {task for task, _ in names} == {"in dashboard"}
    assert {worker for _, worker in names} <= {f"ToolScope {n}" for n in range(1, 65)}


def test_an_error_of_a_block_is_that_of_its_function(run):
    assert run[0]["refused"] == ["ModelError", "it is damaged; make block 0 anew"]


def test_a_block_that_kills_every_worker_ends_the_run_in_words(run):
    kind, message = run[0]["lost"]
    assert kind == "EngineError"
    assert "died 4 times on one block" in message


def test_a_block_that_needs_too_much_memory_ends_the_run_in_words(run):
    kind, message = run[0]["too large"]
    assert (kind, "ran out of memory" in message) == ("EngineError", True)


def test_a_node_that_goes_takes_nothing_with_it(run):
    assert run[0]["sums"] == list(range(1, 21))


def children(pid):
    """The processes below one, with their names."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines()[:9])
            name = (status.parent / "cmdline").read_text().split("\0")[0]
        except (OSError, ValueError):
            continue
        parents[int(status.parent.name)] = int(lines["PPid"]), lines["State"], name
    below, added = {}, {pid}
    while added:
        added = {one for one, (parent, _, _) in parents.items() if parent in added}
        below |= {one: parents[one][2] for one in added if not parents[one][1].startswith("Z")}
    return below


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_leaves_no_worker_behind(tmp_path, end):
    command = [sys.executable, "-m", "toolscope_core", "merge", CATALOGS[0], "--engine", "ray"]
    environ = {**os.environ, "TOOLSCOPE_CACHE_DIR": str(tmp_path)}
    merge = subprocess.Popen(
        [*command, "--out", tmp_path / "bundle"], cwd=ROOT, env=environ, start_new_session=True
    )
    while not any(name.startswith("ray::Worker") for name in children(merge.pid).values()):
        assert merge.poll() is None
        time.sleep(0.02)
    begun = children(merge.pid)
    os.killpg(merge.pid, end)
    assert merge.wait() != 0
    while any(Path(f"/proc/{pid}").exists() for pid in begun):
        time.sleep(0.1)  # the limit on a test's time is what fails
    assert not (tmp_path / "bundle").exists()
