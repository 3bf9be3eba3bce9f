"""The look of every figure, and the one function through which text of a catalog goes into it.

Colours are those of Okabe and Ito, which colour-blind readers can distinguish; backgrounds are
transparent, so that the page's theme shows through. Text is ``INK``, for which a dark page puts its
own: a template of Plotly, which is how Streamlit's theme comes, has each picture drawn twice.
"""

import html
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from toolscope_core.model.numbers import plural

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
SYMBOLS = ("circle", "diamond")
GREY = "#8A8F98"
RED = "#D5342B"
INK = "#111112"
_RULE = "rgba(138,143,152,0.3)"
AXIS = {"automargin": True, "gridcolor": _RULE, "zerolinecolor": _RULE}
_REVISION = 1
TableRow = dict[str, str | float | int]
"""A row of the table beside a figure: the same facts, for those who cannot use the figure."""

MOST_SERVERS = len(PALETTE) * len(SYMBOLS)
"""As many servers have a look of their own; all others share one."""


def label(text: str, limit: int = 48) -> str:
    """Text of a catalog as Plotly shows it literally, on one line, cut to ``limit`` characters.

    Plotly reads tags, entities and formulas in every text: none may get there by another way.
    """
    line = " ".join(str(text).split())
    line = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return html.escape(line, quote=False).replace("$", "&#36;").replace("%{", "%&#123;")


def hover(name: str, server: str) -> str:
    """A tool under the pointer: its name, its server below."""
    return f"{label(name)}<br>{label(server)}" if server else label(name)


def by_server(servers: Sequence[str], what: str = "server") -> tuple[tuple[str, list[int]], ...]:
    """Rows of each server (or ``what`` else) with its label: the largest first, all others
    together last.
    """
    counts = Counter(servers)
    ranked = sorted(counts, key=lambda server: (-counts[server], server))
    rows: dict[str, list[int]] = {server: [] for server in ranked}
    for row, server in enumerate(servers):
        rows[server].append(row)
    shown = ranked if len(ranked) <= MOST_SERVERS + 1 else ranked[:MOST_SERVERS]
    groups = [(label(server, 28) or f"no {what}", rows[server]) for server in shown]
    others = sorted(row for server in ranked[len(shown) :] for row in rows[server])
    if others:
        groups.append((f"{len(ranked) - len(shown):,} other {plural(what)}", others))
    return tuple(groups)


def look(place: int) -> tuple[str, str]:
    """Colour and symbol of the server at ``place``, from 0."""
    if place >= MOST_SERVERS:
        return GREY, "circle"
    return PALETTE[place % len(PALETTE)], SYMBOLS[place // len(PALETTE)]


def rounded(values: NDArray[np.float64]) -> list[object]:
    """Four digits, NaN as empty. Lists, since Streamlit hands arrays back as something else."""
    numbers = np.round(values, 4).astype(object)
    numbers[~np.isfinite(values)] = None
    return list(numbers.tolist())


def json_numbers(values: NDArray[np.integer[Any] | np.floating[Any]]) -> NDArray[np.object_]:
    """Numbers that leave as JSON numbers, NaN as null.

    Other arrays leave as bytes: sooner made, but drawn twice, for Plotly takes them for new data
    whenever it is shown them.
    """
    numbers = values.astype(object)
    numbers[np.isnan(values)] = None
    return numbers


LEGEND = {"orientation": "h", "y": -0.25, "yanchor": "top"}
"""Below the plot, where the bar of Plotly does not lie over it."""


def figure(traces: Sequence[object], height: int) -> go.Figure:
    """The traces on a transparent ground, ``height`` in pixels.

    Streamlit shows Plotly a copy of each figure right after the figure. ``datarevision`` says that
    the data is the same: without it all is drawn a second time.
    """
    made = go.Figure(list(traces))
    made.layout.template = None
    made.update_layout(
        datarevision=_REVISION,
        font={"color": INK, "family": '"Source Sans", sans-serif', "size": 12},
        modebar={"bgcolor": "rgba(0,0,0,0)", "color": GREY},
        xaxis={**AXIS, "showgrid": False, "zeroline": False},
        yaxis=AXIS,
        height=height,
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        hoverlabel={"align": "left"},
        hovermode="closest",
    )
    return made
