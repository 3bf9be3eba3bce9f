"""The heatmaps of a catalog: each level on demand, what takes long kept."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.plan import MergePlan
from ui.overlap import collisions
from ui.overlap.figures import CellMeasure
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot
from ui.shared.tools.tool_blocks import Block, blocks_of


@kept()
def blocks(plan: MergePlan, by: str) -> tuple[Block, ...]:
    """The blocks of a grouping, by key."""
    return blocks_of(plan, by)


@kept(most=1)
def block_grid(snapshot: Snapshot, by: str, measure: CellMeasure) -> collisions.BlockGrid:
    """Level one: blocks against blocks; the last one is kept."""
    return collisions.block_grid(snapshot.analysis, blocks(snapshot.plan, by), measure)


@kept()
def whole(analysis: Analysis) -> collisions.Tile:
    """All tools at once, of a catalog of at most ``MOST_WHOLE``; ordered once."""
    return collisions.whole(analysis)


def tile_with(
    catalog: Catalog, drawn: collisions.Tile, selected: Collection[str], only: bool
) -> collisions.Tile:
    """The tile with the selected tools (ids) standing out, or no others."""
    inside = _selected(catalog, selected)
    grid = collisions.with_selection(drawn.grid, inside[drawn.rows], inside[drawn.columns], only)
    return replace(drawn, grid=grid)


def blocks_with(
    catalog: Catalog, blocks: collisions.BlockGrid, selected: Collection[str], only: bool
) -> collisions.BlockGrid:
    """The blocks that hold selected tools (ids) standing out, or no others."""
    inside = _selected(catalog, selected)
    marked = np.array([inside[block.rows].any() for block in blocks.blocks], dtype=bool)
    return replace(blocks, grid=collisions.with_selection(blocks.grid, marked, marked, only))


def _selected(catalog: Catalog, selected: Collection[str]) -> NDArray[np.bool_]:
    return np.array([tool.id in selected for tool in catalog.tools], dtype=bool)
