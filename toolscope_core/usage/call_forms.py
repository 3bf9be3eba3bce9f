"""Finds the calls of tools and their results in agents' records, with one rule for all formats.

A record is searched from the outside in. An object is a call or a result if its kind says so, or
the key that it is under: *tool_use*, *functionCall*, *mcp_call*, *tool-result*. Its name, id and
arguments are under the usual keys, in the object or one object below it. The arguments and results
of calls are not searched, and neither are definitions of tools.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.usage.traced_calls import utc_time

AgentRecord = Mapping[str, Any]
_TIMES = frozenset(("timestamp", "created_at", "created", "at", "createdAt"))
_KINDS = ("type", "kind", "part_kind", "content_type")
_NAMES = ("name", "toolName", "tool_name", "tool", "toolId", "function_name")
_NUMBERS = (
    *("call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "callID", "callId"),
    "id",
)
_ARGUMENTS = ("arguments", "args", "input", "parameters", "tool_input")
_SERVERS = ("server_name", "server_label", "server", "namespace", "plugin_name")
_HOLDERS = ("function", "invocation", "toolCall", "value", "data", "params")
"""Where a call may have its name and arguments, one below the other."""
_NAME_PLACES = frozenset((*_NAMES, *_HOLDERS))
_SAYS_CALL = re.compile(
    r".*(?:tool|function|mcp)(?:call|use|request|invocation)s?"
    r"(?:request|serialized|event|end|completed)*"
)
_SAYS_RESULT = re.compile(
    r".*(?:tool|function|mcp)(?:call|use)?(?:result|response|return|output|execution)s?"
    r"(?:event|error)?"
)
_IS_CALLED = re.compile(r"(?:dynamic-)?tool")
"""A kind that calls and results share; results do not name their tool in this way."""
_UNSEARCHED = frozenset(
    (
        *("tools", "functions", "tool_definitions", "toolConfig", "tool_config", "properties"),
        *("usage", "parameters", "arguments", "observations"),
    )
)
"""Keys that contain definitions, figures and values of tools, but no calls."""
_OUTCOMES = ("result", "state", "toolResult", "response", "Ok")
"""Where a call or its result may report the outcome."""
_FAILURES = frozenset(("is_error", "isError", "status", "state", "error", "Err", *_OUTCOMES))
"""Where a failure may be reported. Most objects have none of these keys."""
_GIVEN = ("content", "output", "result", "response", "toolResult", "value")
"""Where a result may contain what the tool returned."""
_TEXT_KINDS = ("text", "input_text")
_IN_TEXT = re.compile(
    r"<(tool_?calls?|function_?calls?)>\s*(.*?)\s*(?:</\1>|<\||\Z)", re.IGNORECASE | re.DOTALL
)
_ACTION = re.compile(
    r"^[ \t]*Action: *([^\n]*[^\s])[ \t\r]*\n\s*Action Input:((?:(?!\n[ \t]*Observation:)[\s\S])*)",
    re.MULTILINE,
)
"""A call that a model wrote in the ReAct format."""
_IN_WORDS = re.compile(r"<(?:tool_?calls?|function_?calls?|function=)", re.IGNORECASE)
_ROLES = {"human": "user", "gpt": "assistant", "model": "assistant", "ai": "assistant"}
_KEYS_OF_CALLS = re.compile(r"(?:mcp)?(?:tool|function)(?:call|use|invocation)s?")
_KEYS_OF_RESULTS = re.compile(r"(?:mcp)?(?:tool|function)(?:use)?(?:result|response)s?")
_CALLER = re.compile(r"call|invoke|exec|run|use_", re.IGNORECASE)
_KEPT_WORDS = 4_096


@dataclass(frozen=True, slots=True)
class CallEvent:
    """A call: its name (with the server if that is given), its id and its arguments.

    ``at`` is its time (ISO 8601 in UTC, or empty). ``has_failed`` says whether it is reported as
    failed. ``line`` is its line in the log. ``is_end`` marks a record that only reports the end of
    a call.
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
    """The result of the call with this id; ``value`` is the result as it was recorded."""

    number: Any
    has_failed: bool
    value: Any = None


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """A person's request."""

    text: str


@dataclass(frozen=True, slots=True)
class UnreadEvent:
    """A record that contains a call in an unknown form, or nothing known."""


TraceEvent = CallEvent | ResultEvent | RequestEvent | UnreadEvent
_EventKind = Literal["", "call", "result", "progress"]


def events_of(record: AgentRecord) -> list[TraceEvent]:
    """The events in a record, in order."""
    return _events(record, "", None, "")


def is_message(record: AgentRecord) -> bool:
    """Whether a record is a message, or an item in a conversation."""
    is_item = any(_by_kind(kind) for kind in _kinds(record) if not _is_end(kind))
    return is_item or "role" in record or "lc" in record or {"from", "value"} <= record.keys()


def _events(value: Any, at: str, line: Any, kind: _EventKind) -> list[TraceEvent]:
    """The events in a part of a record, or in a list of parts; ``kind`` comes
    from the part's key.
    """
    if isinstance(value, list):
        parts = (_events(one, at, line, kind) for one in value if isinstance(one, (dict, list)))
        return [*chain.from_iterable(parts)]
    if value.get("type") in _TEXT_KINDS and "role" not in value:
        return []
    if not _TIMES.isdisjoint(value):
        for key in value.keys() & _TIMES:
            at = utc_time(value[key]) or at
    return _events_of_object(value, at, value.get("uuid") or line, kind)


def _events_of_object(
    value: AgentRecord, at: str, line: Any, by_key: _EventKind
) -> list[TraceEvent]:
    kinds = _kinds(value)
    by_kind = _kind_in(kinds, value)
    role = by_kind or by_key
    if role == "result":
        return [*_results(value)]
    if role == "call" and (event := _call(value, kinds, at, line)):
        return [event]
    if role == "progress":
        return []
    events = _parts(value, at, line, role)
    is_unread = role == "call" and "index" not in value and not events
    if is_unread and (by_kind or not value.keys().isdisjoint((*_ARGUMENTS, *_HOLDERS))):
        return [UnreadEvent()]
    return events


def _kind_in(kinds: Sequence[str], value: AgentRecord) -> _EventKind:
    """What an object says it is."""
    for kind in kinds:
        if own := _by_kind(kind):
            return own
    return "call" if _is_called(kinds, value) else ""


def _is_called(kinds: Sequence[str], value: AgentRecord) -> bool:
    """Whether an object is a call although its kind has no word for calls."""
    if isinstance(value.get("tool"), str) or "toolCallId" in value:
        is_named = "tool" in value or "toolName" in value
        words = [kind for kind in kinds if kind.startswith("tool-") or _IS_CALLED.fullmatch(kind)]
        return any(is_named or kind.startswith("tool-") for kind in words)
    return value.get("method") == "tools/call"


def _parts(value: AgentRecord, at: str, line: Any, kind: _EventKind) -> list[TraceEvent]:
    """The events in the parts of a message or an envelope."""
    events = list[TraceEvent]()
    role = _role(value)
    if role == "user" and (text := "\n".join(message_texts(value)).strip()):
        events.append(RequestEvent(text))
    is_result = role in ("tool", "function")
    if (has_failed := _has_failed(value)) or is_result:
        number = value.get("id") if "jsonrpc" in value else _first(value, _NUMBERS[:-1])
        if number or is_result:
            given = _first(value, _GIVEN)
            events.append(ResultEvent(number or value.get("name"), has_failed, given))
    for text in message_texts(value) if role == "assistant" else ():
        events += _calls_in_text(text, at, line)
    for key, inner in value.items():
        if isinstance(inner, (dict, list)) and inner and key not in _UNSEARCHED:
            by_key = _by_key(key)
            if by_key == "result":
                events += _results(inner)
            else:
                is_list_of_calls = key == "content" and isinstance(inner, list)
                events += _events(inner, at, line, by_key or (kind if is_list_of_calls else ""))
    return events


def _results(value: Any) -> Iterator[TraceEvent]:
    """The results in an object or list that is marked as containing results."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            number = _first(one, (*_NUMBERS, "name", "toolName"))
            if number is not None:
                yield ResultEvent(number, _has_failed(one), _first(one, _GIVEN))
            else:
                yield from _results(one.get("content"))


def _call(value: AgentRecord, kinds: Sequence[str], at: str, line: Any) -> CallEvent | None:
    """The call in an object; ``None`` if the object names no tool."""
    objects = [value]
    while inner := next((objects[-1][key] for key in _HOLDERS if key in objects[-1]), None):
        if not isinstance(inner, dict):
            break
        objects.append(inner)
    name = next(filter(None, (_first(one, _NAMES) for one in objects)), None)
    if name is None and "toolCallId" in value:
        name = next((kind[5:] for kind in kinds if kind.startswith("tool-")), None)
    if not isinstance(name, str):
        return None
    server = next(filter(None, (_first(one, _SERVERS) for one in reversed(objects))), None)
    if isinstance(server, str) and not name.startswith(server):
        is_front = server.startswith("mcp__") and server.endswith("__")
        name = f"{server}{name}" if is_front else f"mcp__{server.strip('_')}__{name}"
    number = next(filter(None, (_first(one, _NUMBERS) for one in objects)), None)
    given = (one[key] for one in objects for key in _ARGUMENTS if one.get(key) is not None)
    is_end = any(map(_is_end, kinds))
    return CallEvent(name, number, next(given, None), at, _has_failed(value), line, is_end)


def wrapped_names(call: CallEvent) -> tuple[str, ...]:
    """The tools that are called in the arguments of a call, or in a list in these arguments.

    An inner call must have arguments of its own, unless the name of the outer call says that it
    makes calls.
    """
    value = _from_text(call.arguments)
    if not isinstance(value, dict):
        return ()
    rows = [value, *chain.from_iterable(map(objects_of_list, value.values()))]
    named = (row for row in rows if not _NAME_PLACES.isdisjoint(row))
    inner = filter(None, (_call(row, (), "", None) for row in named))
    is_caller = _CALLER.search(call.name) is not None
    return tuple(one.name for one in inner if is_caller or one.arguments is not None)


def _from_text(value: Any) -> Any:
    """The value of a JSON text or a Python literal; ``None`` for any other text.

    A value that is not a text is unchanged.
    """
    if not isinstance(value, str):
        return value
    for read in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            return read(value)
    return None


def _calls_in_text(text: str, at: str, line: Any) -> Iterator[TraceEvent]:
    """The calls that a model wrote between tags, or in the ReAct format."""
    for action in _ACTION.finditer(text) if "Action Input:" in text else ():
        yield CallEvent(action[1], None, _from_text(action[2]), at, False, line)
    if "<" not in text or not _IN_WORDS.search(text):
        return
    events = list[TraceEvent]()
    for match in _IN_TEXT.finditer(text):
        inside = _from_text(match[2])
        for one in inside if isinstance(inside, list) else [inside]:
            call = _call(one, (), at, line) if isinstance(one, dict) else None
            events.append(call or UnreadEvent())
    yield from events or [UnreadEvent()]


def _kinds(value: AgentRecord) -> list[str]:
    return [value[key] for key in _KINDS if key in value and isinstance(value[key], str)]


@lru_cache(_KEPT_WORDS)
def _letters(word: str) -> str:
    return re.sub(r"[^a-z]", "", word.lower())


@lru_cache(_KEPT_WORDS)
def _by_kind(kind: str) -> _EventKind:
    if _SAYS_CALL.fullmatch(_letters(kind)):
        return "progress" if kind.startswith("response.") else "call"
    return "result" if _SAYS_RESULT.fullmatch(_letters(kind)) else ""


@lru_cache(_KEPT_WORDS)
def _by_key(key: str) -> _EventKind:
    if _KEYS_OF_CALLS.fullmatch(_letters(key)):
        return "call"
    return "result" if _KEYS_OF_RESULTS.fullmatch(_letters(key)) else ""


def _is_end(kind: str) -> bool:
    """Whether a record of this kind describes the end of a call that may be recorded elsewhere."""
    return kind.endswith("_end")


def _role(value: AgentRecord) -> str:
    named = value.get("role") or value.get("from") or value.get("type")
    role = str(named) if named in _ROLES or "role" in value or "from" in value else ""
    return _ROLES.get(role, role)


def _first(value: AgentRecord, keys: Sequence[str]) -> Any:
    for key in keys:
        if key in value and value[key] not in (None, "", {}, []):
            return value[key]
    return None


def _has_failed(value: AgentRecord) -> bool:
    """Whether a call or its result reports a failure."""
    return not _FAILURES.isdisjoint(value) and (
        value.get("is_error") is True
        or value.get("isError") is True
        or value.get("status") in ("error", "failed")
        or value.get("state") == "output-error"
        or value.get("error") not in (None, False, "", {})
        or "Err" in value
        or any(isinstance(value.get(key), dict) and _has_failed(value[key]) for key in _OUTCOMES)
    )


def message_texts(value: AgentRecord) -> list[str]:
    """The texts of a message, without its parts of other kinds."""
    content = next((value[key] for key in ("content", "parts", "value") if value.get(key)), None)
    if isinstance(content, str):
        return [content]
    if content is None and isinstance(inner := value.get("data"), dict) and "data" not in inner:
        return message_texts(inner)
    parts = objects_of_list(content)
    parts = [part for part in parts if part.get("type", "text") in _TEXT_KINDS]
    return [str(part.get("text") or part.get("content") or "") for part in parts]
