"""Several reviewers: their shares of the queue, their progress, second looks and disagreements."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from toolscope_core.decisions.log import active
from toolscope_core.evaluation.intervals import cohens_kappa
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool, digest
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.data_tables import Column, Columns
from ui.shared.services import review, toolsets
from ui.shared.snapshot import Snapshot
from ui.shared.tools import tool_parts

_SEED = 77


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result of the second looks.

    ``looks`` is their number, and ``same`` is how many of them agree. ``kappa`` is Cohen's κ; it is
    ``None`` if it is undefined (nobody looked twice, or everybody gave the same single answer).
    """

    looks: int
    same: int
    kappa: float | None


def to_look_at(
    log: Sequence[Decision], tools: Mapping[str, Tool], reviewer: str, size: int
) -> tuple[Decision, ...]:
    """Decisions by other people that ``reviewer`` should look at a second time.

    They accepted one job or kept ``tools`` apart, and the tools are unchanged since. Their order is
    random but fixed. ``size`` includes decisions at which the reviewer has already looked.
    """
    by_others = [
        one
        for one in active(log)
        if _answer(one) is not None
        and one.reviewer != reviewer
        and all(
            tool_id in tools and tools[tool_id].fingerprint == member
            for tool_id, member in zip(one.ids, one.fingerprints, strict=True)
        )
    ]
    sample = sorted(by_others, key=lambda one: digest(_SEED, one.key))[:size]
    looked = {one.detail["audited"] for one in _looks(log) if one.reviewer == reviewer}
    return tuple(one for one in sample if one.seq not in looked)


def agreement(log: Sequence[Decision]) -> Agreement:
    """How far the second looks agree with the active decisions."""
    looked = [(one, look) for one, look in _looked_at(log) if _answer(one) is not None]
    decisions = [_answer(one) is True for one, _ in looked]
    rights = [look.detail["right"] is True for _, look in looked]
    agreements = [answer == right for answer, right in zip(decisions, rights, strict=True)]
    return Agreement(len(looked), sum(rights), cohens_kappa(decisions, agreements))


def disagreements(log: Sequence[Decision]) -> tuple[tuple[Decision, Decision], ...]:
    """Each active decision that a second look disagrees with, and that look, newest first."""
    return tuple(
        (one, look) for one, look in _looked_at(log)[::-1] if look.detail["right"] is False
    )


def _looked_at(log: Sequence[Decision]) -> list[tuple[Decision, Decision]]:
    """The active decisions that have had a second look, each with that look."""
    active_by_seq = {one.seq: one for one in active(log)}
    looks = [look for look in _looks(log) if look.detail["audited"] in active_by_seq]
    return [(active_by_seq[look.detail["audited"]], look) for look in looks]


def _looks(log: Sequence[Decision]) -> list[Decision]:
    """The active second looks. If a person looked at a decision more than once, only the last look
    counts.
    """
    latest = {
        (one.reviewer, one.detail["audited"]): one
        for one in active(log)
        if one.action == "flag" and one.detail.get("blind") is True and "audited" in one.detail
    }
    return list(latest.values())


def _answer(decision: Decision) -> bool | None:
    """Whether the decision says *one job*; ``None`` if it says neither that nor its opposite."""
    if decision.action == "accept" and decision.detail.get("relation") != "family":
        return True
    return False if decision.action == "keep_apart" else None


_SPLITS: dict[review.ReviewSplit, str] = {"random": "at random", "server": "by server"}
_SIZES = (10, 20, 50, 100)
_SHOWN = 10


def has_several_people(snapshot: Snapshot) -> bool:
    """Whether several people decide on the catalog, or will."""
    shares = review.shares(snapshot)
    names = {page_frame.reviewer(), *(one.reviewer for one in snapshot.log)}
    return len(names.union(shares.people if shares else ())) > 1


def people_panel(snapshot: Snapshot) -> None:
    """Show who has which share, everybody's progress, and the second looks."""
    page_frame.wait_for_analysis(snapshot)
    decision_buttons.notice(snapshot)
    st.markdown("**People**: who reviews what, and do two people agree?")
    _shares(snapshot)
    _progress(snapshot)
    _second_looks(snapshot)


def _shares(snapshot: Snapshot) -> None:
    shares = review.shares(snapshot)
    with st.form("shares", border=True):
        st.markdown("Divide the queue. Each person then finds *My share* in Review's filter.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                "Names as shown in the sidebar, separated by commas",
                ", ".join(shares.people if shares else ()),
                key=f"share_names_{shares}", placeholder="ann, bob",
            )  # fmt: skip
            st.segmented_control(
                "Divided", list(_SPLITS), default=shares.split if shares else "random",
                required=True, key=f"share_by_{shares}", format_func=lambda one: _SPLITS[one],
            )  # fmt: skip
            st.form_submit_button(
                "Divide", type="primary", on_click=_divide,
                args=(snapshot, f"share_names_{shares}", f"share_by_{shares}"),
            )  # fmt: skip
        st.caption(
            (
                f"The queue is divided {_SPLITS[shares.split]}. Clear the names to give everybody "
                "the whole queue."
            )
            if shares
            else "The queue is not divided; everybody has the whole queue."
        )


def _divide(snapshot: Snapshot, names_key: str, by_key: str) -> None:
    names = tuple(dict.fromkeys(one.strip() for one in st.session_state[names_key].split(",")))
    people = tuple(name for name in names if name)
    shares = review.Shares(people, st.session_state[by_key]) if people else None
    text = (
        f"The queue is divided among {', '.join(people)}"
        if people
        else "Everybody has the whole queue"
    )
    decision_buttons.attempt(lambda: review.divide(snapshot, shares), text)


def _progress(snapshot: Snapshot) -> None:
    """Draw the progress of everybody who has a share or has made a decision."""
    log, shares = snapshot.log, review.shares(snapshot)
    decisions = [one for one in log if one.action not in ("undo", "note")]
    last = {one.reviewer: one.at for one in decisions}
    names = sorted({*last, *(shares.people if shares else ())})
    waiting = Counter(review.owners(snapshot).values())
    counts = Counter(one.reviewer for one in decisions)
    active_counts = Counter(one.reviewer for one in active(log) if one.action != "note")
    columns: Columns[str] = [
        Column("who", str),
        Column("waiting in their share", waiting.__getitem__),
        Column("decisions made", counts.__getitem__),
        Column("decisions in effect", active_counts.__getitem__),
        Column("last", lambda name: safe_text.clock(last.get(name, ""))),
    ]
    if names:
        data_tables.draw(names, columns, "Progress by person", key="people_progress")


def _second_looks(snapshot: Snapshot) -> None:
    reviewer, log = page_frame.reviewer(), snapshot.log
    agreed = agreement(log)
    st.markdown(
        "**Second looks**: decide again what other people decided, without seeing their answers."
    )
    if agreed.looks:
        kappa = "not defined yet" if agreed.kappa is None else f"{agreed.kappa:.2f}"
        st.markdown(
            f"{agreed.same:,} of {quantity(agreed.looks, 'look')} agree. Cohen's κ: **{kappa}**."
        )
    size = st.segmented_control(
        "Decisions to look at", _SIZES, default=20, required=True, key="look_size"
    )
    questions = to_look_at(log, snapshot.analysis.catalog.by_id, reviewer, size)
    if questions:
        _question(snapshot, questions[0], len(questions))
    else:
        st.caption(
            f"Nothing is left for {safe_text.untrusted(reviewer)}, who has checked every decision "
            "of other people in this sample."
        )
    differing = disagreements(log)
    if differing:
        st.markdown(f"**Where a second look disagrees** ({len(differing):,})")
        for decision, look in differing[:_SHOWN]:
            page_frame.page_link(
                "history",
                f"Decision {decision.seq}: {decision_trail.in_words(decision)} by "
                f"{decision_trail.by_whom(decision)}. {decision_trail.by_whom(look)}: "
                f"{safe_text.untrusted(str(look.detail['note']))}",
                icon="compare_arrows",
                history_part="Decisions",
                decision=str(decision.seq),
            )


def _question(snapshot: Snapshot, decision: Decision, remaining: int) -> None:
    tools = snapshot.analysis.catalog.by_id
    with st.container(border=True):
        st.caption(f"{quantity(remaining, 'decision')} left to check.")
        for tool in (tools[one] for one in decision.ids if one in tools):
            st.markdown(tool_parts.bullet(tool, 400))
        with st.container(horizontal=True):
            for label, one_job in (("One job", True), ("Not one job", False)):
                decision_buttons.record_button(
                    label,
                    partial(_look, snapshot, decision, one_job),
                    "Your answer is saved. A second look changes no merge",
                    key=f"look_{'same' if one_job else 'apart'}_{decision.seq}",
                )


def _look(snapshot: Snapshot, decision: Decision, one_job: bool) -> Decision:
    """Record a second look at the tools of a decision. It changes no merge."""
    right = (decision.action == "accept") == one_job
    note = f"Second look: {'one job' if one_job else 'not one job'}"
    detail = {"audited": decision.seq, "right": right, "blind": True}
    return toolsets.flag(snapshot, decision.ids, page_frame.reviewer(), note, detail)
