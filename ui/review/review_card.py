"""The card of one proposal, with the actions that change its members, its name or its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from toolscope_core.model.cluster import Cluster, kind_name
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import tool_key
from toolscope_core.model.tool import Tool
from ui.review import queue_panel, server_pair_panel
from ui.review.queue_panel import Listing
from ui.shared import page_frame, safe_text
from ui.shared.cards import (
    argument_panel,
    cluster_card,
    decision_buttons,
    decision_trail,
    shortcuts,
)
from ui.shared.cards.cluster_card import size_badge
from ui.shared.cards.queue import all_members, family_with
from ui.shared.services import reshapes, review, toolsets, usage_evidence
from ui.shared.services.reshapes import APART, MOST_TOOLS, Parts, ReshapeEffect
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts, tool_selection

if TYPE_CHECKING:
    from ui.shared.cards.cards import Card


_OPEN = "reshaping"
"""Session key for the id of the cluster that is being split, and its parts."""
LEAST_CHOICES, _MOST_CHOICES = 3, 9
_TEXT_SHOWN = 300
_NO_MERGE = (
    "With the proposal as it is, nothing would be merged: the first reasons say why. Split the "
    "proposal, edit its document, or keep its tools apart."
)


def open_panel(cluster: Cluster) -> None:
    """Start to split this cluster. Call this in a widget's callback."""
    st.session_state[_OPEN] = (cluster.id, dict.fromkeys(cluster.members, 1))


def open_from_address(snapshot: Snapshot, cluster: Cluster) -> None:
    """Start to split the shown cluster if a link asks for it. Tools that the link
    names are added.
    """
    tool_keys = set(st.query_params.pop(tool_parts.CUT, "").split())
    if not tool_keys:
        return
    parts: dict[str, int] = dict.fromkeys(cluster.members, 1)
    for tool in snapshot.analysis.catalog.tools:
        if tool_key(tool.id) in tool_keys and tool.id not in parts:
            parts = reshapes.with_tool(snapshot, parts, tool.id)
    st.session_state[_OPEN] = (cluster.id, parts)


def _close() -> None:
    """Stop splitting. Nothing is recorded."""
    st.session_state.pop(_OPEN, None)


def parts_of(cluster: Cluster) -> dict[str, int] | None:
    """The parts of the shown cluster while it is being split; otherwise ``None``."""
    cluster_id, parts = st.session_state.get(_OPEN, ("", {}))
    return parts if cluster_id == cluster.id else None


def reshape_panel(snapshot: Snapshot, listing: Listing, parts: dict[str, int]) -> None:
    """Draw the tools with their parts, possible additions, a preview, and the button."""
    tools = snapshot.analysis.catalog.by_id
    name = safe_text.untrusted(listing.current.document.name)
    st.subheader(f"Split {name}, or move tools in and out", anchor=False)
    st.caption(
        "Tools with the same number become one proposal, and tools with different numbers are kept "
        "apart. A tool marked *apart* is not merged with any other. Nothing is accepted yet, and "
        "a single undo reverts it. Keys: **1** to **9** give the selected tool its number, **0** "
        "marks it as apart; the focus then moves to the next tool."
    )
    from_elsewhere = [one for one in parts if one not in listing.current.members]
    for tool_id in (*listing.current.members, *from_elsewhere):
        _line(tools[tool_id], parts)
    _additions(snapshot, listing.current, parts)
    if len(parts) > MOST_TOOLS:
        st.warning(f"{len(parts):,} tools are too many to divide by hand (limit: {MOST_TOOLS}).")
        _cancel_button()
        return
    effect = reshapes.preview(snapshot, listing.current, parts, page_frame.reviewer())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Propose this split",
            key=f"reshape_record_{effect.version[:12]}",
            type="primary",
            disabled=effect.decision is None or bool(effect.refusal),
            on_click=_record,
            args=(snapshot, listing, effect),
        )
        for label, key, part in (("All in one", "one", 1), ("All apart", "apart", APART)):
            together = dict.fromkeys(parts, part)
            st.button(label, key=f"reshape_{key}", on_click=parts.update, args=(together,))
        _cancel_button()
    _preview(snapshot, parts, effect)


def _cancel_button() -> None:
    st.button("Cancel", key="reshape_cancel", shortcut=shortcuts.CLOSE, on_click=_close)


def _line(tool: Tool, parts: dict[str, int]) -> None:
    """Draw one tool with its part."""
    key = f"part_{tool_key(tool.id)}"
    choices = min(_MOST_CHOICES, max(LEAST_CHOICES, len(parts)))
    st.session_state[key] = parts[tool.id]

    def choose() -> None:
        parts[tool.id] = st.session_state[key]

    owner = safe_text.owner(tool.id, tool.name, tool.server)
    text = safe_text.untrusted(" ".join(tool.description[: _TEXT_SHOWN // 3].split()))
    said, chosen = st.columns([3, 2], vertical_alignment="center")
    said.markdown(
        f"**{safe_text.untrusted(tool.name)}** :gray-badge[{owner}] :gray[:small[{text}]]"
    )
    chosen.segmented_control(
        f"Part of {tool.name}", [*range(1, choices + 1), APART], key=key, required=True,
        format_func=lambda part: "apart" if part == APART else str(part),
        label_visibility="collapsed", on_change=choose, width="content",
    )  # fmt: skip


def _additions(snapshot: Snapshot, cluster: Cluster, parts: dict[str, int]) -> None:
    """Draw the boxes that search for another tool or cluster to add."""
    free = [tool for tool in snapshot.analysis.catalog.tools if tool.id not in parts]
    clusters = {
        one.id: f"{one.document.name} ({quantity(len(one.members), 'tool')})"
        for one in reshapes.joinable(snapshot, cluster)
        if parts.keys().isdisjoint(one.members)
    }
    names = {tool.id: f"{tool.name} ({tool.owner or tool.id})" for tool in free}

    def add_tool() -> None:
        parts.update(reshapes.with_tool(snapshot, parts, st.session_state["reshape_tool"]))
        st.session_state["reshape_tool"] = None

    def add_cluster() -> None:
        added_cluster = st.session_state["reshape_cluster"]
        parts.update(reshapes.with_cluster(snapshot, parts, added_cluster))
        st.session_state["reshape_cluster"] = None

    with st.container(horizontal=True):
        st.selectbox(
            "Add a tool", list(names), None, key="reshape_tool", on_change=add_tool,
            format_func=lambda one: names.get(one, one), placeholder="search by name",
        )  # fmt: skip
        st.selectbox(
            "Add a proposal (closest first)", list(clusters), None, key="reshape_cluster",
            on_change=add_cluster, format_func=lambda one: clusters.get(one, one),
            placeholder="search by name",
        )  # fmt: skip


def _preview(snapshot: Snapshot, parts: Parts, effect: ReshapeEffect) -> None:
    """Show what the plan would make of the parts: names (φ), arguments (α) and documents."""
    if effect.refusal:
        st.error(safe_text.untrusted(effect.refusal), icon=":material/error:")
        return
    st.markdown("**Result**" if effect.decision else "**As it is now**")
    for number in effect.otherwise:
        st.warning(
            f"Part {number} turns out differently because of earlier decisions on its tools.",
            icon=":material/warning:",
        )
    for cluster in effect.clusters:
        cluster_preview(snapshot, cluster, parts)
    if effect.alone:
        tools = snapshot.analysis.catalog.by_id
        names = ", ".join(f"**{safe_text.untrusted(tools[one].name)}**" for one in effect.alone)
        st.markdown(f"In no proposal, so unchanged: {names}")


def cluster_preview(snapshot: Snapshot, cluster: Cluster, parts: Parts) -> None:
    """Draw one cluster of a preview plan: names, arguments, document and doubts."""
    card = review.card(snapshot, cluster)
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{safe_text.untrusted(cluster.document.name)}**", width="content")
            st.badge(kind_name(cluster).capitalize(), color="gray")
            cluster_card.likelihood_badge(cluster)
            size_badge(card.size)
            for number in sorted({parts[one] for one in cluster.members if one in parts} - {APART}):
                st.badge(f"Part {number}", color="blue")
        names = ", ".join(safe_text.untrusted(tool.name) for tool in card.tools)
        st.markdown(f"{names} → **{safe_text.untrusted(cluster.document.name)}**")
        text = cluster.document.description[:_TEXT_SHOWN]
        st.caption(safe_text.untrusted(text) or "No description.")
        argument_panel.arguments(card)
        if against := [*filter(None, [card.size_reason]), *cluster.reasons]:
            with st.expander(f"Reasons against it ({len(against)})"):
                st.markdown("\n".join(f"- {safe_text.sentence(one)}" for one in against))


def _record(snapshot: Snapshot, listing: Listing, effect: ReshapeEffect) -> None:
    """Record the new split, and show the resulting clusters in place of the old one."""
    name = listing.current.document.name
    sizes = " and ".join(quantity(len(one.members), "tool") for one in effect.clusters)
    proposals = quantity(len(effect.clusters), "proposal")
    message = f"{name}: {f'{proposals} to decide ({sizes})' if sizes else 'all kept apart'}"
    if decision_buttons.attempt(lambda: reshapes.record(snapshot, effect), message):
        _close()
        cluster_ids: Sequence[str] = [one.id for one in effect.clusters]
        decision_buttons.stand_in(listing.current, cluster_ids, listing.order)
        st.query_params["cluster"] = next(iter(cluster_ids), listing.onward)


ONE_JOB, _FLAGGING = "one_job", "flagging"
"""Session keys for the id of the cluster whose panel is open."""


def review_card(snapshot: Snapshot, listing: Listing, blind: bool) -> None:
    """Draw everything that a person reviews before deciding. ``blind`` hides the
    judge's results.
    """
    cluster, suffix = listing.current, suffix_of(listing)
    card = review.card(snapshot, cluster)
    open_to_change = listing.is_open
    with st.container(key="question"):  # stays at the top of the page
        cluster_card.title(card, blind)
        if blind:
            st.markdown("Do these tools do the same job?")
        elif open_to_change:
            cluster_card.question(card)
    _flags(snapshot, listing)
    _calls_line(snapshot, cluster)
    if cluster.state == "stale":
        from ui.shared.cards import changed_since  # imports what compares versions

        changed_since.on_card(snapshot, cluster)

    with st.container(key="checks"):  # a new card is scrolled until this is above the keys
        if blind:
            st.caption("Hidden until you decide: the judge's verdict and the reasons against it.")
        else:
            cluster_card.show_reasons_against(card)
    if not blind:
        cluster_card.merged_tool(card)
    argument_panel.arguments(card)
    argument_panel.try_new_call(card, cluster.id)
    _try_both(snapshot, cluster)
    _members(snapshot, card, listing, blind)
    if open_to_change:
        _change_line(snapshot, card, listing, blind)
        if not blind:
            one_job_panel(snapshot, cluster, suffix, listing.onward)
    _further(snapshot, card, listing, blind)
    start_at_top(cluster.id)


def _members(snapshot: Snapshot, card: Card, listing: Listing, blind: bool) -> None:
    """Draw the members side by side, and what makes them a family."""
    cluster, suffix = listing.current, suffix_of(listing)

    def drop_button(tool: Tool) -> None:
        """Draw a button that takes one member out, if a cluster would remain."""
        if len(cluster.members) > 2 and tool.id in cluster.members and cluster.state != "accepted":
            st.button(
                "Remove", f"drop_{suffix}_{tool.id}",
                "Keeps this tool apart from the others, which remain a proposal.",
                on_click=decision_buttons.drop,
                args=(snapshot, cluster, tool.id, listing.onward, listing.order),
            )  # fmt: skip

    cluster_card.members(snapshot, card, drop_button if listing.is_open else None)
    if card.selector is not None and not blind:
        cluster_card.family(card, card.selector, snapshot.catalog.servers)
    _wider_family(snapshot, cluster, blind)


def _wider_family(snapshot: Snapshot, cluster: Cluster, blind: bool) -> None:
    """Draw the family that the cluster belongs to, if there is one. Nothing is
    drawn if ``blind``.
    """
    family = family_with(snapshot.plan, [cluster.canonical])
    if family is not None and not blind:
        cluster_card.wider_family(family, cluster, snapshot.catalog.by_id)


def _try_both(snapshot: Snapshot, cluster: Cluster) -> None:
    """Draw the box that sends calls to two of the tools and compares the results."""
    if cluster.relation == "family" or cluster.kind == "looks_alike":
        return
    box = st.expander(
        "Try both", icon=":material/compare_arrows:", key=f"try_{cluster.id}", on_change="rerun"
    )
    if box.open:
        # Only here: it imports everything that starts servers.
        from ui.review.try_both_panel import try_both_panel

        with box:
            try_both_panel(snapshot, cluster)


def _calls_line(snapshot: Snapshot, cluster: Cluster) -> None:
    """Draw the share of failed calls before and after an accepted merge, if there are logs."""
    calls = usage_evidence.after_merges(snapshot).get(cluster.id)
    if calls is not None and calls.went_bad:
        st.error(f"Went bad: {calls.in_words}.", icon=":material/trending_down:")
    elif calls is not None:
        st.caption(f"According to the logs: {calls.in_words}.")


def suffix_of(listing: Listing) -> str:
    """A suffix for the keys of actions on the shown cluster, so that an action applies to the
    version that was seen.
    """
    return f"{listing.current.id}_{listing.current.version[:8]}"


def next_after(eligible: list[str], canonical: str) -> str:
    """The member after the canonical one. After the last member comes the first."""
    at = eligible.index(canonical) + 1 if canonical in eligible else 0
    return eligible[at % len(eligible)]


def one_job_button(cluster: Cluster, suffix: str) -> None:
    """Draw a button that opens and closes the one-job preview of a family."""
    st.button(
        "One job", key=f"one_job_{suffix}", on_click=_toggle, args=(ONE_JOB, cluster.id),
        help="Shows the result if these tools are one job instead of a family. Accepts nothing.",
    )  # fmt: skip


def one_job_panel(snapshot: Snapshot, shown: Cluster, suffix: str, onward: str) -> None:
    """If the panel is open, show what the family would become as one tool, with a button to accept
    that.
    """
    if st.session_state.get(ONE_JOB) != shown.id:
        return
    effect = reshapes.preview_as(snapshot, shown, "duplicate", page_frame.reviewer())
    with shortcuts.panel("one_job"):
        st.markdown("**As one job**")
        if effect.refusal:
            st.error(safe_text.untrusted(effect.refusal), icon=":material/error:")
        for cluster in effect.clusters:
            cluster_preview(snapshot, cluster, {})
        with st.container(horizontal=True):
            st.button(
                "Accept as one job", key=f"accept_one_job_{suffix}", type="primary",
                disabled=bool(effect.refusal), on_click=_accept_one_job,
                args=(snapshot, shown, onward),
            )  # fmt: skip
            st.button(
                "Cancel", key=f"one_job_cancel_{suffix}", shortcut=shortcuts.CLOSE,
                on_click=_toggle, args=(ONE_JOB, shown.id),
            )  # fmt: skip


def _further(snapshot: Snapshot, card: Card, listing: Listing, blind: bool) -> None:
    """Draw more details below: affected queries, the other server, and the verdicts."""
    cluster = card.cluster
    if not blind and cluster.kind != "looks_alike":
        from ui.shared.cards import change_effect_panel  # imports what searches

        change_effect_panel.merge_effect(snapshot, listing.clusters[listing.place :])
    with st.container(horizontal=True, vertical_alignment="center"):
        together = review.server_pair_of(snapshot, cluster)
        if together is not None:
            server_pair_panel.open_link(together)
        members, key = all_members(cluster), f"all_{suffix_of(listing)}"
        tool_selection.select_button(snapshot, members, "a cluster", key, "Select members")
    if not blind:
        cluster_card.cluster_graph(snapshot, cluster)
        cluster_card.differing(card)
        with st.expander("Verdicts on the pairs (weakest first)"):
            cluster_card.evidence(snapshot, card)


def _change_line(snapshot: Snapshot, card: Card, listing: Listing, blind: bool) -> None:
    """Draw the further decisions: name, parts, taking one member out, a note, and the document.

    ``blind`` hides the decisions that would reveal the judge's opinion.
    """
    cluster, suffix = card.cluster, suffix_of(listing)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        eligible = sorted(tool.id for tool in card.eligible)
        choice = f"canonical_{suffix}"
        st.selectbox(
            "Canonical",
            eligible,
            eligible.index(cluster.canonical) if cluster.canonical in eligible else None,
            key=choice,
            on_change=decision_buttons.choose_canonical,
            args=(snapshot, cluster, choice),
            help="The merged tool takes its id and name from this member.",
            width=240,
            label_visibility="collapsed",
        )
        following = next_after(eligible, cluster.canonical)
        shortcuts.button(
            "canonical", f"name_{suffix}", decision_buttons.name_after,
            snapshot, cluster, following,
            disabled=len(eligible) < 2, help=f"Keeps {safe_text.untrusted(following)} instead.",
        )  # fmt: skip
        if card.drop_in and not blind:
            shortcuts.button(
                "drop_in", f"drop_in_{suffix}", decision_buttons.make_drop_in, snapshot, cluster,
                card.drop_in,
                help=f"Keeps {safe_text.untrusted(card.drop_in)}, which can take every call made "
                f"to the others, and switches the others off. Choose it only if the servers work "
"on the same data. Accepts nothing.",
            )  # fmt: skip
        elif cluster.kind == "gateway" and not (cluster.chosen_kind or card.selector or blind):
            shortcuts.button(
                "drop_in", f"drop_in_{suffix}", decision_buttons.refuse_drop_in,
                help="None of these tools can take every call made to the others.",
            )  # fmt: skip
        if cluster.state != "accepted":
            shortcuts.button(
                "parts", f"parts_{suffix}", open_panel, cluster,
                help="Shows a preview of the result. Accepts nothing.",
            )  # fmt: skip
        if card.loosest and not blind and cluster.state != "accepted":
            dropped = (snapshot, cluster, card.loosest, listing.onward, listing.order)
            shortcuts.button(
                "drop", f"loosest_{suffix}", decision_buttons.drop, *dropped,
                help=f"Takes out {safe_text.untrusted(card.loosest)}, which the judge is least "
                "sure of. The others remain a proposal.",
            )  # fmt: skip
        if cluster.relation == "family" and not cluster.newcomers and not blind:
            one_job_button(cluster, suffix)
        shortcuts.button(
            "flag", f"flag_{suffix}", _toggle, _FLAGGING, cluster.id, icon=":material/flag:",
            help="Saves a note for the next reviewer; changes no merge.",
        )  # fmt: skip
        page_frame.page_link("documents", "Edit", about="Opens its document.", merge=cluster.id)


def _toggle(panel: str, cluster_id: str) -> None:
    """Open or close a panel of a cluster."""
    closed = st.session_state.get(panel) != cluster_id
    st.session_state[panel] = cluster_id if closed else None


def _flags(snapshot: Snapshot, listing: Listing) -> None:
    """Show what calls to the members revealed and the notes on the members. If a person asked for
    it, also draw the form for a new note.
    """
    members = {*listing.current.members}
    for pair, compared in review.comparisons(snapshot).items():
        if not {pair.left, pair.right} <= members:
            continue
        text = safe_text.sentence(f"{pair.left}, {pair.right}: {compared.detail['verdict']}")
        st.markdown(f":material/compare_arrows: Calls to {text} :gray[({compared.at[:10]})]")
    for decision in review.flags_on(snapshot, listing.current):
        _flag(snapshot, decision)
    if st.session_state.get(_FLAGGING) != listing.current.id:
        return
    note, cluster_id = f"note_{suffix_of(listing)}", listing.current.id
    form = shortcuts.panel("note").form(f"flag_form_{suffix_of(listing)}", border=False)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Note", key=note, max_chars=1_000, placeholder="what to look at")
        st.form_submit_button("Save the note", on_click=_flag_it, args=(snapshot, listing, note))
        st.form_submit_button(
            "Cancel", shortcut=shortcuts.CLOSE, on_click=_toggle, args=(_FLAGGING, cluster_id)
        )


def _flag_it(snapshot: Snapshot, listing: Listing, key: str) -> None:
    note, cluster = st.session_state[key], listing.current
    members = all_members(cluster)
    if decision_buttons.attempt(
        lambda: toolsets.flag(snapshot, members, page_frame.reviewer(), note),
        f"Flagged: {cluster.document.name}",
    ):
        st.session_state[_FLAGGING] = None


def _flag(snapshot: Snapshot, decision: Decision) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        text = safe_text.untrusted(str(decision.detail["note"]))
        whom = decision_trail.by_whom(decision)
        st.markdown(f":orange[:material/flag:] {text} :gray[({whom})]", width="content")
        st.button(
            "Remove the note", key=f"unflag_{decision.seq}", type="tertiary",
            on_click=decision_buttons.undo, args=(snapshot, (decision.seq,),),
        )  # fmt: skip


def _accept_one_job(snapshot: Snapshot, cluster: Cluster, onward: str) -> None:
    st.session_state[ONE_JOB] = None
    decision_buttons.decide(snapshot, cluster, "accept", onward, relation="duplicate")


def one_by_one_panel(snapshot: Snapshot, listing: Listing) -> None:
    """Draw one card at a time. If nothing is listed, draw the reason."""
    if not listing.clusters:
        queue_panel.nothing_listed(snapshot, listing, review.progress(snapshot).waiting)
        decision_buttons.notice(snapshot)
        decision_buttons.undo_button(snapshot, review.active_decisions(snapshot))
        decision_trail.trail(snapshot)
        return
    st.query_params["cluster"] = listing.current.id
    open_from_address(snapshot, listing.current)
    parts = parts_of(listing.current)
    blind: bool = st.session_state.get("blind", False)
    queue, body = queue_panel.queue_and_card()
    with queue:
        queue_panel.table(snapshot, listing, blind)
    with body, st.container(gap="small"):
        if parts is None:
            review_card(snapshot, listing, blind)
        else:
            with shortcuts.panel("parts"):
                reshape_panel(snapshot, listing, parts)
    with st.bottom:
        shortcuts.help_box()
    with st.bottom, st.container(horizontal=True, vertical_alignment="center"):
        if parts is None:
            _bar(snapshot, listing, blind)
        decision_buttons.notice(snapshot)


def _bar(snapshot: Snapshot, listing: Listing, blind: bool) -> None:
    """Draw the buttons that decide on the shown cluster, or go to another one."""
    cluster, suffix = listing.current, suffix_of(listing)
    actions: dict[str, tuple[Callable[..., None], tuple[Any, ...]]] = {
        "skip": (queue_panel.go, (listing, listing.onward, True)),
        "next": (queue_panel.go, (listing, listing.onward)),
        "previous": (queue_panel.go, (listing, listing.back)),
    }
    if listing.is_open:
        for name in ("accept", "keep_apart", "family"):
            args = (snapshot, cluster, name, listing.onward, blind)
            actions[name] = (decision_buttons.answer, args)
    shortcuts.help_button()
    for name, shortcut in shortcuts.SHORTCUTS.items():
        if name == "undo":
            decision_buttons.undo_button(snapshot, review.active_decisions(snapshot))
        elif shortcut.in_the_bar and name in actions:
            action, args = actions[name]
            in_vain = name == "accept" and cluster.state == "conflict"
            shortcuts.button(
                name, f"{name}_{suffix}", action, *args, label=shortcuts.label(name, blind),
                disabled=in_vain, help=_NO_MERGE if in_vain else None,
            )  # fmt: skip
    decision_buttons.take_back_button(snapshot, queue_panel.settled_cluster(snapshot, listing))


_start = st.components.v2.component(
    "toolscope_start",
    html="<i></i>",
    js=Path(__file__).with_name("card_start.js").read_text("utf-8"),
)


def start_at_top(card: str) -> None:
    """Scroll a new card to its top, or further if its objections are not above the keys.

    Call this after the card is drawn.
    """
    _start(key="start", data={"card": card})
