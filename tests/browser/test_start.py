"""The first visit of a process that was just started."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import lone_tab, running

MENU = (
    "Catalog Overlap Graph Review Documents Profiles Retrieval Evaluation Export History Settings"
).split()
WATCH = """
window.menus = new Set();
new MutationObserver(() => {
    for (const link of document.querySelectorAll('[data-testid="stSidebarNav"] a'))
        window.menus.add(link.innerText.split("\\n").pop().trim());
}).observe(document, { childList: true, subtree: true });
"""


@pytest.mark.parametrize(
    "start", [(), pytest.param(("streamlit", "run", "app.py"), marks=pytest.mark.nightly)]
)
def test_the_first_thing_shown_is_the_right_menu_and_the_name(chromium, tmp_path, start):
    with running(tmp_path, *start) as server, lone_tab(chromium) as page:
        page.add_init_script(WATCH)
        page.goto(server.url)
        expect(page.get_by_test_id("stSidebarLogo")).to_be_visible()
        expect(page.get_by_test_id("stSidebarNav").get_by_role("link")).to_have_count(len(MENU))
        expect(page.locator("h1")).to_have_text("Catalog")
        expect(page).to_have_title("Catalog · Example · ToolScope")
        seen = page.evaluate("[...window.menus]")
        assert sorted(seen) == sorted(MENU)
        page.reload()
        expect(page.locator("h1")).to_have_text("Catalog")
        assert sorted(page.evaluate("[...window.menus]")) == sorted(MENU)
