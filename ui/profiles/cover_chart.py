"""The curve of a cover: what each further tool adds. Pure functions."""

from __future__ import annotations

from itertools import accumulate

import plotly.graph_objects as go

from toolscope_core.profiles.intent_cover import Cover
from ui.shared.charts import chart_style
from ui.shared.charts.chart_style import PALETTE, TableRow


def cover_curve(cover: Cover, names: dict[str, str]) -> go.Figure:
    """Requests served over the tokens of the tools, a step for each tool in order."""
    tokens = list(accumulate(one.tokens for one in cover.additions))
    figure = chart_style.figure(
        [
            go.Scatter(
                x=[0, *tokens],
                y=[0, *(one.intents for one in cover.additions)],
                text=["no tool", *(chart_style.label(names[one]) for one in cover.ids)],
                mode="lines+markers",
                line={"shape": "hv", "color": PALETTE[0], "width": 2},
                marker={"size": 6},
                hovertemplate="%{text}<br>%{y:,} served, %{x:,} tokens<extra></extra>",
            )
        ],
        height=280,
    )
    figure.update_layout(
        xaxis={"title": "tokens of the tools so far", "tickformat": ","},
        yaxis={"title": "requests served", "rangemode": "tozero", "tickformat": ",d"},
        showlegend=False,
    )
    return figure


def cover_rows(cover: Cover, names: dict[str, str]) -> list[TableRow]:
    """A row for each tool of the cover, in the order in which they were taken."""
    tokens = accumulate(one.tokens for one in cover.additions)
    return [
        {
            "tool": names[one.tool_id],
            "id": one.tool_id,
            "tokens": one.tokens,
            "tokens so far": total,
            "requests served": one.intents,
        }
        for one, total in zip(cover.additions, tokens, strict=True)
    ]
