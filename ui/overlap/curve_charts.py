"""Curves over a threshold as Plotly figures: collisions, tools removed. Pure functions."""

from __future__ import annotations

from typing import Literal

import numpy as np
import plotly.graph_objects as go

from ui.overlap.figures import Curve, Sweep
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
        yaxis={"type": "log", "title": "pairs of tools", "domain": [lower, 1.0], "dtick": 1},
        xaxis={"title": "similarity (cosine) of at least", "anchor": "y2" if changes else "y"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        margin={"t": 64},
    )
    if changes:
        scale = {"title": "change", "domain": [0.0, 0.26], "tickformat": "+.0%"}
        least = 0.05 + max(abs(y) for line in changes for y in [*line.y, 0.0] if y is not None)
        figure.update_layout(yaxis2={**chart_style.AXIS, **scale, "range": [-least, least]})
    _mark(figure, view)
    return figure


def sweep_chart(view: Sweep, chosen: int) -> go.Figure:
    """Tools removed at each value, and below it the pairs that people decided on, if any.

    ``chosen`` is how many tools are removed at the value chosen now, correction included.
    """
    lines = [_removed(view), _chosen(view, chosen)]
    lower = 0.0
    if view.labelled:
        lines += [_decided(view, "accepted", PALETTE[2], "solid")]
        lines += [_decided(view, "rejected", PALETTE[5], "dot")]
        lower = 0.42
    figure = chart_style.figure(lines, height=460 if view.labelled else 320)
    figure.update_layout(
        yaxis={"title": "tools removed", "domain": [lower, 1.0], "rangemode": "tozero"},
        xaxis={"title": f"least {view.measure}", "anchor": "y2" if view.labelled else "y"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        margin={"t": 64},
    )
    if view.labelled:
        below = {"title": "decided pairs", "domain": [0.0, 0.34], "rangemode": "tozero"}
        figure.update_layout(yaxis2={**chart_style.AXIS, **below})
    now = {"x0": view.at, "x1": view.at, "y0": 0, "y1": 1, "yref": "paper"}
    figure.add_shape(type="line", **now, line={"dash": "dash", "color": GREY})
    return figure


def _removed(view: Sweep) -> go.Scatter:
    return go.Scatter(
        x=list(view.values),
        y=view.removed.tolist(),
        name="before correction",
        mode="lines",
        line={"color": PALETTE[0], "width": 2},
        hovertemplate="%{y:,} tools fewer from %{x:.2f} on<extra></extra>",
    )


def _chosen(view: Sweep, chosen: int) -> go.Scatter:
    return go.Scatter(
        x=[view.at],
        y=[chosen],
        name="chosen now",
        mode="markers",
        marker={"color": PALETTE[1], "size": 12, "symbol": "diamond"},
        hovertemplate="%{y:,} tools fewer at %{x:.2f}<extra>chosen now</extra>",
    )


def _decided(
    view: Sweep, which: Literal["accepted", "rejected"], colour: str, dash: str
) -> go.Scatter:
    return go.Scatter(
        x=list(view.values),
        y=(view.accepted if which == "accepted" else view.rejected).tolist(),
        name=f"{which} by people",
        mode="lines",
        line={"color": colour, "dash": dash, "width": 2},
        yaxis="y2",
        customdata=[None if np.isnan(share) else f"{share:.0%}" for share in view.right.tolist()],
        hovertemplate=f"%{{y:,}} {which} pairs from %{{x:.2f}} on; "
        "%{customdata} of the decided are right<extra></extra>",
    )


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
    for at, text in ((view.floor, f"θ = {view.floor:.2f}"), (CRITICAL, "critical zone")):
        place = {"x": at, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "top"}
        figure.add_annotation(text=text, showarrow=False, **place)
