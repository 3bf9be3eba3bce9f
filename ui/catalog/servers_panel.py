"""A catalog from servers: which are configured, a tick for each, what they offer, adding it."""

import streamlit as st

from toolscope_core.mcp.servers.offers import ServerOffer
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.model.configuration import ConnectionLimits, ready_within
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from ui.catalog.upload_panel import preview_and_add
from ui.shared import data_tables, page_frame, safe_text, sign_in
from ui.shared.data_tables import Column
from ui.shared.services import live_servers
from ui.shared.services.live_servers import ServersRead, Survey, changed_servers
from ui.shared.snapshot import Snapshot
from ui.shared.tools import server_choice

HEIGHT = 420
NAMED = 6
TALL = 3
"""More servers than this scroll."""


def is_reading(snapshot: Snapshot) -> bool:
    """Whether servers of this page are being read, or have been and wait to be added."""
    job = snapshot.job(live_servers.JOB_KIND)
    return (job is not None and job.live) or live_servers.survey(snapshot) is not None


def servers_panel(snapshot: Snapshot) -> None:
    """The panel; nothing is started or opened before a server is ticked and the button pressed."""
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
        configuration = server_choice.configuration(
            before, "servers", "Read them again to make a new version."
        )
        if configuration is not None:
            _choice(snapshot, configuration, before)


def _choice(
    snapshot: Snapshot, configuration: ClientConfiguration, before: ServersRead | None
) -> None:
    """Each server with how it is started and a tick, and the button that starts those ticked."""
    changed = changed_servers(configuration, before) if before else ()
    others = dict(before.others) if before else {}
    many = len(configuration.servers) > TALL
    names = []
    with st.container(height=HEIGHT if many else "content", border=many, key="servers_list"):
        for number, server in enumerate(configuration.servers):
            with st.container(gap="xsmall", key=f"server_at_{number}"):
                # a tick is for the command that was shown, not for one that comes in its place
                key, beside = f"server_{digest(server.as_json())}", others.get(server.name, "")
                names += [server.name] * server_choice.tick(server, configuration, key, beside)
                if server in changed:
                    st.warning("It is started or reached otherwise than at the last reading.")
    row = st.container(horizontal=True, vertical_alignment="bottom")
    seconds = row.number_input(
        "Seconds for a server to be ready", 1, 600, 60, key="servers_seconds", width=240
    )
    label = f"Start and read {quantity(len(names), 'server')}" if names else "Start and read"
    row.button(
        label,
        type="primary",
        icon=":material/play_arrow:",
        key="servers_start",
        disabled=not names,
        on_click=_start,
        args=(snapshot, configuration, names, ready_within(seconds)),
        help="Each one ticked is started or reached, its tools are listed, and it is ended.",
    )


def _start(
    snapshot: Snapshot,
    configuration: ClientConfiguration,
    names: list[str],
    limits: ConnectionLimits,
) -> None:
    safe_text.attempt(
        "servers_error",
        lambda: live_servers.start(snapshot, configuration, names, sign_in.is_shared(), limits),
    )


def _survey(snapshot: Snapshot, survey: Survey) -> None:
    """What the servers offered, and the form that adds their tools."""
    data_tables.draw(
        survey.offers,
        [
            Column("server", lambda offer: offer.name),
            Column("tools", lambda offer: len(offer.tools)),
            Column("seconds", lambda offer: round(offer.seconds, 1)),
            Column("result", _result, width=620),
        ],
        "What each server offered",
    )
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

        source = live_servers.source(snapshot, survey, kept_of)
        stem = snapshot.record.name if before else "servers"
        preview_and_add(
            snapshot, (preview, choice), [source], stem, f"servers_{snapshot.id}", added
        )
    choice.button("Discard", key="servers_discard", on_click=live_servers.drop, args=(snapshot,))


def _kept_of(snapshot: Snapshot, survey: Survey) -> int | None:
    """The catalog whose other servers keep their tools, if that is wanted."""
    record = snapshot.record
    catalog = snapshot.catalog
    others = [server.name for server in catalog.servers if server.name not in survey.read]
    if not others:
        return None
    kept = st.checkbox(
        "Keep the tools of the servers that were not read now: "
        f"{safe_text.first_few(others, NAMED)}",
        value=True,
        key="servers_kept",
    )
    return record.id if kept else None


def _result(offer: ServerOffer) -> str:
    about = " ".join(filter(None, (offer.title, offer.version)))
    beside = f"also offers {offer.beside}, not read" if offer.beside else ""
    parts = (offer.failure and f"failed: {offer.failure}", about, beside, *offer.notes)
    return "; ".join(filter(None, parts))
