"""The heatmaps of a catalog: each level on demand, what takes long kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import leaf_order
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Vectors
from ui.overlap import collisions
from ui.overlap.collisions import distinct, strongest_cells, titled
from ui.overlap.figures import CellMeasure, Grid
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace
from ui.shared.tools.tool_blocks import Block, blocks_of, groupings

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


class Heatmaps:
    """Blocks, two blocks close up, all tools, and queries."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._wholes: ResultCache[collisions.Tile] = ResultCache()
        self._groupings: ResultCache[tuple[str, ...]] = ResultCache()
        self._blocks: ResultCache[tuple[Block, ...]] = ResultCache()
        self._grids: ResultCache[collisions.BlockGrid] = ResultCache()

    def groupings(self, catalog_id: int) -> tuple[str, ...]:
        """By what the tools can be put in blocks; what the owner knows best first."""
        catalog = self._analyses.required(catalog_id).catalog
        return self._groupings.get(catalog_id, (catalog,), lambda: groupings(catalog))

    def blocks(self, catalog_id: int, by: str) -> tuple[Block, ...]:
        """The blocks of a grouping, by key; the last ones are kept."""
        plan = self._review.plan(catalog_id)
        return self._blocks.get(catalog_id, (plan,), lambda: blocks_of(plan, by), state=by)

    def block_grid(self, catalog_id: int, by: str, measure: CellMeasure) -> collisions.BlockGrid:
        """Level one: blocks against blocks; the last one is kept."""
        plan = self._review.plan(catalog_id)

        def make() -> collisions.BlockGrid:
            blocks = self.blocks(catalog_id, by)
            return collisions.block_grid(self._analyses.required(catalog_id), blocks, measure)

        return self._grids.get(catalog_id, (plan,), make, state=(by, measure))

    def tile(self, catalog_id: int, one: Block, other: Block) -> collisions.Tile:
        """Level two: the tools of two blocks."""
        return collisions.tile(self._analyses.required(catalog_id), one, other)

    def whole_fits(self, catalog_id: int) -> bool:
        """Whether the tools are few enough to be seen all at once."""
        return len(self._analyses.required(catalog_id).catalog.tools) <= collisions.MOST_WHOLE

    def whole(self, catalog_id: int) -> collisions.Tile:
        """All tools at once, where ``whole_fits``; ordered once."""
        analysis = self._analyses.required(catalog_id)
        return self._wholes.get(catalog_id, (analysis,), lambda: collisions.whole(analysis))

    def tile_with(
        self, catalog_id: int, drawn: collisions.Tile, selected: Collection[str], only: bool
    ) -> collisions.Tile:
        """The tile with the selected tools (ids) standing out, or no others."""
        inside = self._selected(catalog_id, selected)
        grid = collisions.with_selection(
            drawn.grid, inside[drawn.rows], inside[drawn.columns], only
        )
        return replace(drawn, grid=grid)

    def blocks_with(
        self, catalog_id: int, blocks: collisions.BlockGrid, selected: Collection[str], only: bool
    ) -> collisions.BlockGrid:
        """The blocks that hold selected tools (ids) standing out, or no others."""
        inside = self._selected(catalog_id, selected)
        held = np.array([inside[block.rows].any() for block in blocks.blocks], dtype=bool)
        return replace(blocks, grid=collisions.with_selection(blocks.grid, held, held, only))

    def pair_at(self, catalog_id: int, drawn: collisions.Tile, cell: int) -> Pair:
        """Level three: the two tools of a cell."""
        return collisions.pair_at(self._analyses.required(catalog_id), drawn, cell)

    def queries(self, catalog_id: int, queries: Sequence[str]) -> QueryGrid:
        """Queries against their nearest tools; the first call loads the model.

        Raises ``ConfigError`` for none or more than ``MOST_QUERIES``, ``ModelError`` where the
        model cannot be loaded.
        """
        if not 0 < len(queries) <= MOST_QUERIES:
            raise ConfigError(f"{len(queries)} queries; give one to {MOST_QUERIES}, one a line")
        analysis = self._analyses.required(catalog_id)
        return query_grid(analysis, queries, self._analyses.embed(queries))

    def _selected(self, catalog_id: int, selected: Collection[str]) -> NDArray[np.bool_]:
        tools = self._analyses.required(catalog_id).catalog.tools
        return np.array([tool.id in selected for tool in tools], dtype=bool)


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
