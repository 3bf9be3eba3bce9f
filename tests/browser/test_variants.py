"""Words for search in Chromium: variants loaded, accepted and compared; a plan; siblings."""

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
    expect(page.get_by_role("button", name="Accept 1 variant without warnings")).to_be_visible()
    page.get_by_role("button", name="Accept 1 variant without warnings").click()
    watched.settled()
    expect(page.get_by_text("1 accepted")).to_be_visible()
    page = watched.open("overlap", catalog="Example", view="Curve")
    page.get_by_role("radio", name="document variants").click()
    expect(page.get_by_text("with random words, 69 tools")).to_be_visible(timeout=120_000)
    page = watched.open("documents", catalog="Example", texts="For search")
    page.get_by_role("button", name=re.compile("^Undo")).first.click()
    watched.settled()
    expect(page.get_by_text("1 accepted")).not_to_be_visible()


@pytest.mark.nightly
def test_a_plan_names_the_jobs_and_the_tools_of_each(watched):
    page = watched.open(
        "retrieval", catalog="Example", q="Translate this letter to French, then write a note of it"
    )
    page.get_by_role("radio", name="plan").click()
    expect(page.get_by_text("As it is: 69 tools")).to_be_visible(timeout=120_000)
    expect(page.get_by_text("1 Translate this letter to French").first).to_be_visible()
    expect(page.get_by_text("Also searched together with the whole request").first).to_be_visible()
    expect(page.get_by_role("button", name="Download both plans")).to_be_visible()
    assert "find=plan" in watched.settled().url


def test_siblings_are_told_apart_and_taken_back(watched):
    page = watched.open("documents", catalog="Example", texts="Tell apart")
    expect(page.get_by_text(re.compile("Only one says:"))).to_be_visible(timeout=120_000)
    page.get_by_role("radio", name="as they are").click()
    watched.settled()
    description = page.get_by_role("textbox", name=re.compile("^Description of ")).first
    description.fill("Read what a file in the store says.")
    description.blur()
    watched.settled()
    page.get_by_role("button", name="Save both").click()
    watched.settled()
    undo = page.get_by_role("button", name="Undo", exact=True).first
    expect(page.get_by_text("Saved the descriptions")).to_be_visible()
    undo.click()
    watched.settled()
    expect(page.get_by_text("Only one says:")).to_be_visible()
