"""Pairs and the overview in Chromium: links, a decision and its undo."""

import re

from playwright.sync_api import expect

from tests.browser.test_hostile_catalog import PROPOSALS


def analysed(watched, catalog):
    page = watched.open("", catalog=catalog)
    expect(page.get_by_text(PROPOSALS).first).to_be_visible()
    return watched.settled()


def worst(page):
    """The links to the worst collisions."""
    return page.locator('a[href*="pair="]')


def test_a_collision_leads_to_its_pair_which_survives_a_reload(watched):
    page = analysed(watched, "Example")
    expect(worst(page)).to_have_count(5)
    worst(page).last.click()
    expect(page.locator("h1")).to_have_text("Overlap")
    heading = page.locator("h3").first
    expect(heading).to_have_text(re.compile(r"\w+ and \w+"))
    expect(page).to_have_url(re.compile(r"pair=[0-9a-f]{12}(~|%7E)[0-9a-f]{12}"))
    link, pair = page.url, heading.inner_text()
    page.reload()
    expect(heading).to_have_text(pair)
    expect(page.get_by_text("What spoke most for merging")).to_be_visible()
    page.get_by_text("Signals", exact=True).click()
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    page.get_by_text("Most similar tools", exact=True).click()
    expect(page.get_by_text("Select a row to compare")).to_be_visible()
    assert page.url == link
