"""The argument maps of a merge, edited in a table: what each old argument becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
import streamlit as st

from toolscope_core.model.address_keys import tool_key
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import JsonObject, Tool, digest
from ui.documents.map_rows import DROPPED, MapRow, as_constants, given_by, map_rows
from ui.shared.cards.cards import Card

TYPED, BEGAN = "typed_maps", "map_began"
"""Session keys: by form what people gave of each map; by table the rows it began with."""


def typed_maps(form_key: str, stored: Mapping[str, JsonObject]) -> dict[str, JsonObject]:
    """What people gave of the maps, saved or not, by tool id."""
    every: dict[str, dict[str, JsonObject]] = st.session_state.setdefault(TYPED, {})
    return every.setdefault(form_key, dict(stored))


def argument_editor(
    form_key: str, card: Card, generated: Sequence[ArgumentMap], typed: dict[str, JsonObject]
) -> tuple[str, ...]:
    """Draw the map of one member as a table, and keep in ``typed`` what it says otherwise than the
    one that was ``generated``; the problems. ``card`` has the maps as they are now.
    """
    tools = {tool.id: tool for tool in card.tools}
    names = {one: f"{tool.name} ({tool.server or one})" for one, tool in tools.items()}
    chosen = st.selectbox(
        "Calls of", list(tools), key=f"map_of_{form_key}", format_func=lambda one: names[one]
    )
    alphas = {alpha.tool_id: alpha for alpha in card.cluster.arguments}
    before = next(alpha for alpha in generated if alpha.tool_id == chosen)
    targets = [*(card.cluster.document.schema or {}).get("properties", {}), DROPPED]
    key = f"map_{form_key}_{tool_key(chosen)}_{digest(targets)[:6]}"
    rows, constants = _table(key, tools[chosen], alphas[chosen], targets)
    try:
        given = given_by(tools[chosen], before, rows, constants)
    except DecisionError as error:
        return (str(error),)
    if given:
        typed[chosen] = given
    else:
        typed.pop(chosen, None)
    return ()


def _table(
    key: str, tool: Tool, alpha: ArgumentMap, targets: list[str]
) -> tuple[list[MapRow], str]:
    """The rows and constants as edited; the table begins with the map as it was when it came."""
    began: dict[str, tuple[tuple[MapRow, ...], str]] = st.session_state.setdefault(BEGAN, {})
    if key not in st.session_state:
        began[key] = map_rows(tool, alpha), as_constants(alpha.constants)
    start, constants = began[key]
    text = st.column_config.TextColumn
    st.data_editor(
        pd.DataFrame([asdict(row) for row in start], dtype=object),
        key=key,
        hide_index=True,
        disabled=["argument", "type"],
        column_config={
            "argument": text("old argument"),
            "type": text(width="small"),
            "becomes": st.column_config.SelectboxColumn(options=targets, required=True),
            "values": text("its values", help='A JSON object: {"c": "celsius"}'),
            "reason": text("why it is dropped"),
        },
        alt=f"What each argument of {tool.name} becomes",
    )
    always = st.text_input(
        "Always sent (JSON)", constants, key=f"{key}_constants", placeholder='{"unit": "celsius"}'
    )
    return with_map_cells(start, st.session_state[key]), always


def with_map_cells(rows: Sequence[MapRow], edits: Mapping[str, Any]) -> list[MapRow]:
    """The rows after what a grid tells of its cells; an emptied cell is an empty text."""
    changed = {
        int(at): {name: value or "" for name, value in cells.items()}
        for at, cells in edits.get("edited_rows", {}).items()
    }
    return [replace(row, **changed.get(at, {})) for at, row in enumerate(rows)]
