"""A model in Chromium, from the Settings page to a plan made with it: our server on loopback."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_hostile_catalog import BAD, EVIL, PROPOSALS
from tests.support.model_server import ModelServer
from tests.support.replies import answering, same_verb, served

REPLY = answering(same_verb)


def hostile(request):
    """Goes by the verb, and says what would run if anybody let it."""
    found = REPLY(request)
    for row in found["answers"]:
        if "reason" in row:
            row["reason"] = f"So. {EVIL}"[:280]
    return found


@pytest.fixture
def model():
    with ModelServer(served(hostile)) as running:
        yield running


def fill(watched, role, name, value):
    field = watched.page.get_by_role(role, name=name)
    field.fill(value)
    field.press("Enter")
    watched.settled()


def price(watched, value):
    """Give the model in the first line of the price table a price, and keep it.

    The table is a canvas, and its editor takes keys no faster than a hand presses them: an Enter
    right after the digits closes it with what stood there before.
    """
    page = watched.settled()
    keep = page.get_by_role("button", name="Save prices")
    expect(keep).to_be_disabled()
    canvas = page.get_by_test_id("stDataFrame").locator("canvas").first
    canvas.scroll_into_view_if_needed()
    watched.settled()
    box = canvas.bounding_box()
    page.mouse.dblclick(box["x"] + 0.6 * box["width"], box["y"] + 35 + 17)
    editor = page.locator(".gdg-input")
    editor.wait_for()
    page.keyboard.type(value, delay=100)
    expect(editor).to_have_value(value)
    watched.settled()
    page.keyboard.press("Enter")
    expect(keep).to_be_enabled()
    keep.click()
    expect(keep).to_be_disabled()


def harmless(watched):
    watched.settled()
    assert watched.page.get_by_test_id("stException").count() == 0
    assert watched.page.locator(BAD).count() == 0


def panel(watched, page, label):
    found = watched.open(page, catalog="Example")
    found.get_by_text(label, exact=True).click()
    return watched.settled()


@pytest.mark.nightly  # tests/pages/test_settings_page.py goes its steps by day
def test_from_the_settings_to_a_plan_and_back_to_offline(watched, model):
    page = watched.open("", catalog="Example")
    expect(page.get_by_text(PROPOSALS).first).to_be_visible()
    expect(page.get_by_text("Judge: offline").first).to_be_visible()
    page = watched.open("settings", catalog="Example")
    fill(watched, "textbox", "Base URL", model.url)
    fill(watched, "textbox", "Model", "m")
    page.get_by_text("More: how each call is made").click()
    fill(watched, "spinbutton", "Concurrent calls", "99")
    expect(page.get_by_text("must be between 1 and 64")).to_be_visible()
    fill(watched, "spinbutton", "Concurrent calls", "2")
    model.mode = "refused-key"
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("asks for a key (401)")).to_be_visible()
    model.mode = "ok"
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("The connection works.")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    price(watched, "2.5")

    page = panel(watched, "review", "Ask a model")
    expect(page.get_by_text("Questions:")).to_be_visible()
    expect(page.get_by_text(re.compile("Cost: at most "))).to_be_visible()
    sent = len(model.received)
    page.get_by_role("button", name="Ask for verdicts").click()
    expect(page.get_by_text("Judge: m at 127.0.0.1").first).to_be_visible()
    assert len(model.received) > sent
    expect(
        page.get_by_text(
            re.compile(r"Verdicts of .*: [1-9]\d* same job; 0 same op.*; 0 looks alike; [1-9]")
        )
    ).to_be_visible()
    harmless(watched)
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="Order").click()
    page.get_by_role("option", name="Judges disagree").click()
    expect(page.get_by_text("Where the judges disagree", exact=True)).to_be_visible()
    harmless(watched)
    watched.open("overlap", catalog="Example", differ="true")
    expect(page.get_by_text(re.compile("Offline: "))).to_be_visible()
    harmless(watched)
    watched.open("history", catalog="Example", history_part="Model runs")
    expect(page.get_by_text(re.compile(r"Runs: 1\."))).to_be_visible()

    page = panel(watched, "review", "Ask a model")
    page.get_by_role("combobox", name="Verdicts used for proposals").click()
    page.get_by_role("option", name="offline judge only").click()
    expect(page.get_by_text("Judge: offline").first).to_be_visible()
