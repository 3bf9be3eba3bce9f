"""Which tools an agent would take of those it is given: Correct Selection Rate (ToolScope, eq. 6).

Without a model the selector is the search itself: the best tool of each sub-query.
"""

from __future__ import annotations

from collections.abc import Sequence

from toolscope_core.backends import Progress, silent
from toolscope_core.datamodel import Tool
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.experiments.ranking import Ranker
from toolscope_core.retrieval.assembly import ToolRequest


def selected(
    tools: Sequence[Tool],
    requests: Sequence[ToolRequest],
    ranker: Ranker,
    progress: Progress = silent,
) -> tuple[frozenset[str], ...]:
    """For each request the ids of the best tool of each of its sub-queries, searched by itself, or
    of the request where it is not split.
    """
    parts = [request.texts[1:] or (request.text,) for request in requests]
    texts = list(dict.fromkeys(text for part in parts for text in part))
    rankings = ranker.rankings(tools, [ToolRequest(text) for text in texts], 1, progress)
    best = dict(zip(texts, rankings, strict=True))
    return tuple(frozenset(one for text in part for one in best[text]) for part in parts)


def is_correct(chosen: frozenset[str], gold: Gold) -> bool:
    """Whether exactly what is needed was chosen: each need is served, by one tool, and nothing else
    was taken.
    """
    needs = list(dict.fromkeys(frozenset(need) for need in gold))
    return len(chosen) == len(needs) and _matched(needs, chosen)


def _matched(needs: Sequence[frozenset[str]], chosen: frozenset[str]) -> bool:
    """Whether the needs can be given one chosen tool each."""
    if not needs:
        return True
    need, *others = needs
    return any(_matched(others, chosen - {one}) for one in need & chosen)
