"""Asks how well a tool is documented, from 1 to 5 (ToolScope, appendix G.5). The
wording is ours.
"""

from typing import Annotated, Literal, get_args

from pydantic import Field

from toolscope_core.llm.model_requests import Asker
from toolscope_core.llm.tasks.fence import RULES
from toolscope_core.llm.tasks.prompt_task import AnswerForm, PromptTask, Reason, numbered, show_tool
from toolscope_core.merging.model_verdicts import DocumentationGrade
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import JsonObject, Tool

Aspect = Literal["parameters", "constraints", "behaviour", "result"]

_SYSTEM = f"""\
You grade how well tools are documented for somebody who has nothing but this text and must call \
them rightly the first time.

Look at four aspects. "parameters": every parameter is explained, the required ones above all, \
and what is said agrees with what is declared. "constraints": types, units, formats, ranges, \
allowed or typical values, conditions of use. "behaviour": what a call does. "result": what comes \
back, unless it goes without saying.
5: nothing is left to ask. 4: small gaps in what is optional or in examples. 3: the required \
parameters are right but much else is thin, so some guessing is needed. 2: required parameters or \
the purpose are unclear, wrong calls are likely. 1: the text is missing, misleading or says almost \
nothing.

{RULES}
For each question say in one sentence what decides it, then the grade, then the aspects that lack \
something (none for a 5).
"""


class GradeForm(AnswerForm[Tool]):
    """An answer; its aspects are stored in a fixed order."""

    reason: Reason
    score: Annotated[int, Field(ge=1, le=5, json_schema_extra={"enum": [1, 2, 3, 4, 5]})]
    lacking: list[Aspect]

    def ledger_answer(self, item: Tool) -> JsonObject:
        lacking = [aspect for aspect in get_args(Aspect) if aspect in self.lacking]
        return {**self.model_dump(), "lacking": lacking}


QUALITY_TASK: PromptTask[Tool] = PromptTask(
    name="quality",
    batch=8,
    system=_SYSTEM,
    reply_name="grades",
    form=GradeForm,
    answer_tokens=120,
    hashes=lambda tool: [tool.content_hash],
    show=numbered(show_tool),
)
"""An answer is ``{"score": 1 to 5, "lacking": [aspect…], "reason"}``."""


def grade_tools(catalog: Catalog, asker: Asker) -> dict[str, DocumentationGrade]:
    """The documentation grade of every tool that has an answer, by id."""
    answers = asker(QUALITY_TASK, catalog.tools)
    return {
        tool.id: DocumentationGrade(
            answer.value["score"], tuple(answer.value["lacking"]), answer.value["reason"]
        )
        for tool, answer in zip(catalog.tools, answers, strict=True)
        if answer and answer.value
    }
