"""The map of a catalog as a Plotly figure."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from toolscope_core.figures import style
from toolscope_core.figures.style import GREY
from toolscope_core.figures.views import ToolMap


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
