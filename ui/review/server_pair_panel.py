"""Two servers side by side: what one does of the other's work, every tool of both, the proposals
between them decided at once, a whole server switched off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool
from ui.shared import page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.cards.batches import PAIR_VIEW, ServerPairProposals, reasons_against
from ui.shared.cards.queue import is_family, kind_of

if TYPE_CHECKING:
    from toolscope_core.merging.coverage import Coverage
    from ui.shared.services.server_advice import ServerAdvice

WAYS = {
    "as it is": "same arguments",
    "mapped": "other argument names",
    "gateway": "loses something",
    "alike": "looks alike",
    "alone": "nothing like it",
}
SHOW = PAIR_VIEW
TEXT_SHOWN = 300


def server_pair_panel(catalog_id: int) -> None:
    """The pairs of servers, and the chosen one with its proposals and buttons."""
    pairs = _advice().pairs(catalog_id)
    if not pairs:
        decision_buttons.notice()
        text = "No server does any of another's work."
        if page_frame.workspace().review.progress(catalog_id).waiting:
            text += " Choose *All* for what waits."
        st.info(text, icon=":material/task_alt:")
        decision_trail.trail(catalog_id)
        return
    pair = _chosen(pairs)
    _coverage(catalog_id, pair)
    if pair.clusters:
        _heading(pair)
        _table(pair)
        _buttons(pair)
    decision_buttons.notice()
    _reasons(pair)
    _every_tool(catalog_id, pair)
    decision_trail.trail(catalog_id)


def _advice() -> ServerAdvice:
    """Loaded when two servers are looked at."""
    from ui.shared.services.server_advice import ServerAdvice

    return page_frame.service(ServerAdvice)


def _chosen(pairs: tuple[ServerPairProposals, ...]) -> ServerPairProposals:
    """The pair that the address names, or the first; a box to choose another."""
    keys = [pair.key for pair in pairs]
    linked = st.query_params.get("servers", "")
    at = keys.index(linked) if linked in keys else 0
    st.query_params["servers"] = keys[at]
    labels = [f"{' and '.join(pair.servers)} ({len(pair.clusters)})" for pair in pairs]
    st.session_state["server_pair"] = labels[at]

    def choose() -> None:
        st.query_params["servers"] = keys[labels.index(st.session_state["server_pair"])]

    st.selectbox(
        "Servers (proposals between them)", labels, key="server_pair", on_change=choose, width=500
    )
    return pairs[at]


def open_link(pair: ServerPairProposals) -> None:
    """A line on a card that leads to all proposals between its two servers."""
    one, other = map(safe_text.untrusted, pair.servers)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"One of {len(pair.clusters)} proposals between {one} and {other}.", width="content"
        )
        st.button(
            "Decide them together", key=f"together_{pair.key}", type="tertiary",
            icon=":material/table_rows:", on_click=_show_pair, args=(pair.key,),
        )  # fmt: skip


def _show_pair(key: str) -> None:
    st.session_state["show"] = SHOW
    st.query_params["servers"] = key
    st.query_params.pop("cluster", None)


def _coverage(catalog_id: int, pair: ServerPairProposals) -> None:
    """What each does of the other's work, in a sentence, and a button that lets it go."""
    servers = _advice().coverage(catalog_id)
    if not servers.servers.keys() >= set(pair.servers):  # implied ones cannot be switched off
        return
    for place, server, other in zip(st.columns(2), pair.servers, pair.servers[::-1], strict=True):
        one = servers.of(server, [other])
        name, by = safe_text.untrusted(server), safe_text.untrusted(other)
        with place.container(border=True, height="stretch"):
            if not one.served:
                st.markdown(f"{by} does nothing of what **{name}** does.")
                continue
            st.markdown(_in_words(one))
            for sentence in one.keeps:
                st.caption(f":material/warning: {safe_text.sentence(sentence)}")
            st.button(
                f"Switch {name} off", key=f"off_{server}_{_version(pair)}",
                icon=":material/power_settings_new:",
                help="One decision on all its tools: those of which the other server takes every "
                "call are merged into it, the others are left out. Undo takes all of it back.",
                on_click=decision_buttons.switch_server_off, args=(one,),
            )  # fmt: skip


def _in_words(one: Coverage) -> str:
    """The sentence of a coverage, with the names of the servers in bold."""
    text = safe_text.sentence(one.in_words)
    name = safe_text.untrusted(one.server)
    return text.replace(name, f"**{name}**", 1)


def _every_tool(catalog_id: int, pair: ServerPairProposals) -> None:
    """All tools of both servers in one table, what matches what and what would be lost."""
    first, second = pair.servers
    rows = _advice().matches(catalog_id, first, second)
    if not rows:
        return
    tools = page_frame.analysis().catalog.by_id

    def name(tool_id: str) -> str:
        return tools[tool_id].name if tool_id else ""

    st.markdown(f"**Every tool of both** ({len(rows)})")
    st.dataframe(
        {
            "one": [name(row.one) for row in rows],
            "other": [name(row.other) for row in rows],
            "match": [WAYS[row.way] for row in rows],
            "lost": ["; ".join(row.lost) for row in rows],
        },
        key=f"every_tool_{pair.key}",
        hide_index=True,
        column_config={
            "one": st.column_config.TextColumn(first, width=220),
            "other": st.column_config.TextColumn(second, width=220),
            "match": st.column_config.TextColumn(width=150),
            "lost": st.column_config.TextColumn("what a call loses, or is guessed", width=420),
        },
        height=min(560, 38 + 35 * len(rows)),
        alt="Every tool of both servers and what matches it on the other",
    )


def _heading(pair: ServerPairProposals) -> None:
    one, other = map(safe_text.untrusted, pair.servers)
    kept = " ".join(
        f"{pair.kept_on(server)} of {quantity(pair.duplicates, 'duplicate')} keep a tool of {name}."
        for server, name in zip(pair.servers, (one, other), strict=True)
        if pair.kept_on(server)
    )
    routers = sum(one.kind == "router" and not is_family(one) for one in pair.clusters)
    families = len(pair.clusters) - pair.duplicates
    for count, noun in ((routers, "duplicate"), (families, "family")):
        if count:
            kept += f" {quantity(count, noun)}: all tools stay, behind a gateway."
    st.markdown(kept.strip())
    if pair.all_or_none:
        st.markdown(
            ":orange[:material/warning:] **Accept all duplicates or none.** The tools of each "
            "server work on that server's own data: an agent that has only some of them cannot "
            "finish what it began there. In none of these proposals: "
            f"{quantity(pair.outside[0], 'tool')} of {one}, {quantity(pair.outside[1], 'tool')} "
            f"of {other}."
        )


def _table(pair: ServerPairProposals) -> None:
    """One row for each proposal; the button of a row opens its card."""
    first, second = pair.servers

    def names(tools: tuple[Tool, ...]) -> str:
        return ", ".join(tool.name for tool in tools)

    def texts(tools: tuple[Tool, ...]) -> str:
        return " / ".join(" ".join(tool.description.split())[:TEXT_SHOWN] for tool in tools)

    def open_row() -> None:
        st.session_state["show"] = "All"
        st.query_params["cluster"] = pair.clusters[st.session_state["open_merge"]["row"]].id

    tools = page_frame.analysis().catalog.by_id
    st.dataframe(
        {
            "open": [":material/rule: Open"] * len(pair.clusters),
            "one": [names(one) for one, _ in pair.sides],
            "other": [names(other) for _, other in pair.sides],
            "says": [texts(one) for one, _ in pair.sides],
            "other says": [texts(other) for _, other in pair.sides],
            **({"also on": map(", ".join, pair.beyond)} if any(pair.beyond) else {}),
            "kept": [
                tools[cluster.canonical].owner if cluster.kind == "prune" else "all"
                for cluster in pair.clusters
            ],
            "kind": [kind_of(cluster) for cluster in pair.clusters],
            "weakest": [cluster.weakest_edge for cluster in pair.clusters],
        },
        key=f"merges_{pair.key}",
        hide_index=True,
        column_config={
            "open": st.column_config.ButtonColumn(
                "", width=90, type="tertiary", key="open_merge", on_click=open_row
            ),
            "one": st.column_config.TextColumn(first, width=130),
            "other": st.column_config.TextColumn(second, width=130),
            "kept": st.column_config.TextColumn("agents keep", width=110),
            "kind": st.column_config.TextColumn(width=60),
            "weakest": st.column_config.NumberColumn(format="%.2f", width=68),
            "says": st.column_config.TextColumn(f"{first}: description", width=240),
            "other says": st.column_config.TextColumn(f"{second}: description", width=240),
        },
        height=min(420, 38 + 35 * len(pair.clusters)),
        alt="The tools of both servers side by side",
    )


def _buttons(pair: ServerPairProposals) -> None:
    many, version = len(pair.clusters), _version(pair)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Accept all {many}", key=f"accept_all_{version}", type="primary",
            on_click=decision_buttons.decide_pair, args=(pair, "accept"),
        )  # fmt: skip
        st.button(
            f"Reject all {many}", key=f"reject_all_{version}",
            on_click=decision_buttons.decide_pair, args=(pair, "reject"),
        )  # fmt: skip
        for server in pair.servers:
            st.button(
                f"Keep the tools of {safe_text.untrusted(server)}",
                key=f"keep_{server}_{version}",
                disabled=pair.kept_on(server) == pair.duplicates,
                help="Makes them the ones that stay in every merge, and switches the others off: "
                "choose it only if both servers work on the same data. Accepts nothing.",
                on_click=decision_buttons.keep_server,
                args=(pair, server),
            )


def _version(pair: ServerPairProposals) -> str:
    return f"{pair.key}_{len(pair.clusters)}_{''.join(c.version[:4] for c in pair.clusters)}"


def _reasons(pair: ServerPairProposals) -> None:
    """What to check, each sentence once, with the merges that it is about."""
    merges: dict[str, list[Cluster]] = {}
    for cluster in pair.clusters:
        for reason in reasons_against(cluster):
            merges.setdefault(reason, []).append(cluster)
    if not merges:
        return
    st.markdown("Check before you accept:")
    lines = [
        f"- {safe_text.sentence(reason)} :gray[({_which(about, len(pair.clusters))})]"
        for reason, about in sorted(merges.items(), key=lambda row: -len(row[1]))
    ]
    st.markdown("\n".join(lines))


def _which(about: list[Cluster], total: int) -> str:
    if len(about) == total:
        return "all"
    names = ", ".join(safe_text.untrusted(cluster.document.name) for cluster in about[:4])
    return names if len(about) <= 4 else f"{names} and {quantity(len(about) - 4, 'other')}"
