"""Calls and requests of a conversation: messages of OpenAI (chat and responses) or Anthropic."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolscope_core.files.json_lines import objects_in
from toolscope_core.usage.traced_calls import (
    CallTrace,
    TracedCall,
    TracedRequest,
    call_key,
    utc_time,
)

Message = Mapping[str, Any]
TIMES = ("timestamp", "created_at", "created", "at")
_RESULT = "function_call_output"
_READ = ("content", "tool_calls")
_IN_WORDS = re.compile(r"<(?:tool_?calls?|function_?calls?|function=)", re.IGNORECASE)
_OTHER_CALL = re.compile(
    r"(?!(?:tool_use|function_call)$).*(?:tool.?use|(?:tool|function|mcp).?call)", re.I
)
"""The types of blocks and messages that are calls in a form that is not read."""


@dataclass(slots=True)
class _Reading:
    """What has been read so far; ``places`` are those of calls by their key, ``last`` those by the
    id that results name, ``answered`` how often a result named it.
    """

    scope: str
    calls: list[TracedCall] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    answered: Counter[str] = field(default_factory=Counter)
    requests: list[TracedRequest] = field(default_factory=list)
    unread: int = 0

    def call(self, made: Message, number: Any, at: str, line: object) -> None:
        name = made.get("name")
        if not isinstance(name, str) or not name:
            self.unread += 1
            return
        keys = [call_key(number, name, self.scope, self.answered[str(number)])]
        if line:
            keys.insert(0, call_key(number, name, "line", line))
        new = len(self.calls)
        place = next((self.places[key] for key in keys if key in self.places), new)
        self.last[str(number)] = place
        self.places |= {key: place for key in keys if key}
        if place != new:
            return
        malformed = _is_no_json(made.get("arguments"))
        self.calls.append(TracedCall(name, at=at, malformed=malformed, key=keys[0]))
        if self.requests:
            last = self.requests[-1]
            self.requests[-1] = replace(last, tools=(*last.tools, name))

    def result(self, number: Any, *, failed: bool) -> None:
        place = self.last.get(str(number))
        self.answered[str(number)] += 1
        if failed and place is not None and not self.calls[place].malformed:
            self.calls[place] = replace(self.calls[place], failed=True)


def conversation(messages: Sequence[Message], scope: str) -> CallTrace:
    """The calls of the messages with the requests that led to them; whether a call failed is read
    from its result, where that says so (Anthropic's ``is_error``), and whether it was malformed
    from its arguments, where they are a text (OpenAI's). ``scope`` tells the conversation from all
    others: short ids of calls are unique in it alone, and there until their result came; what
    lines of one ``uuid`` call is one call, also in the history of another session.
    """
    reading = _Reading(scope)
    for message in messages:
        at = next(filter(None, (utc_time(message.get(key)) for key in TIMES)), "")
        line = message.get("uuid")
        blocks = _blocks(message.get("content"))
        if message.get("role") == "user":
            text = "\n".join(_texts(blocks)).strip()
            if text:
                reading.requests.append(TracedRequest(text))
        for call in objects_in(message.get("tool_calls")):
            function = call.get("function")
            reading.call(function if isinstance(function, dict) else call, call.get("id"), at, line)
        if message.get("type") == "function_call":
            reading.call(message, message.get("call_id"), at, line)
        failed = message.get("is_error") is True or message.get("status") == "error"
        if failed or message.get("role") == "tool" or message.get("type") == _RESULT:
            reading.result(message.get("tool_call_id") or message.get("call_id"), failed=failed)
        for block in blocks:
            if block.get("type") == "tool_use":
                reading.call(block, block.get("id"), at, line)
            elif block.get("type") == "tool_result":
                reading.result(block.get("tool_use_id"), failed=block.get("is_error") is True)
        reading.unread += _is_unread(message, blocks)
    return CallTrace(tuple(reading.calls), tuple(reading.requests), reading.unread)


def _is_unread(message: Message, blocks: Sequence[Message]) -> bool:
    """Whether the message holds a call in a form that is not read, or nothing that is."""
    kinds = [str(one.get("type")) for one in (message, *blocks)]
    is_item = message.get("type") in ("function_call", _RESULT)
    return (
        not (is_item or any(key in message for key in _READ))
        or isinstance(message.get("function_call"), dict)
        or any(_OTHER_CALL.fullmatch(kind) for kind in kinds)
        or (message.get("role") == "assistant" and any(map(_IN_WORDS.search, _texts(blocks))))
    )


def _is_no_json(arguments: Any) -> bool:
    """Whether arguments that were written as a text cannot be read; none at all can."""
    if not isinstance(arguments, str) or not arguments:
        return False
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return True
    return False


def _blocks(content: Any) -> list[Message]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects_in(content)


def _texts(blocks: Iterable[Message]) -> list[str]:
    return [
        str(block.get("text") or block.get("content") or "")
        for block in blocks
        if block.get("type") in ("text", "input_text")
    ]
