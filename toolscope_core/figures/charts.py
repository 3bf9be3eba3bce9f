"""The map of a catalog as a Plotly figure."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from toolscope_core.figures import style
from toolscope_core.figures.style import GREY
from toolscope_core.figures.views import ToolMap

MOST_SVG = 5_000
"""Up to as many points SVG is on the screen sooner than WebGL."""


def tool_map(tools: ToolMap) -> go.Figure:
    """Tools where their embeddings put them: coloured by server, ringed where in a cluster."""
    scatter = go.Scatter if len(tools.names) <= MOST_SVG else go.Scattergl
    rings = np.flatnonzero(tools.clustered)
    traces = [
        scatter(
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
            scatter(
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
