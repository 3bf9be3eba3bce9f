"""A catalog from servers: which are configured, a tick for each, what they offer, adding it."""

from __future__ import annotations

import streamlit as st

from toolscope_core.errors import ConfigError, JobError, ToolScopeError
from toolscope_core.numbers import quantity
from toolscope_core.workspace.live_servers import (
    ClientConfiguration,
    LiveServers,
    ServerDefinition,
    ServerOffer,
    ServersRead,
    Survey,
    changed_servers,
)
from ui.catalog.upload_panel import preview_and_add
from ui.frame import audience, page_frame, safe_text

HEIGHT = 420
TALL = 3
"""More servers than this scroll."""


def servers_panel() -> None:
    """The panel; nothing is started or opened before a server is ticked and the button pressed."""
    live, record = page_frame.workspace().live_servers, page_frame.current()
    if failed := st.session_state.pop("servers_error", ""):
        safe_text.show_error(ConfigError(failed))
    with st.expander("From servers", icon=":material/lan:"):
        if reason := live.why_off(audience.is_shared()):
            st.info(reason, icon=":material/block:")
            return
        job = live.job(record.id)
        if job is not None and job.live:
            page_frame.job_panel(job.id)
            return
        if job is not None and job.state != "done" and job.message:
            safe_text.show_error(JobError(job.message))
        if (survey := live.survey(record.id)) is not None:
            _survey(live, survey, record.id)
            return
        before = live.last_read(record.name)
        configuration = _configuration(live, before)
        if configuration is not None:
            _choice(live, configuration, before, record.id)


def _configuration(live: LiveServers, before: ServersRead | None) -> ClientConfiguration | None:
    """The servers of the file, the text or the address given; else those of the last reading."""
    file = st.file_uploader(
        "Configuration of an MCP client: `mcpServers` of Claude or Cursor, `servers` of VS Code. "
        "It is not stored. Uploading starts nothing.",
        type=["json", "jsonc"],
        key="servers_file",
    )
    text = ""
    if file is None:
        text = st.text_area(
            "Or paste a configuration, or the address of a server (https://…)",
            key="servers_text",
            height=68,
        ).strip()
    if file is None and not text:
        if before is not None:
            _last(before)
        return before.configuration if before else None
    label, data = (file.name, file.getvalue()) if file else ("The text", text.encode())
    try:
        return live.configuration(label, data)
    except ConfigError as error:
        safe_text.show_error(error)
        return None


def _last(before: ServersRead) -> None:
    st.markdown(
        f"Last read from {quantity(len(before.servers), 'server')} on "
        f"{safe_text.clock(before.at)} UTC. Read them again to make a new version."
    )
    for name, beside in before.others:
        st.caption(f"{safe_text.untrusted(name)} also offers {beside}, which are not read.")


def _choice(
    live: LiveServers,
    configuration: ClientConfiguration,
    before: ServersRead | None,
    catalog_id: int,
) -> None:
    """Each server with how it is started and a tick, and the button that starts those ticked."""
    changed = changed_servers(configuration, before) if before else ()
    many = len(configuration.servers) > TALL
    names = []
    with st.container(height=HEIGHT if many else "content", border=many, key="servers_list"):
        for number, server in enumerate(configuration.servers):
            ticked = _server(server, configuration, f"server_{number}_{server.name}")
            if server in changed:
                st.warning("It is started otherwise than at the last reading.")
            names += [server.name] * ticked
    label = f"Start and read {quantity(len(names), 'server')}" if names else "Start and read"
    st.button(
        label,
        type="primary",
        icon=":material/play_arrow:",
        key="servers_start",
        disabled=not names,
        on_click=_start,
        args=(live, catalog_id, configuration, names),
        help="Each one ticked is started or reached, its tools are listed, and it is ended.",
    )


def _server(server: ServerDefinition, configuration: ClientConfiguration, key: str) -> bool:
    """One server, whole but for its secrets; whether it is ticked."""
    missing = server.needs_configuration and configuration.entry(server.name) is None
    off = " (disabled in its configuration)" if server.disabled else ""
    ticked = st.checkbox(
        f"**{safe_text.untrusted(server.name)}**{off}", key=key, value=False, disabled=missing
    )
    st.code(server.command_line or server.url, language=None, wrap_lines=True)
    about = [f"in the folder {server.cwd or 'where ToolScope runs'}"] if server.command else []
    about += [f"variables of the file {server.env_file}"] if server.env_file else []
    for what, values in (("variable", server.variables), ("header", server.headers)):
        about += [f"{what} {one.name} from {one.source}" for one in values]
    if about:
        st.caption(safe_text.untrusted("; ".join(about)))
    if missing:
        st.caption("It has values in its configuration, which is not kept: give that again.")
    return ticked


def _start(
    live: LiveServers, catalog_id: int, configuration: ClientConfiguration, names: list[str]
) -> None:
    try:
        live.start(catalog_id, configuration, names, audience.is_shared())
    except ToolScopeError as error:
        st.session_state["servers_error"] = str(error)


def _survey(live: LiveServers, survey: Survey, catalog_id: int) -> None:
    """What the servers offered, and the form that adds their tools."""
    st.dataframe(
        [_row(offer) for offer in survey.offers],
        hide_index=True,
        column_config={"what came": st.column_config.TextColumn(width="large")},
        alt="What each server offered",
    )
    for offer in survey.offers:
        if offer.failure:
            st.warning(safe_text.untrusted(offer.failure), icon=":material/error:")
    st.button(
        "Discard",
        key="servers_discard",
        icon=":material/delete:",
        on_click=live.drop,
        args=(catalog_id,),
    )
    if not survey.read:
        return
    record = page_frame.current()
    kept_of = _kept_of(survey) if live.last_read(record.name) else None
    source = live.source(survey, kept_of)
    preview, choice = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    stem = record.name if live.last_read(record.name) else "servers"

    def added(name: str) -> None:
        live.remember(name, survey)
        live.drop(catalog_id)

    preview_and_add(preview, choice, [source], stem, f"servers_{catalog_id}", added)


def _kept_of(survey: Survey) -> int | None:
    """The catalog whose other servers keep their tools, if that is wanted."""
    record = page_frame.current()
    catalog = page_frame.workspace().catalogs.open(record.id)
    others = [server.name for server in catalog.servers if server.name not in survey.read]
    if not others:
        return None
    kept = st.checkbox(
        f"Keep the tools of {quantity(len(others), 'server')} of "
        f"{safe_text.untrusted(record.name)} that were not read now",
        value=True,
        key="servers_kept",
        help=safe_text.untrusted(", ".join(others)),
    )
    return record.id if kept else None


def _row(offer: ServerOffer) -> dict[str, object]:
    if offer.failure:
        return {"server": offer.name, "tools": 0, "seconds": offer.seconds, "what came": "failed"}
    about = " ".join(filter(None, (offer.title, offer.version)))
    beside = f"also offers {offer.beside}, not read" if offer.beside else ""
    return {
        "server": offer.name,
        "tools": len(offer.tools),
        "seconds": round(offer.seconds, 1),
        "what came": "; ".join(filter(None, (about, beside, *offer.notes))),
    }
