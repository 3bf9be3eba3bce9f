"""Sweeps and stress tests as Plotly figures. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from toolscope_core.evaluation.metrics import METRIC_NAMES, SWEPT_METRICS
from toolscope_core.model.tool import JsonObject
from ui.shared.charts import chart_style
from ui.shared.charts.chart_style import PALETTE

HEIGHT = 360
DASHES = {"random": "dot", "closest": "solid"}
SHARES = {
    "reduction": "smaller by",
    "tccr": "gold calls that run (TCCR)",
    "ucc": "capabilities kept (UCC)",
}


def sweep_lines(points: Sequence[JsonObject], title: str) -> go.Figure:
    """What each value gives: recall and nDCG with their intervals; the share of tools saved and of
    gold calls kept where they change.
    """
    values = [point["value"] for point in points]
    traces = [
        _line(values, [point["metrics"][key] for point in points], METRIC_NAMES[key], PALETTE[at])
        for at, key in enumerate(SWEPT_METRICS)
    ]
    for at, (key, name) in enumerate(SHARES.items(), len(SWEPT_METRICS)):
        shares = [point[key] for point in points]
        if all(share is not None for share in shares) and any(shares):
            traces.append(_trace(values, shares, name, PALETTE[at], "dash"))
    return _figure(traces, title, {"range": [0, 1.02]})


def stress_lines(toolsets: Mapping[str, Sequence[JsonObject]]) -> go.Figure:
    """Recall by the number of distractors, for each toolset and kind of noise."""
    traces = [
        _line(
            [point["distractors"] for point in points if point["noise"] == noise],
            [point["recall"] for point in points if point["noise"] == noise],
            f"{chart_style.label(name)}, {noise}",
            PALETTE[at % len(PALETTE)],
            dash,
        )
        for at, (name, points) in enumerate(toolsets.items())
        for noise, dash in DASHES.items()
    ]
    return _figure(traces, "distractors a query", {"title": "recall", "range": [0, 1.02]})


def _line(
    x: Sequence[float],
    intervals: Sequence[Mapping[str, float]],
    name: str,
    color: str,
    dash: str = "solid",
) -> go.Scatter:
    means = [one["mean"] for one in intervals]
    errors = {
        "type": "data",
        "symmetric": False,
        "array": [one["high"] - one["mean"] for one in intervals],
        "arrayminus": [one["mean"] - one["low"] for one in intervals],
        "thickness": 1,
        "width": 3,
    }
    hover = "%{x}: %{y:.3f}<extra></extra>"
    return _trace(x, means, name, color, dash).update(error_y=errors, hovertemplate=hover)


def _trace(x: Sequence[float], y: Sequence[float], name: str, color: str, dash: str) -> go.Scatter:
    line = {"color": color, "dash": dash}
    return go.Scatter(x=list(x), y=list(y), name=name, mode="lines+markers", line=line)


def _figure(traces: Sequence[go.Scatter], x: str, y: Mapping[str, Any]) -> go.Figure:
    figure = chart_style.figure(list(traces), height=HEIGHT)
    figure.update_layout(
        xaxis={"title": x, "showgrid": True},
        yaxis={**y, "showgrid": True},
        legend=chart_style.LEGEND,
    )
    return figure
