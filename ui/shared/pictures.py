"""A chart in the style that all pages share, with its data as a table and downloads of both."""

import html
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

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
"""A row of the table beside a figure. It has the same facts, for people who
cannot use the figure.
"""

MOST_SERVERS = len(PALETTE) * len(SYMBOLS)
"""The number of servers that have a look of their own. All others share one."""


def label(text: str, limit: int = 48) -> str:
    """Catalog text that Plotly shows literally, on one line, cut to ``limit`` characters.

    Plotly interprets tags, entities and formulas in every text, so all text must pass through this
    function.
    """
    line = " ".join(str(text).split())
    line = line if len(line) <= limit else f"{line[: limit - 1]}…"
    return html.escape(line, quote=False).replace("$", "&#36;").replace("%{", "%&#123;")


def hover(name: str, server: str) -> str:
    """The text for a tool at the pointer: its name, and below it its server."""
    return f"{label(name)}<br>{label(server)}" if server else label(name)


def by_server(servers: Sequence[str], noun: str = "server") -> tuple[tuple[str, list[int]], ...]:
    """The rows of each server (or ``noun``), with a label. The largest server comes first; the last
    row has all other servers together.
    """
    counts = Counter(servers)
    by_size = sorted(counts, key=lambda server: (-counts[server], server))
    rows: dict[str, list[int]] = {server: [] for server in by_size}
    for row, server in enumerate(servers):
        rows[server].append(row)
    named_servers = by_size if len(by_size) <= MOST_SERVERS + 1 else by_size[:MOST_SERVERS]
    groups = [(label(server, 28) or f"no {noun}", rows[server]) for server in named_servers]
    other_rows = sorted(row for server in by_size[len(named_servers) :] for row in rows[server])
    if other_rows:
        groups.append((f"{len(by_size) - len(named_servers):,} other {plural(noun)}", other_rows))
    return tuple(groups)


def look(place: int) -> tuple[str, str]:
    """The colour and symbol of the server at ``place``, counted from 0."""
    if place >= MOST_SERVERS:
        return GREY, "circle"
    return PALETTE[place % len(PALETTE)], SYMBOLS[place // len(PALETTE)]


def rounded(values: NDArray[np.float64]) -> list[object]:
    """The values with four digits, and ``None`` for NaN. They are in a list, because Streamlit
    converts arrays.
    """
    numbers = np.round(values, 4).astype(object)
    numbers[~np.isfinite(values)] = None
    return list(numbers.tolist())


def json_numbers(values: NDArray[np.integer[Any] | np.floating[Any]]) -> NDArray[np.object_]:
    """Numbers that are sent as JSON numbers, with NaN as null.

    Other arrays are sent as bytes. That is faster, but Plotly draws them twice, because it takes
    them for new data.
    """
    numbers = values.astype(object)
    numbers[np.isnan(values)] = None
    return numbers


LEGEND = {"orientation": "h", "y": -0.25, "yanchor": "top"}
"""A legend below the plot, away from Plotly's bar."""


def figure(traces: Sequence[object], height: int) -> go.Figure:
    """A figure with the traces on a transparent background. ``height`` is in pixels.

    Streamlit gives Plotly each figure and, right after it, a copy. ``datarevision`` says that the
    data is unchanged, so that the copy is not drawn again.
    """
    chart = go.Figure(list(traces))
    chart.layout.template = None
    chart.update_layout(
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
    return chart


ROWS = 2_000
"""The maximum number of rows of a table that are drawn."""
OPEN = False
"""Whether the table below a chart is open at first."""
INK_OF_THE_PAGE = (
    """<style>.stPlotlyChart text[style*="rgb(17, 17, 18)"] """
    "{ fill: currentColor !important; }</style>"
)
"""CSS that gives text in the colour ``INK`` the text colour of the page."""


def picture(
    figure: go.Figure,
    rows: Callable[[], list[TableRow]],
    key: str,
    alt: str,
    choose_rows: bool = False,
    **chart: Any,
) -> Any:
    """Draw the figure, and offer its data as a table and both as files.

    ``rows`` makes the table when it is opened. ``alt`` is the name of the picture. ``chart`` is
    passed to ``st.plotly_chart``, and what that returns is returned. With ``choose_rows``, a row of
    the table can be selected by mouse or by keyboard; the selection is kept under ``{key}_rows``.
    The camera in the corner of the picture saves a PNG or an SVG, whichever is chosen below it.
    """
    camera = st.session_state.get(f"{key}_camera") or "PNG"
    image = {"format": camera.lower(), "filename": f"toolscope-{key}", "scale": 2}
    config = {"toImageButtonOptions": image, "displaylogo": False, "plotGlPixelRatio": 1}
    st.html(INK_OF_THE_PAGE)
    selected = st.plotly_chart(figure, key=key, alt=alt, config=config, theme=None, **chart)
    box = st.expander(
        "Data table and downloads",
        expanded=OPEN,
        key=f"{key}_more",
        icon=":material/table:",
        on_change="rerun",
    )
    if box.open:
        with box:
            _more(figure, rows(), key, alt, choose_rows)
    return selected


def more(key: str) -> ExpanderContainer:
    """A collapsed box for parts that are rarely needed, at the end of a view. Fill it when it is
    open.
    """
    return st.expander("More", key=key, icon=":material/more_horiz:", on_change="rerun")


def _more(figure: go.Figure, rows: list[TableRow], key: str, alt: str, choose_rows: bool) -> None:
    if len(rows) > ROWS:
        st.caption(f"Showing the first {ROWS:,} of {len(rows):,} rows; the downloads contain all.")
    st.dataframe(
        rows[:ROWS],
        hide_index=True,
        alt=f"{alt}, as a table",
        key=f"{key}_rows",
        on_select="rerun" if choose_rows else "ignore",
        selection_mode="single-row",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        downloads(rows, key)
        file("HTML", "text/html", lambda: figure.to_html(include_plotlyjs=True), key)
        st.segmented_control(
            "Image format",
            ["PNG", "SVG"],
            default="PNG",
            required=True,
            key=f"{key}_camera",
            help="For the camera button, which appears when you point at the chart.",
        )


def downloads(rows: list[TableRow], key: str) -> None:
    """Draw the download buttons for a table."""
    file("CSV", "text/csv", lambda: table_csv(rows), key)
    file("JSON", "application/json", lambda: table_json(rows), key)


def table_csv(rows: list[TableRow]) -> bytes:
    """The rows as CSV that a spreadsheet shows but never executes. Empty if there are no rows."""
    from toolscope_core.catalog.formats.spreadsheets import csv_bytes  # only when it is pressed

    header = list(rows[0]) if rows else []
    return csv_bytes(header, ([row[column] for column in header] for row in rows))


def table_json(rows: list[TableRow]) -> bytes:
    """The rows as a JSON list of objects."""
    return json.dumps(rows, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")


def file(name: str, kind: str, content: Callable[[], str | bytes], key: str) -> None:
    """Draw a download button. The file is made when the button is pressed."""
    st.download_button(
        name,
        content,
        f"toolscope-{key}.{name.lower()}",
        kind,
        key=f"{key}_{name}",
        on_click="ignore",
        icon=":material/download:",
    )
