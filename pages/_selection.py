"""The one selection: tools chosen in any view, kept in the address, seen in every view."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from pages import _ui
from toolscope_core.workspace.selections import Selection

HELD = "selections"
"""Session key: for each catalog the key of its selection. No widget owns it."""


def selected(catalog_id: int) -> Selection | None:
    """The tools that are selected in this catalog, if any are."""
    key = st.session_state.get(HELD, {}).get(catalog_id)
    return _ui.workspace().selections.get(catalog_id, key) if key else None


def only() -> bool:
    """Whether views hide what is not selected, instead of dimming it."""
    return bool(st.session_state.get("only")) and selected(_ui.current().id) is not None


def select(catalog_id: int, ids: Iterable[str], source: str) -> None:
    """Select these tools in place of what was; none of them clears.

    ``source`` says where they were chosen, such as ``the map``. Call it in a widget's callback;
    elsewhere ``st.rerun()`` must follow, since the views above are drawn already.
    """
    _hold(catalog_id, _ui.workspace().selections.keep(catalog_id, ids, source))


def clear() -> None:
    """Select nothing."""
    _hold(_ui.current().id, None)


def carry() -> None:
    """Keep the address and the session of one mind: a link brings a selection, and a page change,
    which drops it from the address, gets it back.
    """
    catalog_id = _ui.current().id
    asked = st.query_params.get("sel")
    held = st.session_state.setdefault(HELD, {})
    if asked == held.get(catalog_id):
        return
    found = _ui.workspace().selections.get(catalog_id, asked) if asked else None
    if asked and not found and asked not in held.values():
        st.toast("The tools that the link selects are not kept any more.")
    _hold(catalog_id, found or selected(catalog_id))


def chip() -> None:
    """What is selected, on every page, and what can be done with it."""
    chosen = selected(_ui.current().id)
    if chosen is None:
        return
    with st.sidebar.container(border=True):
        count = len(chosen.tool_ids)
        tools = "tool" if count == 1 else "tools"
        st.markdown(f"**{count:,} {tools}** from {_ui.untrusted(chosen.source)}")
        st.toggle(
            "Only these",
            key="only",
            bind="query-params",
            persist_state="session",
            help="Hides what is not selected; without it, the rest stands back.",
        )
        with st.container(horizontal=True):
            st.button("Show as table", key="sel_table", on_click=_as_table)
            st.button("Clear", key="sel_clear", icon=":material/close:", on_click=clear)
    if st.session_state.pop("go_to_table", False):
        st.switch_page("pages/catalog.py")


def _as_table() -> None:
    st.session_state.update({"only": True, "part": "Tools", "go_to_table": True})


def _hold(catalog_id: int, selection: Selection | None) -> None:
    held = st.session_state.setdefault(HELD, {})
    if selection is None:
        held.pop(catalog_id, None)
        st.query_params.pop("sel", None)
    else:
        held[catalog_id] = selection.key
        st.query_params["sel"] = selection.key
