"""The figures of the page as data, and the table of each for those who cannot use a picture."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ui.shared.charts.chart_style import TableRow

CellMeasure = Literal["pairs", "mean", "max", "cosine"]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A heatmap: ``values`` is float64 of shape (rows, columns), NaN for an empty cell.

    ``measure`` says what a cell holds: ``pairs`` a count from 1 (coloured by its logarithm),
    ``mean`` and ``max`` of the cosines between two blocks, ``cosine`` that of two tools. ``cells``
    is int64 of shape (k, 2): the cells that can be chosen, as (row, column), the highest first; of
    a ``symmetric`` grid each once, on or above the diagonal. ``kept``, bool of the shape of
    ``values``, says which cells stand out; ``None`` where all do.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    measure: CellMeasure
    cells: NDArray[np.int64]
    symmetric: bool = True
    kept: NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """A toolset on a plane: ``points`` is float64 of shape (n, 2), the rest has one entry a point.

    ``groups`` says what colours it; ``members`` are the rows of the catalog that it stands for;
    ``texts`` are descriptions, none where they are not shown.
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
    """A crowded place of the map with the words that distinguish its tools from the others;
    ``label`` is the middle of its label (x, y), where no point lies if there is room.
    """

    x: float
    y: float
    words: tuple[str, ...]
    label: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class ToolMap:
    """The same plane once for each of its panels, the first of which holds the whole catalog in
    its order; ``by`` is what the groups are, in the singular.
    """

    panels: tuple[Panel, ...]
    regions: tuple[Region, ...]
    by: str


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands out on a map, as rows of the catalog: all but the ``picked`` are dimmed, or with
    ``only`` left out, unless there is none; ``ringed`` have a ring; lines go from the first of
    ``near`` to the others.
    """

    picked: tuple[int, ...] = ()
    only: bool = False
    ringed: tuple[int, ...] = ()
    near: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Silhouettes:
    """The mean silhouette for each number of clusters, for each variant of a toolset: its name,
    its number of tools, and float64 values, NaN where it has too few tools.
    """

    counts: tuple[int, ...]
    variants: tuple[tuple[str, int, NDArray[np.float64]], ...]

    @property
    def summary(self) -> str:
        """A sentence on the change from the first variant to the last."""
        (_, before, first), (name, after, last) = self.variants[0], self.variants[-1]
        both = ~(np.isnan(first) | np.isnan(last))
        change = last[both] - first[both]
        if not len(change):
            return "There are too few tools left to compare."
        lower = int((change < 0).sum())
        outcome = (
            "fewer tight groups of like tools" if change.mean() < 0 else "no fewer tight groups"
        )
        return (
            f"Of {before:,} tools {after:,} are left when {name}. The silhouette is lower at "
            f"{lower} of {len(change)} numbers of clusters, by {-change.mean():.3f} in the mean: "
            f"{outcome}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class CurveVariant:
    """A toolset of a collision curve: ``pairs`` is int64, the number of pairs of its tools from
    each threshold on.
    """

    name: str
    tools: int
    pairs: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The number of pairs of tools from each similarity on, in one or more variants of a toolset;
    the others are compared with the first.

    ``thresholds`` ascend; ``floor`` is θ, from which on pairs are candidates. ``waiting`` names
    the variants that are not counted yet.
    """

    thresholds: tuple[float, ...]
    floor: float
    variants: tuple[CurveVariant, ...]
    waiting: tuple[str, ...] = ()

    def change(self, variant: CurveVariant) -> NDArray[np.float64]:
        """Pairs more (or less) than in the first variant, as a share; NaN where that has none."""
        base = self.variants[0].pairs.astype(np.float64)
        return np.where(base > 0, variant.pairs / np.maximum(base, 1.0) - 1.0, np.nan)


def curve_rows(view: Curve) -> list[TableRow]:
    """A row for each threshold, ascending: the pairs of each variant, and how they changed."""
    columns: dict[str, list[int] | list[str]] = {}
    for place, variant in enumerate(view.variants):
        columns[f"pairs, {variant.name}"] = variant.pairs.tolist()
        if place:
            columns[f"change, {variant.name}"] = [_percent(x) for x in view.change(variant)]
    return [
        {"from": threshold, **{name: values[at] for name, values in columns.items()}}
        for at, threshold in enumerate(view.thresholds)
    ]


def grid_rows(grid: Grid) -> list[TableRow]:
    """The cells that can be chosen, in their order."""
    return [
        {
            "one": grid.rows[row],
            "other": grid.columns[column],
            grid.measure: round(float(grid.values[row, column]), 4),
        }
        for row, column in grid.cells.tolist()
    ]


def map_rows(tools: ToolMap) -> list[TableRow]:
    """A row for each tool of the first panel, with the point of each further one that holds it."""
    first, *others = tools.panels
    rows: list[TableRow] = [
        {"tool": name, "server": server, tools.by: group, "x": x, "y": y}
        for name, server, group, (x, y) in zip(
            first.names, first.servers, first.groups, first.points.round(3).tolist(), strict=True
        )
    ]
    if tools.by == "server":
        rows = [{key: row[key] for key in ("tool", "server", "x", "y")} for row in rows]
    for panel in others:
        for name, members in zip(panel.names, panel.members, strict=True):
            for member in members:
                merged = f"{name} ({len(members)} tools)" if len(members) > 1 else "as it is"
                rows[member] = {**rows[member], panel.title: merged}
    return rows


def silhouette_rows(view: Silhouettes) -> list[TableRow]:
    """A row for each number of clusters, ascending."""
    return [
        {
            "clusters": count,
            **{
                name: "" if np.isnan(values[at]) else round(float(values[at]), 4)
                for name, _, values in view.variants
            },
        }
        for at, count in enumerate(view.counts)
    ]


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{share:+.1%}"
