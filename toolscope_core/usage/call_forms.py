"""Where calls of tools and their results are in agents' records: one table for all formats.

A record is searched from the outside in. An object that declares its kind, or is under a key that
does, is a call or a result; other objects are searched where messages have their parts. The
arguments and results of calls are not searched.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.usage.traced_calls import utc_time

AgentRecord = Mapping[str, Any]
_TIMES = frozenset(("timestamp", "created_at", "created", "at", "createdAt"))


@dataclass(frozen=True, slots=True)
class _CallForm:
    """The keys of a call, in order of preference; ``call`` is the key under which they may be
    nested.

    ``is_end``: the record describes the end of a call that may be elsewhere.
    """

    name: tuple[str, ...] = ("name",)
    number: tuple[str, ...] = ("id",)
    arguments: tuple[str, ...] = ("arguments", "args", "input")
    server: tuple[str, ...] = ("server_name", "server_label", "server", "namespace")
    call: str = ""
    is_end: bool = False


_PLAIN = _CallForm()
_BY_CALL_ID = _CallForm(number=("call_id",))
_OF_AI_SDK = _CallForm(name=("toolName",), number=("toolCallId",))
_OF_AI_SDK_SCREEN = _CallForm(name=("toolName", "type"), number=("toolCallId",))
_CALL_KINDS: Mapping[str, _CallForm] = {
    **dict.fromkeys(("tool_use", "mcp_tool_use", "server_tool_use", "tool_call"), _PLAIN),
    **dict.fromkeys(("function_call", "custom_tool_call"), _BY_CALL_ID),
    **dict.fromkeys(("tool-call", "tool_invocation"), _OF_AI_SDK),
    "mcp_call": _PLAIN,
    "mcp_tool_call_end": _CallForm(("tool",), ("call_id",), call="invocation", is_end=True),
}
_CALL_KEYS: Mapping[str, _CallForm] = {
    "functionCall": _PLAIN,
    "function_call": _PLAIN,
    "toolUse": _CallForm(number=("toolUseId",)),
    "toolInvocation": _OF_AI_SDK,
}
_CALL_LISTS: Mapping[str, _CallForm] = {
    "tool_calls": _CallForm(call="function"),
    "toolInvocations": _OF_AI_SDK,
}
_RESULT_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("tool_result", "mcp_tool_result"), "tool_use_id"),
    **dict.fromkeys(("function_call_output", "custom_tool_call_output"), "call_id"),
    "tool-result": "toolCallId",
    "tool_call_response": "id",
}
_RESULT_KEYS: Mapping[str, str] = {"functionResponse": "id", "toolResult": "toolUseId"}
_PARTS = frozenset(
    (
        *("message", "messages", "content", "parts", "contents", "choices", "candidates", "output"),
        *("response", "body", "item", "payload", "kwargs", "conversations", "steps", "request"),
        *("conversation", "generations", "invocations", "turns", "result", "data", "event"),
        "update",
    )
)
"""Keys with parts of a record below them."""
_OTHER_CALL = re.compile(r".*(?:tool.?use|(?:tool|function|mcp).?call)", re.IGNORECASE)
"""The kinds of objects that are calls in an unread form."""
_TEXT_KINDS = ("text", "input_text")
_IN_TEXT = re.compile(
    r"<(tool_?calls?|function_?calls?)>\s*(.*?)\s*(?:</\1>|$)", re.IGNORECASE | re.DOTALL
)
_IN_WORDS = re.compile(r"<(?:tool_?calls?|function_?calls?|function=)", re.IGNORECASE)
_ROLES = {"human": "user", "gpt": "assistant", "model": "assistant", "ai": "assistant"}


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A call: its name with the server if given, its id and its arguments.

    ``at`` is its time (ISO 8601 in UTC or empty), ``has_failed`` says whether it is reported as
    failed, ``line`` is its line in the log, and ``is_end`` marks a record that only reports the end
    of a call.
    """

    name: str
    number: Any
    arguments: Any = None
    at: str = ""
    has_failed: bool = False
    line: Any = None
    is_end: bool = False


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """The result of the call with this id."""

    number: Any
    has_failed: bool


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """A person's request."""

    text: str


@dataclass(frozen=True, slots=True)
class UnreadEvent:
    """A record with a call in an unknown form, or nothing known."""


TraceEvent = CallEvent | ResultEvent | RequestEvent | UnreadEvent


def events_of(record: AgentRecord) -> Iterator[TraceEvent]:
    """The events in a record, in order."""
    yield from _events(record, "", None)


def is_message(record: AgentRecord) -> bool:
    """Whether a record is a message, or an item of a conversation."""
    return "role" in record or ("from" in record and "value" in record) or _kind(record) in _ITEMS


_ITEMS = frozenset((*_CALL_KINDS, *_RESULT_KINDS)) - {"mcp_tool_call_end"}


def _events(value: Any, at: str, line: Any) -> Iterator[TraceEvent]:
    """The events in a part of a record, or in a list of parts."""
    if isinstance(value, list):
        for one in value:
            if isinstance(one, (dict, list)):
                yield from _events(one, at, line)
        return
    kind, line = _kind(value), value.get("uuid") or line
    if kind in _TEXT_KINDS and "role" not in value:
        return
    for key in value.keys() & _TIMES:
        at = utc_time(value[key]) or at
    if form := _CALL_KINDS.get(kind):
        yield from _call(form, value, at, line)
    elif number := _RESULT_KINDS.get(kind):
        yield ResultEvent(value.get(number), _has_failed(value))
    elif kind.startswith("tool-") and "toolCallId" in value:
        named = {**value, "type": kind.removeprefix("tool-")}
        yield from _call(_OF_AI_SDK_SCREEN, named, at, line)
    elif _OTHER_CALL.fullmatch(kind) and not _is_only_progress(kind):
        yield UnreadEvent()
    else:
        yield from _parts(value, at, line)


def _parts(value: AgentRecord, at: str, line: Any) -> Iterator[TraceEvent]:
    """The events in the parts of a message or envelope."""
    named_role = str(value.get("role") or value.get("from") or "")
    role = _ROLES.get(named_role, named_role)
    if role == "user" and (text := "\n".join(message_texts(value)).strip()):
        yield RequestEvent(text)
    for form, call in _calls_under_keys(value):
        yield from _call(form, call, at, line)
    yield from _results_under_keys(value, role)
    for text in message_texts(value) if role == "assistant" else ():
        yield from _calls_in_text(text, at, line)
    for key, inner in value.items():
        if key in _PARTS and isinstance(inner, (dict, list)):
            yield from _events(inner, at, line)


def _calls_under_keys(value: AgentRecord) -> Iterator[tuple[_CallForm, AgentRecord]]:
    for key in value.keys() & _CALL_LISTS.keys():
        yield from ((_CALL_LISTS[key], call) for call in objects_of_list(value[key]))
    for key in value.keys() & _CALL_KEYS.keys():
        if isinstance(value[key], dict):
            yield _CALL_KEYS[key], value[key]


def _results_under_keys(value: AgentRecord, role: str) -> Iterator[ResultEvent]:
    for key, number_key in _RESULT_KEYS.items():
        if isinstance(result := value.get(key), dict):
            yield ResultEvent(result.get(number_key) or result.get("name"), _has_failed(result))
    number, has_failed = value.get("tool_call_id") or value.get("call_id"), _has_failed(value)
    if role in ("tool", "function") or (number and has_failed):
        yield ResultEvent(number or value.get("name"), has_failed)


def _call(form: _CallForm, value: AgentRecord, at: str, line: Any) -> Iterator[TraceEvent]:
    inner = value.get(form.call)
    inner = inner if isinstance(inner, dict) else value
    name = _first(inner, form.name)
    if not isinstance(name, str) or not name:
        yield UnreadEvent()
        return
    server = _first(inner, form.server) or _first(value, form.server)
    if isinstance(server, str) and server and not name.startswith(server):
        is_front = server.startswith("mcp__") and server.endswith("__")
        name = f"{server}{name}" if is_front else f"mcp__{server.strip('_')}__{name}"
    number = _first(value, form.number) or _first(inner, form.number)
    arguments = _first(inner, form.arguments)
    yield CallEvent(name, number, arguments, at, _has_failed(value), line, form.is_end)


def _calls_in_text(text: str, at: str, line: Any) -> Iterator[TraceEvent]:
    """The calls that a model wrote as JSON between tags."""
    if not _IN_WORDS.search(text):
        return
    events = list[TraceEvent]()
    for match in _IN_TEXT.finditer(text):
        try:
            inside = json.loads(match[2])
        except (ValueError, RecursionError):
            inside = None
        for one in inside if isinstance(inside, list) else [inside]:
            call = one if isinstance(one, dict) else {}
            events += _call(_PLAIN, call, at, line)
    yield from events or [UnreadEvent()]


def _kind(value: AgentRecord) -> str:
    kind = value.get("type")
    return kind if isinstance(kind, str) else ""


def _first(value: AgentRecord, keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if value.get(key) not in (None, "")), None)


def _has_failed(value: AgentRecord) -> bool:
    """Whether a call or its result reports a failure."""
    result = value.get("result")
    return (
        value.get("is_error") is True
        or value.get("isError") is True
        or value.get("status") in ("error", "failed")
        or value.get("state") == "output-error"
        or (value.get("error") not in (None, False, "", {}) and "name" in value)
        or (isinstance(result, dict) and ("Err" in result or _has_failed(result.get("Ok") or {})))
    )


def _is_only_progress(kind: str) -> bool:
    """Whether an event only reports the start or progress of a call that is
    reported again in full.
    """
    return kind.startswith("response.") or kind.endswith(("_begin", "_start", "-start", "_delta"))


def message_texts(value: AgentRecord) -> list[str]:
    """The texts of a message, without its parts of other kinds."""
    content = next((value[key] for key in ("content", "parts", "value") if value.get(key)), None)
    if isinstance(content, str):
        return [content]
    parts = objects_of_list(content)
    parts = [part for part in parts if part.get("type", "text") in _TEXT_KINDS]
    return [str(part.get("text") or part.get("content") or "") for part in parts]
