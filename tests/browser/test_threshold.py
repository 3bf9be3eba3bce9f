"""The live threshold in Chromium: moving it changes the numbers, and the address keeps it."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]


def numbers(watched):
    """The figures once they stand still: a slider that is moved step by step runs the page often."""
    before = None
    figures = watched.page.locator('[data-testid="stMetricValue"]')
    while (now := figures.all_inner_texts()) != before:
        before = now
        watched.settled()
    return now


def test_the_slider_moves_the_numbers_and_a_reload_keeps_it(watched):
    page = watched.open("overlap", catalog="Example", view="Threshold")
    expect(page.locator('[data-testid="stMetricValue"]')).to_have_count(5, timeout=60_000)
    before = numbers(watched)
    assert len(before) == 5
    slider = page.get_by_role("slider", name=re.compile("Probability threshold"))
    slider.focus()
    for _ in range(25):
        page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"probability=0\.95\b"))
    expect(page.get_by_text("Clusters compared with the plan")).to_be_visible()
    watched.settled()
    after = numbers(watched)
    assert after != before
    assert int(after[3].replace(",", "")) > int(before[3].replace(",", "")), "more tools are left"
    page.reload()
    expect(page.get_by_text("Clusters compared with the plan")).to_be_visible()
    figures = page.locator('[data-testid="stMetricValue"]')
    expect(figures).to_have_text(after)  # a list waits for all of them


def test_the_curve_is_drawn_with_its_table(watched):
    page = watched.open("overlap", catalog="Example", view="Curve")
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("critical zone")).to_be_visible()
    expect(page.get_by_text("Data table and downloads")).to_be_visible()
