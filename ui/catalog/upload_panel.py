"""Adding a catalog: files, a preview of what they hold, then the store and the analysis."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import PurePath

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.flaws import MAX_BYTES
from toolscope_core.catalog.formats.format_table import INPUTS
from toolscope_core.catalog.sources import SUFFIXES, Source, pasted
from toolscope_core.model.catalog import Catalog, InputFile
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.numbers import listed, quantity
from ui.catalog.changes_panel import new_version_panel, new_version_summary
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.data_tables import Column
from ui.shared.services import versions
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

SHOWN = 20
OWN_FORMAT = 4
"""Up to so many files the format is asked for each."""
NAMED = 6
MOST_PASTED = 2_000_000
TURN = "upload_turn"
"""Session key: how many catalogs were added by these forms."""


def files_panel(snapshot: Snapshot) -> None:
    """The form for files or a folder; nothing is stored before the button is pressed."""
    turn = st.session_state.setdefault(TURN, 0)
    folder = st.toggle("Upload a folder", key="folder", help="All files in it become one catalog.")
    files = st.file_uploader(
        "Tool definitions: MCP `tools/list`, OpenAI, Anthropic, Gemini, OpenAPI and other "
        "formats, as JSON, JSON Lines, YAML or CSV. Several files become one catalog.",
        type=[suffix.removeprefix(".") for suffix in SUFFIXES],
        accept_multiple_files="directory" if folder else True,
        max_upload_size=MAX_BYTES >> 20,
        key=f"folder_{turn}" if folder else f"upload_{turn}",
    )
    if not files:
        return
    preview, choice = _form_places()
    formats = _formats(choice, [file.name for file in files], f"format_{turn}")
    sources = [Source(f.name, f.getvalue(), form) for f, form in zip(files, formats, strict=True)]
    first = PurePath(sources[0].label)
    stem = first.parts[0] if folder else first.stem
    preview_and_add(snapshot, (preview, choice), sources, stem, str(turn), _next_turn)


def paste_panel(snapshot: Snapshot) -> None:
    """The form for pasted definitions; nothing is stored before the button is pressed."""
    turn = st.session_state.setdefault(TURN, 0)
    text = st.text_area(
        "Tool definitions, in any form that a file may have",
        key=f"paste_{turn}",
        height=120,
        max_chars=MOST_PASTED,
    )
    if not text.strip():
        return
    preview, choice = _form_places()
    (form,) = _formats(choice, ["the pasted text"], f"format_{turn}")
    source = pasted(text, form)
    stem = PurePath(source.label).stem
    preview_and_add(snapshot, (preview, choice), [source], stem, str(turn), _next_turn)


def _form_places() -> tuple[DeltaGenerator, DeltaGenerator]:
    return st.container(), st.container(horizontal=True, vertical_alignment="bottom")


def preview_and_add(
    snapshot: Snapshot,
    places: tuple[DeltaGenerator, DeltaGenerator],
    sources: Sequence[Source],
    stem: str,
    key: str,
    added: Callable[[str], object],
) -> None:
    """What the sources hold, in the first of the ``places``; a name, ``stem`` unless it is taken,
    and the button that stores them, in the second. ``added`` is called with the name once they are
    stored.
    """
    preview, choice = places
    try:
        catalog = snapshot.work.catalogs.preview(sources)
    except CatalogError as error:
        with preview:
            safe_text.show_error(error)
        return
    with preview:
        _preview(catalog, len(sources) > 1)
    if not catalog.tools:
        return  # servers without tools: the table of problems says how to get them
    name = choice.text_input(
        "Catalog name", _free_name(snapshot, stem, catalog), key=f"name_{key}", width=320
    )
    changes, standing = (
        versions.ahead(snapshot, name, catalog),
        versions.standing_ahead(snapshot, name, catalog),
    )
    is_version = changes is not None and not changes.same
    version = f"version {changes.number + 1}" if changes else ""
    choice.button(
        f"Add as {version} of {safe_text.untrusted(name.strip())}" if is_version else "Add catalog",
        type="primary",
        icon=":material/add:",
        key=f"add_{key}",
        on_click=_add,
        args=(snapshot.work, key, sources, added),
    )
    if changes is not None and standing is not None:
        with choice:
            new_version_summary(name, changes, len(standing.hold))
        with preview:
            new_version_panel(changes)


def _free_name(snapshot: Snapshot, stem: str, catalog: Catalog) -> str:
    """The suggested name: not that of a catalog of which most tools would be gone."""
    catalogs, name = snapshot.work.catalogs, stem
    ids = {record.name: record.id for record in catalogs.newest()}
    tools = {tool.name for tool in catalog.tools}
    for number in count(2):
        there = {tool.name for tool in catalogs.open(ids[name]).tools} if name in ids else set()
        if 2 * len(there & tools) >= len(there):
            break
        name = f"{stem}-{number}"
    return name


def _formats(place: DeltaGenerator, files: Sequence[str], key: str) -> list[str | None]:
    """The format chosen for each file, or one for all of many; ``None`` leaves it to detection."""
    each = len(files) <= OWN_FORMAT
    names = [f"Format of {safe_text.untrusted(file)}" for file in files] if each else []
    answers: list[str | None] = [
        place.selectbox(
            name, INPUTS, index=None, placeholder="auto-detect", key=f"{key}_{row}", width=220
        )
        for row, name in enumerate(names or [f"Format of all {len(files)} files"])
    ]
    return answers if each else answers * len(files)


def _preview(catalog: Catalog, many: bool) -> None:
    """Draw what an import would add, from ``many`` files or from one."""
    owners = f" on {quantity(len(catalog.servers), 'server')}" if catalog.servers else ""
    read = f"{quantity(len(catalog.tools), 'tool')}{owners}"
    st.write(f"{read}, format **{' and '.join(catalog.read_from)}**.")
    if len(catalog.files) > 1:
        names = ("label", "format", "tools", "problems", "server")
        columns = [Column[InputFile](name) for name in names]
        data_tables.draw(catalog.files, columns, "Files and their formats")
    if catalog.problems:
        rest = (
            "The others can be added; these stay listed on this page under *Findings*."
            if catalog.tools
            else "There are no others, so nothing can be added. The table gives the reasons."
        )
        where = f" in {_places(catalog)}" if many else ""
        st.warning(
            f"{quantity(len(catalog.problems), 'record')}{where} cannot be read. {rest}",
            icon=":material/warning:",
        )
        data_tables.draw(
            catalog.problems[:SHOWN],
            [Column("position"), Column("reason", width=400), Column("raw")],
            "Records that cannot be read",
        )
    if catalog.tools:
        data_tables.draw(
            catalog.tools[:SHOWN],
            [
                Column("tool", lambda tool: tool.name),
                Column("server"),
                Column("description", lambda tool: tool.description[:200]),
            ],
            "The first tools",
        )


def _places(catalog: Catalog) -> str:
    """The files with records that cannot be read, in words; safe in markdown."""
    files = dict.fromkeys(problem.position.partition(": ")[0] for problem in catalog.problems)
    return listed(map(safe_text.untrusted, files), NAMED, nouns="files")


def _add(
    work: Workspace, key: str, sources: Sequence[Source], added: Callable[[str], object]
) -> None:
    """Store and analyse the catalog; the sidebar and the address then show it."""
    name = st.session_state[f"name_{key}"]
    if safe_text.attempt("upload_error", lambda: work.add(name, sources)):
        added(name.strip())
        page_frame.show(name.strip())


def _next_turn(_name: str) -> None:
    """An empty form, and closed, for the next upload."""
    st.session_state[TURN] += 1
