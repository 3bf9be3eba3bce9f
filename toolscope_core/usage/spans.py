"""The calls and requests of OpenTelemetry spans, by the conventions for generative AI."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolscope_core.files.json_lines import objects_in
from toolscope_core.usage.traced_calls import CallTrace, TracedCall, TracedRequest, utc_time

Span = Mapping[str, Any]
ERRORS = (2, "2", "ERROR", "STATUS_CODE_ERROR", "Error")


def spans_of(record: Span) -> list[Span]:
    """The spans in an OTLP document, or the record itself where it is one; none else."""
    if isinstance(record.get("resourceSpans"), list):
        return [
            span
            for resource in objects_in(record["resourceSpans"])
            for scope in objects_in(resource.get("scopeSpans"))
            for span in objects_in(scope.get("spans"))
        ]
    return [record] if "attributes" in record and "name" in record else []


def trace_of_spans(spans: Sequence[Span]) -> CallTrace:
    """The calls of tools in the spans; a request has the calls of its trace (``traceId``)."""
    calls: list[TracedCall] = []
    texts: dict[str, str] = {}
    tools: dict[str, list[str]] = {}
    for span in spans:
        attributes = _attributes(span.get("attributes"))
        trace = str(span.get("traceId") or span.get("trace_id") or _context(span))
        tool = _tool(span, attributes)
        if tool:
            tools.setdefault(trace, []).append(tool)
            calls.append(TracedCall(tool, failed=_failed(span, attributes), at=_start(span)))
        text = _request(attributes)
        if text and trace not in texts:
            texts[trace] = text
    requests = (TracedRequest(text, tuple(tools.get(one, ()))) for one, text in texts.items())
    return CallTrace(tuple(calls), tuple(requests))


def _tool(span: Span, attributes: Mapping[str, Any]) -> str:
    operation = attributes.get("gen_ai.operation.name")
    is_call = operation == "execute_tool" or attributes.get("mcp.method.name") == "tools/call"
    name = str(span.get("name") or "")
    if not is_call and not name.startswith("execute_tool "):
        return ""
    return str(attributes.get("gen_ai.tool.name") or name.removeprefix("execute_tool "))


def _failed(span: Span, attributes: Mapping[str, Any]) -> bool:
    status = span.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
    return code in ERRORS or bool(attributes.get("error.type"))


def _start(span: Span) -> str:
    times = (span.get(key) for key in ("startTimeUnixNano", "start_time", "startTime"))
    return next((read for time in times if (read := utc_time(time))), "")


def _request(attributes: Mapping[str, Any]) -> str:
    """What the person asked, in a span of a model's call: the text of the last user's message."""
    value = attributes.get("gen_ai.input.messages")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ""
    user_messages = [one for one in objects_in(value) if one.get("role") == "user"]
    parts = objects_in(user_messages[-1].get("parts")) if user_messages else []
    return "\n".join(str(part.get("content") or "") for part in parts if part.get("type") == "text")


def _attributes(value: Any) -> Mapping[str, Any]:
    """Attributes by name, from OTLP's list of typed values or from a plain object."""
    if isinstance(value, dict):
        return value
    return {str(one.get("key")): _plain_value(one.get("value")) for one in objects_in(value)}


def _plain_value(typed: Any) -> Any:
    return next(iter(typed.values()), None) if isinstance(typed, dict) else typed


def _context(span: Span) -> str:
    context = span.get("context")
    return str(context.get("trace_id", "")) if isinstance(context, dict) else ""
