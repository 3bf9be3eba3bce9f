"""Logs and traces read: a gateway's log, OpenAI and Anthropic messages, OpenTelemetry spans.

A file is a JSON document or JSON Lines; which of them it is, each record says for itself. Messages
may stand in ``{"messages": […]}`` or, as in transcripts of Claude Code, one in
``{"message": {…}, "timestamp": …}``. Spans are those of the GenAI conventions as OTLP JSON, or one
by one.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import accumulate, zip_longest
from typing import Any

from toolscope_core.files.json_lines import objects_of_list, utf8_text
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import canonical_json, digest
from toolscope_core.usage import traced_calls
from toolscope_core.usage.spans import spans_of, trace_of_spans

_Message = Mapping[str, Any]
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
    calls: list[traced_calls.TracedCall] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)
    answered: Counter[str] = field(default_factory=Counter)
    requests: list[traced_calls.TracedRequest] = field(default_factory=list)
    unread: int = 0

    def call(self, message: _Message, number: Any, at: str, line: object) -> None:
        name = message.get("name")
        if not isinstance(name, str) or not name:
            self.unread += 1
            return
        keys = [traced_calls.call_key(number, name, self.scope, self.answered[str(number)])]
        if line:
            keys.insert(0, traced_calls.call_key(number, name, "line", line))
        new = len(self.calls)
        place = next((self.places[key] for key in keys if key in self.places), new)
        self.last[str(number)] = place
        self.places |= {key: place for key in keys if key}
        if place != new:
            return
        malformed = _is_no_json(message.get("arguments"))
        self.calls.append(traced_calls.TracedCall(name, at=at, is_malformed=malformed, key=keys[0]))
        if self.requests:
            last = self.requests[-1]
            self.requests[-1] = replace(last, tools=(*last.tools, name))

    def result(self, number: Any, *, failed: bool) -> None:
        place = self.last.get(str(number))
        self.answered[str(number)] += 1
        if failed and place is not None and not self.calls[place].is_malformed:
            self.calls[place] = replace(self.calls[place], has_failed=True)


def conversation(messages: Sequence[_Message], scope: str) -> traced_calls.CallTrace:
    """The calls of the messages with the requests that led to them; whether a call failed is read
    from its result, where that says so (Anthropic's ``is_error``), and whether it was malformed
    from its arguments, where they are a text (OpenAI's). ``scope`` tells the conversation from all
    others: short ids of calls are unique in it alone, and there until their result came; what
    lines of one ``uuid`` call is one call, also in the history of another session.
    """
    reading = _Reading(scope)
    for message in messages:
        at = next(filter(None, (traced_calls.utc_time(message.get(key)) for key in TIMES)), "")
        line = message.get("uuid")
        blocks = _blocks(message.get("content"))
        if message.get("role") == "user":
            text = "\n".join(_texts(blocks)).strip()
            if text:
                reading.requests.append(traced_calls.TracedRequest(text))
        for call in objects_of_list(message.get("tool_calls")):
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
    return traced_calls.CallTrace(tuple(reading.calls), tuple(reading.requests), reading.unread)


def _is_unread(message: _Message, blocks: Sequence[_Message]) -> bool:
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


def _blocks(content: Any) -> list[_Message]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return objects_of_list(content)


def _texts(blocks: Iterable[_Message]) -> list[str]:
    return [
        str(block.get("text") or block.get("content") or "")
        for block in blocks
        if block.get("type") in ("text", "input_text")
    ]


_FAILED = frozenset({"error", "failed"})
_NO_CALL = frozenset({"held", "cancelled", "waiting"})


@dataclass(slots=True)
class _Records:
    """The records of one file by their kind; ``sessions`` are messages that stand alone, by the
    session that they name. ``scope`` is the hash of the file.
    """

    scope: str
    conversations: list[list[Any]] = field(default_factory=list)
    sessions: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    spans: list[Mapping[str, Any]] = field(default_factory=list)
    log_rows: list[Mapping[str, Any]] = field(default_factory=list)
    unread: int = 0


def read_trace(content: bytes, label: str) -> traced_calls.CallTrace:
    """The calls and requests of a file, in its order, each call once. Raises ``ConfigError``,
    naming ``label``, where it is no JSON or has no call.
    """
    return read_traces({label: content})


def read_traces(files: Mapping[str, bytes]) -> traced_calls.CallTrace:
    """The calls and requests of files, by their labels. A call counts once, however many records
    and files tell of it; of a conversation that was written down as it grew the longest counts.
    Raises ``ConfigError`` as ``read_trace``.
    """
    labels = {sha256(content).hexdigest(): label for label, content in files.items()}
    read = [_sorted(_documents(files[label], label), scope) for scope, label in labels.items()]
    begun = {one for records in read for each in records.conversations for one in _grown(each)[:-1]}
    traces: list[traced_calls.CallTrace] = []
    logged: list[traced_calls.TracedCall] = []
    spans: list[Mapping[str, Any]] = []
    for records in read:
        lines, own = _gateway_calls(records.log_rows), [*_conversations(records)]
        if not (lines or any(one.calls for one in (*own, trace_of_spans(records.spans)))):
            raise ConfigError(
                f"{labels[records.scope]} has no call of a tool; give a gateway's log, messages of "
                "OpenAI or Anthropic, or OpenTelemetry spans"
            )
        is_begun = [_grown(each)[-1] in begun for each in records.conversations]
        traces += [one for one, old in zip_longest(own, is_begun) if not old]
        traces.append(traced_calls.CallTrace(unread=records.unread))
        logged += lines
        spans += records.spans
    traces.append(trace_of_spans(spans))
    lines = traced_calls.distinct_calls(logged)
    of_agents = traced_calls.distinct_calls(call for trace in traces for call in trace.calls)
    return traced_calls.CallTrace(
        (*lines, *traced_calls.without_logged(of_agents, lines)),
        tuple(one for trace in traces for one in trace.requests),
        sum(trace.unread for trace in traces),
    )


def _documents(content: bytes, label: str) -> list[Any]:
    """The records of a file: the lines, or what one document holds."""
    text = utf8_text(content, label)
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{label} is nested too deeply; give a trace") from error
    except ValueError:
        return [
            _line(line, f"{label}, line {n}")
            for n, line in enumerate(text.split("\n"), 1)
            if line.strip()
        ]
    return document if isinstance(document, list) else [document]


def _line(line: str, place: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{place} is not JSON ({error}); give one record a line") from error


def _sorted(records: Iterable[Any], scope: str) -> _Records:
    by_kind = _Records(scope)
    for record in records:
        if not isinstance(record, dict):
            by_kind.unread += 1
        elif isinstance(record.get("messages"), list):
            by_kind.conversations.append(record["messages"])
        elif "tool" in record and "outcome" in record:
            by_kind.log_rows.append(record)
        elif spans := spans_of(record):
            by_kind.spans += spans
        elif (message := _message(record)) is not None:
            session = str(record.get("sessionId") or record.get("session_id") or "")
            by_kind.sessions.setdefault(session, []).append(message)
        else:
            by_kind.unread += 1
    return by_kind


def _message(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The message that a record is, or that a transcript of Claude Code has in it."""
    inside = record.get("message")
    if isinstance(inside, dict) and "role" in inside:
        return {"timestamp": record.get("timestamp"), **inside, "uuid": record.get("uuid")}
    is_item = record.get("type") in ("function_call", "function_call_output")
    return record if is_item or "role" in record else None


def _grown(messages: Sequence[Any]) -> list[str]:
    """The hash of each beginning of a conversation, from that of nothing to that of the whole."""
    return [*accumulate(map(canonical_json, messages), digest, initial="")]


def _conversations(records: _Records) -> Iterator[traced_calls.CallTrace]:
    for place, messages in enumerate(records.conversations):
        own = objects_of_list(messages)
        trace = conversation(own, f"{records.scope} {place}")
        yield replace(trace, unread=trace.unread + len(messages) - len(own))
    for session, messages in records.sessions.items():
        yield conversation(messages, f"session {session or records.scope}")


def _gateway_calls(rows: Iterable[Mapping[str, Any]]) -> tuple[traced_calls.TracedCall, ...]:
    """The lines of a gateway's log, without calls that were withheld or ended early. Lines that are
    alike are calls of their own in one file, and the same calls in two.
    """
    alike, calls = Counter[str](), list[traced_calls.TracedCall]()
    for row in rows:
        line, outcome = canonical_json(row), str(row["outcome"])
        alike[line] += 1
        if outcome not in _NO_CALL:
            original, tool = str(row.get("original") or ""), str(row["tool"])
            failed, at = outcome in _FAILED, traced_calls.utc_time(row.get("at"))
            key = digest(line, alike[line])
            name = str(row.get("old_name") or tool)
            malformed = outcome == "refused"
            calls.append(traced_calls.TracedCall(tool, original, failed, at, malformed, key, name))
    return tuple(calls)
