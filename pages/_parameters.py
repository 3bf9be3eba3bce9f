"""The parameter editor of the Documents page: a table, or the JSON Schema as text."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from typing import Any

import pandas as pd
import streamlit as st

from toolscope_core.workspace.drafts import TYPES, Draft, ParameterRow, parsed, rows_of, schema_of


def editor(draft: Draft, seen: str) -> Draft:
    """The draft with the parameters as edited. Raises ``DecisionError`` where they make none."""
    way = st.segmented_control(
        "Parameters", ["Table", "JSON Schema"], default="Table", required=True, key=f"way_{seen}"
    )
    if way == "JSON Schema":
        return _as_text(draft, seen)
    rows = rows_of(draft)
    types = [*TYPES, *sorted({row.type for row in rows} - set(TYPES))]
    text = st.column_config.TextColumn
    edited = st.data_editor(
        pd.DataFrame(
            [asdict(row) for row in rows],
            columns=[field.name for field in fields(ParameterRow)],
            dtype=object,  # a new line has empty cells in every column
        ),
        key=f"parameters_{seen}",
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
    schema, renames = schema_of(draft, [_row(record) for record in edited.to_dict("records")])
    return Draft(replace(draft.document, schema=schema), renames)


def _as_text(draft: Draft, seen: str) -> Draft:
    text = st.text_area(
        "JSON Schema",
        json.dumps(draft.document.schema, indent=2, ensure_ascii=False),
        key=f"schema_{seen}",
        height=360,
        help="Rename a parameter in the table: here it counts as removed and added.",
    )
    schema = parsed(text)
    known = schema.get("properties") or {}
    renames = {old: new for old, new in draft.renames.items() if new in known}
    return Draft(replace(draft.document, schema=schema), renames)


def _row(record: dict[str, Any]) -> ParameterRow:
    """A line of the grid; a cell that nobody filled is ``None`` or not a number."""
    enum = record["enum"] if isinstance(record["enum"], list | tuple) else []
    texts = {
        key: record[key] if isinstance(record[key], str) else ""
        for key in ("origin", "current", "name", "description")
    }
    kind = record["type"] if isinstance(record["type"], str) else "string"
    return ParameterRow(
        **texts, type=kind, required=record["required"] is True, enum=tuple(map(str, enum))
    )
