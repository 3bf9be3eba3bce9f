"""Retrieval in Chromium: type, press Enter, compare, share the address."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_hostile_catalog import PROPOSALS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.mark.nightly  # tests/pages/test_retrieval_page.py goes this way by day
def test_a_request_is_typed_compared_and_shared(watched):
    page = watched.open("")
    expect(page.get_by_text(PROPOSALS).first).to_be_visible(timeout=120_000)
    page = watched.open("retrieval", catalog="Example")
    request = page.get_by_role("searchbox", name="Request")
    request.fill("Translate my letter to French")
    request.press("Enter")
    expect(page.get_by_text("As it is: 69 tools")).to_be_visible(timeout=120_000)
    expect(page.get_by_text(re.compile("Merged: [0-9]+ tools"))).to_be_visible()
    expect(page.get_by_text("dense (meaning)").first).to_be_visible()
    page = watched.settled()
    assert "q=Translate" in page.url
    page.reload()
    watched.settled()
    expect(request).to_have_value("Translate my letter to French")
    link = page.get_by_role("link", name="Open the pair").first
    expect(link).to_be_visible()
    link.click()
    expect(page.locator("h1")).to_have_text("Overlap")
    assert "pair=" in watched.settled().url
    page.go_back()
    expect(page.get_by_text("As it is: 69 tools")).to_be_visible()
