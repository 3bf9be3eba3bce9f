"""Pairs and the overview in Chromium: links, a decision and its undo, hostile text in every field.

Everything runs on the example and on a hostile catalog; nothing may leave the machine.
"""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_main_job import EVIL, PROPOSALS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

BAD = (
    'img[src*="evil.example"], a[href*="evil.example"], a[href^="javascript"], script[src*="evil"]'
)
VIEWS = ("Pairs", "Curve", "Threshold", "Heatmap", "Map")
PARTS = ("Tools", "Servers", "Findings", "Not read")


def analysed(watched, catalog):
    page = watched.open("", catalog=catalog)
    expect(page.get_by_text(PROPOSALS).first).to_be_visible(timeout=120_000)
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
    expect(page.get_by_text("What counted most for merging")).to_be_visible()
    page.get_by_text("Signals", exact=True).click()
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    page.get_by_text("Most similar tools", exact=True).click()
    expect(page.get_by_text("Select a row to compare")).to_be_visible()
    assert page.url == link


@pytest.mark.nightly
def test_never_merge_and_its_undo(watched):
    page = analysed(watched, "Example")
    expect(worst(page)).to_have_count(5)
    worst(page).last.click()
    expect(page.locator("h1")).to_have_text("Overlap")
    never = page.get_by_role("button", name="Never merge")
    never.click()
    said = page.get_by_text(re.compile("Never merge by reviewer"))
    expect(said).to_be_visible()
    expect(never).to_be_disabled()
    page.reload()
    expect(said).to_be_visible()
    watched.settled()
    page.get_by_role("button", name="Undo").click()
    expect(never).to_be_enabled()
    expect(said).to_have_count(0)


def test_two_tools_that_nothing_proposes_are_sent_to_review(watched):
    page = watched.open("overlap", catalog="Example")
    page.get_by_text("Compare any two tools").click()
    for side, name in (
        ("Tool A", "pinboard-notes/tag_note"),
        ("Tool B", "attic-archive/get_usage"),
    ):
        page.get_by_label(f"Search for {side}").fill(name.split("/")[1])
        page.keyboard.press("Enter")
        watched.settled()
        page.get_by_label(side, exact=True).click()
        page.get_by_role("option", name=name, exact=True).click()
        watched.settled()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("h3").first).to_have_text("get_usage and tag_note")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Send to review").click()
    expect(page.get_by_text("Cluster: proposed")).to_be_visible()
    link = page.url
    page.get_by_text("Open in Review").click()
    expect(page.locator("h1")).to_have_text("Review")
    expect(page.get_by_text("a person put it forward").first).to_be_visible()
    page.goto(link)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="Send to review")).to_be_visible()


def test_what_the_scan_blocked_is_one_click_away(watched):
    page = analysed(watched, "Example")
    page.get_by_text("1 tool is blocked by the scan").click()
    expect(page.get_by_text("findings. Select a row")).to_be_visible()


def hostile_file(path):
    """A catalog with hostile text in every field that a tool has."""
    properties = {
        f"to {EVIL}"[:120]: {"type": "string", "description": EVIL, "enum": [EVIL, "b"]},
        f"extra {EVIL}"[:120]: {"type": "array", "items": {"description": EVIL}},
    }
    schema = {"type": "object", "description": EVIL, "properties": properties}
    base = {
        "description": f"Send a mail. {EVIL}",
        "inputSchema": {**schema, "required": list(properties)[:1]},
        "outputSchema": {"type": "object", "properties": {EVIL: {"description": EVIL}}},
        "annotations": {"title": EVIL, EVIL: EVIL, "readOnlyHint": False},
        "_meta": {EVIL: EVIL},
    }
    servers = []
    for number in ("one", "two", "three"):
        more = {f"{number} only {EVIL}"[:90]: {"type": "integer", "description": EVIL}}
        other = {**base, "description": f"Send a letter to {number}. {EVIL}"}
        other["inputSchema"] = {**schema, "properties": {**properties, **more}}
        other["annotations"] = {"title": EVIL, EVIL: number, "readOnlyHint": True}
        servers.append(
            {
                "server": f"{number} {EVIL}",
                "description": EVIL,
                "tools": [
                    {"name": f"send {EVIL}"[:200], **base},
                    {"name": f"post_{number} {EVIL}"[:200], **other},
                    {"name": f"{EVIL} {number}", **base},
                    {**base, "name": f"archive {EVIL}"[:200], "description": f"Keep it. {EVIL}"},
                    {"name": [EVIL], "description": EVIL},
                ],
            }
        )
    path.write_text(json.dumps(servers))


@pytest.mark.nightly  # by day test_main_job opens every page on a hostile catalog
def test_hostile_text_in_every_field_runs_nothing(watched, tmp_path):
    hostile_file(tmp_path / "evil.json")
    page = watched.upload(tmp_path / "evil.json")
    page.get_by_role("button", name="Add catalog").click()
    expect(page).to_have_url(re.compile("catalog=evil"))
    page = analysed(watched, "evil")

    def harmless():
        watched.settled()
        assert page.get_by_test_id("stException").all_inner_texts() == []
        assert page.locator(BAD).count() == 0

    harmless()
    for part in PARTS:
        page.get_by_role("tab", name=part, exact=True).click()
        harmless()
    for view in VIEWS:
        watched.open("overlap", catalog="evil", view=view)
        harmless()
        if view == "Pairs":
            page.get_by_text("Most similar tools", exact=True).click()
            harmless()
            page.get_by_text("Signals", exact=True).click()
            harmless()
        page.get_by_text("Data table and downloads").first.click()
        harmless()
    watched.open("", catalog="evil")
    harmless()
    for _ in range(worst(page).count()):
        if not worst(page).count():
            break
        worst(page).first.click()
        expect(page.locator("h1")).to_have_text("Overlap")
        harmless()
        page.get_by_role("button", name="Never merge").click()
        harmless()
        analysed(watched, "evil")
    for at in (0, 2):  # the first and the last server, as the table lists them
        shown = page.get_by_text(re.compile("tools? from"))
        watched.open("", catalog="evil", part="Servers")
        row = page.locator('[data-testid="stDataFrame"] canvas').first
        row.scroll_into_view_if_needed()
        watched.settled()
        box = row.bounding_box()
        page.mouse.click(box["x"] + 285, box["y"] + 35 * at + 52)
        expect(shown).to_be_visible()
        harmless()
        watched.open("review", catalog="evil")
        page.locator('[data-testid="stButton"] button', has_text="Open").first.click()
        expect(page.get_by_role("dialog").get_by_text("Original definition")).to_be_visible()
        harmless()
        page.keyboard.press("Escape")
        watched.settled()
    watched.open("overlap", catalog="evil")
    page.get_by_text("Compare any two tools").click()
    page.get_by_label("Tool A", exact=True).click()
    page.get_by_role("option").first.hover()
    harmless()
