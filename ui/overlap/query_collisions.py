"""Queries against tools: where one request lights up several tools that say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from toolscope_core.embedding.candidate_pairs import leaf_order
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.protocols import Vectors
from ui.overlap.collisions import distinct, strongest_cells, titled
from ui.overlap.figures import Grid

MOST_QUERIES = 50
SHOWN_TOOLS = 40
LIT = 0.05
"""A tool so little below a query's best one (in cosine) is lit up too."""


@dataclass(frozen=True, slots=True)
class Echo:
    """A query that lights up several near-identical tools: its best one first, then by cosine."""

    query: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class QueryGrid:
    """Queries against their nearest tools (after RPS, Algorithms 19(6) 447, appendix D)."""

    grid: Grid
    echoes: tuple[Echo, ...]


def query_lines(text: str) -> tuple[str, ...]:
    """The queries of a pasted text, one a line, each once, in their order; blank lines are none."""
    return tuple(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def query_grid(analysis: Analysis, queries: Sequence[str], vectors: Vectors) -> QueryGrid:
    """``vectors`` (float32, unit rows) are those of the queries, made as the tools' were.

    The columns are the nearest tool of each query, then those nearest to any query up to
    ``SHOWN_TOOLS``; like stands beside like. Tools are near-identical at θ or closer.
    """
    cosine = np.clip(vectors @ analysis.vectors.T, -1.0, 1.0).astype(np.float64).round(6)
    rows = np.arange(cosine.shape[1])
    best = np.isin(rows, cosine.argmax(axis=1))
    ranked = np.lexsort((rows, -cosine.max(axis=0), ~best))[: max(SHOWN_TOOLS, best.sum())]
    shown = ranked[leaf_order(analysis.vectors[ranked])]
    names = distinct([titled(analysis.catalog.tools[row]) for row in shown])
    values = cosine[:, shown]
    near = analysis.vectors[shown] @ analysis.vectors[shown].T >= analysis.threshold
    echoes = [
        Echo(query, tuple(names[at] for at in _lit(values[row], near)))
        for row, query in enumerate(queries)
    ]
    cells = strongest_cells(values, symmetric=False)
    return QueryGrid(
        grid=Grid(distinct(queries), names, values, "cosine", cells, symmetric=False),
        echoes=tuple(echo for echo in echoes if len(echo.tools) > 1),
    )


def _lit(values: np.ndarray, near: np.ndarray) -> list[int]:
    """The best column of a query, then those almost as good that are near-identical to it."""
    best = int(values.argmax())
    others = [
        at
        for at in np.argsort(-values, kind="stable").tolist()
        if at != best and values[at] >= values[best] - LIT and near[best, at]
    ]
    return [best, *others]
