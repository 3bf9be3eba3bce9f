"""The selection: tools chosen in any view, stored in the address, shown in every view."""

from collections.abc import Callable, Iterable, Sequence

import streamlit as st

from toolscope_core.model.numbers import quantity
from toolscope_core.store.named_rows import Selection, get_selection, keep_selection
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.data_tables import Column, Row
from ui.shared.kept import kept_under
from ui.shared.snapshot import Snapshot

SELECTED, ONLY = "selections", "only_these"
"""Session keys that no widget owns: for each catalog the key of its selection; whether the rest is
hidden. In the address they are ``sel`` and ``only``.
"""

MOST_IN_MEMORY = 16


def keep(snapshot: Snapshot, ids: Iterable[str], source: str) -> Selection | None:
    """Store those of these tools that the catalog has as a selection; ``None`` if it has none.

    ``source`` says in words where they were chosen, such as ``the map``.
    """
    tools = snapshot.catalog.by_id
    known_ids = [tool_id for tool_id in ids if tool_id in tools]
    if not known_ids:
        return None
    return keep_selection(snapshot.work.store, snapshot.id, source, known_ids)


def get(snapshot: Snapshot, key: str) -> Selection | None:
    """The selection in a link; ``None`` if this catalog has none."""

    def read() -> Selection | None:
        return get_selection(snapshot.work.store, snapshot.id, key)

    return kept_under(snapshot.catalog, "selections", (snapshot.id, key), read, MOST_IN_MEMORY)


def selected(snapshot: Snapshot) -> Selection | None:
    """The current selection in this catalog, if any."""
    key = st.session_state.get(SELECTED, {}).get(snapshot.id)
    return get(snapshot, key) if key else None


def only(snapshot: Snapshot) -> bool:
    """Whether views hide unselected tools instead of dimming them."""
    return bool(st.session_state.get(ONLY)) and selected(snapshot) is not None


def select(snapshot: Snapshot, ids: Iterable[str], source: str) -> None:
    """Select these tools in place of the current ones; none clears the selection.

    ``source`` says where they were chosen, such as ``the map``. Call it in a widget's callback;
    elsewhere ``st.rerun()`` must follow, since the views above are already drawn.
    """
    _keep(snapshot, keep(snapshot, ids, source))


def select_ticked(snapshot: Snapshot, row_ids: Sequence[str], key: str, source: str) -> None:
    """Callback of a table with ticks: selected tools that are not in ``row_ids`` stay selected."""
    selection = selected(snapshot)
    rows = st.session_state[key]["selection"]["rows"]
    hidden = selection.tool_ids.difference(row_ids) if selection else ()
    select(snapshot, {*hidden, *(row_ids[row] for row in rows if row < len(row_ids))}, source)


def select_button(
    snapshot: Snapshot, ids: Sequence[str], source: str, key: str, label: str
) -> None:
    """A button that selects these tools."""
    st.button(
        label, key=key, icon=":material/select_all:", on_click=select,
        args=(snapshot, tuple(ids), source), help="Selects these tools in every view.",
    )  # fmt: skip


def server_column(
    snapshot: Snapshot, rows: Sequence[Row], server: Callable[[Row], str], key: str
) -> Column[Row]:
    """A column of buttons; each selects the tools of its row's server."""

    def pick(row: Row) -> None:
        tools, name = snapshot.catalog.tools, server(row)
        select(snapshot, [tool.id for tool in tools if tool.server == name], name)

    label = ":material/select_all: Select its tools"
    return data_tables.button_column(rows, label, pick, key=key, width=170)


def restore(snapshot: Snapshot) -> None:
    """Keep the selection in the address and in the session equal.

    A link sets it. A change of page drops it from the address, so it is written there again.
    """
    key = st.query_params.get("sel")
    linked = get(snapshot, key) if key else None
    if key and not linked and key not in st.session_state.get(SELECTED, {}).values():
        st.toast("The selection in this link is no longer available.")
    if "only" in st.query_params:
        st.session_state[ONLY] = True
    _keep(snapshot, linked or selected(snapshot))


def selection_panel(snapshot: Snapshot) -> None:
    """The selection in the sidebar of every page, and its actions."""
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
    """Have views hide unselected tools, or dim them."""
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
    """Write a parameter into the address if it changed; ``None`` removes it."""
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
