"""Calls and requests of a conversation: messages of OpenAI (chat and responses) or Anthropic."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolscope_core.files.json_lines import objects_in
from toolscope_core.usage.traced_calls import CallTrace, TracedCall, TracedRequest, utc_time

Message = Mapping[str, Any]
TIMES = ("timestamp", "created_at", "created", "at")


@dataclass(slots=True)
class _Reading:
    """What has been read so far; ``places`` are those of calls by the id that results name."""

    calls: list[TracedCall] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    requests: list[TracedRequest] = field(default_factory=list)

    def call(self, made: Message, number: Any, at: str) -> None:
        name = made.get("name")
        if not isinstance(name, str) or not name:
            return
        self.places[str(number)] = len(self.calls)
        self.calls.append(TracedCall(name, at=at, malformed=_is_no_json(made.get("arguments"))))
        if self.requests:
            last = self.requests[-1]
            self.requests[-1] = replace(last, tools=(*last.tools, name))

    def failed(self, number: Any) -> None:
        place = self.places.get(str(number))
        if place is not None and not self.calls[place].malformed:
            self.calls[place] = replace(self.calls[place], failed=True)


def conversation(messages: Sequence[Message]) -> CallTrace:
    """The calls of the messages with the requests that led to them; whether a call failed is read
    from its result, where that says so (Anthropic's ``is_error``), and whether it was malformed
    from its arguments, where they are a text (OpenAI's).
    """
    reading = _Reading()
    for message in messages:
        at = next((read for key in TIMES if (read := utc_time(message.get(key)))), "")
        blocks = _blocks(message.get("content"))
        if message.get("role") == "user":
            text = "\n".join(_texts(blocks)).strip()
            if text:
                reading.requests.append(TracedRequest(text))
        for call in objects_in(message.get("tool_calls")):
            function = call.get("function")
            reading.call(function if isinstance(function, dict) else call, call.get("id"), at)
        if message.get("type") == "function_call":
            reading.call(message, message.get("call_id"), at)
        if message.get("is_error") is True or message.get("status") == "error":
            reading.failed(message.get("tool_call_id") or message.get("call_id"))
        for block in blocks:
            if block.get("type") == "tool_use":
                reading.call(block, block.get("id"), at)
            elif block.get("type") == "tool_result" and block.get("is_error") is True:
                reading.failed(block.get("tool_use_id"))
    return CallTrace(tuple(reading.calls), tuple(reading.requests))


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
