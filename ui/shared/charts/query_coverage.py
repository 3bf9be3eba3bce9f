"""How many tools have no query, one, two and so on, as a Plotly figure. Pure functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import plotly.graph_objects as go

from ui.shared.charts import chart_style
from ui.shared.charts.chart_style import TableRow

HEIGHT = 300
BINS = ("0", "1", "2", "3", "4", "5–9", "10 or more")


@dataclass(frozen=True, slots=True)
class QueryCoverage:
    """The server of each tool and how many queries it answers, in the order of the tools."""

    servers: tuple[str, ...]
    queries: tuple[int, ...]

    @property
    def covered(self) -> int:
        """Tools that answer a query."""
        return sum(number > 0 for number in self.queries)


def coverage_bars(view: QueryCoverage) -> go.Figure:
    """A bar for each number of queries, as high as so many tools have that many, by server."""
    bins = [bin_of(number) for number in view.queries]
    traces = []
    for place, (name, rows) in enumerate(chart_style.by_server(view.servers)):
        counts = Counter(bins[row] for row in rows)
        color, symbol = chart_style.look(place)
        traces.append(
            go.Bar(
                x=list(BINS),
                y=[counts[at] for at in BINS],
                name=name,
                marker={
                    "color": color,
                    "pattern": {"shape": "" if symbol == "circle" else "/"},
                },
                hovertemplate=f"{name}<br>%{{y}} with %{{x}}<extra></extra>",
            )
        )
    figure = chart_style.figure(traces, height=HEIGHT)
    figure.update_layout(
        barmode="stack",
        bargap=0.25,
        xaxis={"title": "queries a tool answers", "type": "category"},
        yaxis={"title": "tools", "showgrid": True, "rangemode": "tozero"},
        legend={**chart_style.LEGEND, "traceorder": "normal"},
    )
    return figure


def coverage_rows(view: QueryCoverage) -> list[TableRow]:
    """A row for each server, the one with the most tools without a query first: how many tools have
    how many queries.
    """
    of_server: dict[str, list[int]] = {}
    for server, number in zip(view.servers, view.queries, strict=True):
        of_server.setdefault(server, []).append(number)
    rows: list[TableRow] = []
    for server in sorted(of_server, key=lambda one: (-of_server[one].count(0), one)):
        counts = Counter(bin_of(number) for number in of_server[server])
        row: TableRow = {"server": server, "tools": len(of_server[server])}
        rows.append(row | {f"with {at}": counts[at] for at in BINS})
    return rows


def bin_of(number: int) -> str:
    """The bar that a tool with so many queries is part of."""
    return BINS[number] if number < 5 else BINS[5] if number < 10 else BINS[6]
