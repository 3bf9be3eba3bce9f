"""Where tools collide: an overview of blocks, and two blocks in detail."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import leaf_order
from toolscope_core.embedding.vector_cache import ArrayCache
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.coverage import ServerCoverage
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool, digest
from ui.shared.kept import kept
from ui.shared.pictures import TableRow
from ui.shared.services import server_advice
from ui.shared.snapshot import Snapshot
from ui.shared.tools.tool_blocks import ToolBlock, ToolRows, blocks_of

CellMeasure = Literal["share", "mean", "max", "cosine"]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A heatmap.

    ``values`` is float64 with shape (rows, columns); an empty cell is NaN. ``measure`` says what a
    cell means: ``share`` is the share of the row's tools whose job the column does, ``mean`` and
    ``max`` are taken over the cosines between two blocks, and ``cosine`` is the cosine of two
    tools. ``cells`` is int64 with shape (k, 2): the selectable cells as (row, column), highest
    first. In a ``symmetric`` grid, each appears only once, on or above the diagonal.
    ``has_diagonal`` says that row n and column n are the same. ``highlighted`` is bool with the
    shape of ``values`` and marks the cells that stand out; ``None`` means all cells.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    measure: CellMeasure
    cells: NDArray[np.int64]
    symmetric: bool = True
    has_diagonal: bool = True
    highlighted: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """A toolset drawn on a plane.

    ``points`` is float64 with shape (n, 2); the fields in the plural have one entry for each point.
    ``groups`` decide the colours. ``members`` are the catalog rows that each point represents.
    ``texts`` are descriptions, and empty if descriptions are not shown.
    """

    title: str
    points: NDArray[np.float64]
    names: tuple[str, ...]
    servers: tuple[str, ...]
    groups: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Region:
    """A crowded place on the map, with the topics that distinguish its tools from the others.

    ``label`` is the middle of the label as (x, y). If there is room, no point lies there.
    """

    x: float
    y: float
    words: tuple[str, ...]
    label: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class ToolMap:
    """Panels on the same plane. The first panel has the whole catalog, in order.

    ``grouping`` is the name for one group, in the singular.
    """

    panels: tuple[Panel, ...]
    regions: tuple[Region, ...]
    grouping: str


@dataclass(frozen=True, slots=True)
class Marks:
    """What a map highlights, as catalog rows.

    If there are ``picked`` tools, all others are dimmed; with ``only``, the others are left out.
    The ``ringed`` tools have a ring around them. Lines lead from the first of ``near`` to the
    others.
    """

    picked: tuple[int, ...] = ()
    only: bool = False
    ringed: tuple[int, ...] = ()
    near: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class CurveVariant:
    """One toolset in a collision curve.

    ``pairs`` is int64: for each threshold, the number of pairs of tools whose similarity is at
    least that high.
    """

    name: str
    tools: int
    pairs: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """For each similarity, the number of pairs of tools that are at least as similar, in one or
    more variants of a toolset.

    The first variant is the one that the others are compared with. ``thresholds`` ascend. ``floor``
    is the threshold from which pairs are candidates. ``uncounted`` names the variants that are not
    counted yet.
    """

    thresholds: tuple[float, ...]
    floor: float
    variants: tuple[CurveVariant, ...]
    uncounted: tuple[str, ...] = ()

    def change(self, variant: CurveVariant) -> NDArray[np.float64]:
        """The relative change in the number of pairs from the first variant. NaN where the first
        variant has none.
        """
        base = self.variants[0].pairs.astype(np.float64)
        return np.where(base > 0, variant.pairs / np.maximum(base, 1.0) - 1.0, np.nan)


def curve_rows(view: Curve) -> list[TableRow]:
    """A row for each threshold, in ascending order, with the pairs of each
    variant and the change.
    """
    columns: dict[str, list[int] | list[str]] = {}
    for place, variant in enumerate(view.variants):
        columns[f"pairs, {variant.name}"] = variant.pairs.tolist()
        if place:
            columns[f"change, {variant.name}"] = [
                "" if np.isnan(share) else f"{share:+.1%}" for share in view.change(variant)
            ]
    return [
        {"from": threshold, **{name: values[at] for name, values in columns.items()}}
        for at, threshold in enumerate(view.thresholds)
    ]


def grid_rows(grid: Grid) -> list[TableRow]:
    """The selectable cells, in order, as rows."""
    one, other, value = (
        ("tools of", "done by", "share done")
        if grid.measure == "share"
        else ("one", "other", grid.measure)
    )
    return [
        {
            one: grid.rows[row],
            other: grid.columns[column],
            value: round(float(grid.values[row, column]), 4),
        }
        for row, column in grid.cells.tolist()
    ]


def map_rows(tools: ToolMap) -> list[TableRow]:
    """A row for each tool of the first panel. It has the tool's point in each other panel that
    contains the tool.
    """
    first, *others = tools.panels
    rows: list[TableRow] = [
        {"tool": name, "server": server, tools.grouping: group, "x": x, "y": y}
        for name, server, group, (x, y) in zip(
            first.names, first.servers, first.groups, first.points.round(3).tolist(), strict=True
        )
    ]
    for panel in others:
        for name, members in zip(panel.names, panel.members, strict=True):
            for member in members:
                merged = f"{name} ({len(members)} tools)" if len(members) > 1 else "as it is"
                rows[member] = {**rows[member], panel.title: merged}
    return rows


MOST_BLOCKS = 200
MOST_TOOLS = 400
MOST_WHOLE = 1_000
MOST_CELLS = 1_000
"""The maximum number of cells that can be chosen, the highest ones. Each cell needs one or two
markers.
"""

_CHUNK = 2_048
_ROUNDING = 5e-7
"""How far below the threshold a cosine may be and still reach it, because stored cosines have six
digits.
"""


@dataclass(frozen=True, slots=True, eq=False)
class BlockGrid:
    """Blocks compared with blocks.

    ``blocks`` are in the order of the grid's rows. They are the strongest of ``total`` blocks.
    ``outside`` is the number of tools without a block.
    """

    blocks: tuple[ToolBlock, ...]
    grid: Grid
    total: int
    outside: int


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """The tools of one block compared by cosine with those of another block, or all tools with all.

    ``rows`` and ``columns`` are catalog rows in the order of the grid. ``left_out`` is the number
    of tools on each side that did not fit. ``near`` is the number of pairs, shown or not, that
    reach the threshold. ``candidates`` is the number of candidate pairs, which the judge has
    judged.
    """

    rows: ToolRows
    columns: ToolRows
    grid: Grid
    left_out: tuple[int, int]
    near: int
    candidates: int

    @property
    def in_words(self) -> str:
        """How many pairs reach the threshold, and why this is not the number of candidate pairs."""
        if self.near == self.candidates:
            return f"{quantity(self.near, 'pair')} at the threshold or more"
        return (
            f"{quantity(self.near, 'pair')} at the threshold or more, {self.candidates:,} "
            "candidate pairs (each tool is compared only with its nearest tools; exact copies "
            "count as one tool; tools whose names say the same are always compared)"
        )


def block_grid(
    analysis: Analysis,
    servers: ServerCoverage,
    blocks: Sequence[ToolBlock],
    measure: CellMeasure,
    order_of: Callable[[Vectors], Sequence[int]] = leaf_order,
) -> BlockGrid:
    """The ``MOST_BLOCKS`` blocks with the most candidate pairs, compared with each other. Similar
    blocks are adjacent.

    ``share`` is the share of the row's tools whose job a tool in the column does, according to
    ``servers``; it is empty if there are none. ``max`` is the closest candidate pair. ``mean`` is
    the exact mean cosine over all pairs. Cells on the diagonal compare a block with itself. The
    measure does not affect which blocks are shown, nor their order. ``order_of`` puts similar
    vectors next to each other.
    """
    counts, closest = _candidates(analysis, blocks)
    strength = counts.sum(axis=1)
    smallest = np.array([-len(block) for block in blocks])
    by_strength = np.lexsort((np.arange(len(blocks)), smallest, -strength))
    strongest = [blocks[at] for at in sorted(by_strength[:MOST_BLOCKS].tolist())]
    sizes = np.array([len(b) for b in strongest], dtype=np.float64)
    sums = np.array([analysis.vectors[b.rows].sum(axis=0, dtype=np.float64) for b in strongest])
    sums = sums.reshape(len(strongest), analysis.vectors.shape[1])
    order = order_of((sums / sizes[:, None]).astype(np.float32))
    positions = np.sort(by_strength[:MOST_BLOCKS])[order]
    strongest = [strongest[at] for at in order]
    if measure == "mean":
        values = _means(sums[order], sizes[order])
    else:
        if measure == "share":
            values = _shares(servers, strongest)
        else:
            values = closest[np.ix_(positions, positions)]
        is_own = np.eye(len(values), dtype=bool) & (measure == "share")
        values = np.where((values > 0) | is_own, values, np.nan)
    names = distinct([f"{b.name} ({len(b):,})" for b in strongest])
    inside = sum(len(b) for b in blocks)
    return BlockGrid(
        blocks=tuple(strongest),
        grid=(
            Grid(names, names, values, measure, strongest_cells(values, False), symmetric=False)
            if measure == "share"
            else _symmetric(names, values, measure, own=0)
        ),
        total=len(blocks),
        outside=len(analysis.catalog.tools) - inside,
    )


def tile(analysis: Analysis, one: ToolBlock, other: ToolBlock) -> Tile:
    """Two blocks in detail, or one block compared with itself.

    The tile has the ``MOST_TOOLS`` tools of each block that are closest to the other block. Similar
    tools are adjacent.
    """
    is_diagonal = one.key == other.key
    vectors = analysis.vectors
    strongest, near = _strongest(vectors, one.rows, other.rows, analysis.threshold)
    sides = []
    for block, close in zip((one, other), strongest, strict=True):
        closest = np.sort(np.lexsort((block.rows, -close))[:MOST_TOOLS])
        strong = block.rows[closest]
        sides.append(strong[leaf_order(vectors[strong])])
    left_out = (len(one) - len(sides[0]), len(other) - len(sides[1]))
    rows, columns = sides[0], sides[0] if is_diagonal else sides[1]
    candidates, _ = _candidates(analysis, [one] if is_diagonal else [one, other])
    grid = _tools_grid(analysis.catalog.tools, vectors, rows, columns, is_diagonal)
    return Tile(rows, columns, grid, left_out, near, int(candidates[0, -1]))


@kept()
def whole(analysis: Analysis) -> Tile:
    """All tools compared with all. There may be at most ``MOST_WHOLE`` tools."""
    rows = np.array(leaf_order(analysis.vectors), dtype=np.int64)
    grid = _tools_grid(analysis.catalog.tools, analysis.vectors, rows, rows, is_diagonal=True)
    near = int((pair_cosines(grid) >= analysis.threshold - _ROUNDING).sum())
    return Tile(rows, rows, grid, (0, 0), near, len(analysis.scores))


def compared_by(analysis: Analysis, tile: Tile, vectors: Vectors) -> Tile:
    """The same tools in the same places, compared with other unit vectors of the catalog's tools.

    ``near`` counts only the pairs that are shown.
    """
    tools, is_diagonal = analysis.catalog.tools, tile.grid.symmetric
    grid = _tools_grid(tools, vectors, tile.rows, tile.columns, is_diagonal)
    near = int((pair_cosines(grid) >= analysis.threshold - _ROUNDING).sum())
    return replace(tile, grid=grid, near=near)


def pair_cosines(grid: Grid) -> NDArray[np.float64]:
    """The values of a grid of tools, with each pair only once."""
    values = grid.values
    return values[np.triu_indices(len(values), 1)] if grid.symmetric else values.ravel()


def pair_at(analysis: Analysis, tile: Tile, cell: int) -> Pair:
    """The two tools of a selectable cell."""
    row, column = tile.grid.cells[cell]
    tools = analysis.catalog.tools
    return Pair.of(tools[tile.rows[row]].id, tools[tile.columns[column]].id)


def with_selection(
    grid: Grid, rows: NDArray[np.bool_], columns: NDArray[np.bool_], only: bool
) -> Grid:
    """The grid with the cells of selected rows or columns highlighted.

    With ``only``, the other cells are empty and cannot be selected.
    """
    is_selected = np.logical_or.outer(rows, columns)
    if not only:
        return replace(grid, highlighted=is_selected)
    cells = grid.cells[is_selected[grid.cells[:, 0], grid.cells[:, 1]]]
    return replace(grid, values=np.where(is_selected, grid.values, np.nan), cells=cells)


def titles(tools: Sequence[Tool]) -> list[str]:
    """The axis labels of tools. The servers are included unless all tools are on the same one."""
    if len({tool.owner for tool in tools}) == 1:
        return [tool.name for tool in tools]
    return [f"{tool.name} · {tool.owner}" if tool.owner else tool.name for tool in tools]


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with repeated ones numbered so that each name identifies its row."""
    counts: Counter[str] = Counter()
    labels = []
    for name in names:
        counts[name] += 1
        labels.append(name if counts[name] == 1 else f"{name} #{counts[name]}")
    return tuple(labels)


def strongest_cells(
    values: NDArray[np.float64], symmetric: bool, own: int = 0, limit: int = MOST_CELLS
) -> NDArray[np.int64]:
    """The filled cells, highest first, then by row and column, as int64 with shape (k, 2).

    In a symmetric grid, only the cells at least ``own`` columns to the right of the diagonal.
    """
    filled = np.isfinite(values)
    cells = np.argwhere(np.triu(filled, own) if symmetric else filled)
    order = np.argsort(-values[cells[:, 0], cells[:, 1]], kind="stable")[:limit]
    return cells[order].astype(np.int64)


def _candidates(
    analysis: Analysis, blocks: Sequence[ToolBlock]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each pair of blocks, the number of candidate pairs and the cosine of the closest one."""
    owner = np.full(len(analysis.catalog.tools), -1, dtype=np.int64)
    for at, block in enumerate(blocks):
        owner[block.rows] = at
    scores, side = analysis.scores, len(blocks)
    left, right = np.sort((owner[scores.left], owner[scores.right]), axis=0)
    inside = left >= 0
    left, right = left[inside], right[inside]
    counts, closest = np.zeros((side, side)), np.zeros((side, side))
    np.add.at(counts, (left, right), 1.0)
    np.maximum.at(closest, (left, right), scores.similarity[inside])
    return np.maximum(counts, counts.T), np.maximum(closest, closest.T)


def _shares(servers: ServerCoverage, blocks: Sequence[ToolBlock]) -> NDArray[np.float64]:
    """For each two blocks, the share of the first block's remaining tools whose job a tool in the
    second does.
    """
    tools = servers.catalog.tools
    home = {tools[row].id: at for at, block in enumerate(blocks) for row in block.rows.tolist()}
    done, sizes = np.zeros((len(blocks), len(blocks))), np.zeros(len(blocks))
    for at, block in enumerate(blocks):
        for tool in (tools[row] for row in block.rows.tolist()):
            if tool.id not in servers.removed_ids:
                sizes[at] += 1
                others = {home[other] for other in servers.of_same_job(tool) if other in home}
                done[at, list(others)] += 1
    return done / np.maximum(sizes, 1)[:, None]


def _means(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean cosines between blocks, from the sums of their unit vectors. NaN for a block of one tool
    compared with itself.
    """
    values = (sums @ sums.T) / np.outer(sizes, sizes)
    own = (sums**2).sum(axis=1) - sizes
    pairs = sizes * (sizes - 1)
    np.fill_diagonal(values, np.where(pairs > 0, own / np.maximum(pairs, 1), np.nan))
    return values


def _strongest(
    vectors: Vectors, one: ToolRows, other: ToolRows, threshold: float
) -> tuple[tuple[NDArray[np.float32], NDArray[np.float32]], int]:
    """Each tool's highest cosine with a tool on the other side, and how many pairs reach the
    threshold.

    A tool is not compared with itself.
    """
    best_one = np.full(len(one), -1.0, dtype=np.float32)
    best_other = np.full(len(other), -1.0, dtype=np.float32)
    near = 0
    for start in range(0, len(one), _CHUNK):
        part = slice(start, start + _CHUNK)
        product = vectors[one[part]] @ vectors[other].T
        product[one[part][:, None] == other[None, :]] = -1.0
        best_one[part] = product.max(axis=1, initial=-1.0)
        best_other = np.maximum(best_other, product.max(axis=0, initial=-1.0))
        near += int((product >= threshold - _ROUNDING).sum())
    return (best_one, best_other), near // 2 if np.array_equal(one, other) else near


def _tools_grid(
    tools: Sequence[Tool], vectors: Vectors, rows: ToolRows, columns: ToolRows, is_diagonal: bool
) -> Grid:
    values = np.clip(vectors[rows] @ vectors[columns].T, -1.0, 1.0).astype(np.float64).round(6)
    names = distinct(titles([tools[row] for row in rows]))
    if is_diagonal:
        return _symmetric(names, np.maximum(values, values.T), "cosine", own=1)
    column_names = distinct(titles([tools[row] for row in columns]))
    cells = strongest_cells(values, False)
    return Grid(names, column_names, values, "cosine", cells, symmetric=False, has_diagonal=False)


def _symmetric(
    names: tuple[str, ...], values: NDArray[np.float64], measure: CellMeasure, own: int
) -> Grid:
    return Grid(names, names, values, measure, strongest_cells(values, True, own))


@kept()
def blocks(plan: MergePlan, grouping: str) -> tuple[ToolBlock, ...]:
    """The blocks of a grouping, ordered by key."""
    return blocks_of(plan, grouping)


@kept(limit=1)
def grid_of(snapshot: Snapshot, grouping: str, measure: CellMeasure) -> BlockGrid:
    """The first level: blocks compared with blocks. The last grid is cached."""
    servers = server_advice.coverage(snapshot)
    shown = blocks(snapshot.plan, grouping)
    return block_grid(
        snapshot.analysis, servers, shown, measure, partial(_stored_order, snapshot.work.arrays)
    )


def _stored_order(arrays: ArrayCache, vectors: Vectors) -> list[int]:
    """The ``leaf_order``, stored on disk because SciPy takes longer to load than most pages."""
    key = digest("leaf order", vectors.shape, vectors.tobytes().hex())
    order = arrays.counts(key, len(vectors))
    if order is None:
        order = np.array(leaf_order(vectors), dtype=np.int64)
        with suppress(ConfigError):  # without the cache, it is computed again
            arrays.write(key, order)
    return [int(row) for row in order]


def tile_with(catalog: Catalog, tile: Tile, selected: Collection[str], only: bool) -> Tile:
    """The tile with the selected tools (ids) highlighted; with ``only``, without the others."""
    inside = _selected(catalog, selected)
    grid = with_selection(tile.grid, inside[tile.rows], inside[tile.columns], only)
    return replace(tile, grid=grid)


def blocks_with(
    catalog: Catalog, blocks: BlockGrid, selected: Collection[str], only: bool
) -> BlockGrid:
    """The blocks with the selected tools (ids) highlighted; with ``only``, without the others."""
    inside = _selected(catalog, selected)
    is_marked = np.array([inside[block.rows].any() for block in blocks.blocks], dtype=bool)
    return replace(blocks, grid=with_selection(blocks.grid, is_marked, is_marked, only))


def _selected(catalog: Catalog, selected: Collection[str]) -> NDArray[np.bool_]:
    return np.array([tool.id in selected for tool in catalog.tools], dtype=bool)
