"""Two servers side by side.

The panel shows how much of each server the other covers, every tool of both, and the proposals
between them. These proposals can be decided at once, and a whole server can be switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from toolscope_core.decisions.forms import ONE_ACCOUNT, OWN_ACCOUNTS
from toolscope_core.model.cluster import Cluster, kind_name
from toolscope_core.model.decision import Action
from toolscope_core.model.numbers import listed, quantity
from toolscope_core.model.tool import Tool, digest
from ui.review import queue_panel
from ui.shared import data_tables, safe_text
from ui.shared.cards import decision_buttons, decision_trail, shortcuts
from ui.shared.cards.batches import PAIR_VIEW, ServerPairProposals, reasons_against_in_batch
from ui.shared.cards.queue import is_family
from ui.shared.data_tables import Column
from ui.shared.services import review, server_advice
from ui.shared.snapshot import Snapshot

if TYPE_CHECKING:
    from toolscope_core.merging.coverage import Coverage, ServerCoverage
    from ui.shared.services.server_advice import ToolMatch

_WAYS = {
    "as it is": "same arguments",
    "mapped": "other argument names",
    "gateway": "loses something",
    "alike": "looks alike",
    "alone": "nothing like it",
}
_TEXT_SHOWN = 300


def server_pair_panel(snapshot: Snapshot, listing: queue_panel.Listing) -> None:
    """Draw the pairs of servers, and the chosen pair with its proposals and buttons.

    If the list is filtered, only the listed proposals are shown.
    """
    pairs = server_advice.pairs(snapshot)
    narrowed = queue_panel.is_narrowed(listing)
    queue_panel.say_narrowed(snapshot, len(listing.clusters), listing.total, "merge")
    if narrowed:
        ids = {one.id for one in listing.clusters}
        pairs = tuple(one for pair in pairs if (one := pair.only(ids)).clusters)
    if not pairs:
        decision_buttons.notice(snapshot)
        text = "No server has a tool that could replace a tool from another server."
        if narrowed:
            text = "None of the listed proposals is between two servers."
        st.info(text, icon=":material/task_alt:")
        decision_trail.trail(snapshot)
        return
    pair = _chosen_pair(pairs)
    _coverage(snapshot, pair)
    if pair.clusters:
        _heading(pair)
    ticked_clusters = _every_tool(snapshot, pair, narrowed)
    with st.container(horizontal=True, vertical_alignment="center"):
        if pair.clusters:
            _buttons(snapshot, pair, ticked_clusters)
        decision_buttons.undo_button(snapshot, review.active_decisions(snapshot))
    decision_buttons.notice(snapshot)
    _reasons(pair)
    decision_trail.trail(snapshot)


def _chosen_pair(pairs: tuple[ServerPairProposals, ...]) -> ServerPairProposals:
    """The pair in the address, or else the first one. Also draws a box to choose another."""
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
    """Draw a line on a card that links to all proposals between the two servers."""
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
    st.session_state["queue_view"] = PAIR_VIEW
    st.query_params["servers"] = key
    st.query_params.pop("cluster", None)


def _coverage(snapshot: Snapshot, pair: ServerPairProposals) -> None:
    """Show how much of each server the other covers, with a button that removes the server."""
    servers = server_advice.coverage(snapshot)
    if not servers.servers.keys() >= set(pair.servers):  # implied servers cannot be switched off
        return
    for place, server, other in zip(st.columns(2), pair.servers, pair.servers[::-1], strict=True):
        one = servers.of(server, [other])
        name, other_name = safe_text.untrusted(server), safe_text.untrusted(other)
        with place.container(border=True, height="stretch"):
            if not one.served:
                st.markdown(f"{other_name} cannot take over any tool from **{name}**.")
                continue
            st.markdown(_in_words(one))
            for sentence in one.keeps:
                st.caption(f":material/warning: {safe_text.sentence(sentence)}")
            if use := server_advice.use_in_words(snapshot, one):
                st.caption(safe_text.sentence(use))
            st.button(
                f"Switch {name} off", key=f"off_{server}_{_version(pair)}",
                icon=":material/power_settings_new:",
                help="One decision on all tools of the server: tools that the other server can "
                "fully replace are merged into its tools, and all other tools are left out. A "
                "single undo reverts it.",
                on_click=decision_buttons.switch_servers_off, args=(snapshot, one,),
            )  # fmt: skip
    _account(snapshot, servers, pair)


def _account(snapshot: Snapshot, servers: ServerCoverage, pair: ServerPairProposals) -> None:
    """Draw the question whose answer decides whether merges between two servers may switch tools
    off.
    """
    one, other = pair.servers
    answer = servers.are_on_one_account(one, other)
    if answer is None and not servers.asks_for_account(one, other):
        return
    key = f"account_{pair.key}_{answer}"
    st.segmented_control(
        f"Do {safe_text.untrusted(one)} and {safe_text.untrusted(other)} use the same account "
        "(or folder, database, backend)?",
        (ONE_ACCOUNT, OWN_ACCOUNTS),
        default=None if answer is None else ONE_ACCOUNT if answer else OWN_ACCOUNTS,
        format_func=str.capitalize,
        key=key,
        help="With one account, one server's tool can replace the other's. If each server has its "
        "own account, all tools are kept, behind a gateway. Applies to every card of the two "
        "servers.",
        on_change=decision_buttons.answer_account,
        args=(snapshot, one, other, key),
    )


def _in_words(one: Coverage) -> str:
    """The coverage as a sentence, with the server's name in bold."""
    text = safe_text.sentence(one.in_words)
    name = safe_text.untrusted(one.server)
    return text.replace(name, f"**{name}**", 1)


def _every_tool(snapshot: Snapshot, pair: ServerPairProposals, narrowed: bool) -> list[Cluster]:
    """Draw all tools of both servers in one table. Returns the proposals of the ticked rows.

    If the list is filtered, only the tools of the listed proposals are drawn. At first, all rows
    are ticked.
    """
    rows = server_advice.matches(snapshot, pair)
    rows = tuple(row for row in rows if row.proposal or not narrowed)
    tools = snapshot.analysis.catalog.by_id

    def of_side(side: str, of: Callable[[Tool], str]) -> Callable[[ToolMatch], str]:
        return lambda row: of(tools[tool]) if (tool := getattr(row, side)) else ""

    def open_row() -> None:
        if proposal := rows[st.session_state["open_merge"]["row"]].proposal:
            st.session_state["queue_view"] = "One by one"
            st.query_params["cluster"] = proposal.id

    sides = list(zip(("one", "other"), pair.servers, strict=True))
    beyond = {
        cluster.id: servers for cluster, servers in zip(pair.clusters, pair.beyond, strict=True)
    }
    opens = st.column_config.ButtonColumn(
        "", width=80, type="tertiary", key="open_merge", on_click=open_row
    )
    ticked_rows = data_tables.ticked_rows(
        rows,
        [
            Column(
                "open", lambda row: ":material/rule: Open" if row.proposal else "", config=opens
            ),
            *(
                Column(side, of_side(side, lambda tool: tool.name), title=server, width=190)
                for side, server in sides
            ),
            Column(
                "match",
                lambda row: "" if row.decision and not row.match else _WAYS[row.way],
                width=150,
            ),
            Column(
                "proposal", lambda row: _proposal(row, tools, beyond), title="decision", width=170
            ),
            Column(
                "arguments",
                lambda row: "; ".join(row.match.arguments) if row.match else "",
                width=190,
            ),
            Column(
                "lost",
                lambda row: "; ".join(row.match.losses).replace("`", "") if row.match else "",
                title="what a call loses or guesses",
                width=260,
            ),
            *(
                Column(
                    f"{side} says", of_side(side, _text), title=f"{server}: description", width=240
                )
                for side, server in sides
            ),
        ],
        "Every tool of both servers and what matches it on the other",
        most=560,
        key=f"every_tool_{pair.key}_{digest([_state(row) for row in rows])[:12]}",
        at_first=[at for at, row in enumerate(rows) if row.proposal],
    )
    ticked_clusters = {row.proposal.id: row.proposal for row in ticked_rows if row.proposal}
    return list(ticked_clusters.values())


def _proposal(
    row: ToolMatch, tools: Mapping[str, Tool], beyond: Mapping[str, Sequence[str]]
) -> str:
    """The decision or the proposal in a row, as in *drop-in, keeps alpha*."""
    if row.proposal is None:
        return row.decision
    is_drop_in = row.proposal.kind == "drop_in" and not is_family(row.proposal)
    keeps = f", keeps {tools[row.proposal.canonical].owner}" if is_drop_in else ""
    also = f", also on {listed(more)}" if (more := beyond[row.proposal.id]) else ""
    return f"{kind_name(row.proposal)}{keeps}{also}"


def _text(tool: Tool) -> str:
    return " ".join(tool.description.split())[:_TEXT_SHOWN]


def _state(row: ToolMatch) -> tuple[str, str, str, str]:
    return row.one, row.other, row.decision, row.proposal.version if row.proposal else ""


def _heading(pair: ServerPairProposals) -> None:
    one, other = map(safe_text.untrusted, pair.servers)
    heading = " ".join(
        f"{kept_here} of {quantity(pair.duplicates, 'same-job proposal')} "
        f"{'keeps' if kept_here == 1 else 'keep'} the tool from {name}."
        for server, name in zip(pair.servers, (one, other), strict=True)
        if (kept_here := pair.kept_on(server))
    )
    gateway = sum(one.kind == "gateway" and not is_family(one) for one in pair.clusters)
    families = len(pair.clusters) - pair.duplicates
    for count, noun in ((gateway, "job"), (families, "operation")):
        if count:
            proposals = quantity(count, f"same-{noun} proposal")
            needs = "needs" if count == 1 else "need"
            heading += f" {proposals} {needs} a gateway: all their tools stay."
    st.markdown(heading.strip())
    if pair.all_or_none:
        st.markdown(
            ":orange[:material/warning:] **Accept all for the same job, or none.** The tools of "
            "each server work on that server's own data: an agent that has only some of a server's "
            "tools cannot finish what it began on that server. Tools in none of these proposals: "
            f"{quantity(pair.outside[0], 'tool')} of {one}, {quantity(pair.outside[1], 'tool')} of "
            f"{other}."
        )


def _buttons(snapshot: Snapshot, pair: ServerPairProposals, clusters: Sequence[Cluster]) -> None:
    which, version = data_tables.which_in_words(len(clusters), len(pair.clusters)), _version(pair)
    answers: tuple[Action, ...] = ("accept", "keep_apart")
    for action in answers:
        shortcuts.button(
            action, f"{action}_all_{version}", decision_buttons.decide_pair,
            snapshot, pair.servers, clusters, action,
            label=f"{shortcuts.SHORTCUTS[action].label} {which}", disabled=not clusters,
        )  # fmt: skip
    for server in pair.servers:
        st.button(
            f"Keep the tools of {safe_text.untrusted(server)}",
            key=f"keep_{server}_{version}",
            disabled=pair.kept_on(server) == pair.duplicates,
            help="Keeps these tools in every merge and switches the others off. Choose it only if "
            "both servers work on the same data. Accepts nothing.",
            on_click=decision_buttons.keep_server,
            args=(snapshot, pair, server),
        )


def _version(pair: ServerPairProposals) -> str:
    return f"{pair.key}_{len(pair.clusters)}_{''.join(c.version[:4] for c in pair.clusters)}"


def _reasons(pair: ServerPairProposals) -> None:
    """Show what to check. Each sentence appears once, with the merges that it is about."""
    merges: dict[str, list[Cluster]] = {}
    for cluster in pair.clusters:
        for reason in reasons_against_in_batch(cluster):
            merges.setdefault(reason, []).append(cluster)
    if not merges:
        return
    st.markdown("Check before you accept:")
    lines = [
        f"- {safe_text.sentence(reason)} :gray[({_which_in_words(about, len(pair.clusters))})]"
        for reason, about in sorted(merges.items(), key=lambda row: -len(row[1]))
    ]
    st.markdown("\n".join(lines))


def _which_in_words(about: list[Cluster], total: int) -> str:
    if len(about) == total:
        return "all"
    names = ", ".join(safe_text.untrusted(cluster.document.name) for cluster in about[:4])
    return names if len(about) <= 4 else f"{names} and {quantity(len(about) - 4, 'other')}"
