"""The prices of models, edited in a table."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from toolscope_core.model.configuration import Prices
from toolscope_core.model.errors import ConfigError
from ui.shared import safe_text
from ui.shared.snapshot import Snapshot

COLUMNS = ["model", "in", "out"]


def prices_panel(snapshot: Snapshot) -> None:
    """Draw the price table of this store, with a line for the current model."""
    endpoints = snapshot.work.endpoints
    saved, endpoint = endpoints.prices(), endpoints.get()
    rows = [[model, prices.tokens_in, prices.tokens_out] for model, prices in saved.items()]
    if endpoint and endpoint.model not in saved:
        rows.append([endpoint.model, None, None])
    st.subheader("Prices", anchor=False)
    st.caption(
        "What does a run cost? It is estimated from these prices, per million tokens in your "
        "currency, before the run starts, and kept in the history. Models without a price can be "
        "used; their cost is not shown."
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
                help="The model name at the endpoint.", width="medium"
            ),
            "in": number("per 1M input tokens", min_value=0.0, format="%g"),
            "out": number("per 1M output tokens", min_value=0.0, format="%g"),
        },
        alt="Prices of models",
    )
    prices = None
    try:
        prices = price_table(edited.to_dict("records"))
    except ConfigError as error:
        safe_text.show_error(error)
    st.button(
        "Save prices",
        key="save_prices",
        icon=":material/save:",
        disabled=prices is None or prices == saved,
        on_click=endpoints.save_prices,
        args=(prices,),
    )


def price_table(rows: list[Mapping[str, Any]]) -> dict[str, Prices]:
    """The prices in the lines of the editor, by model; a price left empty beside another is 0.

    A line without a price is dropped. Raises ``ConfigError`` for a price without
    a model, two prices of one model, and what is no price.
    """
    table: dict[str, Prices] = {}
    for row in rows:
        name, values = row["model"], [row["in"], row["out"]]
        if all(pd.isna(value) for value in values):
            continue
        model = "" if pd.isna(name) else str(name).strip()
        if not model:
            raise ConfigError(
                f"a price of {values[0]} and {values[1]} has no model; name the model"
            )
        if model in table:
            raise ConfigError(f"{model} has two prices; delete one of its lines")
        tokens_in, tokens_out = (0.0 if pd.isna(value) else float(value) for value in values)
        table[model] = Prices(tokens_in, tokens_out)
    return table
