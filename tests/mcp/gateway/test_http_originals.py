"""Originals at an address that restart, answer by a status, or send too much."""

import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler

import pytest

from tests.mcp.gateway import stub_toolset
from tests.mcp.servers.stub_http import reply_to
from tests.support.loopback import LoopbackReplies, LoopbackServer


class Original(LoopbackReplies, BaseHTTPRequestHandler):
    """Knows the session of its last handshake only; ``act`` of a call says what it answers."""

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        self.reply(200)

    def do_POST(self):
        message = json.loads(self.content())
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            self.server.session = f"s{number}-{id(message)}"
        elif self.headers.get("mcp-session-id") not in (None, self.server.session):
            return self.reply(404, self.server.forgotten)
        if number is None:
            return self.reply(202)
        act = ((message.get("params") or {}).get("arguments") or {}).get("act")
        odd = {
            "busy": partial(self.reply, 503),
            "moved": partial(self.reply, 307, Location="http://127.0.0.1:1/for/the-first"),
            "silent": self.server.over.wait,
            "page": partial(self.reply, 200, b"<html>", "text/html"),
        }
        if act in odd:
            return odd[act]()
        text = "x" * 300_000 if act == "huge" else ""
        answer = reply_to(message, stub_toolset.NORTH, text)
        return self.reply(200, answer, mcp_session_id=self.server.session)


@pytest.fixture
def original():
    with LoopbackServer(Original) as server:
        server.session, server.forgotten, server.over = "", b"", threading.Event()
        yield server
        server.over.set()


@pytest.fixture
def reached(servers, original):
    """The configuration with the north at its address."""
    text = json.loads(servers)
    text["mcpServers"]["north"] = {"type": "http", "url": f"{original.origin}/mcp"}
    return json.dumps(text)


NO_SESSION = {"code": -32001, "message": "Session not found"}
NOT_FOUND = {"jsonrpc": "2.0", "id": None, "error": NO_SESSION}


@pytest.mark.parametrize("forgotten", [b"", NOT_FOUND])
def test_one_that_restarted_is_named_once_and_opened_again(toolset, reached, original, forgotten):
    original.forgotten = forgotten

    async def use(client, gateway):
        await client.call_tool("get", {"path": "a"})
        original.session = "another"
        lost = await stub_toolset.error_text(client.call_tool("get", {"path": "a"}))
        return lost, stub_toolset.stub_reply(await client.call_tool("get", {"path": "a"}))

    lost = "north has lost its session, for example by a restart; call again"
    assert stub_toolset.through(toolset, reached, use) == (lost, "")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("busy", "(503)"),
        ("page", "'text/html', not"),
        ("huge", "200,000 bytes"),
        ("moved", "the-first"),
    ],
)
def test_what_is_no_answer_is_an_error_of_its_call_alone(toolset, reached, act, words):
    async def use(client, gateway):
        own = await stub_toolset.error_text(stub_toolset.work(client, act))
        again = stub_toolset.stub_reply(await client.call_tool("get", {"path": "a"}))
        with stub_toolset.answering_within(gateway.calls.servers.open_now["north"], 0.1):
            return own, again, await stub_toolset.error_text(stub_toolset.work(client, "silent"))

    own, again, other = stub_toolset.through(toolset, reached, use)
    assert "north" in own and words in own and again == ""
    assert other.startswith("north did not answer within 0.1 s")
