"""What is decided on an excerpt of a bundle holds in the whole catalog."""

import json
from shutil import copytree

import pytest

from tests.support.analyses import analysed
from tests.support.catalogs import example_catalog
from tests.support.decisions import decision_on, logged
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.tokens import tool_tokens
from toolscope_core.decisions.decision_lines import decision_lines, read_decisions
from toolscope_core.export.bundle import write_bundle
from toolscope_core.export.excerpt import excerpt
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ConfigError, ExportError

NONE = PlanConfig(accept="none")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("excerpt")
    analysis = analysed(example_catalog(), folder / "cache", threshold=0.4)
    write_bundle(analysis, plan_merge(analysis, (), NONE), folder / "bundle", (), NONE)
    return analysis, folder / "bundle"


def read(toolset, folder):
    (folder / "excerpt.json").write_text(json.dumps(toolset))
    return read_catalog([folder / "excerpt.json"])


def test_it_has_the_proposals_that_save_most_under_their_ids(whole, tmp_path):
    analysis, bundle = whole
    taken = excerpt(bundle, 2)
    catalog = read(taken.toolset, tmp_path)

    def saved(cluster):
        tokens = [tool_tokens(analysis.catalog.by_id[one]) for one in cluster.members]
        return sum(tokens) - max(tokens)

    clusters = plan_merge(analysis, (), NONE).clusters
    most = sorted(clusters, key=saved)[-2:]
    assert {tool.id for tool in catalog.tools} == {one for own in most for one in own.members}
    assert all(
        analysis.catalog.by_id[tool.id].fingerprint == tool.fingerprint for tool in catalog.tools
    )
    assert (taken.proposals, taken.all_proposals) == (2, len(clusters))


def test_what_is_accepted_in_it_is_accepted_in_the_whole(whole, tmp_path):
    analysis, bundle = whole
    catalog = read(excerpt(bundle, 2).toolset, tmp_path)
    part = analysed(catalog, tmp_path / "cache", threshold=0.4)
    cluster = plan_merge(part, (), NONE).clusters[0]
    log = logged(decision_on([catalog.by_id[one] for one in cluster.members], "accept"))
    (tmp_path / "decisions.jsonl").write_bytes(decision_lines(log, catalog))
    decisions = read_decisions(analysis.catalog, tmp_path / "decisions.jsonl")
    plan = plan_merge(analysis, decisions, NONE)
    assert [one.members for one in plan.clusters if one.state == "accepted"] == [cluster.members]


def test_servers_come_whole_and_what_is_not_there_is_refused(whole, tmp_path):
    analysis, bundle = whole
    server = analysis.catalog.servers[0].name
    taken = excerpt(bundle, 0, [server])
    assert taken.tools == sum(tool.server == server for tool in analysis.catalog.tools) > 0
    with pytest.raises(ConfigError, match="'nowhere'"):
        excerpt(bundle, 0, ["nowhere"])
    with pytest.raises(ExportError, match="not a bundle"):
        excerpt(tmp_path, 1)
    with pytest.raises(ConfigError, match=r"--most, .*--server"):
        excerpt(bundle, 0)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '[{"state": "proposed", "members": ["a"]}]'])
def test_a_damaged_bundle_is_refused_in_words(whole, tmp_path, content):
    copytree(whole[1], tmp_path / "bundle")
    (tmp_path / "bundle" / "clusters.json").write_text(content)
    with pytest.raises((ExportError, ConfigError), match=r"damaged|nothing"):
        excerpt(tmp_path / "bundle", 3)
