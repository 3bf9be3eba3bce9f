"""Words for search in Chromium: variants loaded, accepted and compared."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_main_job import PROPOSALS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
VARIANTS = [
    {
        "tool": "wayfare-travel/convert_currency",
        "expanded": "Change an amount of money into the money of another country.",
        "questions": ["What is that in euros?", "Change my dollars"],
    },
    {
        "tool": "wordsmith-text/translate",
        "expanded": "Say a text in another language, see https://evil.example.",
        "questions": ["How do the French say it?"],
    },
]


@pytest.mark.nightly  # tests/pages/test_variant_panel.py goes this way by day
def test_variants_are_loaded_accepted_and_compared(watched):
    page = watched.open("")
    expect(page.get_by_text(PROPOSALS).first).to_be_visible(timeout=120_000)
    page = watched.open("documents", catalog="Example")
    page.get_by_role("radio", name="For search").click()
    content = "\n".join(map(json.dumps, VARIANTS)).encode()
    page.locator("input[type=file]").set_input_files(
        {"name": "v.jsonl", "mimeType": "application/jsonl", "buffer": content}
    )
    page.get_by_role("button", name="Load 2 variants").click()
    watched.settled()
    page.get_by_role("button", name="Accept", exact=True).click()
    watched.settled()
    expect(page.get_by_text("1 accepted")).to_be_visible()
    page = watched.open("overlap", catalog="Example", view="Threshold")
    page.get_by_text("More", exact=True).click()
    expect(page.get_by_text("with random words, 69 tools")).to_be_visible(timeout=120_000)
    page = watched.open("documents", catalog="Example", texts="For search")
    page.get_by_role("button", name=re.compile("^Undo")).first.click()
    watched.settled()
    expect(page.get_by_text("1 accepted")).not_to_be_visible()
