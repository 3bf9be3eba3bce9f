"""MCP servers over HTTP of a few lines, in a thread: streamable HTTP, and SSE as it was before."""

import json
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.support.loopback import LoopbackReplies, LoopbackServer

TOOLS = [{"name": "far", "description": "Far away.", "inputSchema": {"type": "object"}}]
STATUSES = {"/401": 401, "/403": 403, "/404": 404, "/429": 429, "/500": 500, "/sse": 405}


def reply_to(request: dict, tools: list[dict], text: str = "") -> dict:
    """The whole reply to a request; every call has the same text as its result, as JSON."""
    result = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stub", "version": "3"},
        },
        "tools/list": {"tools": tools},
        "tools/call": {"content": [{"type": "text", "text": json.dumps(text)}]},
    }.get(request["method"])
    outcome = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
    return {"jsonrpc": "2.0", "id": request["id"], **outcome}


class Handler(LoopbackReplies, BaseHTTPRequestHandler):
    seen: list[tuple[str, dict[str, str]]]
    streams: dict[str, queue.SimpleQueue]

    def do_POST(self) -> None:
        self.seen.append((self.path, dict(self.headers)))
        request = json.loads(self.content())
        self.path = self.path.partition("?key")[0]
        if self.path in STATUSES:
            return self.reply(STATUSES[self.path], b"no")
        if self.path == "/moved":
            return self.reply(307, location="http://127.0.0.1:1/mcp")
        if self.path == "/silent":
            time.sleep(3)
        if self.path == "/long":
            return self.reply(200, b" " * 400_000)
        if self.path == "/gzip":
            return self.reply(200, b"x", content_encoding="gzip")
        if self.path == "/html":
            return self.reply(200, b"<html>", "text/html")
        if "id" not in request:
            return self.reply(202, b"")
        reply = json.dumps(reply_to(request, TOOLS)).encode()
        if self.path.startswith("/messages"):
            self.streams["only"].put(reply)
            return self.reply(202, b"")
        return self.reply(200, reply)

    def do_GET(self) -> None:
        if self.path != "/sse":
            self.reply(405, b"")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self._event("endpoint", b"/messages?session=1")
        try:
            while (reply := self.streams["only"].get(timeout=5)) is not None:
                self._event("message", reply)
        except (queue.Empty, OSError):
            pass
        self.close_connection = True

    def do_DELETE(self) -> None:
        self.reply(200, b"")

    def _event(self, name: str, data: bytes) -> None:
        self.wfile.write(b"event: " + name.encode() + b"\ndata: " + data + b"\n\n")
        self.wfile.flush()


@contextmanager
def stub_http() -> Iterator[tuple[str, list[tuple[str, dict[str, str]]]]]:
    """The address of a server in a thread, and the requests that it gets."""
    seen: list = []
    handler = type("Stub", (Handler,), {"seen": seen, "streams": {"only": queue.SimpleQueue()}})
    with LoopbackServer(handler) as server:
        try:
            yield server.origin, seen
        finally:
            handler.streams["only"].put(None)
