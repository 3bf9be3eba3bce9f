"""Logs and traces read: a gateway's log, OpenAI and Anthropic messages, OpenTelemetry spans.

A file is a JSON document or JSON Lines; which of them it is, each record says for itself. Messages
may stand in ``{"messages": […]}`` or, as in transcripts of Claude Code, one in
``{"message": {…}, "timestamp": …}``. Spans are those of the GenAI conventions as OTLP JSON, or one
by one.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolscope_core.files.json_lines import objects_in, text_of
from toolscope_core.model.errors import ConfigError
from toolscope_core.usage.conversations import conversation
from toolscope_core.usage.spans import spans_of, trace_of_spans
from toolscope_core.usage.traced_calls import CallTrace, TracedCall, utc_time

_FAILED = frozenset({"error", "failed"})
_NO_CALL = frozenset({"held", "cancelled", "waiting"})


def read_trace(content: bytes, label: str) -> CallTrace:
    """The calls and requests of a file, in its order. Raises ``ConfigError``, naming ``label``,
    where it is no JSON or has no call.
    """
    traces = list(_traces(_documents(content, label)))
    calls = tuple(call for trace in traces for call in trace.calls)
    if not calls:
        raise ConfigError(
            f"{label} has no call of a tool; give a gateway's log, messages of OpenAI or "
            "Anthropic, or OpenTelemetry spans"
        )
    requests = tuple(one for trace in traces for one in trace.requests)
    return CallTrace(calls, requests, sum(trace.unread for trace in traces))


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


def _traces(records: Iterable[Any]) -> Iterator[CallTrace]:
    messages: list[Mapping[str, Any]] = []
    spans: list[Mapping[str, Any]] = []
    logged: list[TracedCall] = []
    unread = 0
    for record in records:
        if not isinstance(record, dict):
            unread += 1
        elif isinstance(record.get("messages"), list):
            yield conversation(objects_in(record["messages"]))
        elif "tool" in record and "outcome" in record:
            logged += _logged(record)
        elif found := spans_of(record):
            spans += found
        elif isinstance(record.get("message"), dict) and "role" in record["message"]:
            messages.append({"timestamp": record.get("timestamp"), **record["message"]})
        elif "role" in record or record.get("type") in ("function_call", "function_call_output"):
            messages.append(record)
        else:
            unread += 1
    yield CallTrace(tuple(logged), unread=unread)
    yield conversation(messages)
    yield trace_of_spans(spans)


def _logged(row: Mapping[str, Any]) -> list[TracedCall]:
    """A line of a gateway's log; none for a call that was withheld or ended early."""
    outcome = str(row["outcome"])
    if outcome in _NO_CALL:
        return []
    original, tool = str(row.get("original") or ""), str(row["tool"])
    at = utc_time(row.get("at"))
    return [TracedCall(tool, original, outcome in _FAILED, at, outcome == "refused")]
