"""HTTP replies from an endpoint: their size, strict JSON, and what failures mean."""

import json
from dataclasses import dataclass
from typing import Any

from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.errors import ModelStopError

MOST_REPLY_BYTES = 5_000_000
"""The size of the largest reply that is read, in bytes."""
TOO_LARGE = f"the reply is larger than {MOST_REPLY_BYTES // 1_000_000} MB"
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Status codes of failures that may soon pass."""
TOO_LONG = "too long"
"""The reason if a reply could not begin because the question left no room for it."""
_WORDS = 200
"""How many characters of an endpoint's complaint are shown."""
_QUOTA = ("insufficient_quota", "billing", "credit balance", "exceeded your current quota")
_TOO_LONG = ("context_length", "context length", "too long", "maximum context", "context window")
_FILTERED = ("content_filter", "content filter", "responsibleai")


@dataclass(frozen=True, slots=True)
class HttpReply:
    """One HTTP reply, or the ``failure`` to get one (``late``: past the deadline).

    ``kind`` is the media type, ``wait`` the number of seconds that the endpoint asks to wait, and
    ``seconds`` the total time. No field contains the key.
    """

    status: int
    body: bytes
    kind: str = ""
    wait: float = 0.0
    failure: str = ""
    location: str = ""
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status == 200 and not self.failure

    def document(self) -> Any:
        """The JSON in the body. Raises ``ValueError``."""
        return load(self.body.decode("utf-8", "replace"))

    def complaint(self) -> str:
        """The message of an error reply, in one line."""
        try:
            document = self.document()
        except ValueError:
            return short_line(self.body[:2_000].decode("utf-8", "replace"))
        error = document.get("error", document) if isinstance(document, dict) else document
        if isinstance(error, dict):
            parts = [error.get(name) for name in ("message", "code", "type", "param")]
            error = " ".join(str(part) for part in parts if part)
        return short_line(str(error))


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """Why there is no usable reply. ``final``, ``finish`` and ``wait`` are as in ``ChatReply``."""

    reason: str
    final: bool = False
    finish: str = ""
    wait: float | None = None
    late: bool = False

    def reply_fields(self, page: HttpReply, tokens: int) -> dict[str, Any]:
        """The fields of a ``ModelReply`` for this failure.

        A call past its deadline may still have to be paid for, because its prompt of ``tokens``
        tokens was sent.
        """
        return {
            "reason": self.reason,
            "final": self.final,
            "finish": self.finish,
            "tokens_in": tokens if self.late else 0,
            "counted": not self.late,
            "seconds": page.seconds,
            "wait": self.wait,
        }


def failure_of(page: HttpReply, endpoint: Endpoint, keyed: bool) -> HttpFailure | None:
    """The failure in a reply; ``None`` if there is none. ``keyed`` says that a key was sent.

    Raises ``ModelStopError`` if every further call would fail in the same way.
    """
    origin = endpoint.origin
    if page.failure == "late":
        seconds = f"{endpoint.deadline:g} s"
        return HttpFailure(f"{origin} did not answer within {seconds}", wait=0.0, late=True)
    if page.failure.startswith("no connection"):
        return HttpFailure(f"{origin}: {page.failure}", wait=0.0)
    if page.failure:
        return HttpFailure(page.failure, final=page.failure == TOO_LARGE)
    if page.ok:
        return None
    complaint = page.complaint()
    stop = _stop(page, complaint, endpoint, keyed)
    if stop:
        raise ModelStopError(stop)
    return _passing(page, complaint, origin)


def load(text: str) -> Any:
    """The value of strict JSON: no NaN, no repeated keys, limited depth. Raises ``ValueError``."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def short_line(text: str) -> str:
    """The text in printable form, on one short line."""
    words = "".join(char if char.isprintable() else " " for char in text[:2_000])
    return " ".join(words.split())[:_WORDS]


def _stop(page: HttpReply, complaint: str, endpoint: Endpoint, keyed: bool) -> str:
    status, who, model = page.status, endpoint.origin, endpoint.model
    asks = f"asks for a key (401); set TOOLSCOPE_API_KEY, and set TOOLSCOPE_API_ORIGIN to {who}"
    refuses = "rejects the key (401); check that it is complete and still valid"
    quota = f"says that the quota is used up ({status}); add credit, then continue: {complaint}"
    unknown = f"has no model {model!r}, or no such address ({status}); check both: {complaint}"
    redirection = (
        f"redirects to {short_line(page.location)!r} ({status}), where the key is not sent; use "
        "the final address as the base URL"
    )
    words = {
        401: refuses if keyed else asks,
        402: quota,
        403: (
            f"does not let this key use {model!r} (403); ask its owner for access, or choose "
            "another model"
        ),
        404: unknown,
        405: unknown,
        429: quota if any(sign in complaint.lower() for sign in _QUOTA) else "",
    }
    problem = redirection if 300 <= status < 400 else words.get(status, "")
    return f"{who} {problem}" if problem else ""


def _passing(page: HttpReply, complaint: str, origin: str) -> HttpFailure:
    status, low = page.status, complaint.lower()
    if status in AGAIN:
        return HttpFailure(f"{origin} is busy ({status}): {complaint}", wait=page.wait)
    if status == 413 or any(sign in low for sign in _TOO_LONG):
        return HttpFailure(
            f"the question is too long ({status}): {complaint}", final=True, finish=TOO_LONG
        )
    if any(sign in low for sign in _FILTERED):
        return HttpFailure("blocked by the endpoint's filter", final=True, finish="content_filter")
    return HttpFailure(f"{origin} rejected the request ({status}): {complaint}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key appears in it twice")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")
