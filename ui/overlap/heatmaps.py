"""The heatmaps of a catalog: each level on demand, what takes long kept."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ui.overlap import collisions
from ui.overlap.figures import CellMeasure
from ui.shared.services.page_service import PageService
from ui.shared.tools.tool_blocks import Block, blocks_of, groupings


class Heatmaps(PageService):
    """Blocks, two blocks close up, and all tools."""

    def groupings(self, catalog_id: int) -> tuple[str, ...]:
        """By what the tools can be put in blocks; what the owner knows best first."""
        catalog = self._analyses.required(catalog_id).catalog
        return self._cached(("groupings", catalog_id), (catalog,), lambda: groupings(catalog))

    def blocks(self, catalog_id: int, by: str) -> tuple[Block, ...]:
        """The blocks of a grouping, by key; the last ones are kept."""
        plan = self._review.plan(catalog_id)
        return self._cached(("blocks", catalog_id), (plan,), lambda: blocks_of(plan, by), state=by)

    def block_grid(self, catalog_id: int, by: str, measure: CellMeasure) -> collisions.BlockGrid:
        """Level one: blocks against blocks; the last one is kept."""
        plan = self._review.plan(catalog_id)

        def make() -> collisions.BlockGrid:
            blocks = self.blocks(catalog_id, by)
            return collisions.block_grid(self._analyses.required(catalog_id), blocks, measure)

        return self._cached(("grids", catalog_id), (plan,), make, state=(by, measure))

    def whole(self, catalog_id: int) -> collisions.Tile:
        """All tools at once, of a catalog of at most ``MOST_WHOLE``; ordered once."""
        analysis = self._analyses.required(catalog_id)
        return self._cached(("wholes", catalog_id), (analysis,), lambda: collisions.whole(analysis))

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
        marked = np.array([inside[block.rows].any() for block in blocks.blocks], dtype=bool)
        return replace(blocks, grid=collisions.with_selection(blocks.grid, marked, marked, only))

    def _selected(self, catalog_id: int, selected: Collection[str]) -> NDArray[np.bool_]:
        tools = self._analyses.required(catalog_id).catalog.tools
        return np.array([tool.id in selected for tool in tools], dtype=bool)
