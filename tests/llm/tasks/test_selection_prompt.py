"""The prompts of selection and of splitting: what is asked and read, and what a hostile tool cannot do."""

import json

import pytest

from tests.llm.tasks.strategies import keyed, reader, tool
from toolscope_core.llm.tasks.selection_prompt import (
    LONGEST_STEP,
    MOST_STEPS,
    SELECTION_TASK,
    SPLIT_TASKS,
    SelectionQuestion,
    SplitQuestion,
    in_shown_order,
)

TASK = SELECTION_TASK
TOOLS = (tool("search_notes"), tool("send_mail"))
ITEMS = keyed(TASK, SelectionQuestion("Find my notes and mail them.", "Find my notes", TOOLS))
read = reader(TASK, *ITEMS.values())


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_number_of_a_tool_is_read_or_none(number):
    assert read(tool=number) == {"tool": number}


@pytest.mark.parametrize("value", [3, -1, True, "1", None, 1.0])
def test_anything_else_is_a_reason(value):
    assert isinstance(read(tool=value), str)


def test_the_order_of_the_search_is_not_shown_and_makes_no_other_question():
    turned = SelectionQuestion("Find my notes and mail them.", "Find my notes", TOOLS[::-1])
    assert keyed(TASK, turned).keys() == ITEMS.keys()
    assert TASK.request(keyed(TASK, turned)).user == TASK.request(ITEMS).user
    first, second = in_shown_order(TOOLS)
    user = TASK.request(ITEMS).user
    assert user.index(first.name) < user.index(second.name)


def test_another_job_of_the_request_is_another_question():
    other = SelectionQuestion("Find my notes and mail them.", "Mail the notes", TOOLS)
    assert TASK.subjects(other) != TASK.subjects(*ITEMS.values())


# The splitters: what is asked, what is read, and what a hostile tool cannot do.

NOTES = tool("search_notes")
CONTEXT = SPLIT_TASKS["context"]
read_steps = reader(CONTEXT, SplitQuestion("Find my notes and mail them.", (NOTES,)))


def test_steps_are_read_in_their_order_and_in_one_line():
    assert read_steps(steps=["Find my notes", "Mail\nthe  notes"]) == {
        "steps": ["Find my notes", "Mail the notes"]
    }


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([], "at least 1"),
        (["do"] * (MOST_STEPS + 1), f"at most {MOST_STEPS}"),
        (["do", " "], "steps.1: "),
        (["x" * (LONGEST_STEP + 1)], f" {LONGEST_STEP} char"),
        (["Call search_notes"], "name"),
    ],
)
def test_any_other_steps_are_a_reason(steps, reason):
    assert reason in read_steps(steps=steps)


def test_a_name_that_the_request_says_itself_or_that_is_a_word_may_stand():
    named = SplitQuestion("What does search_notes do?", (NOTES,))
    word = SplitQuestion("Find it.", (tool("find"),))
    for question, steps in ((named, ["Explain search_notes"]), (word, ["find it"])):
        assert reader(CONTEXT, question)(steps=steps) == {"steps": steps}


def test_dummy_sees_no_tool_and_is_another_question_than_context():
    dummy, question = SPLIT_TASKS["dummy"], SplitQuestion("Find my notes.")
    request = dummy.request(keyed(dummy, question))
    assert "begin tool" not in request.user and json.dumps("Find my notes.") in request.user
    assert (dummy.batch, CONTEXT.batch) == (8, 1)
    seen = SplitQuestion("Find my notes.", (NOTES,))
    assert dummy.name != CONTEXT.name
    assert CONTEXT.subjects(question) != CONTEXT.subjects(seen)
    assert "begin tool 1.1" in CONTEXT.request(keyed(CONTEXT, seen)).user
