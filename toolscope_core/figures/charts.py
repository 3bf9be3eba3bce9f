"""Histogram and map of a catalog as Plotly figures. Pure functions."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from toolscope_core.figures import style
from toolscope_core.figures.style import GREY, PALETTE
from toolscope_core.figures.views import Histogram, ToolMap


def histogram(view: Histogram) -> go.Figure:
    """Bars on a log scale, θ marked; the bars from θ on stand out."""
    edges, counts, threshold = view.edges, view.counts, view.threshold
    left, right = np.array(edges[:-1]), np.array(edges[1:])
    near = left >= threshold - 1e-9
    bars = go.Bar(
        x=style.rounded((left + right) / 2),
        y=counts.tolist(),
        width=style.rounded(right - left),
        marker={"color": np.where(near, PALETTE[5], PALETTE[4]).tolist(), "line": {"width": 0}},
        text=[f"{a:.2f} to {b:.2f}" for a, b in zip(left, right, strict=True)],
        textposition="none",
        hovertemplate="%{y:,} pairs<br>%{text}<extra></extra>",
    )
    figure = style.figure([bars], height=380)
    highest = math.log10(max(int(counts.max(initial=1)), 10))
    figure.update_yaxes(type="log", title="pairs of tools", dtick=1, range=[-0.2, highest + 0.2])
    filled = left[counts > 0]
    start = min(float(filled[0]) if len(filled) else threshold, threshold)
    figure.update_xaxes(title="similarity (cosine)", range=[start - 0.05, 1.01])
    figure.update_layout(bargap=0)
    figure.add_vline(
        threshold,
        line={"dash": "dash", "color": GREY},
        annotation={"text": f"θ = {threshold:.2f}"},
        annotation_position="top left",
    )
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
