"""Pages of other origins, over the real socket and in a browser whose names they chose."""

import http.client
import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import lone_tab, running

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "streamlit",
}


def status(server, path, **headers):
    """The status with which the app answers a request that has these headers."""
    port = urlsplit(server.url).port
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("GET", path, headers={"Host": f"localhost:{port}", **headers})
        return connection.getresponse().status
    finally:
        connection.close()


def lets_in_only_itself(server):
    port = urlsplit(server.url).port
    own = f"http://localhost:{port}"
    foreign = (
        {"Host": f"evil.test:{port}"},
        {"Host": f"evil.test:{port}", "Origin": f"http://evil.test:{port}"},
        {"Origin": "http://evil.test"},
        {"Origin": f"http://localhost:{port + 1}"},
        {"Origin": "null"},
    )
    for headers in foreign:
        for path in ("/", "/_stcore/health", "/static/index.html"):
            assert status(server, path, **headers) == 403, (path, headers)
        assert status(server, "/_stcore/stream", **UPGRADE, **headers) == 403, headers
    assert status(server, "/") == 200
    assert status(server, "/_stcore/stream", **UPGRADE, Origin=own) == 101


@pytest.mark.case(71)
def test_over_the_socket_only_the_app_itself_is_let_in(server):
    lets_in_only_itself(server)


@pytest.mark.case(94)
def test_nor_is_anybody_else_however_the_app_is_started(tmp_path):
    with running(tmp_path, "streamlit", "run", "app.py") as server:
        lets_in_only_itself(server)


def test_a_name_mapped_to_this_machine_shows_nothing(launched, server):
    _, launch = launched
    mapped = launch("--host-resolver-rules=MAP evil.test 127.0.0.1")
    try:
        page = mapped.new_page()
        page.goto(f"http://evil.test:{urlsplit(server.url).port}/")
        expect(page.get_by_text(re.compile("requests for the host"))).to_be_visible()
        expect(page.get_by_text("Example")).to_have_count(0)
        expect(page.get_by_text("Add a catalog")).to_have_count(0)
    finally:
        mapped.close()


@pytest.mark.case(94)
@pytest.mark.nightly
def test_a_page_that_is_started_without_the_app_shows_nothing(chromium, tmp_path):
    with (
        running(tmp_path, "streamlit", "run", "pages/review.py", prepared=True) as server,
        lone_tab(chromium) as page,
    ):
        page.goto(server.url)
        expect(page.get_by_text("toolscope app")).to_be_visible()
        expect(page.get_by_test_id("stMarkdown")).to_have_count(0)
