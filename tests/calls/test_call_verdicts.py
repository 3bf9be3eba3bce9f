"""What answers to the same calls show, in words and as kept."""

import json

import pytest

from toolscope_core.calls.call_verdicts import AnsweredCall, comparison_of
from toolscope_core.calls.result_columns import CallAnswer, columns_of
from toolscope_core.model.tool import Tool

TOOLS = (Tool("a/get", "get"), Tool("b/get", "get"))
TOKEN = "ghp_" + "a1B2" * 9


def answer(value=None, refusal=""):
    return CallAnswer({} if refusal else columns_of(value), refusal)


def call(left, right, arguments=None, again=None, **more):
    answers = tuple(one if isinstance(one, CallAnswer) else answer(one) for one in (left, right))
    repeated = tuple(map(answer, again)) if again else None
    return AnsweredCall(arguments or {"n": 1}, {"n": 1}, answers, repeated, **more)


def verdict(*calls):
    return comparison_of(TOOLS, calls).verdict


def test_the_same():
    assert verdict(call({"x": 1}, {"x": 1}), call({"x": 2}, {"x": 2})) == "same on 2 of 2"
    changing = call({"x": 1, "n": 5}, {"x": 1, "n": 6}, again=({"x": 1, "n": 7}, {"x": 1, "n": 6}))
    assert verdict(changing) == "same on 1 of 1 but for `n` (varies)"


def test_a_difference_is_said_once_with_its_number():
    calls = [call({"p": n, "q": 1}, {"p": 100 * n, "q": 1}) for n in (1, 2, 3)]
    words = verdict(*calls, call({"p": 0, "q": 1}, {"p": 0, "q": 1}))
    assert words.startswith("differs in 3 of 4")
    assert "100 times" in words
    fields = verdict(call({"a": 1, "b": 2, "x": 3}, {"x": 3, "c": 4}))
    assert "only the first gives `a`" in fields
    assert "`c`" not in fields
    assert verdict(call({"x": 3}, {"x": 3, "c": 4})) == "same on 1 of 1 but for `c` (more)"


@pytest.mark.parametrize("other", [10**400 + 1, 1, "5 apples", float("inf"), float("nan")])
def test_numbers_that_no_float_holds_are_compared(other):
    calls = [call({"n": 10**400}, {"n": other}), call({"n": 2}, {"n": 4})]
    comparison = comparison_of(TOOLS, [*calls, call({"n": 10**400}, other)])
    assert comparison.differing == 3
    json.dumps(comparison.as_json(), allow_nan=False)


def test_a_refusal_of_one():
    words = verdict(call({"x": 1}, {"x": 1}), call(answer(refusal="no such id"), {"x": 1}))
    assert "a/get refuses 1 of 2" in words
    assert "“no such id”" in words


def test_a_refused_guess_and_what_both_refuse_tell_nothing():
    refused = answer(refusal="no such id")
    guess = call(refused, {"x": 1}, is_guess=True)
    comparison = comparison_of(TOOLS, [guess, call(refused, refused)])
    assert (comparison.size, comparison.differing) == (0, 0)
    assert "no such id" in comparison.verdict


def test_what_changes_on_one_server_only_is_a_difference():
    calls = [
        call({"rate": n}, {"rate": 5}, {"n": n}, again=({"rate": n + 0.5}, {"rate": 5}))
        for n in (1, 2)
    ]
    assert "one server only" in verdict(*calls)
    assert "every value changes" in verdict(*calls[:1])


def test_secrets_are_masked_and_texts_cut_in_what_is_kept():
    comparison = comparison_of(
        TOOLS, [call({"key": TOKEN, "t": "x" * 999}, {"key": 1, "t": "y"}, {"k": TOKEN})]
    )
    kept = str(comparison.as_json())
    assert TOKEN not in kept
    assert "x" * 200 not in kept
    assert comparison.as_json()["rows"][0]["differences"][0]["path"] == "key"
    # a secret across the place where the text is cut
    late = "x " * 54 + TOKEN
    comparison = comparison_of(TOOLS, [call({"t": late}, answer(refusal=late))])
    assert TOKEN[:8] not in comparison.verdict + str(comparison.as_json())
