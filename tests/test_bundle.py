import hashlib
import json
import zipfile
from dataclasses import replace
from io import BytesIO

import pytest

from tests.test_pipeline import analysed
from toolscope_core.bundle import FILES, bundle_files, read_relabelling, write_folder, zipped
from toolscope_core.catalog import load_paths, read_catalog
from toolscope_core.config import PlanConfig
from toolscope_core.datamodel import Catalog, Decision, Tool
from toolscope_core.errors import ExportError
from toolscope_core.pipeline import plan_merge
from toolscope_core.workspace.example import example_path

ALL = PlanConfig(accept="all", routers=True)


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    catalog = read_catalog(load_paths([example_path()]))
    return analysed(catalog, tmp_path_factory.mktemp("bundle"), threshold=0.4)


@pytest.fixture(scope="module")
def files(analysis):
    return bundle_files(analysis, plan_merge(analysis, (), ALL), (), ALL)


def loaded(files, name):
    return json.loads(files[name])


def test_the_files_are_those_of_the_format(files):
    assert tuple(files) == FILES


def test_phi_is_total_onto_and_idempotent_and_leads_into_the_toolset(files, analysis):
    entries = loaded(files, "relabel.json")["entries"]
    phi = {row["old_id"]: row["new_id"] for row in entries}
    assert list(phi) == [tool.id for tool in analysis.catalog.tools]
    assert all(phi[new] == new for new in phi.values())
    neutral = bundle_files(analysis, plan_merge(analysis, (), ALL), (), ALL, "neutral")
    toolset = loaded(neutral, "toolset.json")
    assert {tool["id"] for tool in toolset["tools"]} == set(phi.values())
    assert sum(len(tool["members"]) for tool in toolset["tools"]) == len(phi)


def test_every_merged_tool_has_a_map_whose_targets_exist(files, analysis):
    plan = plan_merge(analysis, (), ALL)
    maps = loaded(files, "arguments.json")["maps"]
    schemas = {item.tool.id: item.tool.schema for item in plan.tools}
    assert set(maps) == {m for item in plan.tools if len(item.members) > 1 for m in item.members}
    for row in maps.values():
        targets = [move["to"] for move in row["args"]] + list(row["constants"])
        assert set(targets) <= set(schemas[row["to"]]["properties"])
        assert len(targets) == len(set(targets))


def test_equal_input_gives_equal_bytes_and_the_manifest_holds_their_hashes(files, analysis):
    again = bundle_files(analysis, plan_merge(analysis, (), ALL), (), ALL)
    assert again == files
    assert zipped(again) == zipped(files)
    manifest = loaded(files, "manifest.json")
    for name, digest in manifest["sha256"].items():
        assert hashlib.sha256(files[name]).hexdigest() == digest
    assert set(manifest["sha256"]) == set(FILES) - {"manifest.json"}
    assert zipfile.ZipFile(BytesIO(zipped(files))).namelist() == list(FILES)


def test_never_merge_and_decisions_are_written(analysis):
    ids = tuple(tool.id for tool in analysis.catalog.tools[:2])
    prints = tuple(tool.fingerprint for tool in analysis.catalog.tools[:2])
    log = (Decision("reject", prints, ids, "ann", "2026-01-01T00:00:00Z", 1),)
    files = bundle_files(analysis, plan_merge(analysis, log, ALL), log, ALL)
    assert loaded(files, "never_merge.json") == [list(ids)]
    row = json.loads(files["decisions.jsonl"])
    assert (row["action"], row["ids"], row["members"]) == ("reject", list(ids), list(prints))


def test_aliases_lead_from_names_that_are_free(files):
    aliases = loaded(files, "aliases.json")
    assert aliases["wordsmith-text"]["translate_to_french"] == "translate"
    kept = {(r["server"], r["new_name"]) for r in loaded(files, "relabel.json")["entries"]}
    for server, names in aliases.items():
        assert not any((server, old) in kept for old in names)


def test_a_name_that_lives_on_is_no_alias(tmp_path):
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    same = [Tool(i, "search", "Finds a page by its words.", schema=schema) for i in ("1", "3")]
    other = replace(same[0], id="2", name="find", description="Looks for a page by its words.")
    catalog = Catalog((same[0], other, replace(same[1], description="Rents out a search dog.")))
    analysis = analysed(catalog, tmp_path)
    log = (decide("accept", same[0], other), decide("reject", same[0], catalog.tools[2], seq=2))
    files = bundle_files(analysis, plan_merge(analysis, log, ALL), log, ALL)
    assert "search" not in loaded(files, "aliases.json").get("", {})


def decide(action, *tools, seq=1):
    prints, ids = tuple(t.fingerprint for t in tools), tuple(t.id for t in tools)
    return Decision(action, prints, ids, "ann", "2026-01-01T00:00:00Z", seq)


def test_pairs_carry_their_evidence(files, analysis):
    rows = [json.loads(line) for line in files["pairs.jsonl"].splitlines()]
    assert len(rows) == len(analysis.scores)
    assert [(r["left"], r["right"]) for r in rows] == sorted((r["left"], r["right"]) for r in rows)
    assert all(row["evidence"] for row in rows)


def test_a_bundle_comes_back_from_its_folder(files, tmp_path):
    write_folder(files, tmp_path / "out")
    found = read_relabelling(tmp_path / "out")
    maps = loaded(files, "arguments.json")["maps"]
    assert found.phi.keys() >= found.arguments.keys() == maps.keys()
    for old, alpha in found.arguments.items():
        assert [m.source for m in alpha.moves] == [row["from"] for row in maps[old]["args"]]


def test_an_old_bundle_is_replaced_and_anything_else_is_left_alone(files, tmp_path):
    out = tmp_path / "out"
    write_folder(files, out)
    (out / "pairs.jsonl").unlink()
    write_folder(files, out)
    assert {path.name for path in out.iterdir()} == set(FILES)
    (out / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(ExportError, match="something else"):
        write_folder(files, out)
    assert (out / "notes.txt").read_text("utf-8") == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failing_disk_leaves_the_last_bundle(files, tmp_path, monkeypatch):
    out = tmp_path / "out"
    write_folder(files, out)
    from pathlib import Path

    def full(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ExportError, match=r"No space left.*unchanged"):
        write_folder(files, out)
    assert {path.name for path in out.iterdir()} == set(FILES)


def test_a_rename_that_fails_puts_the_old_bundle_back(files, tmp_path, monkeypatch):
    from pathlib import Path

    out = tmp_path / "out"
    write_folder(files, out)
    rename = Path.rename

    def refuse(self, target):
        if self.name == "new":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(ExportError, match="Input/output error"):
        write_folder(files, out)
    assert {path.name for path in out.iterdir()} == set(FILES)


@pytest.mark.parametrize(
    ("relabel", "word"),
    [(None, "cannot be read"), ("{", "not JSON"), ("[]", "not a bundle"), ("{}", "not a bundle")],
)
def test_a_damaged_bundle_is_named(tmp_path, relabel, word):
    (tmp_path / "arguments.json").write_text('{"maps": {}}', "utf-8")
    if relabel is not None:
        (tmp_path / "relabel.json").write_text(relabel, "utf-8")
    with pytest.raises(ExportError, match=word):
        read_relabelling(tmp_path)


def test_a_folder_that_is_a_file_is_refused(files, tmp_path):
    (tmp_path / "out").write_text("x", "utf-8")
    with pytest.raises(ExportError, match="something else"):
        write_folder(files, tmp_path / "out")
