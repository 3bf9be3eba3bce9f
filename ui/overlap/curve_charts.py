"""The collision curve as a Plotly figure. Pure functions."""

import numpy as np
import plotly.graph_objects as go

from ui.overlap.figures import Curve
from ui.shared.charts import chart_style
from ui.shared.charts.chart_style import GREY, PALETTE

CRITICAL = 0.85
"""From this cosine on a retriever hardly separates two tools (the zone marked in RPS, Fig. 4)."""

ZONE = "rgba(230,159,0,0.16)"
LOOKS = (("circle", "solid"), ("diamond", "dash"), ("square", "dot"))


def collision_curve(view: Curve) -> go.Figure:
    """Pairs from each threshold on, on a log scale; below, how each further variant changed them.

    The critical zone and θ are marked. A threshold without pairs has no place on a log scale.
    """
    changes = [_change(view, place) for place in range(1, len(view.variants))]
    figure = chart_style.figure(
        [*(_pairs(view, place) for place in range(len(view.variants))), *changes],
        height=540 if changes else 400,
    )
    lower = 0.34 if changes else 0.0
    figure.update_layout(
        yaxis={
            "type": "log",
            "title": "pairs of tools",
            "domain": [lower, 1.0],
            "dtick": 1,
            "tickformat": ",",
        },
        xaxis={"title": "similarity (cosine) of at least", "anchor": "y2" if changes else "y"},
        legend={"orientation": "h", "y": -0.16 if changes else -0.2, "yanchor": "top"},
        margin={"b": 72},
    )
    if changes:
        scale = {"title": "change", "domain": [0.0, 0.26], "tickformat": "+.0%"}
        least = 0.05 + max(abs(y) for line in changes for y in [*line.y, 0.0] if y is not None)
        figure.update_layout(yaxis2={**chart_style.AXIS, **scale, "range": [-least, least]})
    _mark(figure, view)
    return figure


def _pairs(view: Curve, place: int) -> go.Scatter:
    variant = view.variants[place]
    pairs = variant.pairs.astype(np.float64)
    symbol, dash = LOOKS[place % len(LOOKS)]
    return go.Scatter(
        x=list(view.thresholds),
        y=chart_style.rounded(np.where(pairs > 0, pairs, np.nan)),
        name=f"{chart_style.label(variant.name)}, {variant.tools:,} tools",
        mode="lines+markers",
        line={"color": PALETTE[place % len(PALETTE)], "dash": dash, "width": 2},
        marker={"symbol": symbol, "size": 5},
        hovertemplate="%{y:,} pairs from %{x:.2f} on<extra>%{fullData.name}</extra>",
    )


def _change(view: Curve, place: int) -> go.Scatter:
    variant = view.variants[place]
    return go.Scatter(
        x=list(view.thresholds),
        y=chart_style.rounded(view.change(variant)),
        name=f"change, {chart_style.label(variant.name)}",
        mode="lines",
        line={"color": PALETTE[place % len(PALETTE)], "width": 2},
        fill="tozeroy",
        yaxis="y2",
        showlegend=False,
        hovertemplate="%{y:+.1%} from %{x:.2f} on<extra></extra>",
    )


def _mark(figure: go.Figure, view: Curve) -> None:
    zone = {"x0": CRITICAL, "x1": view.thresholds[-1], "y0": 0, "y1": 1, "yref": "paper"}
    figure.add_shape(type="rect", **zone, fillcolor=ZONE, line={"width": 0}, layer="below")
    floor = {"x0": view.floor, "x1": view.floor, "y0": 0, "y1": 1, "yref": "paper"}
    figure.add_shape(type="line", **floor, line={"dash": "dash", "color": GREY})
    theta = (view.floor, 1, f"θ = {view.floor:.2f}")
    for at, up, text in (theta, (CRITICAL, 0.95, "critical zone")):
        place = {"x": at, "y": up, "yref": "paper", "xanchor": "left", "yanchor": "top"}
        figure.add_annotation(text=text, showarrow=False, **place)
