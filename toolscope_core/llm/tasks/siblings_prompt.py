"""Asks for descriptions that tell two tools apart. The wording is ours."""

from typing import Annotated

from toolscope_core.llm.tasks.fence import RULES, prompt_text
from toolscope_core.llm.tasks.judge_prompt import ToolPair
from toolscope_core.llm.tasks.prompt_task import PromptTask, ShownItem, numbered
from toolscope_core.llm.tasks.replies import LINE, PASSAGE, AnswerForm, up_to
from toolscope_core.model.tool import Tool

LONGEST, LONGEST_CLAUSE = 1_200, 100

SYSTEM = f"""\
An agent has both of two tools and takes one for the other, since they sound alike. They do \
different jobs and stay two tools. You write for each a description by which it is not mistaken.

{RULES}
Begin each description with what only this tool does, or on what, from which input, or with what \
result; then say the rest of what its own text says, as briefly. Take everything from the tool's \
own name, text, parameters and results: no ability, limit, address or tool that is not there. Do \
not say what the other tool does and do not name it: what a tool is not helps no search. Keep what \
a caller must know, such as formats, limits and side effects. If nothing in the texts tells the \
two apart, give both descriptions back as they are.
"""


def in_hash_order(pair: ToolPair) -> tuple[Tool, Tool]:
    """The two tools, whichever way round the pair is."""
    one, other = sorted((pair.left, pair.right), key=lambda tool: (tool.content_hash, tool.id))
    return one, other


def _show(item: ToolPair, number: int) -> ShownItem:
    pair = enumerate(in_hash_order(item), 1)
    texts = {f"tool {number}.{at}": prompt_text(tool) for at, tool in pair}
    return ShownItem(texts, f"first tool {number}.1, second tool {number}.2")


class DescriptionsForm(AnswerForm[ToolPair]):
    """An answer."""

    first: Annotated[str, up_to(LONGEST, least=1), PASSAGE]
    second: Annotated[str, up_to(LONGEST, least=1), PASSAGE]
    first_clause: Annotated[str, up_to(LONGEST_CLAUSE), LINE]
    second_clause: Annotated[str, up_to(LONGEST_CLAUSE), LINE]


SIBLINGS_TASK: PromptTask[ToolPair] = PromptTask(
    name="siblings",
    batch=4,
    system=SYSTEM,
    reply_name="descriptions",
    form=DescriptionsForm,
    answer_tokens=400,
    hashes=lambda pair: [pair.left.content_hash, pair.right.content_hash],
    show=numbered(_show),
)
"""An answer is ``{"first", "second", "first_clause", "second_clause"}``: descriptions of the two
tools in the order of ``in_hash_order``, and what could stand in front of their own.
"""
