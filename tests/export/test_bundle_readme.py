"""The README in a bundle, and the bundle as an input."""

import json
import re
import shutil
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.bundle_names import FILES
from tests.ui.services.small_workspace import catalog
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import load_paths
from toolscope_core.cli import app
from toolscope_core.export.bundle_readme import readme_text
from toolscope_core.files.archives import bundle_folder
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import Tool

EXAMPLE = Path(__file__).parents[2] / "examples" / "catalog.json"


@pytest.fixture(scope="module")
def merged(tmp_path_factory):
    """The bundle of the example in a format."""

    @cache
    def merge(format):
        out = tmp_path_factory.mktemp("bundle") / "b"
        command = ["merge", str(EXAMPLE), "--out", str(out), "--format", format, "--fix"]
        assert CliRunner().invoke(app, command).exit_code == 0
        return out

    return merge


@pytest.fixture
def bundle(merged):
    return merged("openai-chat")


@pytest.mark.parametrize("format", ["openai-chat", "neutral"])
def test_it_names_every_file_and_shows_a_call_for_each_map(merged, format):
    bundle = merged(format)
    text = (bundle / "README.md").read_text("utf-8")
    assert "69 tools in, 65 out" in text
    for name in set(FILES) - {"README.md"}:
        assert name in text
    entries = json.loads((bundle / "arguments.json").read_text("utf-8"))["maps"]
    servers = json.loads((bundle / "arguments.json").read_text("utf-8"))["servers"]
    assert {row["to"] for row in entries.values()} <= servers.keys()
    assert all(new.startswith(f"{server}/") for new, server in servers.items())
    moved = [old for old, row in entries.items() if row["to"] != old]
    assert len(moved) > 3
    for old in moved:
        before = next(line for line in text.splitlines() if f'"tool":"{old}"' in line)
        after = text.splitlines()[text.splitlines().index(before) + 1]
        call = json.loads(after)
        assert call["tool"] == entries[old]["to"]
        assert entries[old]["constants"].items() <= call["arguments"].items()


def test_it_lists_only_files_that_are_there(bundle):
    listed = re.findall("(?m)^- `(.+?)`:", (bundle / "README.md").read_text("utf-8"))
    names = {name for line in listed for name in line.split(", ")}
    assert names and all((bundle / name).exists() for name in names)


def test_text_of_the_catalog_cannot_become_markup():
    evil = Tool("x/a", "a`\n# b", "Do.", schema={"type": "object", "properties": {"`\n# c": {}}})
    text = readme_text(apply_clusters(catalog(evil), (), gateway=False))
    assert [line for line in text.splitlines() if line.startswith("# ")] == text.splitlines()[:1]


def test_a_bundle_is_read_as_its_merged_tools_with_their_ids(bundle):
    merged = read_catalog(load_paths([bundle]))
    entries = json.loads((bundle / "relabel.json").read_text("utf-8"))["entries"]
    assert {tool.id for tool in merged.tools} == {entry["new_id"] for entry in entries}
    assert merged.problems == ()
    assert len(merged.servers) == 7


def test_a_zip_that_somebody_unpacked_is_its_bundle(bundle, tmp_path):
    shutil.copytree(bundle, tmp_path / "bundle")
    (tmp_path / "toolset.json").write_text("[]")
    tools = [read_catalog(load_paths([folder])).tools for folder in (tmp_path, bundle)]
    assert tools[0] == tools[1]
    with bundle_folder(tmp_path) as folder:
        assert folder == tmp_path / "bundle"


def test_a_bundle_without_its_merged_tools_is_refused(bundle, tmp_path):
    shutil.copytree(bundle, tmp_path / "b")
    (tmp_path / "b" / "neutral.json").unlink()
    with pytest.raises(CatalogError, match=r"neutral\.json"):
        load_paths([tmp_path / "b"])


@pytest.mark.parametrize("manifest", ["[]", "{", '{"version": 3}', '{"toolsets": 1}'])
def test_another_manifest_makes_no_bundle(tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(manifest)
    (tmp_path / "tools.json").write_text('{"tools": [{"name": "a", "description": "Do a."}]}')
    assert [source.label for source in load_paths([tmp_path])] == ["manifest.json", "tools.json"]
