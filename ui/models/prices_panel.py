"""What models cost: the price table, edited in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from toolscope_core.config import Prices
from toolscope_core.errors import ConfigError
from ui.frame import page_frame, safe_text

COLUMNS = ["model", "in", "out"]


def prices_panel() -> None:
    """The table of this store, with a line for the model that is asked; it counts once saved."""
    endpoints = page_frame.workspace().endpoints
    saved, asked = endpoints.prices(), endpoints.get()
    rows = [[model, prices.tokens_in, prices.tokens_out] for model, prices in saved.items()]
    if asked and asked.model not in saved:
        rows.append([asked.model, None, None])
    st.subheader("Prices", anchor=False)
    st.caption(
        "Of a million tokens, in your currency: a run's cost is told before it starts and kept in "
        "the history. A model without a price is asked all the same, and no cost is told."
    )
    number = st.column_config.NumberColumn
    edited = st.data_editor(
        pd.DataFrame(rows, columns=COLUMNS, dtype=object),
        key=f"prices_{hash(str(rows)) & 0xFFFFFFFF:08x}",
        hide_index=True,
        num_rows="dynamic",
        width=640,
        column_config={
            "model": st.column_config.TextColumn(
                help="The name that the endpoint knows.", width="medium"
            ),
            "in": number("1M tokens in", min_value=0.0, format="%g"),
            "out": number("1M tokens out", min_value=0.0, format="%g"),
        },
        alt="Prices of models",
    )
    typed = None
    try:
        typed = price_table(edited.to_dict("records"))
    except ConfigError as error:
        safe_text.show_error(error)
    st.button(
        "Save prices",
        key="save_prices",
        icon=":material/save:",
        disabled=typed is None or typed == saved,
        on_click=endpoints.save_prices,
        args=(typed,),
    )


def price_table(rows: list[Mapping[str, Any]]) -> dict[str, Prices]:
    """The table that stands in the lines of the editor; a price left empty beside another is 0.

    A line without a price says nothing and is dropped. Raises ``ConfigError`` for a price without
    a model, two prices of one model, and what is no price.
    """
    table: dict[str, Prices] = {}
    for row in rows:
        name, told = row["model"], [row["in"], row["out"]]
        if all(pd.isna(value) for value in told):
            continue
        model = "" if pd.isna(name) else str(name).strip()
        if not model:
            raise ConfigError(f"a price of {told[0]} and {told[1]} has no model; name the model")
        if model in table:
            raise ConfigError(f"{model} has two prices; delete one of its lines")
        tokens_in, tokens_out = (0.0 if pd.isna(value) else float(value) for value in told)
        table[model] = Prices(tokens_in, tokens_out)
    return table
