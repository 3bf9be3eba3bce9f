"""Several reviewers: shares of the queue, progress, second looks and where they disagree."""

from __future__ import annotations

from functools import partial

import streamlit as st

from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from ui.history.second_looks import agreement, disagreements, progress_of, record_look, to_look_at
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.services import people
from ui.shared.services.people import Shares, Split
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts

SPLITS: dict[Split, str] = {"random": "at random", "server": "by server"}
SIZES = (10, 20, 50, 100)
SHOWN = 10


def has_several_people(snapshot: Snapshot) -> bool:
    """Whether more than one person decides on the catalog, or is to."""
    shares = people.shares(snapshot)
    names = {page_frame.reviewer(), *(one.reviewer for one in snapshot.log)}
    return len(names.union(shares.people if shares else ())) > 1


def people_panel(snapshot: Snapshot) -> None:
    """Draw who has what, how far each is, and the second looks."""
    page_frame.wait_for_analysis(snapshot)
    decision_buttons.notice(snapshot)
    st.markdown("**People**: who reviews what, and do two people agree?")
    _shares(snapshot)
    _progress(snapshot)
    _second_looks(snapshot)


def _shares(snapshot: Snapshot) -> None:
    shares = people.shares(snapshot)
    with st.form("shares", border=True):
        st.markdown("Divide the queue: each person then finds *My share* in Review's filter.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                "Names as in the sidebar, with commas between",
                ", ".join(shares.people if shares else ()),
                key=f"share_names_{shares}", placeholder="ann, bob",
            )  # fmt: skip
            st.segmented_control(
                "Divided", list(SPLITS), default=shares.by if shares else "random", required=True,
                key=f"share_by_{shares}", format_func=lambda one: SPLITS[one],
            )  # fmt: skip
            st.form_submit_button(
                "Divide", type="primary", on_click=_divide,
                args=(snapshot, f"share_names_{shares}", f"share_by_{shares}"),
            )  # fmt: skip
        st.caption(
            f"It is divided {SPLITS[shares.by]}. Clear the names to give everybody the whole queue."
            if shares
            else "It is not divided: everybody has the whole queue."
        )


def _divide(snapshot: Snapshot, names_key: str, by_key: str) -> None:
    names = tuple(dict.fromkeys(one.strip() for one in st.session_state[names_key].split(",")))
    named = tuple(name for name in names if name)
    shares = Shares(named, st.session_state[by_key]) if named else None
    text = f"The queue is divided among {', '.join(named)}" if named else "Everybody has all"
    decision_buttons.attempt(lambda: people.divide(snapshot, shares), text)


def _progress(snapshot: Snapshot) -> None:
    log = snapshot.log
    shares = people.shares(snapshot)
    rows = progress_of(log, people.owners(snapshot), shares.people if shares else ())
    if not rows:
        return
    data_tables.draw(
        [
            {
                "who": one.person,
                "waiting in the own share": one.waiting,
                "decisions made": one.made,
                "of them standing": one.standing,
                "last": safe_text.clock(one.last),
            }
            for one in rows
        ],
        "Progress by person",
        key="people_progress",
    )


def _second_looks(snapshot: Snapshot) -> None:
    reviewer, log = page_frame.reviewer(), snapshot.log
    agreed = agreement(log)
    st.markdown("**Second looks**: answer again what others decided, without seeing their answer.")
    if agreed.looks:
        kappa = "not defined yet" if agreed.kappa is None else f"{agreed.kappa:.2f}"
        st.markdown(
            f"{agreed.same:,} of {quantity(agreed.looks, 'look')} agree. Cohen's κ: **{kappa}**."
        )
    size = st.segmented_control(
        "Decisions to look at", SIZES, default=20, required=True, key="look_size"
    )
    waiting = to_look_at(log, snapshot.analysis.catalog.by_id, reviewer, size)
    if waiting:
        _question(snapshot, waiting[0], len(waiting))
    else:
        st.caption(
            f"Nothing left for {safe_text.untrusted(reviewer)}: you have looked at every decision "
            "of others in this sample."
        )
    differing = disagreements(log)
    if differing:
        st.markdown(f"**Where a second look disagrees** ({len(differing):,})")
        for decision, look in differing[:SHOWN]:
            page_frame.page_link(
                "history",
                f"Decision {decision.seq}: {decision_trail.in_words(decision)} by "
                f"{decision_trail.by_whom(decision)}. {decision_trail.by_whom(look)}: "
                f"{safe_text.untrusted(str(look.detail['note']))}",
                icon="compare_arrows",
                history_part="Decisions",
                decision=str(decision.seq),
            )


def _question(snapshot: Snapshot, decision: Decision, left: int) -> None:
    tools = snapshot.analysis.catalog.by_id
    with st.container(border=True):
        st.caption(f"{quantity(left, 'decision')} left to look at.")
        for tool in (tools[one] for one in decision.ids if one in tools):
            st.markdown(tool_parts.bullet(tool, 400))
        with st.container(horizontal=True):
            for label, one_job in (("One job", True), ("Not one job", False)):
                decision_buttons.record_button(
                    label,
                    partial(_look, snapshot, decision, one_job),
                    "Your answer is kept. A second look changes no merge",
                    key=f"look_{'same' if one_job else 'apart'}_{decision.seq}",
                )


def _look(snapshot: Snapshot, decision: Decision, one_job: bool) -> Decision:
    work, reviewer = snapshot.work, page_frame.reviewer()
    return record_look(work, snapshot, decision, one_job, reviewer)
