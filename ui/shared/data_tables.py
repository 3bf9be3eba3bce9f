"""The tables of all pages: plain ones, tables with a row to select, and tables
with rows to tick.
"""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

Row = TypeVar("Row")


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column of a table: the content and the style of its cells.

    A cell is the attribute ``name`` of the row or, if there is a ``value``, what ``value`` returns
    for the row. The heading is ``title``, or else ``name``. ``width`` is in pixels. ``format`` is a
    number format of Streamlit or printf. With ``full``, numbers are drawn as bars from 0 to that
    value. ``config`` is for features that only ``st.column_config`` has, such as buttons.

    >>> Column("tools", lambda server: len(server.tools), width=60)
    """

    name: str
    value: Callable[[Row], Any] | None = None
    _: KW_ONLY
    title: str | None = None
    width: int | None = None
    help: str | None = None
    format: str | None = None
    full: float | None = None
    pinned: bool = False
    visible: bool = True
    config: Any = None

    def cell(self, row: Row) -> Any:
        return getattr(row, self.name) if self.value is None else self.value(row)

    def drawn(self) -> Any:
        """The configuration of the column for Streamlit."""
        if self.config is not None:
            return self.config
        make: Callable[..., Any] = st.column_config.Column
        settings: dict[str, Any] = {}
        if self.format is not None:
            make, settings = st.column_config.NumberColumn, {"format": self.format}
        if self.full is not None:
            make = st.column_config.ProgressColumn
            settings |= {"min_value": 0.0, "max_value": self.full}
        pinned = self.pinned or None
        return make(self.title, width=self.width, help=self.help, pinned=pinned, **settings)


Columns = Sequence[Column[Row]]


def attributes(**titles: str) -> Columns[Any]:
    """A column for each attribute, with the given title.

    >>> attributes(tool_id="tool", now="renamed to")
    """
    return [Column(name, title=title) for name, title in titles.items()]


def cells(rows: Sequence[Row], columns: Columns[Row]) -> dict[str, list[Any]]:
    """The visible columns by name, as they are displayed and downloaded."""
    return {one.name: [one.cell(row) for row in rows] for one in columns if one.visible}


def records(rows: Sequence[Row], columns: Columns[Row]) -> list[dict[str, Any]]:
    """The cells row by row, as they are written to files."""
    return [{one.name: one.cell(row) for one in columns if one.visible} for row in rows]


def button_column(
    rows: Sequence[Row], label: str, act: Callable[[Row], object], *, key: str, width: int
) -> Column[Row]:
    """A column of buttons, one for each of the ``rows``. The column is named by its ``key`` and has
    no heading.

    All buttons have the same label. Pressing one calls ``act`` on its row before the page runs.
    """

    def press() -> None:
        act(rows[st.session_state[key]["row"]])

    button = st.column_config.ButtonColumn(
        "", width=width, type="tertiary", key=key, on_click=press
    )
    return Column(key, lambda _: label, config=button)


def draw(
    rows: Sequence[Row],
    columns: Columns[Row],
    alt: str,
    *,
    most: int | None = None,
    place: DeltaGenerator | None = None,
    **options: Any,
) -> Any:
    """Draw a table called ``alt``, as high as its rows but at most ``most`` pixels high.

    ``options`` are passed to ``st.dataframe``. Returns what that returns.
    """
    if most is not None:
        options["height"] = min(most, 38 + 35 * len(rows))
    looks = _looks(columns)
    return (place or st).dataframe(
        cells(rows, columns), hide_index=True, column_config=looks, alt=alt, **options
    )


def edit(
    rows: Sequence[Row], columns: Columns[Row], alt: str, **options: Any
) -> list[dict[str, Any]]:
    """Draw a table with cells that can be edited. Returns their current values as ``records`` does.

    ``options`` are passed to ``st.data_editor``.
    """
    looks = _looks(columns)
    table = pd.DataFrame(cells(rows, columns), dtype=object)  # an empty table would become numbers
    edited_table = st.data_editor(table, hide_index=True, column_config=looks, alt=alt, **options)
    lines: list[dict[str, Any]] = edited_table.to_dict("records")
    return lines


def chosen_row(rows: Sequence[Row], columns: Columns[Row], alt: str, **options: Any) -> Row | None:
    """Draw a table in which one row can be selected. Returns that row, or ``None``."""
    state = draw(rows, columns, alt, on_select="rerun", selection_mode="single-row", **options)
    return next((rows[at] for at in state["selection"]["rows"] if at < len(rows)), None)


def row_chooser(
    rows: Sequence[Row],
    columns: Columns[Row],
    alt: str,
    *,
    key: str,
    choose: Callable[[int], None],
    selected: Sequence[int] | None = None,
    **options: Any,
) -> None:
    """Draw a table in which a person can select a row.

    The number of the selected row is passed to ``choose`` before the page runs again. If something
    else decides which rows are selected, ``selected`` has their numbers.
    """
    if selected is not None:
        select_rows(key, selected)

    def pick() -> None:
        for row in st.session_state[key]["selection"]["rows"]:
            if row < len(rows):
                choose(row)

    options.setdefault("selection_mode", "single-row")
    draw(rows, columns, alt, key=key, on_select=pick, **options)


def ticked_rows(
    rows: Sequence[Row],
    columns: Columns[Row],
    alt: str,
    *,
    key: str,
    at_first: Sequence[int] | None = None,
    **options: Any,
) -> list[Row]:
    """Draw a table with ticks. Returns the ticked rows, in order.

    At first, all rows are ticked, or only those whose numbers are in ``at_first``. ``key`` must
    change with the rows.
    """
    ticked = list(range(len(rows)) if at_first is None else at_first)
    state = draw(
        rows,
        columns,
        alt,
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": ticked}},
        **options,
    )
    return [rows[at] for at in sorted(state["selection"]["rows"]) if at < len(rows)]


def select_rows(key: str, rows: Sequence[int], columns: Sequence[object] = ()) -> None:
    """Have the table with this key drawn with these rows and columns selected."""
    selection = {"rows": list(rows), "columns": list(columns), "cells": []}
    st.session_state[key] = {"selection": selection}


def percent(share: float | None) -> float | None:
    """A share in percent; ``None`` stays ``None``."""
    return None if share is None else 100 * share


def which_in_words(count: int, total: int) -> str:
    """Which rows a button below a table with ticks acts on, in words."""
    if count == total:
        return "it" if total == 1 else f"all {total:,}"
    return f"the {count:,} ticked"


def _looks(columns: Columns[Row]) -> dict[str, Any]:
    return {one.name: one.drawn() for one in columns if one.visible}
