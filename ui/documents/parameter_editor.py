"""The parameter editor of the Documents page: a table, or the JSON Schema as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

import pandas as pd
import streamlit as st

from toolscope_core.views.drafts import TYPES, ParameterRow, with_cells

WAYS = ("Table", "JSON Schema")


def table(rows: Sequence[ParameterRow], key: str) -> list[ParameterRow]:
    """A grid of the rows; what it gives back differs from them only in the cells touched."""
    types = [*TYPES, *sorted({row.type for row in rows} - set(TYPES))]
    text = st.column_config.TextColumn
    st.data_editor(
        pd.DataFrame(
            [asdict(row) for row in rows],
            columns=[field.name for field in fields(ParameterRow)],
            dtype=object,  # a new line has empty cells in every column
        ),
        key=key,
        hide_index=True,
        num_rows="dynamic",
        column_order=["origin", "name", "type", "required", "description", "enum"],
        column_config={
            "origin": text("was", disabled=True, help="Its name before anybody edited it."),
            "name": text(required=True),
            "type": st.column_config.SelectboxColumn(options=types, default="string"),
            "required": st.column_config.CheckboxColumn(default=False),
            "description": text(width="large"),
            "enum": st.column_config.MultiselectColumn(
                "allowed values",
                options=sorted({value for row in rows for value in row.enum}),
                accept_new_options=True,
            ),
        },
        alt="Parameters of the merged tool",
    )
    return with_cells(rows, st.session_state[key])


def as_text(text: str, key: str) -> str:
    """A field for the whole schema."""
    return st.text_area(
        "JSON Schema",
        text,
        key=key,
        height=360,
        help="Rename a parameter in the table: here it counts as removed and added.",
    )
