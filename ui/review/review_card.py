"""The card of one proposal, with the actions that change its members, name or parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import Tool
from ui.review import reshape_panel, server_pair_panel, sticky_question
from ui.review.reshape_panel import cluster_preview
from ui.shared import page_frame, safe_text
from ui.shared.cards import (
    argument_panel,
    cluster_card,
    cluster_graph_panel,
    decision_buttons,
    decision_trail,
    shortcuts,
)
from ui.shared.cards.measured_effects import calls_line
from ui.shared.cards.queue import all_members
from ui.shared.services import reshapes, review, settled, toolsets
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_selection

if TYPE_CHECKING:
    from ui.review.queue_panel import Listing
    from ui.shared.cards.cards import Card

ONE_JOB = "one_job"
"""Session key: the id of the family that is looked at."""


def review_card(snapshot: Snapshot, listed: Listing, blind: bool) -> None:
    """Everything that a person looks at before deciding; ``blind`` hides what the judge says."""
    shown, suffix = listed.shown, suffix_of(listed)
    card = review.card(snapshot, shown)
    open_to_change = listed.is_open
    with sticky_question.question():
        cluster_card.title(card, blind)
        if blind:
            st.markdown("Do these tools do the same job?")
        elif open_to_change:
            cluster_card.question(card)
    _flags(snapshot, listed)
    calls_line(snapshot, shown)
    if shown.state == "stale":
        from ui.shared.cards import changed_since  # with what compares versions

        changed_since.on_card(snapshot, shown)

    def drop_button(tool: Tool) -> None:
        """A button that takes one member out, where that leaves a cluster."""
        if len(shown.members) > 2 and tool.id in shown.members and shown.state != "accepted":
            st.button(
                "Remove", f"drop_{suffix}_{tool.id}",
                "Keeps it apart from the others, which stay a proposal.",
                on_click=decision_buttons.drop,
                args=(snapshot, shown, tool.id, listed.onward, listed.order),
            )  # fmt: skip

    with sticky_question.checks():
        if blind:
            st.caption("Hidden until you decide: what the judge says, and what speaks against it.")
        else:
            cluster_card.show_reasons_against(card)
    cluster_card.members(snapshot, card, drop_button if open_to_change else None)
    if card.selector is not None and not blind:
        cluster_card.family(card, card.selector)
    argument_panel.arguments(card)
    if open_to_change:
        _change_line(snapshot, card, listed, blind)
        if not blind:
            one_job_panel(snapshot, shown, suffix, listed.onward)
    _further(snapshot, card, listed, blind)
    sticky_question.start_at_top(shown.id)


def suffix_of(listed: Listing) -> str:
    """Ends the keys of what acts on the shown cluster, so that it acts on what was seen."""
    return f"{listed.shown.id}_{listed.shown.version[:8]}"


def next_after(eligible: list[str], canonical: str) -> str:
    """The member after the canonical, in their order and round."""
    at = eligible.index(canonical) + 1 if canonical in eligible else 0
    return eligible[at % len(eligible)]


def one_job_button(shown: Cluster, suffix: str) -> None:
    """Opens and closes the look at a family."""
    st.button(
        "One job", key=f"one_job_{suffix}", on_click=_toggle_one_job, args=(shown.id,),
        help="Shows what they become as one job in place of a family. Accepts nothing.",
    )  # fmt: skip


def one_job_panel(snapshot: Snapshot, shown: Cluster, suffix: str, onward: str) -> None:
    """What the family would become, where somebody asked, and the button that accepts it."""
    if st.session_state.get(ONE_JOB) != shown.id:
        return
    seen = reshapes.preview_as(snapshot, shown, "duplicate", page_frame.reviewer())
    with shortcuts.panel("one_job"):
        st.markdown("**As one job**")
        if seen.refusal:
            st.error(safe_text.untrusted(seen.refusal), icon=":material/error:")
        for cluster in seen.clusters:
            cluster_preview(snapshot, cluster, {})
        with st.container(horizontal=True):
            st.button(
                "Accept as one job", key=f"accept_one_job_{suffix}", type="primary",
                disabled=bool(seen.refusal), on_click=_accept_one_job,
                args=(snapshot, shown, onward),
            )  # fmt: skip
            st.button(
                "Cancel", key=f"one_job_cancel_{suffix}", shortcut=shortcuts.CLOSE,
                on_click=_toggle_one_job, args=(shown.id,),
            )  # fmt: skip


def _further(snapshot: Snapshot, card: Card, listed: Listing, blind: bool) -> None:
    """What can be looked at below: queries that move, the other server, the verdicts."""
    shown = card.cluster
    if not blind and shown.kind != "unknown":
        from ui.shared.cards import change_effect_panel  # with what searches

        change_effect_panel.merge_effect(snapshot, listed.clusters[listed.place :])
    with st.container(horizontal=True, vertical_alignment="center"):
        together = review.server_pair_of(snapshot, shown)
        if together is not None:
            server_pair_panel.open_link(together)
        members, key = all_members(shown), f"all_{suffix_of(listed)}"
        tool_selection.select_button(snapshot, members, "a cluster", key, "Select members")
    if not blind:
        cluster_graph_panel.cluster_graph(snapshot, shown)
        cluster_card.differing(card)
        with st.expander("Verdicts on the pairs, weakest first"):
            cluster_card.evidence(snapshot, card)


def _change_line(snapshot: Snapshot, card: Card, listed: Listing, blind: bool) -> None:
    """Draw the further decisions: name, parts, one member out, a note, the document. ``blind`` has
    none that tells what the judge thinks.
    """
    cluster, suffix = card.cluster, suffix_of(listed)
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
            help="The member whose id and name the merged tool gets.",
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
                help=f"Keeps {safe_text.untrusted(card.drop_in)}, which can take every call of the "
                "others, and switches them off: right only if the servers work on the same data. "
                "Accepts nothing.",
            )  # fmt: skip
        if cluster.state != "accepted":
            shortcuts.button(
                "parts", f"parts_{suffix}", reshape_panel.open_panel, cluster,
                help="With a preview of what becomes of it. Accepts nothing.",
            )  # fmt: skip
        if card.loosest and not blind and cluster.state != "accepted":
            dropped = (snapshot, cluster, card.loosest, listed.onward, listed.order)
            shortcuts.button(
                "drop", f"loosest_{suffix}", decision_buttons.drop, *dropped,
                help=f"Takes out {safe_text.untrusted(card.loosest)}, which the judge is least "
                "sure of. The others stay a proposal.",
            )  # fmt: skip
        if cluster.relation == "parametric" and not cluster.newcomers and not blind:
            one_job_button(cluster, suffix)
        shortcuts.button(
            "flag", f"flag_{suffix}", _toggle_flagging, cluster.id, icon=":material/flag:",
            help="Keeps a note for whoever looks next; changes no merge.",
        )  # fmt: skip
        page_frame.page_link("documents", "Edit", about="Opens its document.", merge=cluster.id)


def _toggle_flagging(cluster_id: str) -> None:
    closed = st.session_state.get("flagging") != cluster_id
    st.session_state["flagging"] = cluster_id if closed else None


def _flags(snapshot: Snapshot, listed: Listing) -> None:
    """Draw the notes on the members, and the form for a new one where it was asked for."""
    for decision in settled.flags_on(snapshot, listed.shown):
        _flag(snapshot, decision)
    if st.session_state.get("flagging") != listed.shown.id:
        return
    note, cluster_id = f"note_{suffix_of(listed)}", listed.shown.id
    form = shortcuts.panel("note").form(f"flag_form_{suffix_of(listed)}", border=False)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Note", key=note, max_chars=1_000, placeholder="what to look at")
        st.form_submit_button("Save the note", on_click=_flag_it, args=(snapshot, listed, note))
        st.form_submit_button(
            "Cancel", shortcut=shortcuts.CLOSE, on_click=_toggle_flagging, args=(cluster_id,)
        )


def _flag_it(snapshot: Snapshot, listed: Listing, key: str) -> None:
    note, shown = st.session_state[key], listed.shown
    members = all_members(shown)
    if decision_buttons.attempt(
        lambda: toolsets.flag(snapshot, members, page_frame.reviewer(), note),
        f"Flagged: {shown.document.name}",
    ):
        st.session_state["flagging"] = None


def _flag(snapshot: Snapshot, decision: Decision) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        text = safe_text.untrusted(str(decision.detail["note"]))
        whom = decision_trail.by_whom(decision)
        st.markdown(f":orange[:material/flag:] {text} :gray[({whom})]", width="content")
        st.button(
            "Remove the note", key=f"unflag_{decision.seq}", type="tertiary",
            on_click=decision_buttons.undo, args=(snapshot, (decision.seq,),),
        )  # fmt: skip


def _accept_one_job(snapshot: Snapshot, shown: Cluster, onward: str) -> None:
    st.session_state[ONE_JOB] = None
    decision_buttons.decide(snapshot, shown, "accept", onward, relation="duplicate")


def _toggle_one_job(cluster_id: str) -> None:
    closed = st.session_state.get(ONE_JOB) != cluster_id
    st.session_state[ONE_JOB] = cluster_id if closed else None
