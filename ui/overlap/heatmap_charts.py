"""Heatmaps of blocks or tools with cells that can be selected. The functions are pure.

Plotly reports clicks on points only. Every selectable cell therefore has a point, whose empty text
is not drawn. Cosines of tools are sent as hundredths; if there are many tools, in one byte each.
"""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.overlap.collisions import Grid
from ui.shared import pictures

_MOST_SIDE = 1_000
"""The maximum number of cells along a side. A browser takes seconds to draw more."""

_FEW = 24
"""Up to this many cells along a side, cells show their count and column labels are slanted."""

LABELS = 72
"""How many labels along a side are legible. If there are more names, only every second, third, …
name is written.
"""

FAINT, BLUE = "rgba(86,180,233,0.12)", "rgba(0,114,178,0.9)"
SAND, YELLOW, _RED = "rgb(228,212,176)", "rgba(240,180,20,1)", "rgba(205,80,0,1)"
_OWN = "rgba(138,143,152,0.35)"
"""The colour of the diagonal, whatever the value is. A block compared with itself
says nothing new.
"""
FADED = 0.15
"""The opacity of dimmed cells."""

_RADIUS = 3
"""How many pixels closer the pointer must be to an empty text than to a marker."""
_UNSEEN = {ord("0"): "\u200b", ord("1"): "\u200c"}
_LETTER, _SLANT = 0.56, 0.71
"""The usual width of a letter in ems, and the share of its length that a slanted label takes up."""

_MANY = 40_000
"""Grids with more cells than this are sent as bytes. Any other way takes longer than drawing the
grid twice.
"""

LOWEST = 0.2
"""Cosines below this have the faintest colour."""


def heatmap(grid: Grid, threshold: float) -> go.Figure:
    """The grid drawn as cells. Cosines at or above ``threshold`` are orange, lower ones blue.

    The last trace has the selectable cells: its point p is cell p of ``grid.cells``. In a symmetric
    grid, point k + p is the mirrored cell p; ``cell_at`` maps it back. Raises ``ValueError`` if a
    side has more than ``_MOST_SIDE`` cells.
    """
    height, width = grid.values.shape
    if max(height, width) > _MOST_SIDE:
        raise ValueError(f"a heatmap of {height} x {width} is too large; the limit is {_MOST_SIDE}")
    names = {"x": _different(grid.columns), "y": _different(grid.rows)}
    own = np.eye(height, width, dtype=bool) & grid.has_diagonal
    cells = _cells(grid, threshold, own) | names
    traces = [cells]
    if grid.highlighted is not None:
        gap = None if cells["z"].dtype == object else np.float32(np.nan)
        bright = {"z": np.where(grid.highlighted, cells["z"], gap)}
        traces = [cells | {"opacity": FADED, "showscale": False}, cells | bright]
    if grid.measure != "cosine":
        grey = {"z": _sent(np.where(own, _shown(grid), np.nan)), "showscale": False}
        traces.insert(0, cells | grey | {"colorscale": [[0.0, _OWN], [1.0, _OWN]]})
    figure = pictures.figure([*traces, _points(grid, **names)], height=_pixels(height))
    reach = _RADIUS + max(3, 1100 // max(2 * width, 1))
    figure.update_layout(dragmode="pan", clickmode="event+select", hoverdistance=reach)
    plain = {"showgrid": False, "zeroline": False, "ticks": ""}
    figure.update_xaxes(**plain)
    figure.update_yaxes(**plain)
    below = _axis(figure, "x", names["x"], [pictures.label(name, 26) for name in grid.columns])
    label_width = _axis(figure, "y", names["y"], [pictures.label(name, 36) for name in grid.rows])
    if width <= _FEW:  # slanted labels extend down and to the left
        below *= _SLANT
        label_width = max(label_width, below)
    figure.update_layout(margin={"l": label_width, "b": below})
    return figure


def cell_at(grid: Grid, point: int) -> int | None:
    """The index in ``grid.cells`` of the cell at a point; ``None`` if the grid
    has no such point.
    """
    total = len(grid.cells)
    if not 0 <= point < (2 * total if grid.symmetric else total):
        return None
    return point % total


def _pixels(rows: int) -> int:
    cell_size = 34 if rows <= _FEW else 14
    return min(170 + cell_size * max(rows, 2), 1060)


def _shown(grid: Grid) -> NDArray[np.float64]:
    """The values as the pointer shows them."""
    if grid.measure == "cosine":
        return np.clip(np.floor(grid.values * 100 + 1e-6), 0, 100)
    return (grid.values * 100).round() if grid.measure == "share" else grid.values.round(3)


def _cells(grid: Grid, threshold: float, own: NDArray[np.bool_]) -> dict[str, Any]:
    """All cells. Those marked in ``own`` are empty, except in very large grids of cosines.

    This function and those below use plain dicts: Plotly would check each value of a trace object
    again.
    """
    values = _shown(grid)
    if grid.measure != "cosine" or values.size <= _MANY:
        values = np.where(own, np.nan, values)
    elif not np.isnan(values).any():
        values = values.astype(np.uint8)
    else:
        values = values.astype(np.float32)
    gap = 1 if max(values.shape) <= LABELS else 0
    cells = {
        "type": "heatmap",
        "z": _sent(values),
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        "hovertemplate": f"{_SENTENCES[grid.measure]}<extra></extra>",
    }
    if grid.measure != "share":
        return cells | _cosines(threshold, 100 if grid.measure == "cosine" else 1)
    is_small = max(values.shape) <= _FEW
    shares = np.nan_to_num(values).astype(int).tolist() if is_small else []
    return cells | {
        "text": [[f"{n}\u202f%" if n else "" for n in row] for row in shares] or None,
        "texttemplate": "%{text}" if is_small else None,
        "colorscale": [[0.0, SAND], [0.5, YELLOW], [1.0, _RED]],
        "zmin": 0,
        "zmax": 100,
        "colorbar": _bar("share done", [*range(0, 101, 25)], [f"{n} %" for n in range(0, 101, 25)]),
    }


_SENTENCES = {
    "share": "%{x}<br>does %{z} % of the tools of<br>%{y}",
    "mean": "%{y}<br>%{x}<br>mean cosine %{z:.3f}",
    "max": "%{y}<br>%{x}<br>closest pair, cosine %{z:.3f}",
    "cosine": "%{y}<br>%{x}<br>cosine %{z} of 100",
}


def _sent(values: NDArray[Any]) -> NDArray[Any]:
    return pictures.json_numbers(values) if values.size <= _MANY else values


def _cosines(threshold: float, unit: int) -> dict[str, Any]:
    low = min(LOWEST, threshold - 0.1)
    at = (threshold - low) / (1 - low)
    marks = sorted({*(round(n / 10, 1) for n in range(11) if low <= n / 10), round(threshold, 2)})
    marks = [n for n in marks if n == round(threshold, 2) or abs(n - threshold) >= 0.04]
    tick_labels = [f"threshold {n:.2f}" if n == round(threshold, 2) else f"{n:.1f}" for n in marks]
    return {
        "colorscale": [[0.0, FAINT], [at, BLUE], [at, YELLOW], [1.0, _RED]],
        "zmin": low * unit,
        "zmax": unit,
        "colorbar": _bar("cosine", [n * unit for n in marks], tick_labels),
    }


def _bar(title: str, marks: list[float], tick_labels: list[str]) -> dict[str, Any]:
    return {
        "title": {"text": title, "side": "right"},
        "thickness": 12,
        "outlinewidth": 0,
        "tickvals": marks,
        "ticktext": tick_labels,
    }


def _points(grid: Grid, x: list[str], y: list[str]) -> dict[str, Any]:
    rows, columns = grid.cells[:, 0], grid.cells[:, 1]
    values = grid.values[rows, columns]
    if grid.symmetric:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        values = np.concatenate([values, values])
    is_share = grid.measure == "share"
    template = re.sub(r"%{z[^}]*}( of 100)?", "%{customdata}", _SENTENCES[grid.measure])
    values_in_words = [f"{n:.0%}"[:-1] if is_share else f"{n:.3f}" for n in values.tolist()]
    return {
        "type": "scatter",
        "x": np.array(x, dtype=object)[columns],
        "y": np.array(y, dtype=object)[rows],
        "mode": "text",
        "customdata": np.array(values_in_words, dtype=object),
        "hovertemplate": f"{template}<extra>click</extra>",
        "hoverlabel": {"bgcolor": "rgb(45,49,58)", "font": {"color": "white"}},
        "showlegend": False,
    }


def _different(names: Sequence[str]) -> list[str]:
    """A label for each name, all different. Equal labels get different endings of zero-width
    digits.
    """
    labels, counts = [], Counter[str]()
    for text in map(pictures.label, names):
        labels.append(text + f"{counts[text]:b}".translate(_UNSEEN) * bool(counts[text]))
        counts[text] += 1
    return labels


def _axis(figure: go.Figure, side: str, names: list[str], labels: list[str]) -> float:
    """Draw an axis that shows every name at the pointer, but only as many labels as are legible.

    Returns the length in pixels of the longest label. Plotly could find the margins itself, but
    only by drawing twice.
    """
    last, size = len(names) - 0.5, 12 if len(names) <= _FEW else 10
    step = max(-(-len(names) // LABELS), 1)
    axis: dict[str, Any] = {
        "type": "category",
        "categoryarray": names,
        "tickvals": list(range(0, len(names), step)),
        "ticktext": labels[::step],
        "range": [-0.5, last] if side == "x" else [last, -0.5],
        "tickfont": {"size": size},
        "automargin": False,
    }
    if side == "x":
        axis["tickangle"] = -45 if len(names) <= _FEW else -90
    figure.update_layout({f"{side}axis": axis})
    return 16 + size * max((_ems(text) for text in labels[::step]), default=0)


def _ems(text: str) -> float:
    """The approximate width of a label, in ems."""
    return sum(
        1.0 if unicodedata.east_asian_width(char) in "WF" else _LETTER
        for char in html.unescape(text)
    )
