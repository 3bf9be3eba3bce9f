"""How sure the judge is of proposals, as a histogram with the bar that takes some of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from toolscope_core.model.cluster import Cluster
from ui.shared.charts import chart_style
from ui.shared.charts.chart_tables import TableRow

BINS = np.linspace(0.0, 1.0, 21)
HEIGHT = 220


def edge_histogram(
    clusters: Sequence[Cluster], taken: Sequence[Cluster], at_least: float
) -> go.Figure:
    """The clusters by their weakest pair (a probability), those that are taken in colour, with a
    line at the least that is asked for.
    """
    every, own = _counts(clusters), _counts(taken)
    middles = (BINS[:-1] + BINS[1:]) / 2
    traces = [
        go.Bar(x=middles, y=own, name="taken", marker={"color": chart_style.PALETTE[0]}),
        go.Bar(x=middles, y=every - own, name="left out", marker={"color": chart_style.GREY}),
    ]
    for trace in traces:
        trace.update(width=0.045, hovertemplate="%{y} " + trace.name + "<extra></extra>")
    figure = chart_style.figure(traces, HEIGHT)
    figure.update_layout(
        barmode="stack",
        xaxis={"title": "weakest pair", "range": [0, 1.01]},
        yaxis={"title": "clusters"},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0},
    )
    figure.add_vline(at_least, line={"color": chart_style.RED, "dash": "dash", "width": 1})
    return figure


def edge_rows(clusters: Sequence[Cluster], taken: Sequence[Cluster]) -> list[TableRow]:
    """The histogram as a table."""
    every, own = _counts(clusters), _counts(taken)
    return [
        {"weakest pair from": round(float(BINS[at]), 2), "taken": int(own[at]),
         "left out": int(every[at] - own[at])}
        for at in range(len(every))
        if every[at]
    ]  # fmt: skip


def _counts(clusters: Sequence[Cluster]) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """How many have their weakest pair in each bin; 1 is in the last."""
    return np.histogram([one.weakest_edge for one in clusters], BINS)[0]
