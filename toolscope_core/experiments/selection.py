"""Which tools an agent would take of those it is given: Correct Selection Rate (ToolScope, eq. 6).

With an offline selector: the best tool of each sub-query. A model as the selector comes with the
prompts of ``prompts``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolscope_core.evaluation.metrics import Gold
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import RankedTool

Selector = Callable[[ToolRequest, Sequence[RankedTool]], frozenset[str]]
"""From a request and the tools that were found for it the ids of those that are taken."""


def best_of_each(request: ToolRequest, found: Sequence[RankedTool]) -> frozenset[str]:
    """The highest of the tools that each sub-query brought; the first tool for a request that is
    not split.
    """
    first: dict[int | None, str] = {}
    for place in found:
        first.setdefault(place.subquery, place.tool_id)
    if len(request.texts) > 1:
        first.pop(None, None)
    return frozenset(first.values())


def is_correct(chosen: frozenset[str], gold: Gold) -> bool:
    """Whether exactly what is needed was chosen: each need is served, by one tool, and nothing else
    was taken.
    """
    needs = list(dict.fromkeys(frozenset(need) for need in gold))
    if len(chosen) != len(needs):
        return False
    return _matched(needs, chosen)


def _matched(needs: Sequence[frozenset[str]], chosen: frozenset[str]) -> bool:
    """Whether the needs can be given one chosen tool each."""
    if not needs:
        return True
    need, *others = needs
    return any(_matched(others, chosen - {one}) for one in need & chosen)
