"""The zip for a client, an API or a file: the button for it, and where each file goes."""

from collections.abc import Mapping

import streamlit as st

from toolscope_core.catalog.clients.client_table import Client, switches_of
from toolscope_core.catalog.formats.record_format import Target
from toolscope_core.check.text_mentions import TextMention
from toolscope_core.export.bundle_readme import (
    HOME,
    files_for,
    how_many,
    name_in_zip,
    where_it_goes,
)
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.numbers import quantity
from ui.shared import data_tables, safe_text
from ui.shared.data_tables import Column
from ui.shared.services import exports
from ui.shared.snapshot import Snapshot

PREVIEW_LINES = 60
_GONE = "Agents no longer see them."


def download_panel(
    snapshot: Snapshot,
    config: PlanConfig,
    choice: exports.ExportTarget,
    fix: bool,
    figures: exports.ExportFigures,
) -> None:
    """Draw the button that makes the zip, and where the files go.

    The files themselves are shown on request. If the target rejects the toolset, there is no zip.
    """
    refused = bool(figures.refusals)
    button, places = st.columns([1, 3], vertical_alignment="center", gap="medium")
    button.download_button(
        "Download the zip",
        lambda: exports.exported(snapshot, config, choice, fix),
        file_name=exports.file_name(snapshot, config, choice, fix),
        mime="application/zip",
        key="download",
        type="primary",
        on_click="ignore",
        icon=":material/download:",
        disabled=refused,
        width="stretch",
    )
    with places:
        _places(choice.target, figures)
    if not refused and st.toggle("Show the files", key="files"):
        with st.spinner("Preparing the files"):
            _files(exports.download(snapshot, config, choice, fix).files)


def _places(target: Target, figures: exports.ExportFigures) -> None:
    """Show where each file of the zip goes, or why there is no zip."""
    files = files_for(target, figures.files)
    places: dict[str, list[str]] = {}
    for name in files:
        places.setdefault(where_it_goes(target, name), []).append(f"`{name_in_zip(name)}`")
    if figures.refusals:
        fixes = sum(bool(violation.fix) for violation in figures.refusals)
        fixed = f" *Apply suggested fixes* fixes {fixes:,} of these violations." if fixes else ""
        parts = figures.toolsets(target.name)
        if parts and target.writes:
            fixed += (
                f" The toolset is split into {len(parts):,} toolset files, one for each agent, "
                f"because {target.title} accepts at most {target.rules.room:,} tools."
            )
        refused = quantity(len(figures.refusals), "violation")
        remedy = " With *Leave out refused tools*, the other tools are exported."
        st.markdown(f"This toolset would be refused: {refused}, listed below.{fixed}{remedy}")
        return
    for goes, names in places.items():
        st.markdown(f"{' to '.join(dict.fromkeys((names[0], names[-1])))}: {goes}")
    if many := how_many(target, files):
        st.markdown(many)
    if not files:
        whole = ", and no server has all of its tools in every prompt"
        st.markdown(
            f"No file for {target.title}: no merge here lets a server's tool be switched off"
            f"{whole if figures.loading and target.can_defer else ''}."
        )
    effect = ""
    switched_off = sum(len(switch.off) for switch in switches_of(figures.plan))
    if isinstance(target, Client) and switched_off:
        effect = f"Switched off: {quantity(switched_off, 'tool')}. {target.effect or _GONE} "
    if isinstance(target, Client) and any(one.kind == "gateway" for one in figures.plan.applied):
        effect += "Merges that need a gateway work only through `serve`, as the README says. "
    if effect:
        st.markdown(effect)  # code in a caption is hard to see
    st.caption(f"The bundle is in the folder *{HOME}*; *README.md* explains each file.")


def _files(contents: Mapping[str, bytes]) -> None:
    files, preview = st.columns([2, 3], gap="large")
    rows = list(contents.items())
    columns = [
        Column[tuple[str, bytes]]("file", lambda row: row[0]),
        Column("bytes", lambda row: f"{len(row[1]):,}"),
    ]
    data_tables.draw(rows, columns, "Files of the zip", place=files)
    name, content = rows[1]
    lines = content.decode("utf-8").splitlines()
    preview.code("\n".join(lines[:PREVIEW_LINES]), language=name.rpartition(".")[2], height=400)
    preview.caption(f"{name}, lines 1 to {min(PREVIEW_LINES, len(lines))} of {len(lines):,}")


def texts_panel(snapshot: Snapshot, config: PlanConfig) -> None:
    """Draw the files that were searched, and a row for each line that names a removed tool."""
    title = "Texts that name removed tools"
    with st.expander(title):
        files = st.file_uploader(
            "Prompts, skills, CLAUDE.md, rules",
            accept_multiple_files=True,
            key="text_files",
            help="To search whole folders, run `check --texts DIR`.",
        )
        if not files:
            return
        texts = {file.name: file.getvalue() for file in files}
        matches = exports.text_search(snapshot, config, texts)
        for one in matches.unread:
            st.warning(f"{safe_text.untrusted(one.file)} {one.why}", icon=":material/warning:")
        if not matches.mentions:
            st.caption("None of these texts names a removed tool.")
            return
        columns = data_tables.attributes(file="file", line="line", name="names")
        now = data_tables.Column[TextMention]("now", lambda one: one.new_name, title="renamed to")
        data_tables.draw(matches.mentions, [*columns, now], title)
