"""The one selection in Chromium: from the table of tools to every page, and back to nothing."""

import re

from playwright.sync_api import expect


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
    watched.settled()

    page.mouse.click(box["x"] + 300, box["y"] + 35 + 17)
    drawer.locator('[data-testid="stPageLink"] a').nth(1).click()
    expect(page.get_by_role("heading", name="Overlap", exact=True)).to_be_visible()
    expect(page.get_by_text("Reasons")).to_be_visible()
    expect(drawer).to_have_count(0)
