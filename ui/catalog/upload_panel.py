"""Adding a catalog: files, a look at what they hold, then the store and the analysis."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import PurePath

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog import INPUTS, Source
from toolscope_core.catalog.sources import MAX_BYTES, SUFFIXES, pasted
from toolscope_core.datamodel import Catalog
from toolscope_core.errors import CatalogError, ToolScopeError
from toolscope_core.numbers import quantity
from ui.catalog.changes_panel import ahead_panel
from ui.frame import page_frame, safe_text

SHOWN = 20
ASKED_APART = 4
NAMED = 6
MOST_PASTED = 2_000_000


def upload_panel() -> None:
    """The panel; nothing is stored before the button is pressed."""
    turn = st.session_state.setdefault("upload_turn", 0)
    if failed := st.session_state.pop("upload_error", ""):
        safe_text.show_error(CatalogError(failed))
    with st.expander("Add a catalog", icon=":material/upload_file:"):
        folder = st.toggle("A whole folder", key="folder", help="All its files become one catalog.")
        files = st.file_uploader(
            "Files with tools: MCP `tools/list`, OpenAI, Anthropic, Gemini, OpenAPI and other "
            "shapes, as JSON, JSON Lines, YAML or CSV. Several files become one catalog.",
            type=[suffix.removeprefix(".") for suffix in SUFFIXES],
            accept_multiple_files="directory" if folder else True,
            max_upload_size=MAX_BYTES >> 20,
            key=f"folder_{turn}" if folder else f"upload_{turn}",
        )
        text = ""
        if not files:
            text = st.text_area(
                "Or paste it here", key=f"paste_{turn}", height=68, max_chars=MOST_PASTED
            )
        if not files and not text.strip():
            return
        look, choice = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
        labels = [file.name for file in files] or ["what was pasted"]
        said = _formats(choice, labels, f"format_{turn}")
        sources = [Source(f.name, f.getvalue(), form) for f, form in zip(files, said, strict=False)]
        sources = sources or [pasted(text, said[0])]
        try:
            catalog = page_frame.workspace().explore.preview(sources)
        except CatalogError as error:
            with look:
                safe_text.show_error(error)
            return
        with look:
            _preview(catalog, len(sources) > 1)
        if not catalog.tools:
            return  # servers without tools: the table of problems says how to get them
        first = PurePath(sources[0].label)
        stem = first.parts[0] if folder else first.stem
        name = choice.text_input("Name", _free(stem, catalog), key=f"name_{turn}", width=320)
        with look:
            ahead_panel(name, catalog)
        choice.button(
            "Add catalog",
            type="primary",
            icon=":material/add:",
            key=f"add_{turn}",
            on_click=_add,
            args=(turn, sources),
        )


def _free(stem: str, catalog: Catalog) -> str:
    """The name to offer: not that of a catalog of altogether other tools."""
    catalogs, name = page_frame.workspace().catalogs, stem
    known = {record.name: record.id for record in catalogs.newest()}
    tools = {tool.name for tool in catalog.tools}
    for number in count(2):
        if name not in known or tools & {tool.name for tool in catalogs.open(known[name]).tools}:
            break
        name = f"{stem}-{number}"
    return name


def _formats(around: DeltaGenerator, files: Sequence[str], key: str) -> list[str | None]:
    """What the person says each file is, or all of many; ``None`` leaves it to detection."""
    apart = len(files) <= ASKED_APART
    names = [f"Format of {safe_text.untrusted(file)}" for file in files] if apart else []
    answers: list[str | None] = [
        around.selectbox(
            name, INPUTS, index=None, placeholder="detected", key=f"{key}_{row}", width=220
        )
        for row, name in enumerate(names or [f"Format of all {len(files)} files"])
    ]
    return answers if apart else answers * len(files)


def _preview(catalog: Catalog, many: bool) -> None:
    """What an import would bring, of ``many`` files or of one."""
    read = f"{quantity(len(catalog.tools), 'tool')} on {quantity(len(catalog.servers), 'server')}"
    st.write(f"{read}, format **{catalog.format}**.")
    if len(catalog.files) > 1 or catalog.files[0].format != catalog.format:
        st.dataframe(catalog.files, hide_index=True, alt="What each file is taken for")
    if catalog.problems:
        rest = (
            "The others can be added; these stay listed on this page under *Not read*."
            if catalog.tools
            else "There is no other, so nothing can be added: the table says why."
        )
        where = f" in {_places(catalog)}" if many else ""
        st.warning(
            f"{quantity(len(catalog.problems), 'record')}{where} cannot be read. {rest}",
            icon=":material/warning:",
        )
        st.dataframe(
            catalog.problems[:SHOWN],
            hide_index=True,
            column_config={"reason": st.column_config.TextColumn(width="large")},
            alt="Records that cannot be read",
        )
    if not catalog.tools:
        return
    first = [
        {"tool": tool.name, "server": tool.server, "description": tool.description[:200]}
        for tool in catalog.tools[:SHOWN]
    ]
    st.dataframe(first, hide_index=True, height=220, alt="The first tools")


def _places(catalog: Catalog) -> str:
    """The files with records that cannot be read, in words; safe in markdown."""
    files = list(dict.fromkeys(problem.position.partition(": ")[0] for problem in catalog.problems))
    more = f" and {len(files) - NAMED} more files" if len(files) > NAMED else ""
    return ", ".join(safe_text.untrusted(file) for file in files[:NAMED]) + more


def _add(turn: int, sources: Sequence[Source]) -> None:
    """Store and analyse; the sidebar then shows the new catalog, which the URL keeps."""
    name = st.session_state[f"name_{turn}"]
    try:
        record = page_frame.workspace().explore.add(name, sources)
    except ToolScopeError as error:
        st.session_state["upload_error"] = str(error)
        return
    page_frame.show(record.name)
    st.session_state["upload_turn"] = turn + 1
