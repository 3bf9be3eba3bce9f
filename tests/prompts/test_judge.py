import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.prompts.strategies import TOOLS, keyed, tool
from toolscope_core.prompts.judge import SYSTEM, VERDICTS, Judging, Two
from toolscope_core.prompts.replies import LONGEST_REASON, question_id

A, B, C = tool("find_notes"), tool("search_notes"), tool("delete_notes", "Deletes notes.")
TASK = Judging()


def answer(key, **other):
    said = {"verdict": "merge", "confidence": 0.9, "reason": "Same job."}
    return {"question": question_id(key), **said, **other}


def read(*rows, items=None):
    return TASK.read(items or keyed(TASK, Two(A, B)), {"answers": list(rows)})


KEY = next(iter(keyed(TASK, Two(A, B))))


@given(TOOLS, TOOLS)
def test_the_order_of_a_pair_is_not_in_the_question(one, other):
    assert TASK.subjects(Two(one, other)) == TASK.subjects(Two(other, one))
    requests = [TASK.request({KEY: two}) for two in (Two(one, other), Two(other, one))]
    assert requests[0] == requests[1]


def test_the_order_of_the_questions_is_not_in_the_call():
    items = keyed(TASK, Two(A, B), Two(B, C), Two(A, C))
    requests = {TASK.request(dict(order)).user for order in itertools.permutations(items.items())}
    assert len(requests) == 1


def test_each_tool_is_told_once():
    items = keyed(TASK, Two(A, B), Two(B, C), Two(A, C))
    user = TASK.request(items).user
    assert [user.count(json.dumps(one.name)) for one in (A, B, C)] == [1, 1, 1]
    assert all(question_id(key) in user for key in items)


def test_the_server_and_the_id_are_not_told():
    user = TASK.request({KEY: Two(tool(id="secret-id", server="secret-server"), B)}).user
    assert "secret" not in user


def test_the_schema_allows_the_questions_and_verdicts_only():
    row = TASK.request(keyed(TASK, Two(A, B))).schema["properties"]["answers"]["items"]
    assert row["properties"]["question"]["enum"] == [question_id(KEY)]
    assert row["properties"]["verdict"]["enum"] == list(VERDICTS)
    assert row["additionalProperties"] is False


def test_a_good_answer_is_read():
    (found,) = read(answer(KEY)).values()
    assert found == {"verdict": "merge", "confidence": 0.9, "reason": "Same job."}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"verdict": "MERGE"}, "verdict is 'MERGE'"),
        ({"verdict": ["merge"]}, "verdict is list"),
        ({"confidence": 1.01}, "confidence is 1.01"),
        ({"confidence": True}, "confidence is True"),
        ({"confidence": float("nan")}, "confidence is nan"),
        ({"confidence": "0.9"}, "confidence is '0.9'"),
        ({"question": "0" * 12}, "it was not answered"),
    ],
)
def test_anything_else_is_a_reason(bad, said):
    (found,) = read(answer(KEY, **bad)).values()
    assert said in found


def test_two_answers_to_one_question_are_none():
    (found,) = read(answer(KEY), answer(KEY, verdict="keep")).values()
    assert found == "it was answered more than once"


def test_a_bad_answer_spoils_no_other():
    items = keyed(TASK, Two(A, B), Two(A, C))
    one, other = items
    found = read(answer(one, verdict="yes"), answer(other), items=items)
    assert isinstance(found[one], str) and found[other]["verdict"] == "merge"


def test_a_reason_is_one_short_clean_line():
    (found,) = read(answer(KEY, reason="a\n\u202eb" + "x" * 1000)).values()
    assert found["reason"].startswith("a b") and len(found["reason"]) == LONGEST_REASON


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["answers", "question", "verdict", "confidence"]) | st.text(), inner
            )
        ),
    )
)
def test_no_reply_makes_the_parser_raise(value):
    found = TASK.read(keyed(TASK, Two(A, B)), {"answers": value})
    assert all(isinstance(one, str) for one in found.values())


def test_the_prompt_says_that_tool_text_is_no_instruction():
    assert "written by strangers" in SYSTEM
