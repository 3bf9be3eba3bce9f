"""The prompts that ask for a request of some tools, and what is read of their replies."""

from dataclasses import replace

import pytest

from tests.llm.tasks.strategies import keyed, reader, tool
from toolscope_core.llm.tasks.prompt_task import question_id
from toolscope_core.llm.tasks.query_draft_prompt import (
    DRAFT_TASK,
    POLISH_TASK,
    DraftQuestion,
    ExampleQuery,
    PolishQuestion,
    chosen_tools,
)

TASK = DRAFT_TASK
SHOWN = tuple(tool(name) for name in ("find_notes", "send_mail", "get_weather"))
EXAMPLE = ExampleQuery("Is it warm in Oslo?", ("met/warmth",))
QUESTION = DraftQuestion(SHOWN, (EXAMPLE,))
ITEMS = keyed(TASK, QUESTION)
(KEY,) = ITEMS
GOOD = "Mail Ann what I wrote about the fence."


read = reader(TASK, QUESTION, tools=[1, 2], request=GOOD)


def test_a_good_answer_is_read_in_one_line_and_in_order():
    assert read(tools=[2, 1, 2]) == {"tools": [1, 2], "request": GOOD}
    in_two_lines = GOOD.replace("what I", "what\nI").replace("about", " about\u200b")
    assert read(request=in_two_lines)["request"] == GOOD
    assert chosen_tools(QUESTION, read(tools=[3, 1])) == tuple(
        QUESTION.in_order[at] for at in (0, 2)
    )


def test_nothing_that_belongs_together_is_an_answer_too():
    assert read(tools=[], request="whatever") == {"tools": [], "request": ""}


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"tools": [1]}, "choose 2 to 5"),
        ({"tools": [1, 4]}, "use 1 to 3"),
        ({"tools": [1, 0]}, "use 1 to 3"),
        ({"tools": [1, True]}, "tools.1 is True"),
        ({"request": ""}, "at least 12"),
        ({"request": "x" * 601}, "at most 600"),
        ({"request": "Get weather of Oslo and mail it to Ann."}, "name of a tool"),
    ],
)
def test_anything_else_is_a_reason(bad, reason):
    assert reason in read(**bad)


def test_no_reason_repeats_the_name_of_a_tool():
    """It is told to the model outside of the fence."""
    reason = read(request="Use sendMail to tell Ann of the fence.")
    assert "name of a tool" in reason and "mail" not in reason


def test_six_tools_are_too_many():
    many = DraftQuestion(tuple(tool(f"do_{one}") for one in "abcdefg"))
    assert "choose 2 to 5" in reader(TASK, many)(tools=[1, 2, 3, 4, 5, 6], request=GOOD)


def test_what_is_shown_decides_the_key_and_the_order_does_not():
    def key(question):
        return tuple(keyed(TASK, question))

    first, *others = SHOWN
    assert key(DraftQuestion((first, *reversed(others)), (EXAMPLE,))) == key(QUESTION)
    for other in (
        DraftQuestion((*others, first), (EXAMPLE,)),
        DraftQuestion(SHOWN, (replace(EXAMPLE, text="Is it cold in Oslo?"),)),
        DraftQuestion((replace(first, server="elsewhere"), *others), (EXAMPLE,)),
    ):
        assert key(other) != key(QUESTION)


def test_the_tool_that_is_due_is_marked_by_its_number():
    due = QUESTION.in_order.index(SHOWN[0]) + 1
    assert f"{question_id(KEY)}: tools 1.1 on, due is 1.{due}" in TASK.request(ITEMS).user
    assert f"{EXAMPLE.text} (served by {EXAMPLE.tools[0]})" in TASK.request(ITEMS).user


# The prompt that has a request said as a person would, and what is read of its replies.

DRAFT = "Find the 3 notes on the fence and then mail them to Ann by 17:30."
TOOLS = (tool("find_notes"), tool("send_mail"))
POLISH = PolishQuestion(DRAFT, TOOLS)
read_polish = reader(POLISH_TASK, POLISH)


def test_a_better_wording_is_read_and_the_same_one_too():
    better = "Could Ann have my 3 notes on the fence by 17:30?"
    assert read_polish(request=f" {better}\n") == {"request": better}
    assert read_polish(request=DRAFT) == {"request": DRAFT}


@pytest.mark.parametrize(
    ("request_text", "reason"),
    [
        ("Could Ann have my notes on the fence by 17:30?", "number 3"),
        ("Send mail to Ann: my 3 notes on the fence, by 17:30.", "name of a tool"),
        ("3, 17, 30", "at least 12"),
        ("3 17 30 " + "x" * 600, "at most 600"),
    ],
)
def test_any_other_wording_is_a_reason(request_text, reason):
    assert reason in read_polish(request=request_text)
