"""The selection: tools chosen in any view, stored in the address, and shown in every view."""

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.store.named_rows import Selection, get_selection, keep_selection
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.data_tables import Column, Row
from ui.shared.kept import kept_under
from ui.shared.snapshot import Snapshot

SELECTED, ONLY = "selections", "only_these"
"""Session keys that no widget owns. ``SELECTED`` has the key of the selection for each catalog;
``ONLY`` says whether all other tools are hidden. In the address, they are ``sel`` and ``only``.
"""

MOST_IN_MEMORY = 16


def keep(snapshot: Snapshot, ids: Iterable[str], source: str) -> Selection | None:
    """Store these tools as a selection, without those that the catalog lacks. Returns ``None`` if
    no tool is left.

    ``source`` says where they were chosen, for example ``the map``.
    """
    tools = snapshot.catalog.by_id
    known_ids = [tool_id for tool_id in ids if tool_id in tools]
    if not known_ids:
        return None
    return keep_selection(snapshot.work.store, snapshot.id, source, known_ids)


def get(snapshot: Snapshot, key: str) -> Selection | None:
    """The selection that a link names; ``None`` if this catalog does not have it."""

    def read() -> Selection | None:
        return get_selection(snapshot.work.store, snapshot.id, key)

    return kept_under(snapshot.catalog, "selections", (snapshot.id, key), read, MOST_IN_MEMORY)


def selected(snapshot: Snapshot) -> Selection | None:
    """The current selection in this catalog, if there is one."""
    key = st.session_state.get(SELECTED, {}).get(snapshot.id)
    return get(snapshot, key) if key else None


def only(snapshot: Snapshot) -> bool:
    """Whether views hide the tools that are not selected, instead of dimming them."""
    return bool(st.session_state.get(ONLY)) and selected(snapshot) is not None


def select(snapshot: Snapshot, ids: Iterable[str], source: str) -> None:
    """Select these tools instead of the current ones. Without tools, the selection is cleared.

    ``source`` says where they were chosen, for example ``the map``. Call this in a widget's
    callback. Elsewhere, ``st.rerun()`` must follow, because the views above have already been
    drawn.
    """
    _keep(snapshot, keep(snapshot, ids, source))


def select_ticked(snapshot: Snapshot, row_ids: Sequence[str], key: str, source: str) -> None:
    """The callback of a table with ticks. Selected tools that are not among ``row_ids`` stay
    selected.
    """
    selection = selected(snapshot)
    rows = st.session_state[key]["selection"]["rows"]
    hidden = selection.tool_ids.difference(row_ids) if selection else ()
    select(snapshot, {*hidden, *(row_ids[row] for row in rows if row < len(row_ids))}, source)


def select_button(
    snapshot: Snapshot, ids: Sequence[str], source: str, key: str, label: str
) -> None:
    """Draw a button that selects these tools."""
    st.button(
        label, key=key, icon=":material/select_all:", on_click=select,
        args=(snapshot, tuple(ids), source), help="Selects these tools in every view.",
    )  # fmt: skip


def server_column(
    snapshot: Snapshot, rows: Sequence[Row], server: Callable[[Row], str], key: str
) -> Column[Row]:
    """A column of buttons. Each button selects the tools of the server in its row."""

    def pick(row: Row) -> None:
        tools, name = snapshot.catalog.tools, server(row)
        select(snapshot, [tool.id for tool in tools if tool.server == name], name)

    label = ":material/select_all: Select its tools"
    return data_tables.button_column(rows, label, pick, key=key, width=170)


def restore(snapshot: Snapshot) -> None:
    """Make the selection in the address and the one in the session the same.

    A link sets the selection. A change of page removes it from the address, so it is written there
    again.
    """
    key = st.query_params.get("sel")
    linked = get(snapshot, key) if key else None
    if key and not linked and key not in st.session_state.get(SELECTED, {}).values():
        st.toast("The selection in this link is no longer available.")
    if "only" in st.query_params:
        st.session_state[ONLY] = True
    _keep(snapshot, linked or selected(snapshot))


def selection_panel(snapshot: Snapshot) -> None:
    """Draw the selection and its actions in the sidebar of every page."""
    selection = selected(snapshot)
    if selection is None:
        return
    with st.sidebar.container(border=True):
        count = quantity(len(selection.tool_ids), "tool")
        st.markdown(f"**{count}** from {safe_text.untrusted(selection.source)}")
        st.session_state["only"] = only(snapshot)
        st.toggle(
            "Show only selected",
            key="only",
            on_change=lambda: show_only(st.session_state["only"]),
            help="Hides everything that is not selected. When off, the rest is dimmed or listed "
            "after the selection.",
        )
        with st.container(horizontal=True):
            page_frame.page_link(
                "catalog",
                "Show as table",
                icon="table_rows",
                catalog=snapshot.record.name,
                part="Tools",
                sel=selection.key,
                only="1",
            )
            st.button(
                "Clear", key="sel_clear", icon=":material/close:", on_click=_keep,
                args=(snapshot, None),
            )  # fmt: skip


def show_only(only: bool) -> None:
    """Make the views hide the tools that are not selected, or dim them."""
    st.session_state[ONLY] = only
    _write_address("only", "1" if only else None)


def _keep(snapshot: Snapshot, selection: Selection | None) -> None:
    key = selection.key if selection else None
    st.session_state[SELECTED] = {**st.session_state.get(SELECTED, {}), snapshot.id: key}
    if key is None:
        st.session_state[ONLY] = False
    _write_address("sel", key)
    _write_address("only", "1" if st.session_state.get(ONLY) else None)


def _write_address(name: str, value: str | None) -> None:
    """Write a parameter into the address if it has changed. ``None`` removes the parameter."""
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
