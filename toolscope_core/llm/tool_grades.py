"""How well each tool is documented, as a model says."""

from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.tasks.quality import QUALITY_TASK
from toolscope_core.merging.model_verdicts import Grade
from toolscope_core.model.catalog import Catalog


def grade_tools(catalog: Catalog, asker: Asker) -> dict[str, Grade]:
    """The documentation quality of every tool that has an answer, by id."""
    answers = asker(QUALITY_TASK, catalog.tools)
    return {
        tool.id: Grade(
            answer.value["score"], tuple(answer.value["lacking"]), answer.value["reason"]
        )
        for tool, answer in zip(catalog.tools, answers, strict=True)
        if answer and answer.value
    }
