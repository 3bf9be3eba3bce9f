"""The heatmaps of a catalog: each level on demand, what takes long kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.datamodel import MergePlan, Pair
from toolscope_core.errors import ConfigError, JobError
from toolscope_core.figures.views import CellMeasure
from toolscope_core.pipeline import Analysis
from toolscope_core.views import collisions
from toolscope_core.views.queries import MOST_QUERIES, QueryGrid, query_grid
from toolscope_core.views.twins import Twins, server_twins
from toolscope_core.workspace.analyses import Analyses
from toolscope_core.workspace.review import Review


class Heatmaps:
    """Blocks, two blocks close up, all tools, servers in words, and queries."""

    def __init__(self, analyses: Analyses, review: Review) -> None:
        self._analyses = analyses
        self._review = review
        self._wholes: dict[int, tuple[Analysis, collisions.Tile]] = {}
        self._twins: dict[int, tuple[Analysis, Twins]] = {}
        self._groupings: dict[int, tuple[str, ...]] = {}
        self._blocks: dict[int, tuple[MergePlan, str, tuple[collisions.Block, ...]]] = {}
        self._grids: dict[int, tuple[MergePlan, tuple[str, CellMeasure], collisions.BlockGrid]] = {}

    def groupings(self, catalog_id: int) -> tuple[str, ...]:
        """By what the tools can be put in blocks; what the owner knows best first."""
        if catalog_id not in self._groupings:  # a catalog never changes
            catalog = self._analysis(catalog_id).catalog
            self._groupings[catalog_id] = collisions.groupings(catalog)
        return self._groupings[catalog_id]

    def blocks(self, catalog_id: int, by: str) -> tuple[collisions.Block, ...]:
        """The blocks of a grouping, by key; the last ones are kept."""
        plan, known = self._review.plan(catalog_id), self._blocks.get(catalog_id)
        if known is None or known[0] is not plan or known[1] != by:
            known = self._blocks[catalog_id] = (plan, by, collisions.blocks_of(plan, by))
        return known[2]

    def block_grid(self, catalog_id: int, by: str, measure: CellMeasure) -> collisions.BlockGrid:
        """Level one: blocks against blocks; the last one is kept."""
        plan, known = self._review.plan(catalog_id), self._grids.get(catalog_id)
        if known is None or known[0] is not plan or known[1] != (by, measure):
            blocks = self.blocks(catalog_id, by)
            made = collisions.block_grid(self._analysis(catalog_id), blocks, measure)
            known = self._grids[catalog_id] = (plan, (by, measure), made)
        return known[2]

    def tile(
        self, catalog_id: int, one: collisions.Block, other: collisions.Block
    ) -> collisions.Tile:
        """Level two: the tools of two blocks."""
        return collisions.tile(self._analysis(catalog_id), one, other)

    def whole_fits(self, catalog_id: int) -> bool:
        """Whether the tools are few enough to be seen all at once."""
        return len(self._analysis(catalog_id).catalog.tools) <= collisions.MOST_WHOLE

    def whole(self, catalog_id: int) -> collisions.Tile:
        """All tools at once, where ``whole_fits``; ordered once."""
        analysis = self._analysis(catalog_id)
        known = self._wholes.get(catalog_id)
        if known is None or known[0] is not analysis:
            known = self._wholes[catalog_id] = (analysis, collisions.whole(analysis))
        return known[1]

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
        self, catalog_id: int, found: collisions.BlockGrid, selected: Collection[str], only: bool
    ) -> collisions.BlockGrid:
        """The blocks that hold selected tools (ids) standing out, or no others."""
        inside = self._selected(catalog_id, selected)
        held = np.array([inside[block.rows].any() for block in found.blocks], dtype=bool)
        return replace(found, grid=collisions.with_selection(found.grid, held, held, only))

    def pair_at(self, catalog_id: int, drawn: collisions.Tile, cell: int) -> Pair:
        """Level three: the two tools of a cell."""
        return collisions.pair_at(self._analysis(catalog_id), drawn, cell)

    def twins(self, catalog_id: int) -> Twins:
        """Which servers have the same tools; counted once."""
        analysis, known = self._analysis(catalog_id), self._twins.get(catalog_id)
        if known is None or known[0] is not analysis:
            known = self._twins[catalog_id] = (analysis, server_twins(analysis))
        return known[1]

    def queries(self, catalog_id: int, queries: Sequence[str]) -> QueryGrid:
        """Queries against their nearest tools; the first call loads the model.

        Raises ``ConfigError`` for none or more than ``MOST_QUERIES``, ``ModelError`` where the
        model cannot be loaded.
        """
        if not 0 < len(queries) <= MOST_QUERIES:
            raise ConfigError(f"{len(queries)} queries; give one to {MOST_QUERIES}, one a line")
        analysis = self._analysis(catalog_id)
        return query_grid(analysis, queries, self._analyses.embed(queries))

    def _selected(self, catalog_id: int, selected: Collection[str]) -> NDArray[np.bool_]:
        tools = self._analysis(catalog_id).catalog.tools
        return np.array([tool.id in selected for tool in tools], dtype=bool)

    def _analysis(self, catalog_id: int) -> Analysis:
        analysis = self._analyses.get(catalog_id)
        if analysis is None:
            raise JobError("the catalog is not analysed yet; start the analysis on its page")
        return analysis
