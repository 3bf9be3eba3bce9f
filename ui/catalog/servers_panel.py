"""A catalog from servers: which are configured, a tick for each, what they offer, adding it."""

import streamlit as st

from toolscope_core.mcp.servers.offers import ServerOffer
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.model.configuration import ConnectionLimits, ready_within
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import digest
from ui.catalog.upload_panel import preview_and_add
from ui.shared import data_tables, kept_failure, page_frame, safe_text, sign_in, start_token
from ui.shared.services.live_servers import LiveServers, ServersRead, Survey, changed_servers
from ui.shared.tools import server_choice

HEIGHT = 420
NAMED = 6
TALL = 3
"""More servers than this scroll."""


def is_reading() -> bool:
    """Whether servers of this page are being read, or have been and wait to be added."""
    live, record = page_frame.service(LiveServers), page_frame.current()
    job = live.job(record.id)
    return (job is not None and job.live) or live.survey(record.id) is not None


def servers_panel() -> None:
    """The panel; nothing is started or opened before a server is ticked and the button pressed."""
    live, record = page_frame.service(LiveServers), page_frame.current()
    job, survey = live.job(record.id), live.survey(record.id)
    if reason := live.why_off(sign_in.is_shared()):
        st.info(reason, icon=":material/block:")
    elif job is not None and job.live:
        page_frame.job_panel(job.id)
    elif survey is not None:
        _survey(live, survey, record.id)
    elif not start_token.asks_for_token():
        if job is not None and job.message:
            safe_text.show_error(JobError(job.message))
        before = live.last_read(record.name)
        configuration = server_choice.configuration(
            live, before, "servers", "Read them again to make a new version."
        )
        if configuration is not None:
            _choice(live, configuration, before, record.id)


def _choice(
    live: LiveServers,
    configuration: ClientConfiguration,
    before: ServersRead | None,
    catalog_id: int,
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
        args=(live, catalog_id, configuration, names, ready_within(seconds)),
        help="Each one ticked is started or reached, its tools are listed, and it is ended.",
    )


def _start(
    live: LiveServers,
    catalog_id: int,
    configuration: ClientConfiguration,
    names: list[str],
    limits: ConnectionLimits,
) -> None:
    kept_failure.attempt(
        "servers_error",
        lambda: live.start(catalog_id, configuration, names, sign_in.is_shared(), limits),
    )


def _survey(live: LiveServers, survey: Survey, catalog_id: int) -> None:
    """What the servers offered, and the form that adds their tools."""
    data_tables.draw(
        [_row(offer) for offer in survey.offers], "What each server offered", {"result": 620}
    )
    failures = [offer.failure for offer in survey.offers if offer.failure]
    if failures:
        lines = "\n".join(f"- {safe_text.untrusted(failure)}" for failure in failures)
        st.warning(f"{quantity(len(failures), 'server')} could not be read:\n{lines}")
    before = live.last_read(page_frame.current().name)
    kept_of = _kept_of(survey) if before and survey.read else None
    preview, choice = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    if survey.read:

        def added(name: str) -> None:
            live.remember(name, survey)
            live.drop(catalog_id)

        source = live.source(survey, kept_of)
        stem = page_frame.current().name if before else "servers"
        preview_and_add(preview, choice, [source], stem, f"servers_{catalog_id}", added)
    choice.button("Discard", key="servers_discard", on_click=live.drop, args=(catalog_id,))


def _kept_of(survey: Survey) -> int | None:
    """The catalog whose other servers keep their tools, if that is wanted."""
    record = page_frame.current()
    catalog = page_frame.workspace().catalogs.open(record.id)
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


def _row(offer: ServerOffer) -> dict[str, object]:
    about = " ".join(filter(None, (offer.title, offer.version)))
    beside = f"also offers {offer.beside}, not read" if offer.beside else ""
    parts = (offer.failure and f"failed: {offer.failure}", about, beside, *offer.notes)
    return {
        "server": offer.name,
        "tools": len(offer.tools),
        "seconds": round(offer.seconds, 1),
        "result": "; ".join(filter(None, parts)),
    }
