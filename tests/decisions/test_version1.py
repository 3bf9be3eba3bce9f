"""Bundles of version 1 are read."""

import json
from pathlib import Path

from typer.testing import CliRunner

from toolscope_core.cli import app
from toolscope_core.export.bundle import argument_row
from toolscope_core.merging.relabelling import read_relabelling

FOLDER = Path(__file__).parents[1] / "data" / "version1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text("utf-8"))
CATALOGS = {f"{item['name']} {item['number']}": item for item in EXPECTED["catalogs"]}
TOWN = CATALOGS["Town 1"]


def run(*args):
    done = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="toolscope")
    assert done.exit_code == 0, done.output
    return done


def loaded(folder, name):
    return json.loads((folder / name).read_text("utf-8"))


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
