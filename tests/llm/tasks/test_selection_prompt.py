"""The selection of a tool: what is asked, what is read, and what a hostile tool cannot do."""

import pytest

from tests.llm.tasks.strategies import keyed, reader, tool
from toolscope_core.llm.tasks.selection_prompt import (
    SELECTION_TASK,
    SelectionQuestion,
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
