"""The clusters of the queue as a table: a column is one entry of ``COLUMNS``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import streamlit as st

from toolscope_core.catalog.tokens import SizeChange
from toolscope_core.judging.relation_words import selector_in
from toolscope_core.model.cluster import Cluster
from ui.shared.cards.queue import all_members, short_kind

if TYPE_CHECKING:
    from streamlit.elements.lib.column_types import ColumnConfig


class Around(NamedTuple):
    """What the rows are drawn with: by tool its server (``owners``) and how far the judges differ
    on it (``gaps``), by cluster its ``sizes``, the ids of ``selected`` tools, whether
    only ``families`` are listed, and whether the table is ``blind``: without what the judge says.
    """

    owners: Mapping[str, str]
    sizes: Mapping[str, SizeChange]
    gaps: Mapping[str, float]
    selected: Collection[str]
    families: bool = False
    blind: bool = False


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


def _servers(cluster: Cluster, around: Around) -> str:
    return ", ".join(dict.fromkeys(filter(None, map(around.owners.get, all_members(cluster)))))


def _tokens(cluster: Cluster, around: Around) -> int | None:
    size = around.sizes.get(cluster.id)
    return None if size is None else size.added


def _differs(cluster: Cluster, around: Around) -> str:
    selector = selector_in(cluster)
    return selector.in_words if selector else ""


COLUMNS: Mapping[str, Column] = {
    "": Column(25, _mark, is_there=lambda listed, around: bool(around.selected)),
    "name": Column(120, lambda one, around: one.document.name),
    "kind": Column(116, lambda one, around: short_kind(one), True),
    "tokens": Column(60, _tokens, True, lambda listed, around: bool(around.sizes)),
    "server": Column(90, _servers, is_there=lambda listed, around: any(around.owners.values())),
    "gap": Column(50, _widest_gap, True, lambda listed, around: bool(around.gaps)),
    "weakest": Column(62, lambda one, around: round(one.weakest_edge, 2), True),
    "tools": Column(42, lambda one, around: len(one.members)),
    "what differs": Column(160, _differs, True, lambda listed, around: around.families),
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


def drawn(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, ColumnConfig]]:
    """The table as it is drawn, and its columns: tokens with their sign, and in red where a merge
    adds some.
    """
    columns = {name: st.column_config.Column(width=one.width) for name, one in COLUMNS.items()}
    weakest = COLUMNS["weakest"].width
    columns["weakest"] = st.column_config.NumberColumn(format="%.2f", width=weakest)
    if "tokens" not in table:
        return table, columns
    signed = [None if pd.isna(one) else f"{int(one):+,}" for one in table["tokens"]]
    labels = [[one.replace("-", "−")] if one else [] for one in signed]
    options = sorted({one for row in labels for one in row})
    columns["tokens"] = st.column_config.MultiselectColumn(
        options=options,
        color=["red" if one[0] == "+" and one != "+0" else "gray" for one in options],
        width=COLUMNS["tokens"].width,
    )
    return table.assign(tokens=pd.Series(labels, dtype=object)), columns


def sorted_rows(table: pd.DataFrame, column: str, descending: bool) -> list[int]:
    """The row numbers of a table sorted by a column; text without regard to case."""
    values = table[column]
    keys = values.str.casefold() if values.dtype == object else values
    return list(keys.sort_values(ascending=not descending, kind="stable").index)
