import json
import os
from dataclasses import replace
from shutil import copytree

import pytest

from tests.check.compared_bundle import (
    ACCEPTED,
    BEFORE,
    MAIL,
    OTHER_MAIL,
    OTHER_WEATHER,
    REJECTED,
    WEATHER,
    write_bundle,
    write_catalog,
)
from tests.support.decisions import decision_on
from tests.ui.services.small_workspace import catalog
from toolscope_core.check.baseline import catalog_changes, read_baseline
from toolscope_core.export.bundle import zipped
from toolscope_core.model.errors import CatalogError, ExportError
from toolscope_core.model.pair import Pair

MAILS, WEATHERS = Pair.of(MAIL.id, OTHER_MAIL.id), Pair.of(WEATHER.id, OTHER_WEATHER.id)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    cut = decision_on((), "threshold", similarity=0.7, same_job=0.9)
    place = tmp_path_factory.mktemp("written")
    return write_bundle(place / "bundle", place, ACCEPTED, REJECTED, cut)


@pytest.fixture
def bundle(written, tmp_path):
    """A copy that a test may change."""
    return copytree(written, tmp_path / "bundle")


def test_a_bundle_holds_the_tools_as_they_came_in_and_what_was_said_of_them(bundle):
    baseline = read_baseline(bundle)
    assert {tool.id: tool.fingerprint for tool in baseline.catalog.tools} == {
        tool.id: tool.fingerprint for tool in BEFORE.tools
    }
    assert [one.action for one in baseline.log] == ["accept", "keep_apart", "threshold"]
    assert baseline.decided_pairs == {MAILS, WEATHERS}
    assert baseline.outcomes[WEATHERS] == "merge", "the judge's own word, whatever people said"
    assert [row.old_id for row in baseline.relabels if row.status == "merged"] == [OTHER_MAIL.id]
    assert (baseline.least_similarity, baseline.least_probability) == (0.7, 0.9)
    assert (baseline.model, baseline.threshold) == ("fake-words", 0.7)


def test_a_catalog_has_no_verdicts_and_no_decisions(tmp_path):
    baseline = read_baseline(write_catalog(tmp_path / "tools.json", MAIL, WEATHER))
    assert len(baseline.catalog.tools) == 2
    assert (baseline.outcomes, baseline.log, baseline.decided_pairs) == (None, (), frozenset())
    with pytest.raises(CatalogError, match="nothing-here"):
        read_baseline(tmp_path / "nothing-here")


def test_a_bundle_of_another_version_is_refused(bundle):
    manifest = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps({**manifest, "version": 1}))
    with pytest.raises(CatalogError, match=r"version 3.* 1"):
        read_baseline(bundle)
    whole = {file.name: file.read_bytes() for file in bundle.iterdir() if file.is_file()}
    packed = bundle.with_suffix(".zip")
    packed.write_bytes(zipped(whole))
    with pytest.raises(ExportError, match=r"version 3.* 1"):
        read_baseline(packed)
    packed.write_bytes(zipped({**whole, "manifest.json": b"[]"}))
    with pytest.raises(ExportError, match="damaged"):
        read_baseline(packed)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("original.json", None),
        ("pairs.jsonl", '{"left": "a"}'),
        ("pairs.jsonl", '{"left": "a", "right": "b", "verdict": "perhaps"}'),
        ("relabel.json", "[]"),
        ("dangling.json", "{"),
        ("never_merge.json", "[[1]]"),
        ("decisions.jsonl", "no"),
    ],
)
def test_a_damaged_bundle_is_refused(bundle, name, content):
    (bundle / name).unlink() if content is None else (bundle / name).write_text(content)
    with pytest.raises(ExportError, match="damaged"):
        read_baseline(bundle)


def test_pairs_kept_apart_count_from_the_list_alone_too(bundle):
    extra = ["alpha/send_mail", "beta/add_numbers"]
    (bundle / "never_merge.json").write_text(json.dumps([extra]))
    assert Pair.of(*extra) in read_baseline(bundle).decided_pairs


@pytest.mark.case(90)
def test_a_pipe_is_no_baseline(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CatalogError, match=r"pipe.* not a file"):
        read_baseline(tmp_path / "pipe")


@pytest.mark.case(79)
@pytest.mark.parametrize(
    ("gone", "is_gateway", "breaking"),
    [
        ({OTHER_MAIL}, False, []),
        ({OTHER_MAIL}, True, [OTHER_MAIL.id]),
        ({OTHER_MAIL, MAIL}, False, [MAIL.id, OTHER_MAIL.id]),
        ({WEATHER}, False, [WEATHER.id]),
    ],
)
def test_nobody_misses_a_tool_that_a_merge_took_away(bundle, gone, is_gateway, breaking):
    baseline = read_baseline(bundle)
    plan = replace(baseline.plan, gateway=is_gateway)
    left = catalog(*(tool for tool in BEFORE.tools if tool not in gone))
    diff = catalog_changes(replace(baseline, plan=plan), left).diff
    assert [row.tool_id for row in diff.rows if row.breaking] == breaking
    assert {row.kind for row in diff.rows} == {"removed"}
