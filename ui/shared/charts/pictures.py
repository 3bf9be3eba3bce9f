"""A chart as every page shows one: with its data as a table, and downloads of both."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.shared import data_tables
from ui.shared.charts.chart_style import TableRow

if TYPE_CHECKING:
    from streamlit.elements.lib.mutable_expander_container import ExpanderContainer

ROWS = 2_000
"""At most so many rows of a table are drawn."""
OPEN = False
"""Whether the table below a chart is open at first."""
INK = """<style>.stPlotlyChart text[style*="rgb(17, 17, 18)"] { fill: currentColor !important; }
</style>"""
"""Text that is drawn in ``style.INK`` takes the colour that text of the page has."""


def picture(
    figure: go.Figure,
    rows: Callable[[], list[TableRow]],
    key: str,
    alt: str,
    choose_rows: bool = False,
    **chart: Any,
) -> Any:
    """Draw the figure, and offer its data as a table and both as files.

    ``rows`` makes the table, once somebody opens it; ``alt`` is what the picture is called;
    ``chart`` goes to ``st.plotly_chart``, whose value is returned. With ``choose_rows`` a row of
    the table can be selected, by mouse or by keys: its state is under ``{key}_rows``. The camera in
    the picture's corner saves PNG or SVG, whichever was chosen below.
    """
    camera = st.session_state.get(f"{key}_camera") or "PNG"
    image = {"format": camera.lower(), "filename": f"toolscope-{key}", "scale": 2}
    config = {"toImageButtonOptions": image, "displaylogo": False, "plotGlPixelRatio": 1}
    st.html(INK)
    selected = st.plotly_chart(figure, key=key, alt=alt, config=config, theme=None, **chart)
    more = table_expander(key)
    if more.open:
        _more(more, figure, rows(), key, alt, choose_rows)
    return selected


def table_expander(key: str) -> ExpanderContainer:
    """The place of a chart's table; fill it once somebody opens it."""
    return st.expander(
        "Data table and downloads",
        expanded=OPEN,
        key=f"{key}_more",
        icon=":material/table:",
        on_change="rerun",
    )


def more(key: str) -> ExpanderContainer:
    """The place of what is seldom needed, at the end of a view; fill it once somebody opens it."""
    return st.expander("More", key=key, icon=":material/more_horiz:", on_change="rerun")


def table(rows: list[TableRow], key: str, alt: str, **options: Any) -> None:
    """Draw the first rows of a chart's table; ``options`` goes to ``st.dataframe``."""
    if len(rows) > ROWS:
        st.caption(f"Showing the first {ROWS:,} of {len(rows):,} rows; the downloads hold all.")
    data_tables.draw(rows[:ROWS], f"{alt}, as a table", key=f"{key}_rows", **options)


def _more(
    box: DeltaGenerator,
    figure: go.Figure,
    rows: list[TableRow],
    key: str,
    alt: str,
    choose_rows: bool,
) -> None:
    with box:
        choice = "rerun" if choose_rows else "ignore"
        table(rows, key, alt, on_select=choice, selection_mode="single-row")
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
    """Download buttons for a table."""
    file("CSV", "text/csv", lambda: table_csv(rows), key)
    file("JSON", "application/json", lambda: table_json(rows), key)


def table_csv(rows: list[TableRow]) -> bytes:
    """The rows as CSV that a spreadsheet shows and never runs; empty for no rows."""
    from toolscope_core.catalog.formats.spreadsheets import csv_bytes  # once it is pressed

    header = list(rows[0]) if rows else []
    return csv_bytes(header, ([row[column] for column in header] for row in rows))


def table_json(rows: list[TableRow]) -> bytes:
    """The rows as a JSON list of objects."""
    return json.dumps(rows, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")


def file(name: str, kind: str, content: Callable[[], str | bytes], key: str) -> None:
    """A download button whose file is made when it is pressed."""
    st.download_button(
        name,
        content,
        f"toolscope-{key}.{name.lower()}",
        kind,
        key=f"{key}_{name}",
        on_click="ignore",
        icon=":material/download:",
    )
