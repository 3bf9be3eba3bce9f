"""What the scores of a ranking are made of, as a Plotly figure. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from toolscope_core.evaluation.search_results import Found
from ui.shared.charts import chart_style

ROW, FRAME = 26, 84
"""Pixels of a bar with its space, and of all around the bars."""
PART_NAMES = ("dense (meaning)", "sparse (words)", "reranking", "learned")
_PATTERNS = ("", "/", ".", "x")


def score_bars(places: Sequence[Found]) -> go.Figure:
    """A stacked bar for each place, the first on top; a check marks what answers the request."""
    labels = [
        f"{'✓ ' if place.answers else ''}{chart_style.label(place.name, 26)}  {rank}"
        for rank, place in enumerate(places, 1)
    ]
    traces = [
        go.Bar(
            y=labels,
            x=[round(place.parts[at], 4) for place in places],
            name=name,
            orientation="h",
            marker={"color": chart_style.PALETTE[at], "pattern": {"shape": _PATTERNS[at]}},
            hovertemplate=f"%{{x:.2f}} {name}<extra></extra>",
        )
        for at, name in enumerate(PART_NAMES)
        if any(place.parts[at] for place in places)
    ]
    figure = chart_style.figure(traces, height=FRAME + ROW * len(places))
    figure.update_layout(
        barmode="stack",
        bargap=0.3,
        xaxis={"title": "score", "range": [0, 1.02], "showgrid": True},
        yaxis={"autorange": "reversed", "showgrid": False},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )
    return figure
