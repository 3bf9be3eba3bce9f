"""The form that adds a catalog from files, text or servers, and the panel that renames or deletes
one.
"""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import PurePath

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.catalog.flaws import MAX_BYTES
from toolscope_core.catalog.formats.format_table import INPUTS
from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.sources import SUFFIXES, Source, pasted
from toolscope_core.mcp.servers.offers import ServerOffer
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.model.catalog import Catalog, InputFile
from toolscope_core.model.configuration import ready_within
from toolscope_core.model.errors import CatalogError, JobError
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import Tool, digest
from ui.catalog import machine_panel
from ui.catalog.changes_panel import new_version_panel, new_version_summary
from ui.shared import data_tables, page_frame, safe_text, sign_in
from ui.shared.data_tables import Column, Columns
from ui.shared.services import live_servers, versions
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot
from ui.shared.tools import server_picker

_SHOWN = 20
OWN_FORMAT = 4
"""Up to this many files, the format of each file is asked for separately."""
_NAMED = 6
MOST_PASTED = 2_000_000
_HEIGHT = 420
TALL = 3
"""A list of more servers than this scrolls."""
_TURN = "upload_turn"
"""Session key for the number of catalogs added with these forms."""


def add_panel(snapshot: Snapshot) -> None:
    """Draw the form, collapsed. It collapses again after a catalog is added."""
    sources = {"Files": files_panel, "Pasted text": paste_panel, "MCP servers": servers_panel}
    for key in ("upload_error", "servers_error"):
        safe_text.show(key)
    with st.expander(
        "Add a catalog: files, pasted text or MCP servers",
        expanded=is_reading(snapshot) or machine_panel.times_chosen() > 0,
        icon=":material/add:",
        key=f"add_catalog_{st.session_state.get(_TURN, 0)}_{machine_panel.times_chosen()}",
    ):
        source = st.segmented_control(
            "Add a catalog from",
            list(sources),
            default=None if "add_from" in st.session_state else "Files",
            required=True,
            key="add_from",
            bind="query-params",
            label_visibility="collapsed",
        )
        sources[source or "Files"](snapshot)


def rename_delete_panel(snapshot: Snapshot) -> None:
    """Draw the fields that rename the catalog, or delete it after a confirmation."""
    record = snapshot.record
    safe_text.show("rename_error")
    name = safe_text.untrusted(record.name)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    new = row.text_input("Catalog name", record.name, key=f"new_name_{record.id}", width=320)
    row.button(
        "Rename",
        key="rename_catalog",
        disabled=not new.strip() or new.strip() == record.name,
        on_click=_rename,
        args=(snapshot.work.catalogs, record.name, new.strip()),
    )
    with row.popover("Delete…", icon=":material/delete:"):
        st.markdown(
            f"Delete **{name}**: {quantity(record.number, 'version')}, "
            f"{quantity(len(snapshot.log), 'decision')}, its analysis, runs and selections? This "
            "cannot be undone; an exported bundle keeps the decisions."
        )
        st.button(
            "Delete permanently",
            key="delete_catalog",
            type="primary",
            on_click=_delete,
            args=(snapshot.work.catalogs, record.name),
        )


def _rename(catalogs: Catalogs, name: str, new: str) -> None:
    if safe_text.attempt("rename_error", lambda: catalogs.rename(name, new)):
        page_frame.show(new)


def _delete(catalogs: Catalogs, name: str) -> None:
    if safe_text.attempt("rename_error", lambda: catalogs.delete(name)):
        page_frame.show(catalogs.newest()[0].name)


def files_panel(snapshot: Snapshot) -> None:
    """Draw the form for files or a folder. Nothing is stored until the button is pressed."""
    turn = st.session_state.setdefault(_TURN, 0)
    folder = st.toggle(
        "Upload a folder", key="folder", help="All files of the folder become one catalog."
    )
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
    sources = [
        Source(f.name, f.getvalue(), format) for f, format in zip(files, formats, strict=True)
    ]
    first = PurePath(sources[0].label)
    others = f" and {len(sources) - 1} more" if len(sources) > 1 else ""
    stem = first.parts[0] if folder else f"{first.stem}{others}"
    preview_and_add(snapshot, (preview, choice), sources, stem, str(turn), _next_turn)


def paste_panel(snapshot: Snapshot) -> None:
    """Draw the form for pasted definitions. Nothing is stored until the button is pressed."""
    turn = st.session_state.setdefault(_TURN, 0)
    text = st.text_area(
        "Tool definitions in any format that ToolScope reads from files",
        key=f"paste_{turn}",
        height=120,
        max_chars=MOST_PASTED,
    )
    if not text.strip():
        return
    preview, choice = _form_places()
    (format,) = _formats(choice, ["the pasted text"], f"format_{turn}")
    source = pasted(text, format)
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
    on_added: Callable[[str], object],
) -> None:
    """Draw a preview of the sources, a field for the name, and the button that stores them.

    The preview is drawn in the first of the ``places``, the rest in the second. The suggested name
    is ``stem`` unless that name is taken. ``on_added`` is called with the name after storing.
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
        return  # without tools, the table of problems says how to get them
    name = choice.text_input(
        "Catalog name", _free_name(snapshot, stem, catalog), key=f"name_{key}", width=320
    )
    changes = versions.ahead(snapshot, name, catalog)
    decisions = versions.standing_ahead(snapshot, name, catalog)
    is_version = changes is not None and not changes.same
    version = f"version {changes.number + 1}" if changes else ""
    choice.button(
        f"Add as {version} of {safe_text.untrusted(name.strip())}" if is_version else "Add catalog",
        type="primary",
        icon=":material/add:",
        key=f"add_{key}",
        on_click=_add,
        args=(snapshot.work, key, sources, on_added),
    )
    if changes is not None and decisions is not None:
        with choice:
            new_version_summary(name, changes, len(decisions.hold))
        with preview:
            new_version_panel(changes)


def _free_name(snapshot: Snapshot, stem: str, catalog: Catalog) -> str:
    """The suggested name. It is never the name of a catalog that would lose most of its tools."""
    catalogs, name = snapshot.work.catalogs, stem
    ids = {record.name: record.id for record in catalogs.newest()}
    tools = {tool.name for tool in catalog.tools}
    for number in count(2):
        existing = {tool.name for tool in catalogs.open(ids[name]).tools} if name in ids else set()
        if 2 * len(existing & tools) >= len(existing):
            break
        name = f"{stem}-{number}"
    return name


def _formats(place: DeltaGenerator, files: Sequence[str], key: str) -> list[str | None]:
    """The format chosen for each file; ``None`` means that it is detected.

    With many files, one choice applies to all of them.
    """
    one_by_one = len(files) <= OWN_FORMAT
    names = [f"Format of {safe_text.untrusted(file)}" for file in files] if one_by_one else []
    answers: list[str | None] = [
        place.selectbox(
            name, INPUTS, index=None, placeholder="auto-detect", key=f"{key}_{row}", width=220
        )
        for row, name in enumerate(names or [f"Format of all {len(files)} files"])
    ]
    return answers if one_by_one else answers * len(files)


def _preview(catalog: Catalog, many: bool) -> None:
    """Draw the tools that an import would add. ``many`` says that they come from several files."""
    owners = f" on {quantity(len(catalog.servers), 'server')}" if catalog.servers else ""
    tools_in_words = f"{quantity(len(catalog.tools), 'tool')}{owners}"
    st.write(f"{tools_in_words}, format **{' and '.join(catalog.read_from)}**.")
    if len(catalog.files) > 1:
        parts: Columns[InputFile]
        parts = [*map(Column, ("label", "format", "tools", "problems", "server"))]
        data_tables.draw(catalog.files, parts, "Files and their formats")
    if catalog.problems:
        rest = (
            "The other records can be added; the unreadable records are listed on this page under "
            "*Findings*."
            if catalog.tools
            else "There are no other records, so nothing can be added. The table gives the reasons."
        )
        files = dict.fromkeys(one.position.partition(": ")[0] for one in catalog.problems)
        names = listed(map(safe_text.untrusted, files), _NAMED, nouns="files")
        where = f" in {names}" if many else ""
        st.warning(
            f"{quantity(len(catalog.problems), 'record')}{where} cannot be read. {rest}",
            icon=":material/warning:",
        )
        data_tables.draw(
            catalog.problems[:_SHOWN],
            [Column("position"), Column("reason", width=400), Column("raw")],
            "Records that cannot be read",
        )
    if catalog.tools:
        columns: Columns[Tool] = [
            Column("tool", lambda tool: tool.name),
            Column("server"),
            Column("description", lambda tool: tool.description[:200]),
        ]
        data_tables.draw(catalog.tools[:_SHOWN], columns, "The first tools")


def _add(
    work: Workspace, key: str, sources: Sequence[Source], on_added: Callable[[str], object]
) -> None:
    """Store and analyse the catalog, and show it in the sidebar and the address."""
    name = st.session_state[f"name_{key}"]
    if safe_text.attempt("upload_error", lambda: work.add(name, sources)):
        on_added(name.strip())
        page_frame.show(name.strip())


def _next_turn(_name: str) -> None:
    """Clear and close the form, ready for the next upload."""
    st.session_state[_TURN] += 1


def is_reading(snapshot: Snapshot) -> bool:
    """Whether servers are being read on this page, or have been read but not added yet."""
    job = snapshot.job(live_servers.JOB_KIND)
    return (job is not None and job.live) or live_servers.survey(snapshot) is not None


def servers_panel(snapshot: Snapshot) -> None:
    """Draw the panel. A server is started or contacted only after it is ticked and the button is
    pressed.
    """
    job, survey = snapshot.job(live_servers.JOB_KIND), live_servers.survey(snapshot)
    if reason := live_servers.why_off(snapshot.work.settings, sign_in.is_shared()):
        st.info(reason, icon=":material/block:")
    elif job is not None and job.live:
        page_frame.job_panel(job.id)
    elif survey is not None:
        _survey(snapshot, survey)
    elif not sign_in.asks_for_token():
        if job is not None and job.message:
            safe_text.show_error(JobError(job.message))
        before = live_servers.last_read(snapshot.work.store, snapshot.record.name)
        configuration = _configuration(before)
        if configuration is not None:
            _choice(snapshot, configuration, before)


def _configuration(before: live_servers.ServersRead | None) -> ClientConfiguration | None:
    """The servers of this machine if they exist and are chosen; otherwise the configuration that
    the person gives.
    """
    source: str | None = machine_panel.FILE
    if machine_panel.setup().servers:
        source = st.segmented_control(
            "Servers from",
            machine_panel.SOURCES,
            default=None if machine_panel.FROM in st.session_state else machine_panel.FILE,
            required=True,
            key=machine_panel.FROM,
            label_visibility="collapsed",
        )
    if source == machine_panel.HERE:
        return machine_panel.setup().configuration
    purpose = "Read them again to make a new version."
    return server_picker.configuration(before, "servers", purpose)


def _choice(
    snapshot: Snapshot, configuration: ClientConfiguration, before: live_servers.ServersRead | None
) -> None:
    """Draw each server with its command or address and a tick, and the button that starts the
    ticked ones.
    """
    changed_servers = live_servers.changed_servers(configuration, before) if before else ()
    others = dict(before.others) if before else {}
    many = len(configuration.servers) > TALL
    for name, why in configuration.odd.items():
        st.caption(safe_text.untrusted(for_terminal(f"{name} {why}")))
    names = []
    with st.container(height=_HEIGHT if many else "content", border=many, key="servers_list"):
        for number, server in enumerate(configuration.servers):
            with st.container(gap="xsmall", key=f"server_at_{number}"):
                # a tick applies only to the command that was shown, not to one that replaces it
                key, offers = f"server_{digest(server.as_json())}", others.get(server.name, "")
                names += [server.name] * server_picker.tick(server, configuration, key, offers)
                if server in changed_servers:
                    st.warning(
                        "The command or address of this server has changed since the server was "
                        "last read."
                    )

    def start() -> None:
        options = names, sign_in.is_shared(), ready_within(seconds)
        safe_text.attempt(
            "servers_error", lambda: live_servers.start(snapshot, configuration, *options)
        )

    row = st.container(horizontal=True, vertical_alignment="bottom")
    seconds = row.number_input(
        "Seconds to wait for a server", 1, 600, 60, key="servers_seconds", width=240
    )
    label = f"Start and read {quantity(len(names), 'server')}" if names else "Start and read"
    row.button(
        label,
        type="primary",
        icon=":material/play_arrow:",
        key="servers_start",
        disabled=not names,
        on_click=start,
        help="Each ticked server is started or contacted, lists its tools, and is stopped.",
    )


def _survey(snapshot: Snapshot, survey: live_servers.Survey) -> None:
    """Show what the servers offer, and the form that adds their tools."""
    columns: Columns[ServerOffer] = [
        Column("server", lambda offer: offer.name),
        Column("tools", lambda offer: len(offer.tools)),
        Column("seconds", lambda offer: round(offer.seconds, 1)),
        Column("result", _result, width=620),
    ]
    data_tables.draw(survey.offers, columns, "What each server offered")
    failures = [offer.failure for offer in survey.offers if offer.failure]
    if failures:
        lines = "\n".join(f"- {safe_text.untrusted(failure)}" for failure in failures)
        st.warning(f"{quantity(len(failures), 'server')} could not be read:\n{lines}")
    before = live_servers.last_read(snapshot.work.store, snapshot.record.name)
    kept_of = _kept_of(snapshot, survey) if before and survey.read else None
    preview, choice = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    if survey.read:

        def added(name: str) -> None:
            live_servers.remember(snapshot.work.store, name, survey)
            live_servers.drop(snapshot)
            machine_panel.forget()

        source = live_servers.source(snapshot, survey, kept_of)
        stem = snapshot.record.name if before else "servers"
        preview_and_add(
            snapshot, (preview, choice), [source], stem, f"servers_{snapshot.id}", added
        )
    choice.button("Discard", key="servers_discard", on_click=live_servers.drop, args=(snapshot,))


def _kept_of(snapshot: Snapshot, survey: live_servers.Survey) -> int | None:
    """The catalog's id if it keeps the tools of servers that were not read; otherwise ``None``."""
    others = [one.name for one in snapshot.catalog.servers if one.name not in survey.read]
    if not others:
        return None
    keep = st.checkbox(
        "Keep the tools of the servers that were not read this time: "
        f"{safe_text.first_few(others, _NAMED)}",
        value=True,
        key="servers_kept",
    )
    return snapshot.id if keep else None


def _result(offer: ServerOffer) -> str:
    about = " ".join(filter(None, (offer.title, offer.version)))
    others = f"also offers {offer.extras}, which were not read" if offer.extras else ""
    parts = (offer.failure and f"failed: {offer.failure}", about, others, *offer.notes)
    return "; ".join(filter(None, parts))
