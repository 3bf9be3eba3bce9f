"""The prompt that asks for document variants, and what is read of its replies."""

import pytest

from tests.llm.tasks.strategies import keyed, tool
from toolscope_core.llm.tasks.augmentation_prompt import AUGMENTATION_TASK, augmentation_of
from toolscope_core.llm.tasks.replies import question_id
from toolscope_core.model.tool import Augmentation

TASK = AUGMENTATION_TASK
ITEMS = keyed(TASK, tool())
(KEY,) = ITEMS
QUESTIONS = ["Do it", "Do it now", "Could you do it?"]


def read(**said):
    row = {"question": question_id(KEY), "expanded": " Does it. ", "questions": QUESTIONS}
    return TASK.read(ITEMS, {"answers": [row | said]})[KEY]


def test_a_good_answer_is_read():
    assert read() == {"expanded": "Does it.", "questions": QUESTIONS}
    assert augmentation_of(read()) == Augmentation("Does it.", tuple(QUESTIONS))
    assert read(questions=[*QUESTIONS, "", " Do it "])["questions"] == QUESTIONS, "each once"
    hidden = read(expanded="Does\u200b it.")
    assert hidden["expanded"] == "Does it."


@pytest.mark.parametrize(
    "bad",
    [
        {"expanded": " "},
        {"expanded": 1},
        {"expanded": "x" * 1_201},
        {"questions": "Do it"},
        {"questions": QUESTIONS[:2]},
        {"questions": [str(n) for n in range(9)]},
        {"questions": [*QUESTIONS, 3]},
        {"questions": [*QUESTIONS, "x" * 301]},
    ],
)
def test_anything_else_is_a_reason(bad):
    assert isinstance(read(**bad), str)


def test_tools_are_asked_about_in_an_order_of_their_own():
    items = keyed(TASK, tool("a"), tool("b"), tool("c"))
    assert TASK.request(items).user == TASK.request(dict(reversed(items.items()))).user
