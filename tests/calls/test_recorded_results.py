"""Results that agents recorded, compared like answers."""

import json

import pytest

from toolscope_core.calls.recorded_results import recorded_comparisons
from toolscope_core.calls.sent_calls import ComparedTools
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.tool import Tool
from toolscope_core.usage.trace_formats import read_traces
from toolscope_core.usage.traced_calls import CallTrace, TracedCall

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
LEFT, RIGHT = (Tool(f"{side}/get", "get", server=side, schema=SCHEMA) for side in "ab")
ALPHAS = tuple(ArgumentMap(one.id, "b/get", (ArgumentMove("n", "n"),)) for one in (LEFT, RIGHT))
PAIR = ComparedTools(LEFT, RIGHT, ALPHAS, SCHEMA)


def call(tool, n, result, **more):
    arguments = json.dumps({"n": n, **more.pop("other", {})})
    return TracedCall(tool.id, arguments=arguments, result=result, **more)


def comparison(*calls):
    (one,) = recorded_comparisons([PAIR], CallTrace(calls), [LEFT, RIGHT])
    return one


def test_calls_that_both_got_are_compared():
    one = comparison(call(LEFT, 1, {"x": 5}), call(RIGHT, 1, {"x": 6}), call(RIGHT, 2, {"x": 7}))
    assert (len(one.calls), one.differing) == (1, 1)


def test_a_call_recorded_twice_shows_what_changes_by_itself():
    results = ({"x": 1, "at": 1}, {"x": 1, "at": 2})
    one = comparison(*(call(tool, 1, each) for tool in (LEFT, RIGHT) for each in results))
    assert one.verdict == "same on 1 of 1 but for `at` (varies)"


def test_what_is_not_recorded_or_has_no_place_is_not_compared():
    lost = ArgumentMap("a/get", "b/get", ALPHAS[0].moves, dropped={"zip": "no such parameter"})
    pair = ComparedTools(LEFT, RIGHT, (lost, ALPHAS[1]), SCHEMA)
    calls = (call(LEFT, 1, "x", other={"zip": 2}), call(RIGHT, 1, "x"), call(LEFT, 3, None))
    (one,) = recorded_comparisons([pair], CallTrace((*calls, call(RIGHT, 3, "x"))), [LEFT, RIGHT])
    assert one.calls == ()


def test_results_in_every_form_are_read():
    forms = ("5", [{"type": "text", "text": "5"}], {"content": [{"type": "text", "text": "5"}]})
    calls = [
        one for n, form in enumerate(forms) for one in (call(LEFT, n, form), call(RIGHT, n, "5"))
    ]
    assert comparison(*calls).verdict == "same on 3 of 3"


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
        ("input.value", "output.value"),
        ("ai.toolCall.args", "ai.toolCall.result"),
    ],
)
def test_results_in_spans_are_compared(arguments, result):
    def span(number, tool, answer, **more):
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": f"{tool.server}__get",
            arguments: '{"n": 1}',
            result: answer,
        }
        ids = {"traceId": "t", "spanId": str(number)}
        return {"name": "execute_tool get", **ids, "attributes": attributes, **more}

    def verdict(left, right, **more):
        lines = [json.dumps(span(1, LEFT, left, **more)), json.dumps(span(2, RIGHT, right))]
        trace = read_traces({"spans": "\n".join(lines).encode()}, with_results=True)
        (one,) = recorded_comparisons([PAIR], trace, [LEFT, RIGHT])
        return one.verdict

    part = {"content": [{"type": "text", "text": '{"x": 5}'}]}
    assert verdict('{"x": 5}', json.dumps(part)) == "same on 1 of 1"
    assert "`[].x`" in verdict('[{"x": 5}]', '[{"x": 6}]')
    assert "refuses" in verdict("no", '{"x": 6}', status={"code": 2})


def test_results_in_spans_are_forgotten_unless_they_are_needed():
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": "secret"}
    line = {"name": "execute_tool get", "spanId": "1", "attributes": attributes}
    (call,) = read_traces({"spans": json.dumps(line).encode()}).calls
    assert call.result is None
