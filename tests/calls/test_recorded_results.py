"""Results that agents recorded, compared like answers."""

import json

from toolscope_core.calls.recorded_results import recorded_comparisons
from toolscope_core.calls.sent_calls import ComparedTools
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.tool import Tool
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
