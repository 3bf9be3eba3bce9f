"""Logs and traces of every kind, read into the same calls and requests."""

import json

import pytest

from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool
from toolscope_core.usage.call_counts import add_counts, count_calls, query_rows
from toolscope_core.usage.trace_formats import read_trace
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
ASKED = (TracedRequest("Read a.txt", ("read",)),)


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
    assert trace.calls == (TracedCall("read", failed=failed, at=at),)
    assert trace.requests == ASKED


def test_a_gateways_log_says_which_original_did_it_and_what_it_refused():
    held = {**LOG[2], "outcome": "held"}
    assert read_trace(lines([*LOG, held]), "log").calls == (
        TracedCall("get", "a/read", False, "2026-01-01T10:00:00+00:00"),
        TracedCall("get", "a/read", True, "2026-01-02T10:00:00+00:00"),
        TracedCall("get", "", False, "2026-01-03T10:00:00+00:00", malformed=True),
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
        assert (call.malformed, call.failed) == (malformed, not malformed)


def test_what_is_no_trace_is_refused_with_its_place():
    for content, words in (
        (b'{"a": 1}', "t has no call of a tool"),
        (b'{"role": "user"}\nnope', "t, line 2 is not JSON"),
        (b"[" * 100_000, "t"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"", "t has no call"),
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
        TracedRequest("List it", ("mcp__a__list", "other")),
        TracedRequest("List it", ("a/read",)),
        TracedRequest("Nothing", ("other",)),
    ]
    assert query_rows(requests, CATALOG) == [
        {"id": "t1", "query": "List it", "gold": ["a/list", "a/read"]}
    ]
