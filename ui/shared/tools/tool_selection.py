"""The one selection: tools chosen in any view, kept in the address, seen in every view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from toolscope_core.store.selection_rows import Selection, get_selection, keep_selection
from ui.shared import page_frame, safe_text
from ui.shared.services.page_service import PageService
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

if TYPE_CHECKING:
    from streamlit.elements.lib.column_types import ButtonColumnResult

SELECT_TOOLS = ":material/select_all: Select its tools"

SELECTED, ONLY = "selections", "only_these"
"""Session keys that no widget owns: for each catalog the key of its selection; whether the rest is
hidden. In the address they are ``sel`` and ``only``.
"""

MOST_IN_MEMORY = 16


class Selections(PageService):
    """Selections by key. The last ones read stay in memory, since every page asks each time."""

    def __init__(self, work: Workspace) -> None:
        super().__init__(work)
        self._selections: ResultCache[Selection | None] = ResultCache(most=MOST_IN_MEMORY)

    def keep(self, catalog_id: int, ids: Iterable[str], source: str) -> Selection | None:
        """Keep these tools, those that the catalog has; ``None`` where it has none of them.

        ``source`` says in words where they were chosen, such as ``the map``.
        """
        tools = self._catalogs.open(catalog_id).by_id
        chosen = [tool_id for tool_id in ids if tool_id in tools]
        if not chosen:
            return None
        selection = keep_selection(self._store, catalog_id, source, chosen)
        self._selections.put((catalog_id, selection.key), (), selection)
        return selection

    def get(self, catalog_id: int, key: str) -> Selection | None:
        """The selection that a link names; ``None`` where this catalog has none such."""
        return self._selections.get(
            (catalog_id, key), (), lambda: get_selection(self._store, catalog_id, key)
        )


def selected(catalog_id: int) -> Selection | None:
    """The tools that are selected in this catalog, if any are."""
    key = st.session_state.get(SELECTED, {}).get(catalog_id)
    return page_frame.service(Selections).get(catalog_id, key) if key else None


def only() -> bool:
    """Whether views hide what is not selected, instead of dimming it."""
    return bool(st.session_state.get(ONLY)) and selected(page_frame.current().id) is not None


def select(catalog_id: int, ids: Iterable[str], source: str) -> None:
    """Select these tools in place of what was; none of them clears.

    ``source`` says where they were chosen, such as ``the map``. Call it in a widget's callback;
    elsewhere ``st.rerun()`` must follow, since the views above are drawn already.
    """
    _keep(catalog_id, page_frame.service(Selections).keep(catalog_id, ids, source))


def ticked(catalog_id: int, shown: Sequence[str], key: str, source: str) -> None:
    """Callback of a table of tools whose rows can be ticked: what is selected and not ``shown``
    stays selected.
    """
    chosen = selected(catalog_id)
    rows = st.session_state[key]["selection"]["rows"]
    hidden = chosen.tool_ids.difference(shown) if chosen else ()
    select(catalog_id, {*hidden, *(shown[row] for row in rows if row < len(shown))}, source)


def select_button(catalog_id: int, ids: Sequence[str], source: str, key: str, label: str) -> None:
    """A button that selects these tools."""
    st.button(
        label, key=key, icon=":material/select_all:", on_click=select,
        args=(catalog_id, tuple(ids), source), help="Selects these tools in every view.",
    )  # fmt: skip


def server_column(catalog_id: int, servers: Sequence[str], key: str) -> ButtonColumnResult:
    """Config of a column of ``SELECT_TOOLS``, a button a row that selects the server's tools."""

    def pick() -> None:
        server = servers[st.session_state[key]["row"]]
        tools = page_frame.workspace().catalogs.open(catalog_id).tools
        select(catalog_id, [tool.id for tool in tools if tool.server == server], server)

    return st.column_config.ButtonColumn("", width=170, type="tertiary", key=key, on_click=pick)


def clear() -> None:
    """Select nothing."""
    _keep(page_frame.current().id, None)


def restore() -> None:
    """Keep the selection of the address and of the session equal: a link sets it; a change of page
    drops it from the address, and it is written there again.
    """
    catalog_id = page_frame.current().id
    key = st.query_params.get("sel")
    linked = page_frame.service(Selections).get(catalog_id, key) if key else None
    if key and not linked and key not in st.session_state.get(SELECTED, {}).values():
        st.toast("The selection in this link is no longer available.")
    if "only" in st.query_params:
        st.session_state[ONLY] = True
    _keep(catalog_id, linked or selected(catalog_id))


def selection_panel() -> None:
    """What is selected, in the sidebar of every page, and what can be done with it."""
    chosen = selected(page_frame.current().id)
    if chosen is None:
        return
    with st.sidebar.container(border=True):
        count = len(chosen.tool_ids)
        tools = "tool" if count == 1 else "tools"
        st.markdown(f"**{count:,} {tools}** from {safe_text.untrusted(chosen.source)}")
        st.session_state["only"] = only()
        st.toggle(
            "Show only selected",
            key="only",
            on_change=lambda: show_only(st.session_state["only"]),
            help="Hides everything that is not selected. When off, the rest is dimmed or listed "
            "after it.",
        )
        with st.container(horizontal=True):
            page_frame.page_link(
                "catalog",
                "Show as table",
                icon="table_rows",
                catalog=page_frame.current().name,
                part="Tools",
                sel=chosen.key,
                only="1",
            )
            st.button("Clear", key="sel_clear", icon=":material/close:", on_click=clear)


def show_only(wanted: bool) -> None:
    """Have views hide what is not selected, or dim it."""
    st.session_state[ONLY] = wanted
    _write_address("only", "1" if wanted else None)


def _keep(catalog_id: int, selection: Selection | None) -> None:
    key = selection.key if selection else None
    st.session_state[SELECTED] = {**st.session_state.get(SELECTED, {}), catalog_id: key}
    if key is None:
        st.session_state[ONLY] = False
    _write_address("sel", key)
    _write_address("only", "1" if st.session_state.get(ONLY) else None)


def _write_address(name: str, value: str | None) -> None:
    """Write a parameter into the address where it differs; ``None`` removes it."""
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
