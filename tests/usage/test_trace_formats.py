"""Logs and traces of every kind, read into the same calls and requests."""

import json

import pytest

from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool
from toolscope_core.usage.call_counts import add_counts, count_calls, query_rows
from toolscope_core.usage.trace_formats import read_trace, read_traces
from toolscope_core.usage.traced_calls import CallTrace, TracedCall, TracedRequest, utc_time

LOG = [
    {"at": "2026-01-01T10:00:00.500+00:00", "tool": "get", "original": "a/read", "outcome": "ok"},
    {"at": "2026-01-02T10:00:00Z", "tool": "get", "original": "a/read", "outcome": "failed"},
    {"at": "2026-01-03T10:00:00Z", "tool": "get", "original": "", "outcome": "refused"},
]
OPENAI = [
    {"role": "system", "content": "Be good."},
    {"role": "user", "content": "Read a.txt"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "read", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "text"},
]
RESPONSES = [
    {"role": "user", "content": [{"type": "input_text", "text": "Read a.txt"}]},
    {"type": "function_call", "name": "read", "call_id": "1", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "1", "output": "text"},
]
ANTHROPIC = [
    {"role": "user", "content": "Read a.txt"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I will."},
            {"type": "tool_use", "id": "1", "name": "read", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": True, "content": "no"}],
    },
]


def attribute(name, value):
    return {"key": name, "value": {"stringValue": value}}


MESSAGE = {"role": "user", "parts": [{"type": "text", "content": "Read a.txt"}]}
CHAT = {
    "traceId": "t",
    "name": "chat m",
    "attributes": [attribute("gen_ai.input.messages", json.dumps([MESSAGE]))],
}
EXECUTION = {
    "traceId": "t",
    "name": "execute_tool read",
    "startTimeUnixNano": "1767261600000000000",
    "status": {"code": 2},
    "attributes": [
        attribute("gen_ai.operation.name", "execute_tool"),
        attribute("gen_ai.tool.name", "read"),
    ],
}
SPANS = {"resourceSpans": [{"scopeSpans": [{"spans": [CHAT, EXECUTION]}]}]}
ASKED = [("Read a.txt", ["read"])]


def asked(trace):
    return [(one.text, [call.tool for call in one.calls]) for one in trace.requests]


def lines(rows):
    return "\n".join(map(json.dumps, rows)).encode()


@pytest.mark.parametrize(
    ("content", "failed", "at"),
    [
        (lines(OPENAI), False, ""),
        (json.dumps(OPENAI).encode(), False, ""),
        (json.dumps({"messages": OPENAI}).encode(), False, ""),
        (lines([{"messages": OPENAI}]), False, ""),
        (lines(RESPONSES), False, ""),
        (lines(ANTHROPIC), True, ""),
        (
            lines({"timestamp": "2026-01-01T10:00:00Z", "message": one} for one in ANTHROPIC),
            True,
            "2026-01-01T10:00:00+00:00",
        ),
        (json.dumps(SPANS, indent=1).encode(), True, "2026-01-01T10:00:00+00:00"),
    ],
)
def test_every_kind_gives_the_same_call_and_request(content, failed, at):
    trace = read_trace(content, "t.json")
    assert trace.calls == (TracedCall("read", has_failed=failed, at=at),)
    assert asked(trace) == ASKED


def test_a_gateways_log_says_which_original_did_it_and_what_it_refused():
    held = {**LOG[2], "outcome": "held"}
    assert read_trace(lines([*LOG, held]), "log").calls == (
        TracedCall("get", "a/read", False, "2026-01-01T10:00:00+00:00"),
        TracedCall("get", "a/read", True, "2026-01-02T10:00:00+00:00"),
        TracedCall("get", "", False, "2026-01-03T10:00:00+00:00", is_malformed=True),
    )


@pytest.mark.parametrize(
    ("arguments", "malformed"), [('{"a": 1', True), ("[" * 100_000, True), ("", False), (7, False)]
)
def test_arguments_that_are_no_json_make_a_call_malformed_and_not_failed(arguments, malformed):
    for rows in (
        [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "read"}}]}],
        [{"type": "function_call", "name": "read", "call_id": "1"}],
    ):
        place = rows[0].get("tool_calls", rows)[0]
        place.get("function", place)["arguments"] = arguments
        rows.append({"role": "tool", "tool_call_id": "1", "status": "error"})
        (call,) = read_trace(json.dumps(rows).encode(), "t").calls
        assert (call.is_malformed, call.has_failed) == (malformed, not malformed)


def test_what_is_no_trace_is_refused_with_its_place():
    for content, words in (
        (b'{"a": 1}', "t has no"),
        (b'{"role": "user"}\nnope', "t, line 2 is not JSON"),
        (b"[" * 100_000, "t"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"", "t has no"),
    ):
        with pytest.raises(ConfigError, match=words):
            read_trace(content, "t")


@pytest.mark.parametrize("odd", [None, [], {}, "x", 1, True, {"messages": 3}, {"role": 7}])
def test_odd_records_are_counted_and_raise_nothing(odd):
    rows = [odd, {"role": "assistant", "tool_calls": "no", "content": 9}, *LOG[:1]]
    assert len(read_trace(json.dumps(rows).encode(), "t").calls) == 1


@pytest.mark.parametrize("outcome", [[], {}, None, 7])
def test_a_log_with_an_odd_outcome_counts_the_call(outcome):
    row = json.dumps({**LOG[0], "outcome": outcome}).encode()
    assert len(read_trace(row, "t").calls) == 1


def transcript(*blocks, session="s", at="10:00:00", uuid=None):
    """Lines of Claude Code, a message a block."""
    for row, block in enumerate(blocks):
        role = "user" if block["type"] == "tool_result" else "assistant"
        message = {"role": role, "content": [block]}
        line = {"sessionId": session, "timestamp": f"2026-01-01T{at}Z", "message": message}
        yield line | ({"uuid": f"{uuid}{row}"} if uuid else {})


def made(number, name="read"):
    return {"type": "tool_use", "id": number, "name": name, "input": {}}


def answered(number, *, failed=False):
    return {"type": "tool_result", "tool_use_id": number, "is_error": failed}


def counted(*files):
    trace = read_traces({f"{row}.json": lines(file) for row, file in enumerate(files)})
    return [(call.tool, call.has_failed) for call in trace.calls]


@pytest.mark.case(92)
def test_lines_that_repeat_a_call_and_copied_history_count_it_once():
    first = [*transcript(made("toolu_1"), made("toolu_1"), answered("toolu_1", failed=True))]
    resumed = [
        *transcript(made("toolu_1"), answered("toolu_1"), session="resumed"),
        *transcript(made("toolu_2"), session="resumed", at="12:00:00"),
    ]
    assert counted(first) == [("read", True)]
    assert counted(first, resumed) == counted(resumed, first) == [("read", True), ("read", False)]
    assert counted([*first, *resumed]) == [("read", True), ("read", False)]
    assert counted(first, first) == [("read", True)]
    assert counted(LOG, LOG[1:]) == counted(LOG)
    assert counted([LOG[0], LOG[0]]) == [("get", False)] * 2


@pytest.mark.case(92)
def test_lines_of_one_uuid_are_one_call_whatever_its_id():
    one = [*transcript(made("1"), answered("1"), made("1"), answered("1"), uuid="u")]
    copied = [{**line, "sessionId": "resumed"} for line in one]
    late = transcript(answered("1", failed=True), session="resumed")
    assert counted([*one, one[0]]) == counted(one, copied) == [("read", False)] * 2
    assert counted([*copied[:1], *late], one) == [("read", True), ("read", False)]


def turn(number):
    """A call of ``read`` and its result."""
    call = {"id": number, "function": {"name": "read", "arguments": "{}"}}
    return [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": number, "content": "x"},
    ]


@pytest.mark.case(92)
def test_a_conversation_that_grows_counts_as_its_longest():
    question = {"role": "user", "content": "A?"}
    rows = [{"messages": [question, *turn("1"), *turn("2")[:end]]} for end in range(3)]
    assert counted(rows) == counted(rows[1:], rows[:1]) == [("read", False)] * 2
    trace = read_trace(lines(rows), "t")
    assert asked(trace) == [("A?", ["read", "read"])]
    assert len(counted([rows[0], {"messages": [question, *turn("2")]}])) == 2


@pytest.mark.case(92)
@pytest.mark.parametrize(
    ("name", "at", "number"),
    [
        ("mcp__toolscope__get", "10:00:00", 1), ("get", "09:59:00", 1), ("gateway.get", "10:00:00", 1),
        ("mcp__toolscope__fetch", "10:00:00", 1), ("mcp__a__get", "10:00:00", 2), ("get", "10:00:02", 2),
        ("get", "09:00:00", 2), ("mcp__toolscope__put", "10:00:00", 2), ("forget", "10:00:00", 2),
    ],
)  # fmt: skip
def test_a_gateways_line_and_what_the_agent_tells_are_one_call(name, at, number):
    log = {**LOG[0], **({"old_name": "fetch"} if name.endswith("fetch") else {})}
    messages = [*transcript(made("toolu_1", name), at=at)]
    assert len(counted([log], messages)) == len(counted([*messages, log])) == number
    assert len(counted([log], [*messages, *transcript(made("toolu_2", name), at=at)])) == number + 1


@pytest.mark.parametrize("number", ["0", "call_1", "functions.read:0-0-0-0-0"])
def test_short_ids_are_those_of_one_conversation(number):
    messages = [{"role": "user", "content": text} for text in ("A?", "B?")]
    whole = {"messages": [row for one in messages for row in (one, *turn(number))]}
    assert len(counted([whole])) == 2
    assert len(counted([whole, whole])) == 4
    assert len(counted([whole], [{**whole, "id": 2}])) == 4


def span(number, parent, name, trace="t", **attributes):
    attributes = {"gen_ai.operation.name": "execute_tool", **attributes}
    listed = [attribute(key, value) for key, value in attributes.items() if value]
    about = {"traceId": trace, "spanId": number, "parentSpanId": parent, "name": name}
    return {**about, "attributes": listed, "status": {"code": 2 if number == "2" else 0}}


AGENT = span("1", "", "execute_tool mcp__a__read", **{"gen_ai.tool.name": "mcp__a__read"})
HTTP = span("h", "1", "POST", **{"gen_ai.operation.name": None})
CLIENT = span("2", "h", "execute_tool read")
MCP = {"gen_ai.tool.name": "read", "gen_ai.operation.name": None, "mcp.method.name": "tools/call"}
SERVER = span("3", "2", "tools/call read", **MCP)
NAMES = {"gen_ai.tool.name": None, "gen_ai.operation.name": None, "mcp.method.name": "tools/call"}
INNER_AGENT = span("4", "1", "invoke_agent b", **{"gen_ai.operation.name": "invoke_agent"})
IDENTIFIED = {"gen_ai.tool.call.id": "c1"}


@pytest.mark.case(92)
@pytest.mark.parametrize(
    ("spans", "number"),
    [
        ([AGENT, HTTP, CLIENT, SERVER], 1),
        ([SERVER, CLIENT, HTTP, AGENT], 1),
        ([AGENT, AGENT, SERVER | {"traceId": "other"}], 2),
        ([AGENT, INNER_AGENT, span("5", "4", "execute_tool read")], 2),
        ([AGENT, span("6", "1", "execute_tool write"), span("7", "6", "execute_tool read")], 3),
        ([span("1", "", "execute_tool read", **IDENTIFIED), span("9", "", "execute_tool read", **IDENTIFIED)], 1),
        ([span("1", "2", "execute_tool read"), span("2", "1", "execute_tool read")], 2),
        ([EXECUTION, EXECUTION], 2),
    ],
)  # fmt: skip
def test_spans_inside_each_other_that_are_one_call_count_once(spans, number):
    assert len(counted(spans)) == number
    if number == 1 and len(spans) > 2:
        assert counted(spans) == [("mcp__a__read", True)]
        assert counted(spans[:2], spans[2:]) == counted(spans), "agent and server log apart"


@pytest.mark.case(92)
@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("tools/call read", NAMES), ("tools/call", {**NAMES, "mcp.tool.name": "read"}), ("read", NAMES),
        ("tools/call read", {**NAMES, "mcp.method.name": None}), ("execute_tool read", {}),
    ],
)  # fmt: skip
def test_the_name_of_a_call_is_read_from_its_span(name, attributes):
    assert counted([span("1", "", name, **attributes)]) == [("read", False)]


@pytest.mark.case(92)
@pytest.mark.parametrize(
    "record",
    [
        {"type": "response_item", "payload": {"type": "function_call"}},
        {"type": "response_item"},
        {"role": "assistant", "content": [{"type": "other_tool_call", "title": "read"}]},
        {"role": "assistant", "content": "<tool_call>{}</tool_call>"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "x"}]},
        {"role": "model", "parts": [{"functionCall": {"args": {}}}]},
        {"messages": [7]},
        {"name": "tools/call", "attributes": {"mcp.method.name": "tools/call"}},
        {"name": "read", "attributes": {"x.tool.name": "read"}},
        7,
    ],
)
def test_a_record_that_is_not_understood_is_counted(record):
    trace = read_trace(lines([*LOG, record]), "t")
    assert (len(trace.calls), trace.unread) == (3, 1)
    assert read_trace(lines([*OPENAI, *LOG]), "t").unread == 0


GIVEN = {"name": "read", "arguments": "{}", "id": "1"}
FORMS = {
    "Responses": {"object": "response", "output": [
        {"type": "mcp_list_tools", "server_label": "a", "tools": []},
        {"type": "function_call", "name": "read", "call_id": "1", "arguments": "{}"},
        {"type": "mcp_call", "id": "2", "server_label": "a", "name": "read", "error": "full"}]},
    "chat completion": {"object": "chat.completion", "choices": [{"message": {
        "role": "assistant", "tool_calls": [{"id": n, "function": GIVEN} for n in "12"]}}]},
    "batch": {"custom_id": "x", "response": {"body": {"choices": [{"message": {
        "role": "assistant", "function_call": {**GIVEN, "id": n}}} for n in "12"]}}},
    "connector": {"role": "assistant", "content": [
        {"type": "mcp_tool_use", "id": n, "name": "read", "server_name": "a"} for n in "12"]},
    "Gemini": {"contents": [{"role": "model", "parts": [
        {"functionCall": {"name": "read", "args": {}}}, {"functionCall": {"name": "read"}}]}]},
    "Gemini's reply": {"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"name": "read", "args": {}}}, {"functionCall": {"name": "read"}}]}}]},
    "Bedrock": {"messages": [{"role": "assistant", "content": [
        {"toolUse": {"toolUseId": n, "name": "read", "input": {}}} for n in "12"]}]},
    "AI SDK": {"messages": [{"role": "assistant", "content": [
        {"type": "tool-call", "toolCallId": n, "toolName": "read", "input": {}} for n in "12"]}]},
    "AI SDK, screen": {"messages": [{"role": "assistant", "parts": [
        {"type": "tool-read", "toolCallId": n, "input": {}} for n in "12"]}]},
    "LangChain": {"lc": 1, "type": "constructor", "kwargs": {"content": "", "tool_calls": [
        {"type": "tool_call", "name": "read", "args": {}, "id": n} for n in "12"]}},
    "GenAI": {"role": "assistant", "parts": [
        {"type": "tool_call", "id": n, "name": "read", "arguments": {}} for n in "12"]},
    "Hermes": {"conversations": [{"from": "human", "value": "x"}, {"from": "gpt", "value":
        '<tool_call>{"name": "read", "arguments": {}}</tool_call>\n' * 2}]},
    "Glaive": [{"role": "assistant", "content":
        """<functioncall> {"name": "read", "arguments": '{"a": 1}'} <|endoftext|>"""}] * 2,
    "ReAct": [{"role": "assistant", "content": "Thought: x\nAction: read\nAction Input: {\n}\nObservation: 1"
        "\nThought: y\nAction: read\nAction Input: all of it"}],
    "LangChain, messages to dicts": [{"type": "human", "data": {"content": "x"}}, {"type": "ai", "data": {
        "content": "", "tool_calls": [{"type": "tool_call", "name": "read", "args": {}, "id": n} for n in "12"]}},
        {"type": "tool", "data": {"content": "x", "tool_call_id": "1"}}],
    "LangSmith": {"id": "0", "run_type": "chain", "name": "agent", "child_runs": [
        {"id": n, "run_type": "tool", "name": "read"} for n in "12"]},
    "Langfuse": {"id": "0", "observations": [
        {"id": n, "type": "TOOL", "name": "read", "startTime": "x"} for n in "12"]},
    "OpenInference": [{"name": n, "attributes": {"openinference.span.kind": "TOOL", "tool.name": "read"}}
        for n in "12"],
    "Traceloop": [{"name": "read.tool", "attributes": {"traceloop.span.kind": "tool"}}] * 2,
    "AI SDK's spans": [{"name": "ai.toolCall", "attributes": {"ai.toolCall.name": "read"}}] * 2,
    "Gemini CLI": {"messages": [{"type": "gemini", "content": "", "toolCalls": [
        {"id": n, "name": "read", "args": {}, "result": [], "status": "success"} for n in "12"]}]},
    "PydanticAI": [{"kind": "response", "parts": [
        {"part_kind": "tool-call", "tool_name": "read", "args": {}, "tool_call_id": n}]} for n in "12"],
    "goose": {"messages": [{"role": "assistant", "content": [{"type": "toolRequest", "id": n,
        "toolCall": {"value": {"name": "read", "arguments": {}}}}]} for n in "12"]},
    "MCP": [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "read"}} for n in "12"],
    "OpenCode": {"messages": [{"info": {"role": "assistant"}, "parts": [
        {"type": "tool", "callID": n, "tool": "read", "state": {"status": "completed"}}]} for n in "12"]},
    "AutoGen": {"type": "ToolCallRequestEvent", "content": [{"id": n, "name": "read"} for n in "12"]},
    "run steps": {"data": [{"type": "tool_calls", "step_details": {"type": "tool_calls", "tool_calls": [
        {"id": n, "type": "function", "function": {"name": "read"}} for n in "12"]}}]},
    "Copilot": {"requests": [{"response": [
        {"kind": "toolInvocationSerialized", "toolId": "read", "toolCallId": n} for n in "12"]}]},
    "a stream": [{"choices": [{"delta": {"tool_calls": [
        {"index": 0, "id": n, "function": {"name": "read", "arguments": ""}},
        {"index": 0, "function": {"arguments": "{}"}}]}}]} for n in "12"],
    "told twice": {"steps": [{"toolCalls": [{"type": "tool-call", "toolCallId": n, "toolName": "read"}],
        "toolResults": [{"type": "tool-result", "toolCallId": n}],
        "content": [{"type": "tool-call", "toolCallId": n, "toolName": "read"}]} for n in "12"]},
    "at any depth": {"values": {"state": {"chat": [
        {"type": "ai", "tool_calls": [{"name": "read", "args": {}, "id": n}]} for n in "12"]}}},
    "Agents SDK": {"data": [{"id": n, "span_data": {"type": "function", "name": "read"}} for n in "12"]},
    "MLflow": {"data": {"spans": [
        {"name": "read", "attributes": {"mlflow.spanType": '"TOOL"'}} for _ in "12"]}},
    "Jaeger": {"data": [{"spans": [{"spanID": n, "operationName": "execute_tool read", "tags": [
        {"key": "gen_ai.operation.name", "value": "execute_tool"}]} for n in "12"]}]},
    "a model's answer": [{"name": "chat", "attributes": {"gen_ai.output.messages": json.dumps(
        [{"role": "assistant", "parts": [{"type": "tool_call", "id": n, "name": "read"}]}])}} for n in "12"],
    "a model's answer, flat": [{"name": "chat", "attributes": {
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "read",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": n}} for n in "12"],
    "Logfire": [{"name": "running tool", "attributes": {"gen_ai.tool.name": "read"}}] * 2,
}  # fmt: skip


@pytest.mark.case(79, 92)
@pytest.mark.parametrize("form", FORMS)
def test_a_call_is_read_wherever_it_stands(form):
    trace = read_trace(json.dumps(FORMS[form]).encode(), "t")
    assert [call.tool.removeprefix("mcp__a__") for call in trace.calls] == ["read", "read"]
    assert trace.unread == 0
    assert [call.has_failed for call in trace.calls] == [False, form == "Responses"]


@pytest.mark.case(79)
def test_what_only_resembles_a_call_is_none():
    odd = [
        {"usage": {"server_tool_use": {"web_search_requests": 2}}},
        {"tools": [{"name": "x", "parameters": {"properties": {"tool_calls": {"type": "array"}}}}]},
        {"toolUseResult": {"content": [{"type": "tool_use", "name": "x", "input": {}}]}},
        {
            "content": [
                {"type": "tool_use", "name": "read", "input": {"type": "tool_use", "name": "x"}}
            ]
        },
        {"type": "response.mcp_call.completed", "item_id": "3"},
    ]
    assert counted([{"role": "assistant", **one} for one in odd]) == [("read", False)]


@pytest.mark.case(79)
def test_a_failed_result_in_a_later_message_is_of_its_call():
    call = {
        "lc": 1,
        "kwargs": {"content": "", "tool_calls": [{"id": "1", "name": "read", "args": {}}]},
    }
    result = {"lc": 1, "kwargs": {"content": "no", "tool_call_id": "1", "status": "error"}}
    assert counted([call, result]) == [("read", True)]


@pytest.mark.parametrize("said", [{"is_exception": True}, {"otel_status_code": "ERROR"}])
def test_a_row_of_a_span_says_that_it_failed(said):
    row = {"span_name": "tool", "attributes": {"gen_ai.tool.name": "read"}}
    assert counted([row | said]) == [("read", True)]
    assert counted([row]) == [("read", False)]


@pytest.mark.case(79)
def test_a_call_that_a_model_asked_for_counts_only_without_a_span_of_its_tool():
    answer = [{"type": "tool_call", "id": "1", "name": "mcp__a__read"}]
    said = {"gen_ai.operation.name": None, "gen_ai.output.messages": json.dumps(answer)}
    asked = span("0", "", "chat", **said)
    assert counted([asked]) == [("mcp__a__read", False)]
    assert counted([asked, CLIENT]) == [("read", True)]


@pytest.mark.case(79)
def test_documents_one_after_the_other_are_read():
    text = "\n".join(json.dumps(CLIENT | {"spanId": n}, indent=1) for n in "12")
    assert len(read_trace(text.encode(), "t").calls) == 2


@pytest.mark.case(79, 92)
def test_a_session_of_codex_tells_of_each_call_once():
    end = {
        "type": "mcp_tool_call_end",
        "call_id": "2",
        "invocation": {"server": "a", "tool": "read"},
    }
    items = [
        {"type": "function_call", "name": "a__read", "arguments": "{", "call_id": "1"},
        {"type": "function_call", "namespace": "mcp__a__", "name": "read", "call_id": "2"},
        {**end, "result": {"Err": "no"}},
        {"type": "function_call_output", "call_id": "2", "output": "no"},
        {**end, "call_id": "3", "result": {"Ok": {"isError": True}}},
        {"type": "token_count"},
    ]
    at = "2026-01-01T10:00:00Z"
    rows = [{"timestamp": at, "type": "response_item", "payload": one} for one in items]
    trace = read_trace(lines([{"timestamp": at, "type": "session_meta"}, *rows]), "t")
    assert [(one.tool, one.is_malformed, one.has_failed) for one in trace.calls] == [
        ("a__read", True, False), ("mcp__a__read", False, True), ("mcp__a__read", False, True)
    ]  # fmt: skip
    assert trace.unread == 0 and {one.at[:10] for one in trace.calls} == {"2026-01-01"}


@pytest.mark.parametrize(
    "name", ["mcp__w__saw_get", "w__saw_get", "w_saw.get", "w/saw.get", "w-saw_get", "saw_get"]
)
def test_a_dot_that_a_client_writes_in_another_way_is_the_same_tool(name):
    saw, other = Tool("w/saw.get", "saw.get", server="w"), Tool("v/saw", "saw", server="v")
    assert count_calls(calls((name, "", "")), [saw, other]).by_id.keys() == {"w/saw.get"}
    twin = Tool("w/saw_get", "saw_get", server="w")
    exact = {"w_saw.get", "w/saw.get"}
    expected = "w/saw.get" if name in exact else "w/saw_get"
    assert count_calls(calls((name, "", "")), [saw, twin]).by_id.keys() == {expected}


def test_times_have_one_form():
    expected = "2026-01-01T10:00:00+00:00"
    for value in ("2026-01-01T11:00:00+01:00", 1767261600, 1767261600000, "1767261600000000000"):
        assert utc_time(value) == expected
    for value in ("yesterday", True, None, {}, 1e300, float("nan"), "0001-01-01T00:00:00+05:00"):
        assert utc_time(value) == ""


READ = Tool("a/read", "read", server="a")
COPY = Tool("b/read", "read", server="b")
LIST = Tool("a/list", "list", server="a")
CATALOG = (LIST, READ, COPY)


def calls(*named):
    return CallTrace(tuple(TracedCall(name, original, at=at) for name, original, at in named))


def test_figures_say_which_copy_is_used():
    day = "2026-01-{:02}T00:00:00+00:00".format
    trace = calls(
        ("get", "b/read", day(1)),
        ("mcp__a__read", "", day(9)),
        ("mcp__A__read", "", day(8)),
        ("read", "", day(10)),
        ("a_list", "", ""),
    )
    figures = count_calls(trace, CATALOG)
    assert {one: usage.calls for one, usage in figures.by_id.items()} == {
        "a/list": 1,
        "a/read": 2,
        "b/read": 1,
    }
    assert figures.of("a/read").last == day(9)
    assert {one: counts.calls for one, counts in figures.unknown.items()} == {"read": 1}
    assert figures.of("a/read").days == {"2026-01-08": (1, 0), "2026-01-09": (1, 0)}
    assert (figures.first, figures.last, figures.days) == (day(1), day(10), 9.0)


def _session(name, arguments, *, text=False):
    given = json.dumps(arguments) if text else arguments
    call = {"type": "tool_use", "id": "1", "name": name, "input": given}
    return [{"role": "user", "content": "Go"}, {"role": "assistant", "content": [call]}]


@pytest.mark.parametrize(
    ("name", "arguments", "called"),
    [
        ("mcp__gate__call_tool", {"name": "list", "arguments": {"q": 1}}, ["a/list"]),
        ("call_tool", {"name": "list"}, ["a/list"]),
        ("mcp-exec", {"name": "list", "arguments": "{}"}, ["a/list"]),
        ("use_mcp_tool", {"server_name": "b", "tool_name": "read", "arguments": {}}, ["b/read"]),
        (
            "multi_execute",
            {"tools": [{"name": "list", "arguments": {}}, {"name": "a/read", "arguments": {}}]},
            ["a/list", "a/read"],
        ),
        ("inspect_tool", {"name": "list"}, []),
        ("list", {"name": "a/read", "arguments": {}}, ["a/list"]),
        ("create_user", {"name": "Ann"}, []),
    ],
)
@pytest.mark.parametrize("text", [False, True])
def test_a_call_that_is_passed_on_counts_for_the_tool_in_its_arguments(
    name, arguments, called, text
):
    messages = _session(name, arguments, text=text)
    span = {
        **{"traceId": "t", "spanId": "s", "name": f"execute_tool {name}"},
        "attributes": [attribute("gen_ai.tool.call.arguments", json.dumps(arguments))],
    }
    for records in (
        {"messages": messages},
        {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]},
    ):
        trace = read_trace(json.dumps(records).encode(), "x")
        figures = count_calls(trace, CATALOG)
        assert [*figures.by_id] == called
        assert [*figures.unknown] == ([] if called else [name])
    trace = read_trace(json.dumps({"messages": messages}).encode(), "x")
    assert [row["gold"] for row in query_rows(trace.requests, CATALOG)] == [
        one for one in [called] if one
    ]


def test_a_call_that_is_passed_on_is_that_of_the_gateways_log():
    log = [{"at": "2026-01-01T10:00:01Z", "tool": "list", "original": "a/list", "outcome": "ok"}]
    session = [
        {**one, "timestamp": "2026-01-01T10:00:00Z"}
        for one in _session("call_tool", {"name": "list", "arguments": {}})
    ]
    files = {"log": lines(log), "session": lines(session)}
    assert len(read_traces(files).calls) == 1


def test_unused_is_said_only_of_a_time_that_the_calls_cover():
    day = "2026-{:02}-01T00:00:00+00:00".format
    figures = count_calls(calls(("x", "a/read", day(1)), ("x", "b/read", day(3))), CATALOG)
    assert figures.unused(CATALOG, 30) == ("a/list", "a/read")
    assert figures.unused(CATALOG, 100) == ()
    untimed = count_calls(calls(("x", "a/list", "")), CATALOG)
    both = add_counts([figures, untimed])
    assert both.unused(CATALOG, 30) == ("a/read",)
    assert both.calls == 3
    assert count_calls(CallTrace(), CATALOG).unused(CATALOG, 1) == ()


def test_requests_become_queries_with_what_was_called_as_gold():
    requests = [
        TracedRequest("List it", (TracedCall("mcp__a__list"), TracedCall("other"))),
        TracedRequest("List it", (TracedCall("a/read"),)),
        TracedRequest("Nothing", (TracedCall("other"),)),
    ]
    assert query_rows(requests, CATALOG) == [
        {"id": "t1", "query": "List it", "gold": ["a/list", "a/read"]}
    ]


def test_what_calls_were_given_and_answered_is_kept_only_where_it_is_compared():
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}}
    messages = [
        {"role": "user", "content": "Find it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]
    file = {"t.jsonl": lines([{"messages": messages}])}
    (counted,), (compared,) = (read_traces(file, kept).calls for kept in (False, True))
    assert counted == compared, "the same call"
    assert (counted.arguments, counted.result) == (None, None)
    assert compared.arguments == '{"q": 1}' and compared.result is not None
