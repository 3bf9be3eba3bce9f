"""The changes in a new version of a catalog, shown before it is added and, step by step,
afterwards.
"""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from toolscope_core.check.version_changes import Changes, Doubt
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import JobError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import tool_key
from ui.shared import page_frame, safe_text
from ui.shared.cards import changed_since, decision_trail
from ui.shared.cards.queue import VERSION_PARTS, Part
from ui.shared.services import review, versions
from ui.shared.snapshot import Snapshot

_SHOWN = 10


def changes_panel(snapshot: Snapshot, first: DeltaGenerator, last: DeltaGenerator) -> None:
    """Draw the steps for the current version: what changed, which decisions wait, and what is new.

    Nothing is drawn for a first version. The steps are drawn in ``first`` while something is left
    to do, and in ``last`` after that.
    """
    record = snapshot.record
    earlier = {other.number: other for other in snapshot.earlier}
    if not earlier:
        return
    key = f"since_{record.id}"
    version = st.session_state.get(key, max(earlier))
    changes = versions.since(snapshot, earlier[version])
    place = first if changes.doubts or _count(snapshot, "new") != 0 else last
    with place.container(border=True, key="new_version"):
        st.markdown(
            f"**Version {record.number}**, added {record.at[:10]}. Decisions on unchanged tools "
            "still apply; nothing is asked twice."
        )
        what, decisions, new = st.columns(3, gap="medium")
        what.markdown("**1. What changed**")
        what.markdown(f"Since version {changes.number}: {changes.summary}.")
        with decisions:
            _decisions(snapshot)
        with new:
            _new_proposals(snapshot)
        with st.expander(f"Changes since version {version}", icon=":material/difference:"):
            if len(earlier) > 1:
                st.selectbox("Compare with version", list(earlier), key=key, width=160)
            _changes(changes)
        if gone := versions.carried_decisions(snapshot).gone:
            label = f"Decisions on tools that are gone ({len(gone):,})"
            with st.expander(label, icon=":material/delete_sweep:"):
                st.caption(
                    "None of the tools in these decisions is left to merge or to keep apart."
                )
                lines = [f"- {_decision_in_words(one)}" for one in gone[:_SHOWN]]
                st.markdown("\n".join(lines))
                _more_caption(len(gone), "decisions")
        if changes.doubts:
            label = f"Decisions on hold ({len(changes.doubts):,}), and what has changed since"
            with st.expander(label, icon=":material/history:"):
                _doubts(snapshot, changes.doubts)


def new_version_summary(name: str, changes: Changes, hold: int) -> None:
    """Draw a sentence on what would change if a catalog is added under ``name``.

    ``hold`` is the number of decisions that stay valid.
    """
    title = f"**{safe_text.untrusted(name)}**"
    if changes.same:
        st.info(f"{title} is identical to version {changes.number}. Adding it changes nothing.")
        return
    holding = f" {quantity(hold, 'decision')} would still apply." if hold else ""
    st.info(
        f"{title} already exists. This would be version {changes.number + 1}: {changes.summary}."
        f"{holding} To make it a separate catalog, type another name."
    )


def new_version_panel(changes: Changes) -> None:
    """Draw each change in a new version."""
    _changes(changes)
    if changes.doubts:
        st.warning("Tools would change. These decisions would need another review:")
        lines = [f"- decision {_in_words(doubt)}" for doubt in changes.doubts[:_SHOWN]]
        st.markdown("\n".join(lines))
        _more_caption(len(changes.doubts), "decisions")


def _decisions(snapshot: Snapshot) -> None:
    st.markdown("**2. Decisions**")
    fate = versions.carried_decisions(snapshot)
    parts = [f"Still valid: {quantity(len(fate.hold), 'decision')}"]
    if fate.wait:
        parts.append(
            f"{len(fate.wait):,} wait{_s(fate.wait)} because a tool has changed since, and will "
            "not be applied until somebody looks again"
        )
    if fate.gone:
        parts.append(f"{len(fate.gone):,} name{_s(fate.gone)} tools that are gone")
    st.markdown(f"{'; '.join(parts)}.")
    _queue_link(snapshot, "again")


def _new_proposals(snapshot: Snapshot) -> None:
    st.markdown("**3. New proposals**")
    new, again = _count(snapshot, "new"), _count(snapshot, "again")
    if new is None or again is None:
        st.markdown("The number is known when the analysis is finished.")
        return
    older = len(review.queue(snapshot)) - new - again
    earlier = f" Older proposals still open: {older:,}." if older else ""
    st.markdown(f"{quantity(new, 'proposal')} with new or changed tools.{earlier}")
    _queue_link(snapshot, "new")


def _count(snapshot: Snapshot, part: Part) -> int | None:
    """The number of clusters in one part of the new version; ``None`` until the
    analysis is done.
    """
    try:
        return len(review.queue_part(snapshot, part))
    except JobError:
        return None


def _queue_link(snapshot: Snapshot, part: Part) -> None:
    """Draw a link to the queue for one part of the new version, unless that queue is empty."""
    if count := _count(snapshot, part):
        page_frame.page_link(
            "review", f"{VERSION_PARTS[part]} ({count:,})", {"show": VERSION_PARTS[part]}
        )


def _doubts(snapshot: Snapshot, doubts: Sequence[Doubt]) -> None:
    """Draw the suspended decisions, each with what has changed and a link to decide again."""
    for doubt in doubts[:_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"Decision {_in_words(doubt)}", width="content")
            members = [one for one in doubt.decision.ids if one in snapshot.catalog.by_id]
            if doubt.cluster:
                page_frame.page_link("review", "Look again", cluster=doubt.cluster)
            elif members:
                page_frame.page_link(
                    "catalog", "Open the tool", icon="right_panel_open", tool=tool_key(members[0])
                )
        changed_since.changed_tools(snapshot, doubt.decision)
    _more_caption(len(doubts), "decisions")


def _changes(changes: Changes) -> None:
    if not changes.rows:
        return
    changed_since.table(changes.rows, "Changes, breaking ones first")
    for item in changes.reworded[:_SHOWN]:
        changed_since.reworded(item)
    _more_caption(len(changes.reworded), "texts")


def _in_words(doubt: Doubt) -> str:
    return f"{doubt.seq}, {safe_text.untrusted(doubt.summary)}"


def _decision_in_words(decision: Decision) -> str:
    action, whom = decision_trail.in_words(decision), decision_trail.by_whom(decision)
    tools = safe_text.untrusted(", ".join(decision.ids))
    return f"decision {decision.seq}, {action} ({whom}): {tools}"


def _more_caption(count: int, noun: str) -> None:
    if count > _SHOWN:
        st.caption(f"and {count - _SHOWN:,} more {noun}")


def _s(several: Sequence[object]) -> str:
    """The ending of a verb whose subject is ``several``: "s" for one item, otherwise empty."""
    return "s" if len(several) == 1 else ""
