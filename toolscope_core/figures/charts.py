"""Heatmap and map of a catalog as Plotly figures. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from toolscope_core.figures import style
from toolscope_core.figures.style import GREY, label
from toolscope_core.figures.views import Grid, ToolMap

MOST_CELLS = 200
"""Longest side of a heatmap: beyond it nobody can read it and it is slow to send."""

FEW_CELLS = 24
"""Up to as many a side, the columns are labelled too and the cells carry their count."""

HEAT = ((0.0, "rgba(86,180,233,0.15)"), (0.5, "rgba(0,114,178,0.9)"), (1.0, "rgba(230,130,0,1)"))


def heatmap(grid: Grid) -> go.Figure:
    """The grid as cells. Raises ``ValueError`` beyond ``MOST_CELLS`` a side."""
    side = len(grid.names)
    if side > MOST_CELLS:
        raise ValueError(f"a heatmap of {side} a side cannot be read; give at most {MOST_CELLS}")
    names = [label(name, 32) for name in grid.names]
    few = side <= FEW_CELLS
    figure = style.figure([_cells(grid, names)], height=min(160 + (34 if few else 14) * side, 1000))
    plain = {"showgrid": False, "zeroline": False, "tickfont": {"size": 12 if few else 10}}
    ticks = {"tickvals": list(range(side)), "ticktext": names}
    figure.update_xaxes(**plain, **ticks, tickangle=-45, showticklabels=few)
    figure.update_yaxes(**plain, **ticks, autorange="reversed")
    return figure


def tool_map(tools: ToolMap) -> go.Figure:
    """Tools where their embeddings put them: coloured by server, ringed where in a cluster."""
    rings = np.flatnonzero(tools.clustered)
    traces = [
        go.Scattergl(
            x=style.rounded(tools.points[rings, 0]),
            y=style.rounded(tools.points[rings, 1]),
            mode="markers",
            name="in a cluster",
            marker={"symbol": "circle-open", "size": 12, "color": GREY, "line": {"width": 1.5}},
            hoverinfo="skip",
        )
    ]
    for place, (server, rows) in enumerate(style.by_server(tools.servers)):
        colour, symbol = style.look(place)
        traces.append(
            go.Scattergl(
                x=style.rounded(tools.points[rows, 0]),
                y=style.rounded(tools.points[rows, 1]),
                mode="markers",
                name=server,
                marker={"size": 6, "color": colour, "symbol": symbol},
                text=[style.hover(tools.names[row], tools.servers[row]) for row in rows],
                hovertemplate="%{text}<extra></extra>",
            )
        )
    figure = style.figure(traces, height=560)
    style.hide_axes(figure)
    return figure


def _cells(grid: Grid, names: Sequence[str]) -> go.Heatmap:
    counted = grid.measure == "pairs"
    values = np.log10(grid.values) if counted else grid.values
    highest = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
    bar: dict[str, Any] = {
        "title": {"text": "pairs" if counted else "cosine", "side": "right"},
        "thickness": 12,
        "outlinewidth": 0,
    }
    if counted:
        counts = sorted({round(10 ** (highest * part / 3)) for part in range(4)})
        bar |= {"tickvals": np.log10(counts).tolist(), "ticktext": [f"{n:,}" for n in counts]}
    return go.Heatmap(
        z=style.rounded(values),
        text=[[_short(value) for value in row] for row in grid.values.tolist()],
        customdata=[
            [f"{a}<br>{b}<br>{_said(value, counted)}" for b, value in zip(names, row, strict=True)]
            for a, row in zip(names, grid.values.tolist(), strict=True)
        ],
        texttemplate="%{text}" if counted and len(names) <= FEW_CELLS else None,
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=[list(stop) for stop in HEAT],
        zmin=0.0 if counted else None,
        zmax=max(highest, 0.1) if counted else 1.0,
        colorbar=bar,
        hoverongaps=False,
        xgap=1,
        ygap=1,
    )


def _short(count: float) -> str:
    return "" if math.isnan(count) else f"{count:,.0f}"


def _said(value: float, counted: bool) -> str:
    if math.isnan(value):
        return ""
    return f"{_short(value)} pairs" if counted else f"cosine {value:.3f}"
