"""The parameter editor of the Documents page: a table, or the JSON Schema as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields

import pandas as pd
import streamlit as st

from ui.documents.drafts import TYPES, ParameterRow, with_cells

WAYS = ("Table", "JSON Schema")


def table(rows: Sequence[ParameterRow], sources: Mapping[str, str], key: str) -> list[ParameterRow]:
    """The rows as edited in a grid; only cells that were touched differ from the input.
    ``sources`` says by parameter what the old tools give it from.
    """
    types = [*TYPES, *sorted({row.type for row in rows} - set(TYPES))]
    text = st.column_config.TextColumn
    st.data_editor(
        pd.DataFrame(
            [{**asdict(row), "source": sources.get(row.current, "")} for row in rows],
            columns=[*(field.name for field in fields(ParameterRow)), "source"],
            dtype=object,  # a new line has empty cells in every column
        ),
        key=key,
        hide_index=True,
        num_rows="dynamic",
        column_order=[
            "name",
            "type",
            "required",
            "default",
            "description",
            "enum",
            "source",
            "origin",
        ],
        column_config={
            "origin": text("original name", disabled=True, help="The name before any edit."),
            "name": text(required=True),
            "type": st.column_config.SelectboxColumn(options=types, default="string"),
            "required": st.column_config.CheckboxColumn(default=False),
            "default": text(help="Empty for none; a text as it is, other values as JSON."),
            "description": text(width="large"),
            "source": text("comes from", disabled=True, help="What each old tool calls it."),
            "enum": st.column_config.MultiselectColumn(
                "allowed values",
                options=sorted({value for row in rows for value in row.enum}),
                accept_new_options=True,
            ),
        },
        alt="Parameters of the tool",
    )
    return with_cells(rows, st.session_state[key])


def as_text(text: str, key: str) -> str:
    """A field for the whole schema."""
    return st.text_area(
        "JSON Schema",
        text,
        key=key,
        height=360,
        help="To rename a parameter, use the table: here a new name counts as removed and added.",
    )
