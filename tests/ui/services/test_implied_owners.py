"""Implied servers on the screen: people's changes are decisions, and reach the plan at once."""

from dataclasses import replace

import pytest

from tests.ui.services import small_workspace
from toolscope_core.model.errors import DecisionError
from ui.overlap.collisions import SERVERS, blocks_of, groupings

VENDORS = ("acme", "globex", "initech")


@pytest.fixture
def shops():
    """Three vendors' copies of three tools, with the vendors in the names and no servers."""
    tools = [
        replace(tool, id=f"{v}_{tool.name}", name=f"{v}_{tool.name}", server="")
        for v in VENDORS
        for tool in (small_workspace.MAIL, small_workspace.WEATHER, small_workspace.FILES)
    ]
    work, catalog_id = small_workspace.open_workspace(*tools)
    yield work, catalog_id
    work.close()


def owners(work, catalog_id):
    return {tool.id: tool.owner for tool in work.analyses.required(catalog_id).catalog.tools}


def test_what_is_changed_reaches_the_plan_and_is_undone(shops):
    work, catalog_id = shops
    servers = {one.name: one.tools for one in work.implied_owners.servers(catalog_id)}
    assert sorted(servers) == list(VENDORS)
    assert owners(work, catalog_id)["acme_send_mail"] == "acme"
    analysis, plan = work.analyses.get(catalog_id), work.review.plan(catalog_id)
    assert work.analyses.get(catalog_id) is analysis, "the same value until something changes"
    across = [reason for cluster in plan.clusters for reason in cluster.reasons]
    assert any("their names imply" in reason for reason in across)

    work.implied_owners.change(catalog_id, servers["acme"], "Acme Corp", "ann")
    decided = work.implied_owners.change(catalog_id, ["globex_send_mail"], " ", "ann")
    assert owners(work, catalog_id)["acme_send_mail"] == "Acme Corp"
    assert owners(work, catalog_id)["globex_send_mail"] == ""
    assert owners(work, catalog_id)["globex_list_files"] == "globex"
    work.review.undo(catalog_id, "ann", decided.seq)
    assert owners(work, catalog_id)["globex_send_mail"] == "globex"


def test_a_name_without_end_is_refused(shops):
    work, catalog_id = shops
    with pytest.raises(DecisionError, match="give a name of up to 200 characters"):
        work.implied_owners.change(catalog_id, ["acme_send_mail"], "x" * 201, "ann")


def test_the_heatmap_groups_by_implied_servers(shops):
    work, catalog_id = shops
    plan = work.review.plan(catalog_id)
    assert SERVERS in groupings(plan.catalog)
    assert [block.name for block in blocks_of(plan, SERVERS)] == list(VENDORS)
