"""Vectors of the outgoing tools: those of the catalog, and new ones where a text is new."""

from collections.abc import Callable

from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.judging.boilerplate import compared_texts
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Vectors


def new_texts(analysis: Analysis, plan: MergePlan) -> dict[str, str]:
    """What is embedded of the outgoing tools, by id, where it is not what came in."""
    tools = analysis.catalog.by_id
    merged = [item.tool for item in plan.tools if len(item.members) > 1]
    new = {tool.id for tool in merged if tool_text(tool) != tool_text(tools[tool.id])}
    if not new:
        return {}
    texts = compared_texts([item.tool for item in plan.tools])
    return {
        item.tool.id: text
        for item, text in zip(plan.tools, texts, strict=True)
        if item.tool.id in new
    }


def plan_vectors(
    analysis: Analysis, plan: MergePlan, embed: Callable[[list[str]], Vectors]
) -> Vectors:
    """float32 (n, d) of the outgoing tools, in their order; only new texts are embedded."""
    rows = [analysis.rows[item.tool.id] for item in plan.tools]
    vectors = analysis.vectors[rows]
    texts = new_texts(analysis, plan)
    if texts:
        place = {item.tool.id: at for at, item in enumerate(plan.tools)}
        vectors[[place[tool_id] for tool_id in texts]] = embed(list(texts.values()))
    return vectors
