"""Tables as every page draws them: plain, with a row to choose, or with rows to tick."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.shared.data_tables import select_rows

_Row = TypeVar("_Row")
Cells: TypeAlias = pd.DataFrame | Mapping[str, Sequence[Any]] | Sequence[Any]
"""Columns by name, or rows."""
Looks = Mapping[str, Any]
"""By column its width, its title, both (title, width) or a column config; the others are drawn as
they are. Widths are pixels, or in a pair ``small``, ``medium`` or ``large``.
"""


def _draw(
    cells: Cells,
    alt: str,
    looks: Looks | None = None,
    *,
    most: int | None = None,
    place: DeltaGenerator | None = None,
    **options: Any,
) -> Any:
    """Draw a table that is called ``alt``, as high as its rows are and ``most`` pixels at most;
    ``options`` go to ``st.dataframe``, whose value is returned.
    """
    if most is not None:
        options["height"] = min(most, 38 + 35 * _count(cells))
    config = {name: _column(look) for name, look in (looks or {}).items()}
    dataframe = (place or st).dataframe
    return dataframe(cells, hide_index=True, column_config=config, alt=alt, **options)


def _chosen_row(
    rows: Sequence[_Row], cells: Cells, alt: str, looks: Looks | None = None, **options: Any
) -> _Row | None:
    """Draw a table of which one row can be selected; the one of ``rows`` that is."""
    state = _draw(cells, alt, looks, on_select="rerun", selection_mode="single-row", **options)
    return next((rows[at] for at in state["selection"]["rows"] if at < len(rows)), None)


def _row_chooser(
    cells: Cells,
    alt: str,
    looks: Looks | None = None,
    *,
    key: str,
    choose: Callable[[int], None],
    shown: Sequence[int] | None = None,
    **options: Any,
) -> None:
    """Draw a table whose selected row is handed to ``choose`` by its number, before the page runs.
    Where something else says which rows are ``shown``, those are selected.
    """
    if shown is not None:
        select_rows(key, shown)

    def pick() -> None:
        for row in st.session_state[key]["selection"]["rows"]:
            if row < _count(cells):
                choose(row)

    options.setdefault("selection_mode", "single-row")
    _draw(cells, alt, looks, key=key, on_select=pick, **options)


def _ticked_rows(
    cells: Cells,
    alt: str,
    looks: Looks | None = None,
    *,
    key: str,
    at_first: Sequence[int] | None = None,
    **options: Any,
) -> list[int]:
    """The numbers of the ticked rows, in their order; at first all are, or those ``at_first``.
    ``key`` changes with the rows.
    """
    ticked = list(range(_count(cells)) if at_first is None else at_first)
    state = _draw(
        cells,
        alt,
        looks,
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": ticked}},
        **options,
    )
    return sorted(row for row in state["selection"]["rows"] if row < _count(cells))


def _columns(rows: Sequence[object], names: Sequence[str]) -> dict[str, list[Any]]:
    """Attributes of the rows as a table: ``asdict`` would copy all that each of them holds."""
    return {name: [getattr(row, name) for row in rows] for name in names}


def _column(look: Any) -> Any:
    if isinstance(look, int):
        return st.column_config.Column(width=look)
    return st.column_config.Column(look[0], width=look[1]) if isinstance(look, tuple) else look


def _count(cells: Cells) -> int:
    return len(next(iter(cells.values()), ())) if isinstance(cells, Mapping) else len(cells)
