"""The heatmap in Chromium: clicks down three levels, up again, and a reload on every level."""

import re

import pytest
from playwright.sync_api import expect


def open_heatmap(watched, **query):
    page = watched.open("overlap", view="Heatmap", **query)
    expect(page.get_by_text(re.compile("Click (a cell|one of)")).first).to_be_visible()
    return page


def click(watched, column, row, columns, rows):
    """Click a cell of the picture, nearer to its corner than to its middle."""
    plane = watched.page.locator(".js-plotly-plot .nsewdrag").first
    plane.wait_for()
    page = watched.settled()
    box = plane.bounding_box()
    x = box["x"] + box["width"] * (column + 0.8) / columns
    y = box["y"] + box["height"] * (row + 0.8) / rows
    page.mouse.move(x - 2, y)
    page.mouse.move(x, y)
    expect(page.locator(".hoverlayer").first).to_contain_text("click")
    said = page.locator(".hoverlayer").first.text_content()
    page.mouse.click(x, y)
    return said


@pytest.mark.nightly  # tests/pages/test_heatmap.py goes this way by day
def test_clicks_go_down_three_levels_and_a_reload_stays_there(watched):
    page = open_heatmap(watched)
    expect(page.locator(".js-plotly-plot .ytick").first).to_be_visible()
    servers = page.locator(".js-plotly-plot .ytick").all_text_contents()
    row, column = (
        next(at for at, name in enumerate(servers) if name.startswith(server))
        for server in ("cellar-files", "attic-archive")
    )
    said = click(watched, column, row, len(servers), len(servers))
    assert "cellar-files" in said
    assert "attic-archive" in said
    expect(page.get_by_text("10 by 7 tools")).to_be_visible()
    expect(page).to_have_url(re.compile("one=cellar-files&other=attic-archive"))

    page.reload()
    expect(page.get_by_text("10 by 7 tools")).to_be_visible()
    click(watched, 3, 2, 7, 10)
    expect(page.get_by_text("this pair")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Same job 0\.\d\d")).first).to_be_visible()
    expect(page).to_have_url(re.compile(r"cell=[0-9a-f]{12}~[0-9a-f]{12}"))

    address = page.url
    page.reload()
    expect(page.get_by_text("this pair")).to_be_visible()
    watched.settled()
    assert page.url == address
    page.get_by_role("button", name="cellar-files × attic-archive").click()
    expect(page.get_by_text("10 by 7 tools")).to_be_visible()
    page.get_by_role("button", name="All servers").click()
    expect(page.get_by_text("Showing 7 servers")).to_be_visible()
    expect(page).not_to_have_url(re.compile("one="))
