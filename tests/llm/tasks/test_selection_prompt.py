"""The selection of a tool: what is asked, what is read, and what a hostile tool cannot do."""

import pytest
from hypothesis import given

from tests.llm.tasks.strategies import ANY_TEXT, keyed, tool
from toolscope_core.llm.tasks.replies import question_id
from toolscope_core.llm.tasks.selection_prompt import SELECTION_TASK, SelectionQuestion, in_order

TASK = SELECTION_TASK
TOOLS = (tool("search_notes"), tool("send_mail"))
ITEMS = keyed(TASK, SelectionQuestion("Find my notes and mail them.", "Find my notes", TOOLS))
(KEY,) = ITEMS


def read(value):
    return TASK.read(ITEMS, {"answers": [{"question": question_id(KEY), "tool": value}]})[KEY]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_number_of_a_tool_is_read_or_none(number):
    assert read(number) == {"tool": number}


@pytest.mark.parametrize("value", [3, -1, True, "1", None, 1.0])
def test_anything_else_is_a_reason(value):
    assert isinstance(read(value), str)


def test_the_order_of_the_search_is_not_shown_and_makes_no_other_question():
    turned = SelectionQuestion("Find my notes and mail them.", "Find my notes", TOOLS[::-1])
    assert keyed(TASK, turned).keys() == ITEMS.keys()
    assert TASK.request(keyed(TASK, turned)).user == TASK.request(ITEMS).user
    first, second = in_order(TOOLS)
    user = TASK.request(ITEMS).user
    assert user.index(first.name) < user.index(second.name)


def test_another_job_of_the_request_is_another_question():
    other = SelectionQuestion("Find my notes and mail them.", "Mail the notes", TOOLS)
    assert TASK.subjects(other) != TASK.subjects(ITEMS[KEY])


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_no_text_gets_out_of_its_fence(request, job, description):
    items = keyed(TASK, SelectionQuestion(request, job, (tool("x", description),)))
    user = TASK.request(items).user
    assert user.count("--- begin ") == user.count("--- end ")
    lines = [line for line in user.splitlines() if line.startswith("--- begin ")]
    assert len(lines) == 3
