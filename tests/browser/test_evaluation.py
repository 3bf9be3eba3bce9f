"""Evaluation in Chromium: measure, read, open an experiment again, take a merge back."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_hostile_catalog import PROPOSALS


@pytest.mark.nightly  # the ten tasks measure by day
def test_the_example_is_measured_and_a_merge_is_taken_back(watched):
    page = watched.open("")
    expect(page.get_by_text(PROPOSALS).first).to_be_visible()
    page = watched.open("evaluation", catalog="Example")
    expect(page.get_by_text("Nothing is measured yet")).to_be_visible()
    page.get_by_role("button", name="Measure").click()
    expect(page.get_by_text(re.compile("quer(y|ies) won"))).to_be_visible()
    watched.settled()
    expect(page.get_by_text("Select a merge to take it back")).to_be_visible()
    table = page.get_by_test_id("stDataFrame").last
    table.click(position={"x": 20, "y": 54})
    page.get_by_role("button", name="Take this merge back").click()
    expect(page.get_by_text(re.compile("decisions have changed since"))).to_be_visible()
    page = watched.open(
        "evaluation", catalog="Example", evaluation_view="Experiments", experiment="Kept runs"
    )
    expect(page.get_by_text("Select an experiment to open")).to_be_visible()
    table = page.get_by_test_id("stDataFrame").first
    table.click(position={"x": 20, "y": 54})
    expect(page.get_by_role("button", name="JSON")).to_be_visible()
    page.get_by_test_id("stMain").get_by_role("button", name="Open").click()
    expect(page.get_by_text(re.compile("quer(y|ies) won"))).to_be_visible()
    assert re.search("x=[0-9]", watched.settled().url)
    page = watched.open("review", catalog="Example")
    page.locator("h1").click()
    page.keyboard.press("u")
    expect(page.get_by_text(re.compile("^0 of [0-9]+ reviewed"))).to_be_visible()
