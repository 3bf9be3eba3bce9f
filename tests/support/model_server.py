"""Our own OpenAI-compatible server on loopback: it answers by a function, or misbehaves by a mode.

``mode`` is *ok*, one of ``REFUSALS`` or a method of ``Handler``, and may be changed while the server
runs; ``answer`` makes the content of a reply (an object, or a text as it is) from the body of a
request. Every request is kept.
"""

import json
import threading
import time
import zlib
from collections import deque
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

import numpy as np

from tests.support.loopback import LoopbackReplies, LoopbackServer

NO_OBJECT = (
    "Sure! Here is what you asked for.",
    '{"ready": tr',
    '{"ready": ' + "9" * 5_000,
    "[true]",
    "[" * 100_000,
    '{"ready":' * 100_000,
    '<think>I could say {"ready": true}.</think> I am.',
    "",
    "   ",
)
NO_ANSWER = ("{}", '{"ready": NaN}', '{"ready": true, "ready": false}', '{"ready": "maybe"}')
MALFORMED = (*NO_OBJECT, *NO_ANSWER)
THOUGHTS = (
    '<think>Let me see: {"ready": "perhaps"}? {{No.</think>\nHere you are:\n```json\n%s\n```\nDone!'
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
        self._server = LoopbackServer(Handler)
        self._server.owner, self.origin = self, self._server.origin
        self.url = f"{self.origin}/v1"

    def __enter__(self):
        self._server.__enter__()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self._server.__exit__()

    def content(self, body):
        if self.contents:
            return self.contents.popleft()
        found = self.answer(body)
        return found if isinstance(found, str) else json.dumps(found)


def completion(content, finish="stop", **message):
    whole = {"role": "assistant", "content": content, **message}
    return {
        **{"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "m"},
        "choices": [{"index": 0, "finish_reason": finish, "message": whole}],
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


REFUSALS = {
    "forbidden": (403, error("no access")),
    "quota": (429, error("You exceeded your current quota", "insufficient_quota")),
    "no-model": (404, error("The model does not exist", "model_not_found")),
    "too-long": (400, error("maximum context length is 4096", "context_length_exceeded")),
    "bad-request": (400, error("that is no request of mine")),
}
UNSUPPORTED = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model. "
    "Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0",
    "reasoning_effort": "Unknown parameter: 'reasoning_effort'.",
}


class Handler(LoopbackReplies, BaseHTTPRequestHandler):
    """Each method ``_mode`` is what the server does in that mode."""

    @property
    def owner(self):
        return self.server.owner

    def do_GET(self):
        self._note({})
        self.reply(200, completion("{}"))

    def do_POST(self):
        body = json.loads(self.content())
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
            return self.reply(status, error("try again"), **headers)
        if self.owner.mode in REFUSALS:
            return self.reply(*REFUSALS[self.owner.mode])
        act = getattr(self, "_" + self.owner.mode.replace("-", "_"), None)
        return self._plain(body) if act is None else act(body)

    def _plain(self, body):
        if urlsplit(self.path).path.endswith("/embeddings"):
            return self.reply(200, vectors(body["input"]))
        if "tools" in body:
            message = self.owner.turn(body)
            finish = "tool_calls" if message.get("tool_calls") else "stop"
            return self.reply(200, completion(**{"content": None, "finish": finish, **message}))
        return self.reply(200, completion(self.owner.content(body)))

    def _flaky(self, body):
        """Every other request is refused, with 429 and 503 in turn."""
        count = len(self.owner.received)
        if count % 2:
            status = 429 if count % 4 == 1 else 503
            return self.reply(status, error("slow down"), retry_after="0.02")
        return self._plain(body)

    def _busy(self, body):
        date = formatdate(time.time() + 2, usegmt=True)
        self.reply(503, error("overloaded"), retry_after=date)

    def _malformed(self, body):
        self.reply(200, completion(MALFORMED[len(self.owner.received) % len(MALFORMED)]))

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
        self.reply(401, error(f"Incorrect API key provided: {sent}", "invalid_api_key"))

    def _truncated(self, body):
        self.reply(200, completion(self.owner.content(body)[:5], "length"))

    def _refusal(self, body):
        self.reply(200, completion(None, refusal="I cannot help with that."))

    def _filtered(self, body):
        self.reply(200, completion("", "content_filter"))

    def _html(self, body):
        self.reply(200, "<html><body>Please log in</body></html>", content_type="text/html")

    def _redirect(self, body):
        self.reply(307, {}, location=f"{self.owner.target}{self.path}")

    def _huge(self, body):
        self.reply(200, completion("x" * 5_100_000))

    def _compressed(self, body):
        self.reply(200, completion("{}"), content_encoding="gzip")

    def _cut(self, body):
        """The connection ends in the middle of a reply."""
        content = json.dumps(completion(self.owner.content(body))).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.close_connection = True

    def _no_schema(self, body):
        if body.get("response_format", {}).get("type") == "json_schema":
            return self.reply(400, error("response_format type json_schema is not supported"))
        return self._plain(body)

    def _no_format(self, body):
        if "response_format" in body:
            return self.reply(400, error("Unknown parameter: 'response_format'."))
        return self._plain(body)

    def _new_parameters(self, body):
        for name, words in UNSUPPORTED.items():
            if name in body:
                return self.reply(400, error(words))
        return self._plain(body)

    def _uncounted(self, body):
        reply = completion(self.owner.content(body))
        del reply["usage"]
        self.reply(200, reply)

    def _echo_key(self, body):
        """Says the key back wherever it can, also in escapes."""
        sent = self.headers.get("Authorization", "").removeprefix("Bearer ")
        escaped = "".join(f"\\u{ord(char):04x}" for char in sent)
        content = self.owner.content(body) if self.owner.contents else f'{{"note": "{escaped}"}}'
        reply = completion(content.replace("KEY", sent))
        self.reply(200, reply, x_key=sent)

    def _closed(self, body):
        self.close_connection = True
