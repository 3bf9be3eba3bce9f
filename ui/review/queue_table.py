"""The clusters of the queue as a table: a column is one entry of ``COLUMNS``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import streamlit as st

from toolscope_core.judging.relation_words import selector_in
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.kinds import kind_name
from ui.shared.cards.queue import all_members

if TYPE_CHECKING:
    from streamlit.elements.lib.column_types import ColumnConfig


class Around(NamedTuple):
    """What the rows are drawn with: the ids of ``selected`` tools, by tool how far the judges
    differ on it (``gaps``), whether only ``families`` are listed, and whether the table is
    ``blind``: without what the judge says.
    """

    selected: Collection[str]
    gaps: Mapping[str, float]
    families: bool
    blind: bool


class Column(NamedTuple):
    """A column: its width in pixels, its cell for a cluster, whether it says what the judge thinks,
    and when it is there.
    """

    width: int
    cell: Callable[[Cluster, Around], object]
    is_of_judge: bool = False
    is_there: Callable[[Sequence[Cluster], Around], bool] = lambda listed, around: True


def _mark(cluster: Cluster, around: Around) -> str:
    return "●" if any(one in around.selected for one in all_members(cluster)) else ""


def _widest_gap(cluster: Cluster, around: Around) -> str:
    gaps = [around.gaps[tool] for tool in all_members(cluster) if tool in around.gaps]
    return f"{max(gaps):.2f}" if gaps else ""


def _differs(cluster: Cluster, around: Around) -> str:
    selector = selector_in(cluster)
    return selector.in_words if selector else ""


COLUMNS: Mapping[str, Column] = {
    "": Column(25, _mark, is_there=lambda listed, around: bool(around.selected)),
    "name": Column(145, lambda one, around: one.document.name),
    "gap": Column(50, _widest_gap, True, lambda listed, around: bool(around.gaps)),
    "tools": Column(42, lambda one, around: len(one.members)),
    "what differs": Column(160, _differs, True, lambda listed, around: around.families),
    "weakest": Column(62, lambda one, around: round(one.weakest_edge, 2), True),
    "kind": Column(55, lambda one, around: kind_name(one), True),
    "state": Column(
        80,
        lambda one, around: one.state,
        is_there=lambda listed, around: any(one.state != "proposed" for one in listed),
    ),
}


def queue_table(listed: Sequence[Cluster], around: Around) -> pd.DataFrame:
    """The clusters as the rows of a table; those with a selected tool are marked."""
    return pd.DataFrame(
        {
            name: [column.cell(one, around) for one in listed]
            for name, column in COLUMNS.items()
            if column.is_there(listed, around) and not (around.blind and column.is_of_judge)
        }
    )


def queue_columns() -> dict[str, ColumnConfig]:
    """The column configuration of the queue."""
    columns = {name: st.column_config.Column(width=one.width) for name, one in COLUMNS.items()}
    weakest = st.column_config.NumberColumn(format="%.2f", width=COLUMNS["weakest"].width)
    return {**columns, "weakest": weakest}


def sorted_rows(table: pd.DataFrame, column: str, descending: bool) -> list[int]:
    """The row numbers of a table sorted by a column; text without regard to case."""
    values = table[column]
    keys = values.str.casefold() if values.dtype == object else values
    return list(keys.sort_values(ascending=not descending, kind="stable").index)
