"""The Review page in Chromium: nothing is accepted that was not on the screen."""

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SCROLL = "top => { document.querySelector('[data-testid=stMain]').scrollTop = top }"


def heading(page):
    return page.locator("h3").first


def test_each_card_starts_at_its_top_and_its_name_stays(watched):
    watched.page.set_viewport_size({"width": 1280, "height": 720})
    page = watched.open("review", catalog="Example")
    name = heading(page).inner_text()
    expect(heading(page)).to_be_in_viewport(ratio=1)
    page.evaluate(SCROLL, 900)
    watched.settled()
    expect(heading(page)).to_be_in_viewport(ratio=1)
    page.keyboard.press("j")
    expect(heading(page)).not_to_have_text(name)
    watched.settled()
    expect(heading(page)).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("Agents keep")).to_be_in_viewport(ratio=1)
    top = page.get_by_text("Agents keep").bounding_box()["y"]
    assert page.get_by_text("Check before you accept:").bounding_box()["y"] > top, (
        "it starts at its top"
    )


def test_the_list_of_safe_merges_comes_first_and_leaves_out_what_is_ticked(watched):
    watched.page.set_viewport_size({"width": 1280, "height": 720})
    page = watched.open("review", catalog="Example")
    decided = page.get_by_text("0 of 9 reviewed")
    expect(decided).to_be_visible()
    page.get_by_role("button", name="Accept safe merges (3)").click()
    expect(page.get_by_role("button", name="Accept 3 merges")).to_be_visible()
    watched.settled()
    page.locator("h1").click()
    page.keyboard.press("a")
    watched.settled()
    expect(decided).to_be_visible()
    table = page.locator('[class*="st-key-safe_"] canvas[data-testid="data-grid-canvas"]')
    box = table.bounding_box()
    page.mouse.click(box["x"] + 16, box["y"] + 35 + 17)
    page.get_by_role("button", name="Accept 2 merges").click()
    expect(page.get_by_text("2 of 9 reviewed")).to_be_visible()
    watched.settled()
    page.locator('[class*="st-key-undo_batch_"] button').click()
    expect(decided).to_be_visible()


def test_the_head_of_a_column_sets_the_order_of_the_keys(watched):
    page = watched.open("review", catalog="Example")

    def head():
        box = page.locator('.st-key-queue canvas[data-testid="data-grid-canvas"]').bounding_box()
        watched.answered(lambda: page.mouse.click(box["x"] + 70, box["y"] + 17))

    def names(most=4):
        """The cards in the order of J, from the one that is shown."""
        cards = {page.url: heading(page).inner_text()}
        page.locator("h1").click()
        while len(cards) < most:
            before = page.url
            page.keyboard.press("j")
            expect(page).not_to_have_url(before)
            watched.settled()
            if page.url in cards:
                break
            cards[page.url] = heading(page).inner_text()
        return list(cards.values())

    def follows(seen, order):
        around = [*order, *order]
        return any(seen == around[at : at + len(seen)] for at in range(len(order)))

    first = names(most=99)
    alphabet = sorted(first)
    assert not follows(first[:4], alphabet)
    assert not follows(first[:4], alphabet[::-1])
    head()
    assert follows(names(), alphabet)
    head()
    assert follows(names(), alphabet[::-1])
    head()
    assert follows(names(), first), "the order it had"


def test_proposals_between_two_servers_are_a_table_whose_rows_open(watched):
    page = watched.open("review", catalog="Example", show="By+server+pair")
    expect(page.get_by_text("Accept all duplicates or none.")).to_be_visible()
    page.get_by_role("button", name="Accept all 3").click()
    expect(page.get_by_text("3 of 9 reviewed")).to_be_visible()
    watched.settled()
    page.get_by_role("button", name="Undo the last 3").click()
    expect(page.get_by_text("0 of 9 reviewed")).to_be_visible()
    watched.settled()
    box = page.locator('canvas[data-testid="data-grid-canvas"]').first.bounding_box()
    page.mouse.click(box["x"] + 45, box["y"] + 35 + 17)
    expect(page.get_by_text("One of 3 proposals between attic-archive")).to_be_visible()
    page.get_by_role("button", name="Decide them together").click()
    expect(page.get_by_role("button", name="Accept all 3")).to_be_visible()
