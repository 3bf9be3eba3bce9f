"""The Review page in Chromium: nothing is accepted that was not on the screen."""

import os
import re
import subprocess
import sys
from itertools import cycle, islice

import pytest
from playwright.sync_api import expect

SCROLLING = """head => [head, head.closest('[data-testid=stLayoutWrapper]')]
    .filter(one => ['auto', 'scroll'].includes(getComputedStyle(one).overflowY)).length"""


@pytest.mark.parametrize(
    "size", [(683, 512), pytest.param((1024, 768), marks=pytest.mark.nightly)], ids=str
)
def test_no_check_stands_under_the_keys_and_no_head_scrolls_inside(watched, size):
    watched.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    page = watched.open("review", catalog="Example")
    head, bar = page.locator(".st-key-question"), page.get_by_test_id("stBottom")
    header = page.get_by_test_id("stHeader").bounding_box()["height"]
    for _ in range(6):
        top, block = bar.bounding_box()["y"], page.locator(".st-key-checks").bounding_box()
        end = block["y"] + block["height"]
        if end - head.bounding_box()["y"] <= top - header:
            assert end <= top + 1, "the card starts with its checks in view"
        for check in page.locator(".st-key-checks").locator("li, p").all():
            check.evaluate("one => one.scrollIntoView({block: 'nearest'})")
            box, above = check.bounding_box(), head.bounding_box()
            assert box["y"] + box["height"] <= top + 1
            assert box["y"] >= above["y"] + above["height"] - 1, "nor under the head"
        assert head.evaluate(SCROLLING) == 0
        before = page.url
        page.keyboard.press("j")
        expect(page).not_to_have_url(before)
        watched.settled()


def untouched(watched):
    """Every key of the page pressed: nothing is decided, and the card stays."""
    page, at = watched.page, watched.page.url
    page.keyboard.type("axfsujkpmdngh")
    watched.settled()
    expect(page.get_by_text("0 of 13 reviewed")).to_be_visible()
    assert page.url == at


def test_a_note_is_typed_at_once_and_decides_nothing(watched):
    page = watched.open("review", catalog="Example")
    page.keyboard.press("g")
    page.keyboard.type("xaf")  # faster than the page opens the note
    note = page.get_by_label("Note")
    expect(note).to_be_focused()
    note.fill("")
    page.keyboard.type("ask the finance team")
    watched.settled()
    expect(note).to_have_value("ask the finance team")
    page.get_by_text(re.compile("Agents (see|keep)")).click()
    untouched(watched)
    watched.settled()
    note.click()
    expect(note).to_be_focused()
    watched.settled()
    page.keyboard.press("Escape")
    expect(note).to_have_count(0)
    watched.settled()
    page.keyboard.press("g")
    expect(note).to_be_focused()
    page.keyboard.type("ask the finance team")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Remove the note")).to_be_visible()
    expect(page.get_by_text("0 of 13 reviewed")).to_be_visible()
    page.get_by_role("button", name="Remove the note").click()
    expect(page.get_by_role("button", name="Remove the note")).to_have_count(0)


def test_in_the_parts_digits_choose_and_no_letter_decides(watched):
    page = watched.open("review", catalog="Example")
    page.keyboard.press("p")
    lines = page.locator('[class*="st-key-part_"]')
    expect(lines.nth(0).get_by_role("radio", name="1")).to_be_focused()
    untouched(watched)
    watched.answered(lambda: page.keyboard.press("2"))
    expect(lines.nth(0).get_by_role("radio", name="2")).to_be_checked()
    expect(lines.nth(1).get_by_role("radio", name="1")).to_be_focused()
    watched.answered(lambda: page.keyboard.press("0"))
    expect(lines.nth(1).get_by_role("radio", name="apart")).to_be_checked()
    untouched(watched)
    page.keyboard.press("Escape")
    expect(lines).to_have_count(0)
    watched.settled()
    page.keyboard.press("j")
    expect(page.locator("h3").first).not_to_have_text("convert_currency")


@pytest.mark.case(78)
def test_a_popover_a_drawer_and_a_list_keep_the_keys_to_themselves(watched):
    page = watched.open("review", catalog="Example")
    opened = page.get_by_role("dialog")
    drawer = page.locator('[class*="st-key-open_card"] button').first
    popovers = [page.get_by_role("button", name=name) for name in ("Filter", "Ask a model")]
    for button in (*popovers, drawer):
        button.click()
        expect(opened).to_be_visible()
        watched.settled()
        expect(page.locator("[role=dialog]:focus-within")).to_have_count(1)
        untouched(watched)
        page.keyboard.press("Escape")
        watched.settled()
        if page.get_by_label("Kind").count():  # what was typed had opened its list
            page.keyboard.press("Escape")
        expect(opened).to_have_count(0)
        watched.settled()
    for name in ("Order", "Canonical"):
        page.get_by_label(name, exact=True).scroll_into_view_if_needed()
        watched.settled()  # scrolling closes a list
        page.get_by_label(name, exact=True).click()
        expect(page.get_by_role("listbox")).to_be_visible()
        untouched(watched)
        page.keyboard.press("Escape")
        watched.settled()


def test_a_key_decides_on_the_card_that_was_chosen_in_the_queue(watched):
    page = watched.open("review", catalog="Example")
    box = page.locator('.st-key-queue canvas[data-testid="data-grid-canvas"]').bounding_box()
    watched.answered(lambda: page.mouse.click(box["x"] + 16, box["y"] + 35 * 2 + 17))
    name = page.locator("h3").first.inner_text()
    watched.settled()
    watched.answered(lambda: page.keyboard.press("x"))
    expect(page.get_by_text(re.compile(r"^1 of \d+ reviewed"))).to_be_visible()
    expect(page.get_by_text(f"Kept apart: {name}")).to_be_visible()
    watched.settled()
    watched.answered(lambda: page.keyboard.press("u"))
    expect(page.get_by_text("0 of 13 reviewed")).to_be_visible()


def test_a_key_held_down_acts_once(watched):
    page = watched.open("review", catalog="Example")
    queue = page.locator(".st-key-queue")
    expect(queue).to_be_visible()
    page.keyboard.press("j")
    watched.settled()
    second = page.url
    page.keyboard.press("k")
    watched.settled()
    for _ in range(4):
        page.keyboard.down("j")
        watched.settled()
        assert page.url == second
    page.keyboard.up("j")
    looks = 'one => { one.dataset.testScriptState = "running" }'
    page.get_by_test_id("stApp").evaluate(looks)  # as a part does that waits for a figure
    page.keyboard.press("k")
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestIdleCallback(done)))"
    )
    assert page.url == second
    page.get_by_test_id("stApp").evaluate(looks.replace("running", "notRunning"))
    expect(page).not_to_have_url(second)


@pytest.fixture
def busy():
    """A machine that has other work to do, on each core."""
    burners = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


@pytest.mark.case(70, 78)
@pytest.mark.parametrize("seen", ["h1", ".st-key-question h3", "menu"])
def test_what_is_typed_from_the_first_paint_on_decides_nothing(watched, busy, seen):
    page = watched.page
    if seen == "menu":  # the keys are known to the session, and the page comes again
        watched.open("review", catalog="Example")
        page.get_by_role("link", name="Export").click()
        expect(page.locator("h1")).to_have_text("Export")
        page.get_by_role("link", name="Review").click()
    else:
        page.goto(f"{watched.url}/review?catalog=Example", wait_until="commit")
        page.locator(seen).first.wait_for()
    sentences = cycle(("gask the finance team, as fees are ", "Far ", "off and Add up"))
    ready = page.get_by_role("button", name="Help Shortcut H")
    while not ready.count():
        page.keyboard.press("Shift")
        page.keyboard.type(next(sentences))
    page.keyboard.type("".join(islice(sentences, 3)))
    watched.settled()
    expect(page.get_by_text("0 of 13 reviewed")).to_be_visible()
    page.locator("h1").click()
    page.keyboard.press("Escape")  # the note, where the first letter was in time
    watched.settled()
    before = page.url
    page.keyboard.press("j")
    expect(page).not_to_have_url(before)
