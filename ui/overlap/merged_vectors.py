"""Vectors of the outgoing tools: those of the catalog, and new ones where a text is new."""

from __future__ import annotations

from collections.abc import Callable

from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Vectors


def new_texts(analysis: Analysis, plan: MergePlan) -> dict[str, str]:
    """What is embedded of the outgoing tools, by id, where it is not what came in."""
    tools = analysis.catalog.by_id
    texts = {item.tool.id: tool_text(item.tool) for item in plan.tools if len(item.members) > 1}
    return {i: text for i, text in texts.items() if text != tool_text(tools[i])}


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
