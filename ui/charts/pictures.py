"""A picture as every page shows one: with its table twin, and both to take away."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.spreadsheets import csv_bytes
from toolscope_core.figures.table_twins import TableRow

ROWS = 2_000
OPEN = False
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
    """Draw the figure, and offer its facts as a table and the lot as files.

    ``rows`` makes the table, once somebody opens it; ``alt`` is what the picture is called;
    ``chart`` goes to ``st.plotly_chart``, whose value is returned. With ``choose_rows`` a row of
    the table can be chosen, by mouse or by keys: its state is under ``{key}_rows``. The camera in
    the picture's corner saves PNG or SVG, whichever was chosen below.
    """
    camera = st.session_state.get(f"{key}_camera") or "PNG"
    image = {"format": camera.lower(), "filename": f"toolscope-{key}", "scale": 2}
    config = {"toImageButtonOptions": image, "displaylogo": False, "plotGlPixelRatio": 1}
    st.html(INK)
    selected = st.plotly_chart(figure, key=key, alt=alt, config=config, theme=None, **chart)
    more = twin(key)
    if more.open:
        _more(more, figure, rows(), key, alt, choose_rows)
    return selected


def twin(key: str) -> DeltaGenerator:
    """Where the facts of a picture stand as a table; fill it once somebody opens it."""
    return st.expander(
        "As a table, and to download",
        expanded=OPEN,
        key=f"{key}_more",
        icon=":material/table:",
        on_change="rerun",
    )


def table(rows: list[TableRow], key: str, alt: str, **choice: Any) -> None:
    """The first rows of a twin; ``choice`` says what can be chosen."""
    if len(rows) > ROWS:
        st.caption(f"The first {ROWS:,} of {len(rows):,} rows; the files hold all.")
    st.dataframe(
        rows[:ROWS], key=f"{key}_rows", hide_index=True, alt=f"{alt}, as a table", **choice
    )


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
                "Camera saves",
                ["PNG", "SVG"],
                default="PNG",
                required=True,
                key=f"{key}_camera",
                help="The camera stands in the corner of the picture when you point at it.",
            )


def downloads(rows: list[TableRow], key: str) -> None:
    """A table as files."""
    file("CSV", "text/csv", lambda: table_csv(rows), key)
    file("JSON", "application/json", lambda: table_json(rows), key)


def table_csv(rows: list[TableRow]) -> bytes:
    """The rows as CSV that a spreadsheet shows and never runs; empty for no rows."""
    header = list(rows[0]) if rows else []
    return csv_bytes(header, ([row[column] for column in header] for row in rows))


def table_json(rows: list[TableRow]) -> bytes:
    """The rows as a JSON list of objects."""
    return json.dumps(rows, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace")


def file(name: str, kind: str, content: Callable[[], str | bytes], key: str) -> None:
    """A button that makes a file when it is pressed."""
    st.download_button(
        name,
        content,
        f"toolscope-{key}.{name.lower()}",
        kind,
        key=f"{key}_{name}",
        on_click="ignore",
        icon=":material/download:",
    )
