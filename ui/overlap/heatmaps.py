"""The heatmaps of a catalog: each level on demand, what takes long kept."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair
from ui.overlap import collisions
from ui.overlap.figures import CellMeasure
from ui.overlap.query_collisions import MOST_QUERIES, QueryGrid, query_grid
from ui.overlap.server_overlap import ServerOverlap, server_overlap
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace


class Heatmaps:
    """Blocks, two blocks close up, all tools, servers in words, and queries."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._wholes: ResultCache[collisions.Tile] = ResultCache()
        self._overlaps: ResultCache[ServerOverlap] = ResultCache()
        self._groupings: ResultCache[tuple[str, ...]] = ResultCache()
        self._blocks: ResultCache[tuple[collisions.Block, ...]] = ResultCache()
        self._grids: ResultCache[collisions.BlockGrid] = ResultCache()

    def groupings(self, catalog_id: int) -> tuple[str, ...]:
        """By what the tools can be put in blocks; what the owner knows best first."""
        catalog = self._analyses.required(catalog_id).catalog
        return self._groupings.get(catalog_id, (catalog,), lambda: collisions.groupings(catalog))

    def blocks(self, catalog_id: int, by: str) -> tuple[collisions.Block, ...]:
        """The blocks of a grouping, by key; the last ones are kept."""
        plan = self._review.plan(catalog_id)
        return self._blocks.get(
            catalog_id, (plan,), lambda: collisions.blocks_of(plan, by), state=by
        )

    def block_grid(self, catalog_id: int, by: str, measure: CellMeasure) -> collisions.BlockGrid:
        """Level one: blocks against blocks; the last one is kept."""
        plan = self._review.plan(catalog_id)

        def make() -> collisions.BlockGrid:
            blocks = self.blocks(catalog_id, by)
            return collisions.block_grid(self._analyses.required(catalog_id), blocks, measure)

        return self._grids.get(catalog_id, (plan,), make, state=(by, measure))

    def tile(
        self, catalog_id: int, one: collisions.Block, other: collisions.Block
    ) -> collisions.Tile:
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

    def server_overlap(self, catalog_id: int) -> ServerOverlap:
        """Which servers have the same tools; counted once."""
        analysis = self._analyses.required(catalog_id)
        return self._overlaps.get(catalog_id, (analysis,), lambda: server_overlap(analysis))

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
