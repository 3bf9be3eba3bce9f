"""The parts of a probability: what each signal adds to the log-odds, bar after bar."""

import math
from dataclasses import dataclass
from itertools import accumulate

import plotly.graph_objects as go

from ui.shared.charts import chart_style
from ui.shared.charts.chart_style import GREY, PALETTE, TableRow

_BAR = 30


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Log-odds that add up to those of ``probability``: their names in words, in order.

    ``levels`` are the probabilities from which on the verdict is another, with its name.
    """

    names: tuple[str, ...]
    added: tuple[float, ...]
    probability: float
    levels: tuple[tuple[str, float], ...] = ()


def waterfall(view: Waterfall) -> go.Figure:
    """Bars to the right speak for merging, to the left against; each begins where the one before
    ended, the last is the sum.
    """
    names = [*view.names, f"together: {view.probability:.2f}"]
    bars = go.Waterfall(
        orientation="h",
        y=[*range(len(names))],
        x=[*(round(value, 4) for value in view.added), 0.0],
        measure=["relative"] * len(view.added) + ["total"],
        text=[_signed(value) for value in (*view.added, sum(view.added))],
        textposition="outside",
        cliponaxis=False,
        customdata=[[chart_style.label(name, 80)] for name in names],
        hovertemplate="%{customdata[0]}: %{text}<extra></extra>",
        increasing={"marker": {"color": PALETTE[0]}},
        decreasing={"marker": {"color": PALETTE[1]}},
        totals={"marker": {"color": GREY}},
        connector={"line": {"color": GREY, "width": 1, "dash": "dot"}},
    )
    figure = chart_style.figure([bars], height=110 + _BAR * len(names))
    figure.update_yaxes(
        autorange="reversed",
        tickvals=[*range(len(names))],
        ticktext=[chart_style.label(name, 44) for name in names],
        showgrid=False,
    )
    figure.update_xaxes(title="log-odds of being the same job", zeroline=True, range=_span(view))
    for name, level in view.levels:
        figure.add_vline(
            math.log(level / (1.0 - level)),
            line={"dash": "dash", "width": 1, "color": GREY},
            annotation={
                "text": f"{name} from {level:.2f}",
                "y": 1.0,
                "yanchor": "bottom",
                "xanchor": "center",
            },
        )
    return figure


def waterfall_rows(view: Waterfall) -> list[TableRow]:
    """A row for each bar: what it adds, and the sum and probability after it."""
    sums = accumulate(view.added)
    return [
        {
            "signal": name,
            "adds": round(value, 3),
            "sum": round(total, 3),
            "probability": round(1.0 / (1.0 + math.exp(-total)), 3),
        }
        for name, value, total in zip(view.names, view.added, sums, strict=True)
    ]


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def _span(view: Waterfall) -> list[float]:
    """Room on both sides for the figures beside the bars."""
    marks = [math.log(level / (1.0 - level)) for _, level in view.levels]
    ends = [0.0, *accumulate(view.added), *marks]
    room = 0.14 * (max(ends) - min(ends)) + 0.3
    return [min(ends) - room, max(ends) + room]
