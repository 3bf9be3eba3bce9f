"""A large bundle is written in parts, and read from them as from one file."""

import json

import pytest

from tests.support.analyses import analysed
from tests.support.catalogs import example_catalog
from toolscope_core.catalog import sources
from toolscope_core.catalog.shards import read_shards
from toolscope_core.catalog.sources import load_paths
from toolscope_core.check.baseline import read_baseline
from toolscope_core.export import bundle, checked_plan
from toolscope_core.judging import cached_judge
from toolscope_core.mcp.gateway.bundle_routes import read_served_bundle, read_unmerged_bundle
from toolscope_core.merging.analysing import plan_merge


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return analysed(example_catalog(), tmp_path_factory.mktemp("cache"), threshold=0.4)


@pytest.fixture(scope="module")
def written(analysis, tmp_path_factory):
    """The folders of one bundle in whole files and of the same in parts."""
    whole, parts = (tmp_path_factory.mktemp("bundles") / name for name in ("whole", "parts"))
    plan = plan_merge(analysis)
    bundle.write_bundle(analysis, plan, whole)
    with pytest.MonkeyPatch.context() as patch:
        for module in (sources, checked_plan):
            patch.setattr(module, "PART_TOOLS", 20)
        patch.setattr(sources, "PART_PAIRS", 50)
        bundle.write_bundle(analysis, plan, parts)
        yield whole, parts


def test_parts_hold_what_the_whole_files_hold(written):
    whole, parts = written
    names = {path.name for path in parts.iterdir()}
    assert {"neutral-1.json", "original-1.json", "pairs-1.jsonl", "toolset-1.json"} <= names
    assert not {"neutral.json", "original.json", "pairs.jsonl", "toolset.json"} & names
    pairs = b"".join(part.read_bytes() for part in sources.files_of(parts, "pairs.jsonl"))
    assert pairs == (whole / "pairs.jsonl").read_bytes()
    hashed = json.loads((parts / "manifest.json").read_bytes())["sha256"]
    assert names - {"manifest.json", "clients"} <= set(hashed)


def test_of_very_many_pairs_those_that_are_kept_apart_have_no_reasons(
    analysis, written, monkeypatch
):
    whole, _ = written
    rows = [json.loads(line) for line in (whole / "pairs.jsonl").read_text().splitlines()]
    monkeypatch.setattr(cached_judge, "MOST_EXPLAINED", 50)
    short = [
        {key: row[key] for key in row.keys() - {"differs", "evidence"}}
        if row["verdict"] == "keep"
        else row
        for row in rows
    ]
    assert list(bundle.pair_rows(analysis)) == short != rows


def test_a_bundle_in_parts_is_read_as_one_in_whole_files(written):
    whole, parts = written
    assert len(load_paths([parts])) > 1
    assert read_shards([parts]).tools == read_shards([whole]).tools
    old, new = map(read_baseline, (whole, parts))
    assert old.catalog.tools == new.catalog.tools
    assert (old.outcomes, old.relabels) == (new.outcomes, new.relabels)
    assert read_unmerged_bundle(whole).catalog.tools == read_unmerged_bundle(parts).catalog.tools
    served, of_parts = map(read_served_bundle, written)
    assert served.catalog.tools == of_parts.catalog.tools
    assert served.came_in == of_parts.came_in
