"""The prompt that asks for document variants, and what is read of its replies."""

import pytest

from tests.llm.tasks.strategies import reader, tool
from toolscope_core.llm.tasks.synthesis_prompt import AUGMENTATION_TASK, augmentation_of
from toolscope_core.model.tool import Augmentation

QUESTIONS = ["Do it", "Do it now", "Could you do it?"]
read = reader(AUGMENTATION_TASK, tool(), expanded=" Does it. ", questions=QUESTIONS)


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
        {"expanded": "x" * 1_201},
        {"questions": QUESTIONS[:2]},
        {"questions": [str(n) for n in range(9)]},
        {"questions": [*QUESTIONS, "x" * 301]},
    ],
)
def test_anything_else_is_a_reason(bad):
    assert isinstance(read(**bad), str)
