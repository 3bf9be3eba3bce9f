"""The model endpoint: address, model, limits, budget, key, a connection test, and prices."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from toolscope_core.llm.chat import Connection
from toolscope_core.llm.endpoints import on_this_machine
from toolscope_core.model.configuration import (
    REASONING_EFFORTS,
    Budget,
    Endpoint,
    Prices,
    PromptWording,
)
from toolscope_core.model.environment import ADDRESS
from toolscope_core.model.errors import ConfigError
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.data_tables import Column, Columns
from ui.shared.snapshot import Snapshot

TESTED = "tested_endpoint"
"""Session key for the endpoint that was tested last, and the result of the test."""
_TURN = "endpoint_turn"
"""Session key for how often the endpoint was saved or removed on this page."""
_EMPTY = Endpoint("http://localhost", "none")
MAX_CALLS = "A run pauses before it exceeds this limit. Leave empty for no limit."
_PROMPTS: dict[PromptWording, str] = {"own": "ToolScope's own", "paper": "as the papers print them"}
PROMPTS_HELP = (
    "Whose prompts a model gets when it judges and audits pairs, chooses tools and writes queries. "
    "Choose those of the papers (ToolScope, appendices G.1, G.2 and G.4; Tool2Vec, C.1) to see "
    "whether a difference from their figures is due to the prompt. The papers' prompts know no "
    "families, and merges by them become gateway tools. The answers are stored separately."
)
MAX_COST = f"{MAX_CALLS} In the currency of the prices below; requires a price for the model."


def endpoint_panel(snapshot: Snapshot) -> None:
    """Draw the endpoint of this store. Edits take effect when they are saved."""
    saved = snapshot.work.endpoints.get()
    st.subheader("Model endpoint", anchor=False)
    st.caption(
        "Which model may judge, and how much may that cost? Any OpenAI-compatible endpoint "
        "works: OpenAI, Azure, vLLM, Ollama, llama.cpp. When you start a run, the tools in "
        "question are sent to it. Without an endpoint, everything is judged offline."
    )
    endpoint = safe_text.value_or_error(lambda: _edited_endpoint(snapshot, saved))
    if endpoint is not None:
        _key(snapshot, endpoint)
    _buttons(snapshot, saved, endpoint)
    tested, connection = st.session_state.get(TESTED, (None, None))
    if connection is not None and tested == endpoint:
        _connection(connection)


class _Field(NamedTuple):
    label: str
    value: float | None
    step: float
    help: str | None = None


def _edited_endpoint(snapshot: Snapshot, saved: Endpoint | None) -> Endpoint | None:
    """The endpoint in the fields; ``None`` while the address or the model is missing.

    The keys of the fields change with the saved endpoint, so that the fields show its values.
    Raises ``ConfigError``.
    """
    turn, values = st.session_state.get(_TURN, 0), saved or _EMPTY
    suffix = f"{hash(saved and replace(saved, prices=None)) & 0xFFFFFFFF:08x}_{turn}"
    address, name = st.columns(2)
    base_url = address.text_input(
        "Base URL", saved.base_url if saved else "", key=f"base_url_{suffix}",
        persist_state="session", placeholder="http://localhost:11434/v1",
        help="The address up to /chat/completions, without a key.",
    )  # fmt: skip
    model = name.text_input(
        "Model", saved.model if saved else "", key=f"model_{suffix}",
        persist_state="session", placeholder="the model name at the endpoint",
    )  # fmt: skip
    calls, cost = _numbers(
        suffix,
        _Field("Maximum model calls per run", values.budget.calls, 1, MAX_CALLS),
        _Field("Maximum cost per run", values.budget.money, 1.0, MAX_COST),
    )
    with st.expander("More: how each call is made", icon=":material/tune:"):
        concurrency, deadline, temperature = _numbers(
            suffix,
            _Field("Concurrent calls", values.concurrency, 1),
            _Field("Timeout per call (s)", values.deadline, 10.0),
            _Field("Temperature", values.temperature, 0.1),
        )
        (most_tokens,) = _numbers(
            suffix, _Field("Maximum tokens per reply", values.most_tokens, 1_000)
        )
        efforts = (None, *REASONING_EFFORTS)
        reasoning = st.selectbox(
            "Reasoning effort", efforts, efforts.index(values.reasoning), key=f"reasoning_{suffix}",
            format_func=lambda effort: effort or "model default",
            persist_state="session", help="For models that think before they answer.",
        )  # fmt: skip
        wording = st.selectbox(
            "Prompts", _PROMPTS, [*_PROMPTS].index(values.prompts), key=f"prompts_{suffix}",
            format_func=_PROMPTS.__getitem__, persist_state="session", help=PROMPTS_HELP,
        )  # fmt: skip
    if not base_url.strip() or not model.strip():
        hint = f"Enter a base URL and a model. For the base URL, {ADDRESS}."
        st.info(safe_text.untrusted(hint), icon=":material/edit:")
        return None
    endpoint = Endpoint(
        base_url.strip(),
        model.strip(),
        int(concurrency or 0),
        deadline or 0.0,
        temperature or 0.0,
        int(most_tokens or 0),
        reasoning,
        budget=Budget(None if calls is None else int(calls), cost),
        prompts=wording,
    )
    return snapshot.work.endpoints.priced(endpoint)


def _numbers(suffix: str, *fields: _Field) -> list[float | None]:
    """Draw a row of number fields. Returns their values. A field with a help text may be empty.

    Limits are checked where the values are used.
    """
    numbers = []
    for place, field in zip(st.columns(len(fields)), fields, strict=True):
        key = f"{field.label}_{suffix}"
        value = None if field.value is None else type(field.step)(field.value)
        if field.help is not None:  # a field with a default value could not be emptied
            st.session_state.setdefault(key, value)
            value = None
        number = place.number_input(
            field.label, value=value, step=field.step, key=key, persist_state="session",
            help=field.help,
        )  # fmt: skip
        numbers.append(number)
    return numbers


def _key(snapshot: Snapshot, endpoint: Endpoint) -> None:
    """Show where the key comes from, but never the key itself."""
    origin, place = safe_text.untrusted(endpoint.origin), page_frame.key_source(endpoint.origin)
    if place:
        st.caption(
            f":material/key: The key for {origin} is in {place}. It is sent only to that "
            "endpoint, and never stored, shown or exported."
        )
    elif on_this_machine(endpoint.origin):
        st.caption(f":material/key_off: {origin} is on this machine and is called without a key.")
    else:
        bound = sorted({safe_text.untrusted(key.origin) for key in snapshot.work.settings.keys})
        bound_keys = f" The available keys are bound to {', '.join(bound)}." if bound else ""
        st.warning(
            f"There is no key for {origin}.{bound_keys} Set TOOLSCOPE\\_API\\_KEY, and set "
            f"TOOLSCOPE\\_API\\_ORIGIN to {origin}, in the environment or in "
            f"{safe_text.untrusted(page_frame.SECRETS)}, then restart the app. You cannot type a "
            "key here: it would have to be stored, and anyone who opens the app could use it.",
            icon=":material/key_off:",
        )


def _buttons(snapshot: Snapshot, saved: Endpoint | None, endpoint: Endpoint | None) -> None:
    with st.container(horizontal=True):
        st.button(
            "Save",
            key="save_endpoint",
            type="primary",
            icon=":material/save:",
            disabled=endpoint is None or endpoint == saved,
            on_click=_save,
            args=(snapshot, endpoint),
        )
        tested = st.button(
            "Test connection",
            key="test_endpoint",
            icon=":material/network_check:",
            disabled=endpoint is None,
            help="Sends one short prompt with the values above, saved or not.",
        )
        st.button(
            "Remove",
            key="forget_endpoint",
            icon=":material/delete:",
            disabled=saved is None,
            help="Falls back to TOOLSCOPE_BASE_URL and TOOLSCOPE_MODEL, if set. Answers and "
            "history are kept.",
            on_click=_save,
            args=(snapshot, None),
        )
    if tested and endpoint is not None:
        with st.spinner("Testing the connection"):
            st.session_state[TESTED] = (endpoint, snapshot.work.endpoints.test(endpoint))


def _save(snapshot: Snapshot, endpoint: Endpoint | None) -> None:
    st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1
    if endpoint is None:
        snapshot.work.endpoints.forget()
    else:
        snapshot.work.endpoints.save(endpoint)


def _connection(connection: Connection) -> None:
    show, icon, headline = (
        (st.success, ":material/check_circle:", "The connection works.")
        if connection.works
        else (st.error, ":material/error:", "The endpoint cannot be used.")
    )
    lines = [f"- {safe_text.untrusted(line)}" for line in connection.lines]
    show("\n".join([f"**{headline}**", "", *lines]), icon=icon)


def embeddings_caption(snapshot: Snapshot) -> None:
    """Show where the embeddings come from. This is set when the app starts."""
    settings = snapshot.work.settings
    if settings.embeddings_model:
        model = safe_text.untrusted(settings.embeddings_model)
        text = (
            f"Embeddings are computed by **{model}** at {safe_text.untrusted(settings.base_url)}."
        )
    else:
        text = "Embeddings are computed on this machine."
    st.caption(
        f"{text} To use a model of the endpoint in TOOLSCOPE\\_BASE\\_URL instead, set "
        "TOOLSCOPE\\_EMBEDDINGS\\_MODEL and restart the app."
    )


_COLUMNS: Columns[tuple[str, float | None, float | None]] = [
    Column(
        "model",
        lambda row: row[0],
        config=st.column_config.TextColumn(help="The model name at the endpoint.", width=200),
    ),
    Column(
        "in",
        lambda row: row[1],
        config=st.column_config.NumberColumn("per 1M input tokens", min_value=0.0, format="%g"),
    ),
    Column(
        "out",
        lambda row: row[2],
        config=st.column_config.NumberColumn("per 1M output tokens", min_value=0.0, format="%g"),
    ),
]


def prices_panel(snapshot: Snapshot) -> None:
    """Draw the table of prices in this store, with a line for the current model."""
    endpoints = snapshot.work.endpoints
    saved, endpoint = endpoints.prices(), endpoints.get()
    rows: list[tuple[str, float | None, float | None]]
    rows = [(model, prices.tokens_in, prices.tokens_out) for model, prices in saved.items()]
    if endpoint and endpoint.model not in saved:
        rows.append((endpoint.model, None, None))
    st.subheader("Prices", anchor=False)
    st.caption(
        "What does a run cost? The cost is estimated from these prices, per million tokens in your "
        "currency, before the run starts, and is kept in the history. Models without a price can "
        "be used; their cost is not shown."
    )
    edited_rows = data_tables.edit(
        rows,
        _COLUMNS,
        "Prices of models",
        key=f"prices_{hash(str(rows)) & 0xFFFFFFFF:08x}",
        num_rows="dynamic",
        width=640,
    )
    prices = safe_text.value_or_error(lambda: price_table(edited_rows))
    st.button(
        "Save prices",
        key="save_prices",
        icon=":material/save:",
        disabled=prices is None or prices == saved,
        on_click=endpoints.save_prices,
        args=(prices,),
    )


def price_table(rows: Sequence[Mapping[str, Any]]) -> dict[str, Prices]:
    """The prices in the lines of the editor, by model. If one of the two prices is missing, it is
    0.

    A line without prices is dropped. Raises ``ConfigError`` for a price without a model, a repeated
    model, or an invalid price.
    """
    table: dict[str, Prices] = {}
    for row in rows:
        name, values = row["model"], [row["in"], row["out"]]
        if all(pd.isna(value) for value in values):
            continue
        model = "" if pd.isna(name) else str(name).strip()
        if not model:
            raise ConfigError(f"the prices {values[0]} and {values[1]} lack a model; name one")
        if model in table:
            raise ConfigError(f"{model} has prices on two lines; delete one of them")
        tokens_in, tokens_out = (0.0 if pd.isna(value) else float(value) for value in values)
        table[model] = Prices(tokens_in, tokens_out)
    return table
