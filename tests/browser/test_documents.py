"""Documents in a browser: nothing is edited by looking, and nothing typed is lost."""

import re

from playwright.sync_api import expect


def fields(page):
    return page.get_by_label("Name", exact=True), page.get_by_label("Description", exact=True)


def test_looking_edits_nothing_and_typing_survives_another_page(watched):
    page = watched.open("documents", catalog="Example")
    page.get_by_label("Merged tool", exact=True).click()
    page.get_by_role("option", name=re.compile("^translate ")).click()
    watched.settled()
    save, discard = (page.get_by_role("button", name=n) for n in ("Save", "Discard changes"))
    reset = page.get_by_role("button", name="Reset to generated document")
    for button in (save, discard, reset):
        expect(button).to_be_disabled()
    page.get_by_text("JSON Schema as exported").click()
    expect(page.get_by_test_id("stCode").last).to_contain_text("enum")

    _, description = fields(page)
    description.fill("Say a text in another language.")
    description.blur()
    expect(save).to_be_enabled()
    page.get_by_role("link", name="Review", exact=True).click()
    expect(page.locator("h1")).to_have_text("Review")
    watched.settled()
    page.get_by_role("link", name="Documents", exact=True).click()
    expect(page.locator("h1")).to_have_text("Documents")
    watched.settled()
    expect(fields(page)[1]).to_have_value("Say a text in another language.")
    discard.click()
    watched.settled()
    expect(save).to_be_disabled()
    expect(fields(page)[1]).not_to_have_value("Say a text in another language.")
