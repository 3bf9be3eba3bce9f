"""Our own OpenAI-compatible server on loopback: it answers by a function, or misbehaves by a mode.

``mode`` is one of ``MODES`` and may be changed while the server runs; ``answer`` makes the content
of a reply (an object, or a text as it is) from the body of a request. Every request is kept.
"""

import json
import sys
import threading
import time
import zlib
from collections import deque
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import numpy as np

MODES = (
    "ok",
    "gullible",
    "flaky",
    "busy",
    "malformed",
    "slow",
    "dripping",
    "dripping-headers",
    "refused-key",
    "forbidden",
    "quota",
    "no-model",
    "truncated",
    "refusal",
    "filtered",
    "html",
    "foreign-ids",
    "redirect",
    "huge",
    "compressed",
    "no-schema",
    "no-format",
    "new-parameters",
    "too-long",
    "bad-request",
    "uncounted",
    "echo-key",
    "closed",
)
MALFORMED = (
    "Sure! Here is what you asked for.",
    'Here you are: {"ready": true}',
    '{"ready": tr',
    '{"ready": NaN}',
    '{"ready": true, "ready": false}',
    '{"ready": true} {"ready": true}',
    "[true]",
    "[" * 100_000,
    '{"ready": "maybe"}',
    '{"ready": true, "extra": 1}',
    "",
    "   ",
)


@dataclass
class Received:
    """One request as it came in."""

    path: str
    headers: dict
    body: dict
    at: float = field(default_factory=time.monotonic)

    @property
    def user(self):
        return self.body["messages"][-1]["content"]

    @property
    def system(self):
        return self.body["messages"][0]["content"]


class ModelServer:
    """Use as a context manager: ``url`` is the base URL, ``received`` the requests so far."""

    def __init__(self, answer=lambda body: {"ready": True}, mode="ok", delay=0.0):
        self.answer, self.mode, self.delay = answer, mode, delay
        self.turn = lambda body: {"content": "Done."}
        """The message that answers a request with tools."""
        self.received = []
        self.contents = deque()
        """Contents of the next replies, before ``answer`` is asked."""
        self.statuses = deque()
        """(status, headers) of the next replies, before the mode says."""
        self.target = ""
        self.stopped = threading.Event()
        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.owner = self
        self.origin = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.url = f"{self.origin}/v1"

    def __enter__(self):
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def content(self, body):
        if self.contents:
            return self.contents.popleft()
        found = self.answer(body)
        return found if isinstance(found, str) else json.dumps(found)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients that hang up, or are killed, are what these tests are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def completion(content, finish="stop", **message):
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 50, "completion_tokens": 7, "total_tokens": 57},
    }


def error(message, code=None, kind="invalid_request_error"):
    return {"error": {"message": message, "type": kind, "code": code, "param": None}}


def vectors(texts, size=16):
    """Texts that share words are close; listed backwards, as no order is promised."""
    rows = []
    for index, text in enumerate(texts):
        row = np.zeros(size)
        for word in text.lower().split() or [""]:
            row += np.random.default_rng(zlib.crc32(word.encode())).normal(size=size)
        rows.append({"object": "embedding", "index": index, "embedding": row.tolist()})
    return {"object": "list", "model": "m", "data": rows[::-1], "usage": {"prompt_tokens": 5}}


class Handler(BaseHTTPRequestHandler):
    """Each method ``_mode`` is what the server does in that mode."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def owner(self):
        return self.server.owner

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._note({})
        self._send(200, completion("{}"))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._note(body)
        try:
            self._answer(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _note(self, body):
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.owner.received.append(Received(self.path, headers, body))

    def _answer(self, body):
        if self.owner.delay:
            self.owner.stopped.wait(self.owner.delay)
        if self.owner.statuses:
            status, headers = self.owner.statuses.popleft()
            return self._send(status, error("try again"), **headers)
        act = getattr(self, "_" + self.owner.mode.replace("-", "_"), None)
        return self._plain(body) if act is None else act(body)

    def _plain(self, body):
        if urlsplit(self.path).path.endswith("/embeddings"):
            return self._send(200, vectors(body["input"]))
        if "tools" in body:
            message = self.owner.turn(body)
            finish = "tool_calls" if message.get("tool_calls") else "stop"
            return self._send(200, completion(**{"content": None, "finish": finish, **message}))
        return self._send(200, completion(self.owner.content(body)))

    def _gullible(self, body):
        """Does what any line of its prompt that begins with OBEY: tells it to."""
        for line in body["messages"][-1]["content"].splitlines():
            if "OBEY:" in line:
                return self._send(200, completion(line.split("OBEY:", 1)[1].strip()))
        return self._plain(body)

    def _flaky(self, body):
        """Every other request is refused, with 429 and 503 in turn."""
        count = len(self.owner.received)
        if count % 2:
            status = 429 if count % 4 == 1 else 503
            return self._send(status, error("slow down"), retry_after="0.02")
        return self._plain(body)

    def _busy(self, body):
        date = formatdate(time.time() + 2, usegmt=True)
        self._send(503, error("overloaded"), retry_after=date)

    def _malformed(self, body):
        self._send(200, completion(MALFORMED[len(self.owner.received) % len(MALFORMED)]))

    def _slow(self, body):
        self.owner.stopped.wait(60)

    def _dripping(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "100000")
        self.end_headers()
        self._drip(b" " * 100_000)

    def _dripping_headers(self, body):
        self._drip(b"HTTP/1.1 200 OK\r\n" + b"X-Drip: 1\r\n" * 10_000)

    def _drip(self, content):
        for byte in content:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if self.owner.stopped.wait(0.05):
                break
        self.close_connection = True

    def _refused_key(self, body):
        sent = self.headers.get("Authorization", "")
        self._send(401, error(f"Incorrect API key provided: {sent}", "invalid_api_key"))

    def _forbidden(self, body):
        self._send(403, error("no access"))

    def _quota(self, body):
        self._send(429, error("You exceeded your current quota", "insufficient_quota"))

    def _no_model(self, body):
        self._send(404, error("The model does not exist", "model_not_found"))

    def _truncated(self, body):
        self._send(200, completion(self.owner.content(body)[:5], "length"))

    def _refusal(self, body):
        self._send(200, completion(None, refusal="I cannot help with that."))

    def _filtered(self, body):
        self._send(200, completion("", "content_filter"))

    def _html(self, body):
        self._send(200, "<html><body>Please log in</body></html>", content_type="text/html")

    def _foreign_ids(self, body):
        """The answer, with every key of its inner objects replaced."""
        value = json.loads(self.owner.content(body))
        foreign = {
            name: {f"foreign-{n}": one for n, one in enumerate(part.values())}
            if isinstance(part, dict)
            else part
            for name, part in value.items()
        }
        self._send(200, completion(json.dumps(foreign)))

    def _redirect(self, body):
        self._send(307, {}, location=f"{self.owner.target}{self.path}")

    def _huge(self, body):
        self._send(200, completion("x" * 5_100_000))

    def _compressed(self, body):
        self._send(200, completion("{}"), content_encoding="gzip")

    def _no_schema(self, body):
        if body.get("response_format", {}).get("type") == "json_schema":
            return self._send(400, error("response_format type json_schema is not supported"))
        return self._plain(body)

    def _no_format(self, body):
        if "response_format" in body:
            return self._send(400, error("Unknown parameter: 'response_format'."))
        return self._plain(body)

    def _new_parameters(self, body):
        if "max_tokens" in body:
            return self._send(
                400,
                error(
                    "Unsupported parameter: 'max_tokens' is not supported with this model. "
                    "Use 'max_completion_tokens' instead."
                ),
            )
        if "temperature" in body:
            return self._send(400, error("Unsupported value: 'temperature' does not support 0"))
        return self._plain(body)

    def _too_long(self, body):
        self._send(400, error("maximum context length is 4096", "context_length_exceeded"))

    def _bad_request(self, body):
        self._send(400, error("that is no request of mine"))

    def _uncounted(self, body):
        reply = completion(self.owner.content(body))
        del reply["usage"]
        self._send(200, reply)

    def _echo_key(self, body):
        """Says the key back wherever it can, also in escapes."""
        sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
        escaped = "".join(f"\\u{ord(char):04x}" for char in sent)
        content = self.owner.content(body) if self.owner.contents else f'{{"note": "{escaped}"}}'
        reply = completion(content.replace("KEY", sent))
        self._send(200, reply, x_key=sent)

    def _closed(self, body):
        self.close_connection = True

    def _send(self, status, body, content_type="application/json", **headers):
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)
