"""Generated queries in Chromium: asked for, read, kept, exported."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watched, running
from tests.browser.test_main_job import PROPOSALS
from tests.support.model_server import ModelServer
from tests.support.replies import served, writing

pytestmark = [pytest.mark.browser, pytest.mark.nightly, pytest.mark.timeout(300)]


@pytest.fixture
def own(tmp_path, chromium):
    """A tab on an app of its own, for a model is set up here."""
    with running(tmp_path) as app:
        context = chromium.new_context(
            viewport={"width": 1440, "height": 1400}, accept_downloads=True
        )
        page = context.new_page()
        seen = Watched(page, app.url)
        page.on("websocket", seen.connected)
        page.on("pageerror", lambda error: seen.trouble.append(str(error)))
        yield seen
        context.close()
        assert seen.trouble == [] and not app.leaks.exists()


def test_queries_are_asked_for_read_kept_and_exported(own):
    with ModelServer(served(writing())) as server:
        page = own.open("")
        expect(page.get_by_text(PROPOSALS).first).to_be_visible(timeout=120_000)
        page.get_by_text("Query sets: 1").click()
        page.get_by_role("link", name="Write queries with a model").click()
        expect(page.get_by_text("so no queries can be written")).to_be_visible()
        page = own.open("settings", catalog="Example")
        page.get_by_role("textbox", name="Base URL").fill(server.url)
        page.get_by_role("textbox", name="Model", exact=True).fill("m")
        page.keyboard.press("Tab")
        own.settled()
        page.get_by_role("button", name="Save", exact=True).click()
        own.settled()
        page = own.open("evaluation", catalog="Example", evaluation_view="Generated+queries")
        expect(page.get_by_text("100 for drafts of queries")).to_be_visible()
        page.get_by_role("button", name="Write queries").click()
        keep = page.get_by_role("button", name=re.compile("Keep .* without warnings"))
        expect(keep).to_be_visible(timeout=120_000)
        own.settled()
        page.get_by_role("button", name="Drop", exact=True).click()
        own.settled()
        expect(page.get_by_text("1 dropped")).to_be_visible()
        keep.click()
        own.settled()
        with page.expect_download() as download:
            page.get_by_role("button", name=re.compile("Export the .* kept")).click()
        rows = download.value.path().read_text("utf-8").splitlines()
        expect(page.get_by_text(f"{len(rows)} kept", exact=False).first).to_be_visible()
        page = own.open("evaluation", catalog="Example", set="generated.jsonl")
        page.get_by_role("button", name="Measure", exact=True).click()
        expect(page.get_by_text("of generated.jsonl").first).to_be_visible(timeout=120_000)
