"""Reads calls and requests from OpenTelemetry spans and similar traces."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.model.tool import digest
from toolscope_core.usage import traced_calls
from toolscope_core.usage.call_forms import CallEvent, events_of, message_texts, wrapped_names

Span = Mapping[str, Any]
ERRORS = (2, "2", "ERROR", "STATUS_CODE_ERROR", "Error")
_ID = ("spanId", "span_id", "spanID")
_PARENT = (
    *("parentSpanId", "parent_span_id", "parent_id", "parent_run_id", "parentObservationId"),
)
_RUN_KEYS = (
    "traceId",
    "trace_id",
    "start_time",
    "startTime",
    "parent_run_id",
    "parentObservationId",
)
_BELOW = ("child_runs", "observations", "spans", "data")
_ABOUT = ("span_data", "span_attributes", "meta")
"""Where a span has its name and kind, if the span itself does not have them."""
_TITLES = ("name", "span_name", "operationName", "display_name")
_OF_SPANS = frozenset((*_ABOUT, *_BELOW, "attributes", "tags", "run_type", "startTime"))
_STARTS = (
    *("startTimeUnixNano", "start_time", "startTime", "start_timestamp", "started_at"),
    *("start_time_unix_nano", "start_ns"),
)
_NAMES = (
    *("gen_ai.tool.name", "mcp.tool.name", "tool.name", "ai.toolCall.name"),
    "traceloop.entity.name",
)
_ARGUMENTS = (
    *("gen_ai.tool.call.arguments", "ai.toolCall.args", "input.value", "traceloop.entity.input"),
    "gen_ai.input.messages",
)
_RESULTS = (
    *("gen_ai.tool.call.result", "ai.toolCall.result", "output.value", "traceloop.entity.output"),
    "gen_ai.output.messages",
)
_NUMBERS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id")
_KINDS = (".kind", ".type", "spantype")
_MARKS = ("__", "/", ".", ":")
_CALLS = ("execute_tool", "tools/call")
_OPERATION = "gen_ai.operation.name"
_ANSWER = re.compile(r"output|completion|response", re.IGNORECASE)
_ASKED_NAME = re.compile(
    r"(.*tool_?calls?\.\d+(?:\.tool_call)?)(?:\.function)?\.name", re.IGNORECASE
)
"""A model's calls as attributes, in the form that OpenInference and Traceloop write."""
_OTHER_NAME = re.compile(r"(^|\.)tool[._]?(call[._]?)?name$", re.IGNORECASE)


def spans_of(record: Span) -> list[Span]:
    """The spans in an OTLP document or a single span, runs from LangSmith, and observations from
    Langfuse.

    A run comes with the runs below it. Empty for other records.
    """
    if isinstance(record.get("resourceSpans"), list):
        return [
            span
            for resource in objects_of_list(record["resourceSpans"])
            for scope in objects_of_list(resource.get("scopeSpans"))
            for span in objects_of_list(scope.get("spans"))
        ]
    if record.keys().isdisjoint(_OF_SPANS):
        return []
    name = next((record[key] for key in _TITLES if isinstance(record.get(key), str)), None)
    listed = record.get("attributes", record.get("tags"))
    if name is not None and isinstance(listed, (dict, list)) and not record.get("run_type"):
        return [{**record, "name": name, "attributes": listed}]
    own = _span_of_run(record, name)
    inner = [record.get(key) for key in _BELOW]
    lists = (part if isinstance(part, list) else [part] for part in inner)
    return own + [span for part in lists for one in objects_of_list(part) for span in spans_of(one)]


def _span_of_run(record: Span, name: str | None) -> list[Span]:
    """A run or an observation as a span; none for other records."""
    about: Span = next((record[key] for key in _ABOUT if isinstance(record.get(key), dict)), {})
    is_timed = bool(about) or "startTime" in record
    kinds = (record.get("run_type"), about.get("kind"), about.get("type"))
    kind = next(filter(None, (*kinds, record.get("type") if is_timed else None)), None)
    name = about.get("name", name)
    if not isinstance(kind, str) or not isinstance(name, str):
        return []
    inputs = record.get("inputs") or record.get("input")
    messages = inputs.get("messages") if isinstance(inputs, dict) else inputs
    has_failed = bool(record.get("error")) or record.get("level") == "ERROR"
    kept = {key: record[key] for key in (*_RUN_KEYS, *_STARTS) if key in record}
    kind = "tool" if about and kind == "function" else kind
    outputs = record.get("outputs") or record.get("output")
    return [
        {
            **kept,
            "name": name,
            "spanId": record.get("id"),
            "attributes": {
                **{"run.kind": kind, "gen_ai.input.messages": messages},
                "gen_ai.output.messages": outputs,
            },
            "status": 2 if has_failed else 0,
        }
    ]


def trace_of_spans(spans: Sequence[Span], with_results: bool = False) -> traced_calls.CallTrace:
    """The calls of tools in the spans; a request has the calls of its trace (``traceId``).

    If the spans of agent, client and server for the same call are nested, the call counts only
    once. Arguments and results are kept only ``with_results``.
    """
    attributes = [_attributes(span.get("attributes")) for span in spans]
    places = {_place(span): row for row, span in enumerate(spans) if _place(span)[1]}
    tools = [_tool(span, own) for span, own in zip(spans, attributes, strict=True)]
    parents = [places.get(_place(span, _PARENT)) for span in spans]

    def outermost(row: int) -> int:
        """The first span of the call, with no other work of a tool or model in between."""
        first, above, seen = row, parents[row], {row}
        while above is not None and above not in seen:
            seen.add(above)
            if _is_one_tool(tools[above], tools[row]):
                first = above
            elif tools[above] or attributes[above].get(_OPERATION):
                break
            above = parents[above]
        return first

    calls: list[traced_calls.TracedCall] = []
    calls_of: dict[str, dict[str, traced_calls.TracedCall]] = {}
    texts: dict[str, str] = {}
    for row, (span, own) in enumerate(zip(spans, attributes, strict=True)):
        trace = _place(span)[0]
        if tools[row]:
            first = outermost(row)
            key = _key(spans[first], attributes[first], tools[row])
            failed, at = _has_failed(span, own), _start(span)
            given = next((own[name] for name in _ARGUMENTS if own.get(name)), None)
            wrapped = wrapped_names(CallEvent(tools[row], None, given))
            call = traced_calls.TracedCall(
                tools[row],
                has_failed=failed,
                at=at,
                key=key,
                wrapped=wrapped,
                arguments=given if with_results else None,
                result=_result(own) if with_results else None,
            )
            calls.append(call)
            calls_of.setdefault(trace, {})[key or str(row)] = call
        if (text := _request(own)) and trace not in texts:
            texts[trace] = text
    for trace, call in _asked_calls_of(spans, attributes, calls_of):
        calls.append(call)
        calls_of.setdefault(trace, {})[call.key or f"asked {len(calls)}"] = call
    requests = (
        traced_calls.TracedRequest(text, tuple(calls_of.get(one, {}).values()))
        for one, text in texts.items()
    )
    unread = sum(
        not tool and _is_other_call(own) for tool, own in zip(tools, attributes, strict=True)
    )
    return traced_calls.CallTrace(traced_calls.distinct_calls(calls), tuple(requests), unread)


def _is_one_tool(name: str, other: str) -> bool:
    """Whether two names are equal, with or without the server in front."""
    short, long = sorted((name, other), key=len)
    return long == short or bool(
        short and long.endswith(tuple(f"{mark}{short}" for mark in _MARKS))
    )


def _place(span: Span, names: Sequence[str] = _ID) -> tuple[str, str]:
    """The trace of a span, and the span's own id or its parent's."""
    context = span.get("context")
    inside = context if isinstance(context, dict) else {}
    trace = span.get("traceId") or span.get("trace_id") or inside.get("trace_id")
    own = next(filter(None, (span.get(name) or inside.get(name) for name in names)), "")
    return str(trace or ""), str(own)


def _key(span: Span, attributes: Mapping[str, Any], tool: str) -> str:
    """The key of a call, from its id, or else from its span."""
    trace, own = _place(span)
    if number := next((attributes[key] for key in _NUMBERS if attributes.get(key)), None):
        return traced_calls.call_key(number, tool, trace)
    return digest(trace, own) if own else ""


def _is_other_call(attributes: Mapping[str, Any]) -> bool:
    """Whether an unread span calls a tool without naming it, or in an unknown form."""
    return _is_call(attributes) or any(map(_OTHER_NAME.search, attributes))


def _tool(span: Span, attributes: Mapping[str, Any]) -> str:
    name = str(span.get("name") or "")
    method, _, tool = name.partition(" ")
    if not _is_call(attributes) and not (method in _CALLS and tool):
        return ""
    declared = next((attributes[key] for key in _NAMES if attributes.get(key)), None)
    return str(declared or (tool if method in _CALLS else name.removesuffix(".tool")))


def _is_call(attributes: Mapping[str, Any]) -> bool:
    operation, method = attributes.get(_OPERATION), attributes.get("mcp.method.name")
    is_named = bool(attributes.get("gen_ai.tool.name")) and operation is None and method is None
    return (
        operation == "execute_tool"
        or method == "tools/call"
        or is_named
        or bool(attributes.get("ai.toolCall.name"))
        or any(
            name.lower().endswith(_KINDS) and str(value).strip('"').lower() == "tool"
            for name, value in attributes.items()
        )
    )


def _has_failed(span: Span, attributes: Mapping[str, Any]) -> bool:
    status = span.get("status") or span.get("otel_status_code")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
    return code in ERRORS or bool(attributes.get("error.type") or span.get("is_exception"))


def _result(attributes: Mapping[str, Any]) -> Any:
    """The result of a call as it was recorded; a JSON text of an object becomes the object."""
    result = next((attributes[name] for name in _RESULTS if attributes.get(name)), None)
    value = _from_json(result)
    return value if isinstance(value, dict) else result


def _start(span: Span) -> str:
    times = (span.get(key) for key in _STARTS)
    return next(filter(None, map(traced_calls.utc_time, times)), "")


def _request(attributes: Mapping[str, Any]) -> str:
    """The person's request in the span of a model call: the text of the last
    message from the user.
    """
    value = _from_json(attributes.get("gen_ai.input.messages"))
    user_messages = [one for one in objects_of_list(value) if one.get("role") == "user"]
    return "\n".join(message_texts(user_messages[-1])) if user_messages else ""


def _asked_calls_of(
    spans: Sequence[Span], attributes: Sequence[Mapping[str, Any]], traced: Collection[str]
) -> list[tuple[str, traced_calls.TracedCall]]:
    """The calls in the answers of models, for each trace that has no span of a tool."""
    calls = []
    for span, own in zip(spans, attributes, strict=True):
        trace = _place(span)[0]
        for call in () if trace in traced else _asked_calls(own):
            key = traced_calls.call_key(call.number, call.name, trace)
            asked = traced_calls.TracedCall(
                call.name, at=_start(span), key=key, wrapped=wrapped_names(call)
            )
            calls.append((trace, asked))
    return calls


def _asked_calls(attributes: Mapping[str, Any]) -> Iterator[CallEvent]:
    """The calls in the answer of a model, either as messages or as one attribute for each part."""
    for name, value in attributes.items():
        if _ANSWER.search(name) is None:
            continue
        if flat := _ASKED_NAME.fullmatch(name):
            yield CallEvent(str(value), attributes.get(f"{flat[1]}.id"))
        elif isinstance(answer := _from_json(value), (dict, list)):
            events = events_of({"content": answer, "tool_calls": answer})
            yield from (one for one in events if isinstance(one, CallEvent))


def _from_json(value: Any) -> Any:
    """The value of a JSON text; other values are unchanged."""
    if not isinstance(value, str) or value[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _attributes(value: Any) -> Mapping[str, Any]:
    """Attributes by name, from OTLP's list of typed values or from a plain object."""
    if isinstance(value, dict):
        return value
    return {str(one.get("key")): _plain_value(one.get("value")) for one in objects_of_list(value)}


def _plain_value(typed: Any) -> Any:
    return next(iter(typed.values()), None) if isinstance(typed, dict) else typed
