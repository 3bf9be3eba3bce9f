"""The endpoint that is asked: its address and model, limits, budget, key, and a test."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.config import ADDRESS, Budget, Endpoint
from toolscope_core.errors import ConfigError
from toolscope_core.workspace.endpoints import Connection, on_this_machine
from ui.frame import page_frame, safe_text

TESTED = "tested_endpoint"
"""Session key: the endpoint that was tested last, and what came of it."""
TURN = "endpoint_turn"
"""Session key: how often it was saved or forgotten here."""
EMPTY = Endpoint("http://localhost", "none")
BUDGET = "A run pauses before it would take more. Empty: no limit."
MONEY = f"{BUDGET} In the currency of the prices below; it needs one for the model."


def endpoint_panel() -> None:
    """The endpoint of this store; what is typed counts once it is saved."""
    saved = page_frame.workspace().endpoints.get()
    st.subheader("The model that is asked", anchor=False)
    st.caption(
        "Any OpenAI-compatible endpoint: OpenAI, Azure, vLLM, Ollama, llama.cpp. It is sent the "
        "tools that you ask about, once you start a run. Without one, everything is judged offline."
    )
    edited = None
    try:
        edited = _typed(saved)
    except ConfigError as error:
        safe_text.show_error(error)
    if edited is not None:
        _key(edited)
    _buttons(saved, edited)
    before, found = st.session_state.get(TESTED, (None, None))
    if found is not None and before == edited:
        _connection(found)


class _Field(NamedTuple):
    label: str
    value: float | None
    step: float
    help: str | None = None

    @property
    def optional(self) -> bool:
        return self.help is not None


def _typed(saved: Endpoint | None) -> Endpoint | None:
    """What stands in the fields, ``None`` while address or model is missing. Raises
    ``ConfigError``.

    The keys of the fields change with what is saved, by whomever, and then they show that.
    """
    turn, shown = st.session_state.get(TURN, 0), saved or EMPTY
    seen = f"{hash(saved and replace(saved, prices=None)) & 0xFFFFFFFF:08x}_{turn}"
    address, name = st.columns(2)
    base_url = address.text_input(
        "Base URL", saved.base_url if saved else "", key=f"base_url_{seen}",
        persist_state="session", placeholder="http://localhost:11434/v1",
        help="The address up to /chat/completions, with no key in it.",
    )  # fmt: skip
    model = name.text_input(
        "Model", saved.model if saved else "", key=f"model_{seen}",
        persist_state="session", placeholder="the name that the endpoint knows",
    )  # fmt: skip
    most, deadline, warmth, calls, money = _numbers(
        seen,
        _Field("Calls at a time", shown.concurrency, 1),
        _Field("Seconds for a call", shown.deadline, 10.0),
        _Field("Temperature", shown.temperature, 0.1),
        _Field("Budget of a run, calls", shown.budget.calls, 1, BUDGET),
        _Field("Budget of a run, money", shown.budget.money, 1.0, MONEY),
    )
    if not base_url.strip() or not model.strip():
        st.info(f"Give a base URL and a model: {ADDRESS}.", icon=":material/edit:")
        return None
    typed = Endpoint(
        base_url.strip(),
        model.strip(),
        int(most or 0),
        deadline or 0.0,
        warmth or 0.0,
        budget=Budget(None if calls is None else int(calls), money),
    )
    return page_frame.workspace().endpoints.priced(typed)


def _numbers(seen: str, *fields: _Field) -> list[float | None]:
    """A row of number fields. Limits are told in words by whoever takes the values."""
    return [
        _number(place, seen, field)
        for place, field in zip(st.columns(len(fields)), fields, strict=True)
    ]


def _number(place: DeltaGenerator, seen: str, field: _Field) -> float | None:
    """A field that can be emptied, if it may be: its value stands in the session, for one with a
    default goes back to that.
    """
    label, value, step, told = field
    key, value = f"{label}_{seen}", value if value is None else type(step)(value)
    if field.optional:
        st.session_state.setdefault(key, value)
        value = None
    return place.number_input(
        label, value=value, step=step, key=key, persist_state="session", help=told
    )


def _key(endpoint: Endpoint) -> None:
    """Where the key comes from; never the key."""
    origin, place = safe_text.untrusted(endpoint.origin), page_frame.key_source(endpoint.origin)
    if place:
        st.caption(
            f":material/key: The key for {origin} is in {place}. It goes there and nowhere else; "
            "it is never stored, shown or exported."
        )
    elif on_this_machine(endpoint.origin):
        st.caption(f":material/key_off: {origin} is on this machine and is asked without a key.")
    else:
        bound = sorted(
            {safe_text.untrusted(key.origin) for key in page_frame.workspace().settings.keys}
        )
        others = f" The keys that are there are bound to {', '.join(bound)}." if bound else ""
        st.warning(
            f"There is no key for {origin}.{others} Set TOOLSCOPE\\_API\\_KEY, and "
            f"TOOLSCOPE\\_API\\_ORIGIN to {origin}, in the environment or in "
            f"{safe_text.untrusted(page_frame.SECRETS)}, and start the app again.",
            icon=":material/key_off:",
        )


def _buttons(saved: Endpoint | None, edited: Endpoint | None) -> None:
    with st.container(horizontal=True):
        st.button(
            "Save",
            key="save_endpoint",
            type="primary",
            icon=":material/save:",
            disabled=edited is None or edited == saved,
            on_click=_keep,
            args=(edited,),
        )
        tested = st.button(
            "Test connection",
            key="test_endpoint",
            icon=":material/network_check:",
            disabled=edited is None,
            help="Asks one small question of what is typed here, saved or not.",
        )
        st.button(
            "Forget",
            key="forget_endpoint",
            icon=":material/delete:",
            disabled=saved is None,
            help="Goes back to TOOLSCOPE_BASE_URL and TOOLSCOPE_MODEL, where they are set. Answers "
            "and history stay.",
            on_click=_keep,
            args=(None,),
        )
    if tested and edited is not None:
        with st.spinner("Asking one small question"):
            st.session_state[TESTED] = (edited, page_frame.workspace().endpoints.test(edited))


def _keep(endpoint: Endpoint | None) -> None:
    endpoints = page_frame.workspace().endpoints
    st.session_state[TURN] = st.session_state.get(TURN, 0) + 1
    if endpoint is None:
        endpoints.forget()
    else:
        endpoints.save(endpoint)


def _connection(found: Connection) -> None:
    show, icon, said = (
        (st.success, ":material/check_circle:", "It works.")
        if found.works
        else (st.error, ":material/error:", "It cannot be used.")
    )
    lines = [f"- {safe_text.untrusted(line)}" for line in found.lines]
    show("\n".join([f"**{said}**", "", *lines]), icon=icon)


def embeddings_caption() -> None:
    """Who makes the vectors that tools are compared by; it is chosen at the start."""
    settings = page_frame.workspace().settings
    if settings.embeddings_model:
        model, address = (
            safe_text.untrusted(settings.embeddings_model),
            safe_text.untrusted(settings.base_url),
        )
        said = f"Tools are compared by vectors of **{model}** at {address}."
    else:
        said = "Tools are compared by vectors that are made on this machine."
    st.caption(
        f"{said} TOOLSCOPE\\_EMBEDDINGS\\_MODEL names a model of the endpoint in "
        "TOOLSCOPE\\_BASE\\_URL instead; it is read at the start."
    )
