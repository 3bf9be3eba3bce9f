"""What the scores of a ranking are made of, as a Plotly figure. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from ui.shared.charts import chart_style

ROW, FRAME = 26, 84
"""Pixels of a bar with its space, and of all around the bars."""
PART_NAMES = ("dense (meaning)", "sparse (words)", "reranking", "learned")
_PATTERNS = ("", "/", ".", "x")


@dataclass(frozen=True, slots=True)
class ScoreBar:
    """One place of a ranking: its label, and what each part gave to its score, in the order of
    ``PART_NAMES``.
    """

    name: str
    parts: tuple[float, ...]
    answers: bool


def score_bars(bars: Sequence[ScoreBar]) -> go.Figure:
    """A stacked bar for each place, the first on top; a check marks what answers the request."""
    labels = [
        f"{'✓ ' if bar.answers else ''}{chart_style.label(bar.name, 26)}  {rank}"
        for rank, bar in enumerate(bars, 1)
    ]
    traces = [
        go.Bar(
            y=labels,
            x=[round(bar.parts[at], 4) for bar in bars],
            name=name,
            orientation="h",
            marker={"color": chart_style.PALETTE[at], "pattern": {"shape": _PATTERNS[at]}},
            hovertemplate=f"%{{x:.2f}} {name}<extra></extra>",
        )
        for at, name in enumerate(PART_NAMES)
        if any(bar.parts[at] for bar in bars)
    ]
    figure = chart_style.figure(traces, height=FRAME + ROW * len(bars))
    figure.update_layout(
        barmode="stack",
        bargap=0.3,
        xaxis={"title": "score", "range": [0, 1.02], "showgrid": True},
        yaxis={"autorange": "reversed", "showgrid": False},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
    )
    return figure
