"""Which requests the app answers, and what it says of itself when it starts."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from ui.shared import request_guard, sign_in

OWN = {"host": "localhost:8501", "origin": "http://localhost:8501"}


@pytest.fixture
def options(monkeypatch):
    """Streamlit's options, which a test sets."""
    values = {"server.allowedHosts": [], "server.corsAllowedOrigins": []}
    monkeypatch.setattr(request_guard.st, "get_option", values.get)
    return values


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8501", "LOCALHOST:1", "127.0.0.1:80", "[::1]:8501", "[::1]"]
)
def test_loopback_is_answered_on_any_port(options, host):
    assert request_guard.refusal(host, None) == ""
    assert request_guard.refusal(host, f"http://{host}") == ""


@pytest.mark.parametrize(
    "host",
    "evil.test|evil.test:8501|localhost.evil.test|evillocalhost|127.0.0.1.evil.test|0.0.0.0|"
    "192.168.1.5:8501|user@localhost|localhost:port|localhost/a|localhost?a|[::1|"
    "localhost,evil.test|localhost evil.test| |".split("|"),
)
def test_any_other_host_is_refused_and_the_remedy_named(options, host):
    assert "--server.allowedHosts" in request_guard.refusal(host, None)


def test_configured_hosts_are_answered(options):
    options["server.allowedHosts"] = ["Tools.example.com", "*.corp.example"]
    for host in ("tools.example.com", "tools.example.com:443", "a.b.corp.example", "localhost:1"):
        assert request_guard.refusal(host, None) == "", host
    for host in ("corp.example", "evil-tools.example.com", "evilcorp.example"):
        assert request_guard.refusal(host, None), host
    options["server.allowedHosts"] = ["*"]
    assert request_guard.refusal("evil.test", None) == ""


@pytest.mark.case(71)
@pytest.mark.parametrize(
    "origin",
    ["http://localhost:9999", "http://127.0.0.1:8501", "http://evil.test", "null", "", "file://"],
)
def test_a_page_of_another_origin_or_port_is_refused(options, origin):
    assert "--server.corsAllowedOrigins" in request_guard.refusal("localhost:8501", origin)
    options["server.corsAllowedOrigins"] = [origin]
    assert request_guard.refusal("localhost:8501", origin) == ""


@pytest.fixture
def client(options):
    async def page(_request):
        return PlainTextResponse("the page")

    async def socket(websocket):
        await websocket.accept()
        await websocket.send_text("open")
        await websocket.close()

    routes = [Route("/", page, methods=["GET", "PUT"]), WebSocketRoute("/stream", socket)]
    app = Starlette(routes=routes, middleware=[Middleware(request_guard.RequestGuard)])
    with TestClient(app, base_url=OWN["origin"]) as client:
        yield client


def test_what_is_refused_never_reaches_the_app(client):
    for headers in ({"host": "evil.test:8501"}, {"origin": "http://localhost:9999"}):
        for method in ("GET", "PUT"):
            answer = client.request(method, "/", headers=headers)
            assert answer.status_code == 403 and "the page" not in answer.text
        refused = client.websocket_connect("/stream", headers=OWN | headers)
        with pytest.raises(WebSocketDisconnect), refused:
            pass


def test_the_first_page_has_its_name_as_an_address_too(client):
    answer = client.get("/catalog?part=Tools", headers=OWN, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "./?part=Tools")


def test_every_answer_says_what_a_page_may_load(client):
    for headers in ({}, {"host": "evil.test"}):
        answer = client.get("/", headers=headers)
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    with client.websocket_connect("/stream", headers=OWN) as websocket:
        assert websocket.receive_text() == "open"


@pytest.mark.parametrize(
    ("address", "signs_in", "loud"),
    [
        ("localhost", False, False),
        ("0.0.0.0", False, True),
        (None, False, True),
        ("0.0.0.0", True, False),
    ],
)
def test_a_start_says_that_others_reach_it_and_its_token(
    options, monkeypatch, capsys, address, signs_in, loud
):
    options["server.address"] = address
    monkeypatch.setattr(sign_in, "is_configured", lambda: signs_in)
    sign_in.start_token.cache_clear()

    async def announced():
        async with sign_in.announced(None):
            pass

    asyncio.run(announced())
    printed = capsys.readouterr().err
    assert ("WARNING: other machines" in printed) is loud
    assert sign_in.start_token() in printed
