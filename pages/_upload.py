"""Adding a catalog: files, a look at what they hold, then the store and the analysis."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import streamlit as st

from pages import _ui
from pages._versions import ahead_panel
from toolscope_core.catalog.shapes import FORMATS
from toolscope_core.catalog.sources import MAX_BYTES, Source
from toolscope_core.datamodel import Catalog
from toolscope_core.errors import CatalogError, ToolScopeError

SHOWN = 20


def upload_panel() -> None:
    """The panel; nothing is stored before the button is pressed."""
    turn = st.session_state.setdefault("upload_turn", 0)
    if failed := st.session_state.pop("upload_error", ""):
        _ui.show_error(CatalogError(failed))
    with st.expander("Add a catalog", icon=":material/upload_file:"):
        files = st.file_uploader(
            "Files with tools: MCP `tools/list`, OpenAI, Anthropic and other shapes, "
            "as JSON or JSON Lines. Several files become one catalog.",
            type=["json", "jsonl"],
            accept_multiple_files=True,
            max_upload_size=MAX_BYTES >> 20,
            key=f"upload_{turn}",
        )
        if not files:
            return
        sources = [Source(file.name, file.getvalue()) for file in files]
        look, choice = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
        forced = choice.selectbox(
            "Format", FORMATS, index=None, placeholder="detected", key=f"format_{turn}", width=220
        )
        try:
            catalog = _ui.workspace().explore.preview(sources, forced)
        except CatalogError as error:
            with look:
                _ui.show_error(error)
            return
        with look:
            _preview(catalog, forced)
        stem = PurePath(files[0].name).stem
        name = choice.text_input("Name", stem, key=f"name_{turn}", width=320)
        with look:
            ahead_panel(name, catalog)
        choice.button(
            "Add catalog",
            type="primary",
            icon=":material/add:",
            key=f"add_{turn}",
            on_click=_add,
            args=(turn, sources, forced),
        )


def _preview(catalog: Catalog, forced: str | None) -> None:
    read = f"{len(catalog.tools):,} tools on {len(catalog.servers):,} servers"
    st.write(f"{read}, {'read as' if forced else 'detected format'} **{catalog.format}**.")
    if catalog.problems:
        st.warning(
            f"{len(catalog.problems):,} records cannot be read. The others can be added; these "
            "stay listed on this page under *Not read*.",
            icon=":material/warning:",
        )
        st.dataframe(catalog.problems[:SHOWN], hide_index=True, alt="Records that cannot be read")
    first = [
        {"tool": tool.name, "server": tool.server, "description": tool.description[:200]}
        for tool in catalog.tools[:SHOWN]
    ]
    st.dataframe(first, hide_index=True, height=220, alt="The first tools")


def _add(turn: int, sources: Sequence[Source], forced: str | None) -> None:
    """Store and analyse; the sidebar then shows the new catalog, which the URL keeps."""
    name = st.session_state[f"name_{turn}"]
    try:
        record = _ui.workspace().explore.add(name, sources, forced)
    except ToolScopeError as error:
        st.session_state["upload_error"] = str(error)
        return
    st.session_state["catalog"] = record.name
    st.session_state["upload_turn"] = turn + 1
