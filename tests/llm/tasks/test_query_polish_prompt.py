"""The prompt that has a request said as a person would, and what is read of its replies."""

import pytest

from tests.llm.tasks.strategies import reader, tool
from toolscope_core.llm.tasks.query_draft_prompt import POLISH_TASK, PolishQuestion

DRAFT = "Find the 3 notes on the fence and then mail them to Ann by 17:30."
TOOLS = (tool("find_notes"), tool("send_mail"))
QUESTION = PolishQuestion(DRAFT, TOOLS)
read = reader(POLISH_TASK, QUESTION)


def test_a_better_wording_is_read_and_the_same_one_too():
    better = "Could Ann have my 3 notes on the fence by 17:30?"
    assert read(request=f" {better}\n") == {"request": better}
    assert read(request=DRAFT) == {"request": DRAFT}


@pytest.mark.parametrize(
    ("request_text", "reason"),
    [
        ("Could Ann have my notes on the fence by 17:30?", "the number 3 is gone"),
        ("Send mail to Ann: my 3 notes on the fence, by 17:30.", "the name of a tool"),
        ("3, 17, 30", "write at least 12"),
        ("3 17 30 " + "x" * 600, "at most 600 characters"),
    ],
)
def test_anything_else_is_a_reason(request_text, reason):
    assert reason in read(request=request_text)
