"""The one selection in Chromium: from the table of tools to every page, and back to nothing."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def tick(watched, *rows):
    """Tick rows of the table of tools; the header is row 0."""
    page = watched.page
    canvas = page.locator('[data-testid="stDataFrame"] canvas')
    canvas.first.scroll_into_view_if_needed()
    for row in rows:
        watched.settled()
        box = canvas.first.bounding_box()
        page.mouse.click(box["x"] + 15, box["y"] + 35 * row + 17)
    return watched.settled()


@pytest.mark.nightly  # tests/pages/test_selection.py goes this way by day
def test_a_selection_goes_through_the_pages_and_survives_a_reload(watched):
    page = watched.open("", part="Tools")
    tick(watched, 1, 2)
    chip = page.get_by_text("2 tools from the table of tools")
    expect(chip).to_be_visible()
    expect(page).to_have_url(re.compile("sel=[0-9a-f]{16}"))
    address = re.search("sel=[0-9a-f]{16}", page.url).group()
    for name in ("Review", "Overlap", "Graph", "Documents", "Export"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        expect(chip).to_be_visible()
        watched.settled()
        expect(page).to_have_url(re.compile(f"/{name.lower()}?.*{address}"))
    page.get_by_role("link", name="Review", exact=True).click()
    expect(page.get_by_role("heading", name="Review", exact=True)).to_be_visible()
    page.get_by_text("Show only selected").click()
    expect(page.get_by_text(re.compile(r"^\d of \d+ shown"))).to_be_visible()
    expect(page).to_have_url(re.compile("only=1"))
    page.reload()
    expect(page.get_by_text(re.compile(r"^\d of \d+ shown"))).to_be_visible(timeout=60_000)
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_text("2 tools from the table of tools")).to_be_visible(timeout=60_000)
    other.close()
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(chip).to_have_count(0)
    expect(page).not_to_have_url(re.compile("sel=|only="))


def test_a_row_opens_the_drawer_and_the_way_leads_on_to_a_pair(watched):
    page = watched.open("", part="Tools")
    canvas = page.locator('[data-testid="stDataFrame"] canvas').first
    canvas.scroll_into_view_if_needed()
    watched.settled()
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + 300, box["y"] + 35 + 17)
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_text("Most similar tools")).to_be_visible()
    expect(page).to_have_url(re.compile("tool=[0-9a-f]{12}"))
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(page).not_to_have_url(re.compile("tool="))

    page.mouse.click(box["x"] + 300, box["y"] + 35 + 17)
    drawer.locator('[data-testid="stPageLink"] a').nth(1).click()
    expect(page.get_by_role("heading", name="Overlap", exact=True)).to_be_visible()
    expect(page.get_by_text("Reasons")).to_be_visible()
    expect(drawer).to_have_count(0)
