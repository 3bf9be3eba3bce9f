"""Logs and traces read: a gateway's log, OpenAI and Anthropic messages, OpenTelemetry spans.

A file is a JSON document or JSON Lines; which of them it is, each record says for itself. Messages
may stand in ``{"messages": […]}`` or, as in transcripts of Claude Code, one in
``{"message": {…}, "timestamp": …}``. Spans are those of the GenAI conventions as OTLP JSON, or one
by one.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import accumulate, zip_longest
from typing import Any

from toolscope_core.files.json_lines import objects_in, text_of
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import canonical_json, digest
from toolscope_core.usage.conversations import conversation
from toolscope_core.usage.spans import spans_of, trace_of_spans
from toolscope_core.usage.traced_calls import (
    CallTrace,
    TracedCall,
    distinct_calls,
    utc_time,
    without_logged,
)

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
    logged: list[Mapping[str, Any]] = field(default_factory=list)
    unread: int = 0


def read_trace(content: bytes, label: str) -> CallTrace:
    """The calls and requests of a file, in its order, each call once. Raises ``ConfigError``,
    naming ``label``, where it is no JSON or has no call.
    """
    return read_traces({label: content})


def read_traces(files: Mapping[str, bytes]) -> CallTrace:
    """The calls and requests of files, by their labels. A call counts once, however many records
    and files tell of it; of a conversation that was written down as it grew the longest counts.
    Raises ``ConfigError`` as ``read_trace``.
    """
    labels = {sha256(content).hexdigest(): label for label, content in files.items()}
    read = [_sorted(_documents(files[label], label), scope) for scope, label in labels.items()]
    begun = {one for records in read for each in records.conversations for one in _grown(each)[:-1]}
    traces: list[CallTrace] = []
    logged: list[TracedCall] = []
    spans: list[Mapping[str, Any]] = []
    for records in read:
        lines, own = _logged(records.logged), [*_conversations(records)]
        if not (lines or any(one.calls for one in (*own, trace_of_spans(records.spans)))):
            raise ConfigError(
                f"{labels[records.scope]} has no call of a tool; give a gateway's log, messages of "
                "OpenAI or Anthropic, or OpenTelemetry spans"
            )
        is_begun = [_grown(each)[-1] in begun for each in records.conversations]
        traces += [one for one, old in zip_longest(own, is_begun) if not old]
        traces.append(CallTrace(unread=records.unread))
        logged += lines
        spans += records.spans
    traces.append(trace_of_spans(spans))
    lines = distinct_calls(logged)
    of_agents = distinct_calls(call for trace in traces for call in trace.calls)
    return CallTrace(
        (*lines, *without_logged(of_agents, lines)),
        tuple(one for trace in traces for one in trace.requests),
        sum(trace.unread for trace in traces),
    )


def _documents(content: bytes, label: str) -> list[Any]:
    """The records of a file: the lines, or what one document holds."""
    text = text_of(content, label)
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
            by_kind.logged.append(record)
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


def _conversations(records: _Records) -> Iterator[CallTrace]:
    for place, messages in enumerate(records.conversations):
        own = objects_in(messages)
        trace = conversation(own, f"{records.scope} {place}")
        yield replace(trace, unread=trace.unread + len(messages) - len(own))
    for session, messages in records.sessions.items():
        yield conversation(messages, f"session {session or records.scope}")


def _logged(rows: Iterable[Mapping[str, Any]]) -> tuple[TracedCall, ...]:
    """The lines of a gateway's log, without calls that were withheld or ended early. Lines that are
    alike are calls of their own in one file, and the same calls in two.
    """
    alike, calls = Counter[str](), list[TracedCall]()
    for row in rows:
        line, outcome = canonical_json(row), str(row["outcome"])
        alike[line] += 1
        if outcome not in _NO_CALL:
            original, tool = str(row.get("original") or ""), str(row["tool"])
            failed, at = outcome in _FAILED, utc_time(row.get("at"))
            key = digest(line, alike[line])
            called = str(row.get("old_name") or tool)
            malformed = outcome == "refused"
            calls.append(TracedCall(tool, original, failed, at, malformed, key, called))
    return tuple(calls)
