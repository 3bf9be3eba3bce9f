"""What is expected of an answer, in every form."""

import pytest

from toolscope_core.evaluation.agent.expected_answers import check_expected, state_checks, why_wrong
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.errors import ConfigError

CALL = {"call": "s/read", "arguments": {"path": "a"}, "gives": "hello"}


@pytest.mark.parametrize(
    ("expected", "right", "wrong"),
    [
        ("two  Files", "There are two\nfiles.", "There are two filesystems."),
        (1234.5, "It costs 1,234.50 €.", "It costs 1,234.51 or 12345."),
        (-3, "It is -3.", "It is 3."),
        ({"regex": r"^\d+ rows$"}, "12 rows", "about 12 rows"),
        ({"json": "$.a[1].b", "is": {"c": 1}}, 'So: {"a": [0, {"b": {"c": 1}}]}', '{"a": [0]}'),
        (["yes", 3], "Yes, all 3.", "Yes, all 4."),
    ],
)
def test_an_answer_is_held_against_it(expected, right, wrong):
    check_expected(Query("q", "x", expected=expected), ())
    assert why_wrong(expected, right) == ""
    assert why_wrong(expected, wrong).startswith("expected is ")
    assert why_wrong(expected, "") != "" and state_checks(expected) == ()


def test_calls_are_found_wherever_they_stand_and_words_alone_do_not_decide_them():
    expected = ["done", CALL, [CALL]]
    check_expected(Query("q", "x", expected=expected), {"s/read"})
    assert [one.tool_id for one in state_checks(expected)] == ["s/read"] * 2
    assert why_wrong(CALL, "anything") == ""


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (True, "is true; use a string"),
        ("  ", 'is "  "; use'),
        ([], "is []; use"),
        ({"regex": "("}, "cannot be read"),
        ({"json": "a"}, "use a string"),
        ({**CALL, "call": "s/none"}, "'s/none'"),
        ({**CALL, "arguments": []}, "use a string"),
        ({**CALL, "gives": None}, "is null; use"),
    ],
)
def test_what_cannot_be_checked_is_refused_before_the_run(expected, words):
    with pytest.raises(ConfigError, match=r"`expected` .*q ") as refused:
        check_expected(Query("q", "x", expected=expected), {"s/read"})
    assert words in str(refused.value)
