"""Implied servers on the screen: people's changes are decisions, and reach the plan at once."""

from dataclasses import replace

import pytest

from tests.ui.services import small_workspace
from toolscope_core.model.errors import DecisionError
from ui.catalog import listing_panel
from ui.shared.tools.tool_blocks import SERVERS, blocks_of, groupings

VENDORS = ("acme", "globex", "initech")


@pytest.fixture
def shops():
    """Three vendors' copies of three tools, with the vendors in the names and no servers."""
    tools = [
        replace(tool, id=f"{v}_{tool.name}", name=f"{v}_{tool.name}", server="")
        for v in VENDORS
        for tool in (small_workspace.MAIL, small_workspace.WEATHER, small_workspace.FILES)
    ]
    return small_workspace.open_workspace(*tools)


def test_a_name_without_end_is_refused(shops):
    work, catalog_id = shops
    with pytest.raises(DecisionError, match="up to 200"):
        listing_panel.change(work.snapshot(catalog_id), ["acme_send_mail"], "x" * 201, "ann")


def test_the_heatmap_groups_by_implied_servers(shops):
    work, catalog_id = shops
    plan = work.snapshot(catalog_id).plan
    assert SERVERS in groupings(plan.catalog)
    assert [block.name for block in blocks_of(plan, SERVERS)] == list(VENDORS)
