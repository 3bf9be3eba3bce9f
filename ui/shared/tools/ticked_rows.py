"""A table whose rows are ticked: in every list a tick means that the row is taken."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st


def ticked_rows(
    columns: Mapping[str, Sequence[Any]],
    key: str,
    alt: str,
    height: int,
    at_first: Sequence[int] | None = None,
    column_config: Mapping[str, Any] | None = None,
) -> list[int]:
    """The numbers of the ticked rows, in their order; at first all are, or those ``at_first``.
    ``key`` changes with the rows.
    """
    count = len(next(iter(columns.values())))
    ticked = list(range(count) if at_first is None else at_first)
    state = st.dataframe(
        dict(columns),
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
        selection_default={"selection": {"rows": ticked}},
        hide_index=True,
        column_config=dict(column_config or {}),
        height=min(height, 38 + 35 * count),
        alt=alt,
    )
    return sorted(row for row in state["selection"]["rows"] if row < count)


def which_in_words(ticked: int, total: int) -> str:
    """What a button of such a table acts on."""
    if ticked == total:
        return "it" if total == 1 else f"all {total:,}"
    return f"the {ticked:,} ticked"
