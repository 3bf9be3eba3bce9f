"""One decision of the history: its effect on the toolset, its notes, and every way back."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from toolscope_core.decisions.forms import LONGEST_NOTE
from toolscope_core.decisions.log import restoration, with_dependents
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from ui.history import histories
from ui.history.histories import Entry, ToolsetChange, counted, with_members
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.cards.batches import batches
from ui.shared.data_tables import Column
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

SHOWN = 12
CHANGES: list[Column[ToolsetChange]] = [
    Column("change", lambda one: one.kind, width=90),
    Column("before", lambda one: with_members(one.before)),
    Column("after", lambda one: with_members(one.after)),
    Column("what", lambda one: ", ".join(one.reworded)),
]


def decision_detail(snapshot: Snapshot, entry: Entry) -> None:
    """Draw what the decision said and did, and the buttons that go back."""
    decision = entry.decision
    with st.container(border=True):
        words = f"**Decision {decision.seq}: {decision_trail.in_words(decision)}**"
        undone = f" Taken back by {decision_trail.by_whom(entry.undo)}." if entry.undo else ""
        st.markdown(f"{words}, by {decision_trail.by_whom(decision)}.{undone}")
        if decision.parts:
            tools = snapshot.catalog.by_id
            names = (
                [safe_text.named(one, tools[one].name if one in tools else one) for one in part]
                for part in decision.parts
            )
            st.caption(" | ".join(safe_text.first_few(part, SHOWN) for part in names))
        for note in entry.notes:
            text = safe_text.untrusted(str(note.detail["note"]))
            st.markdown(f":material/sticky_note_2: {text}, {decision_trail.by_whom(note)}")
        _buttons(snapshot, entry)
        _effect(snapshot, decision)


def _buttons(snapshot: Snapshot, entry: Entry) -> None:
    decision = entry.decision
    log = snapshot.log
    with st.container(horizontal=True, vertical_alignment="center"):
        if entry.undo is None:
            together = with_dependents(log, {decision.seq})
            if len(together) > 1:
                with st.popover(f"Undo, with {quantity(len(together) - 1, 'later decision')}…"):
                    st.markdown(
                        "Later decisions on the same tools build on this one. All go back together:"
                    )
                    _undo_all(snapshot, together, f"history_undo_all_{decision.seq}")
            else:
                decision_buttons.undo_one(snapshot, decision, "history_undo")
            _batch(snapshot, decision)
        else:
            decision_buttons.record_button(
                "Redo",
                lambda: histories.make_again(snapshot, decision, page_frame.reviewer()),
                f"Decision {decision.seq} is made again",
                key=f"history_redo_{decision.seq}",
                help="Makes the same decision again, in your name.",
            )
        ways = {
            "Restore to before it…": decision.seq - 1,
            "Restore to right after it…": decision.seq,
        }
        for label, seq in ways.items():
            if way := restoration(log, seq):
                _restore(snapshot, label, seq, (way.back, way.again), log[-1].seq)
        with (
            st.popover("Note", icon=":material/sticky_note_2:"),
            st.form(f"note_form_{decision.seq}", border=False),
        ):
            st.text_area(
                "Why this decision", key=f"history_note_{decision.seq}", max_chars=LONGEST_NOTE
            )
            st.form_submit_button("Keep the note", on_click=_note, args=(snapshot, decision))


def _batch(snapshot: Snapshot, decision: Decision) -> None:
    standing = review.standing(snapshot)
    batch = next((one for one in batches(standing) if decision.seq in one.seqs), None)
    if batch is None:
        return
    together = with_dependents(snapshot.log, batch.seqs)
    more = len(together) - len(batch.decisions)
    later = f", and {quantity(more, 'later decision')} on the same tools" if more else ""
    with st.popover(f"Undo the batch of {len(batch.decisions):,}…"):
        st.markdown(f"{quantity(len(batch.decisions), 'decision')} made at once{later}:")
        _undo_all(snapshot, together, f"history_undo_batch_{batch.key}")


def _undo_all(snapshot: Snapshot, together: Sequence[Decision], key: str) -> None:
    """Decisions that go back together, as a list, and the button."""
    _listed(together)
    st.button(
        f"Undo all {len(together):,}",
        key=key,
        type="primary",
        on_click=decision_buttons.undo,
        args=(snapshot, tuple(one.seq for one in together)),
    )


def _restore(
    snapshot: Snapshot,
    label: str,
    seq: int,
    way: tuple[Sequence[Decision], Sequence[Decision]],
    last: int,
) -> None:
    back, again = way
    where = f"as decision {seq} left it" if seq else "before the first decision"
    with st.popover(label, icon=":material/restore:"):
        if back:
            st.markdown(f"Takes back {quantity(len(back), 'decision')}:")
            _listed(back)
        if again:
            st.markdown(f"Makes {quantity(len(again), 'decision')} again, in your name:")
            _listed(again)
        st.caption("No decision is deleted, so this too can be taken back.")
        decision_buttons.record_button(
            "Restore",
            lambda: histories.restore(snapshot, seq, page_frame.reviewer(), last),
            f"The toolset is {where}",
            key=f"history_restore_{seq}_{last}",
            type="primary",
        )


def _listed(decisions: Sequence[Decision]) -> None:
    lines = [
        f"- {one.seq}: {decision_trail.in_words(one)} "
        f"({safe_text.untrusted(', '.join(one.ids)[:120])}), {decision_trail.by_whom(one)}"
        for one in decisions[:SHOWN]
    ]
    rest = len(decisions) - SHOWN
    st.markdown("\n".join([*lines, *([f"- and {rest:,} more"] if rest > 0 else [])]))


def _effect(snapshot: Snapshot, decision: Decision) -> None:
    if snapshot.analysed is None:
        st.caption("What it changed can be shown when the catalog is analysed.")
        return
    changes = histories.effect(snapshot, decision)
    where = f"the profile {decision.detail['profile']}" if decision.action == "profile" else ""
    if not changes:
        st.caption(f"It changed no tool of {where or 'this version'}.")
        return
    st.markdown(f"What it changed in {where or 'the toolset'}: {counted(changes)}.")
    data_tables.draw(
        changes[:SHOWN], CHANGES, "What the decision changed", key=f"effect_{decision.seq}"
    )
    for change in changes[:SHOWN]:
        if change.kind == "reworded":
            before, after = change.before[0].tool, change.after[0].tool
            if before.description != after.description:
                st.caption(safe_text.untrusted(f"{after.id}, description"))
                st.html(safe_text.word_diff(before.description, after.description, dim=True))


def _note(snapshot: Snapshot, decision: Decision) -> None:
    text = st.session_state[f"history_note_{decision.seq}"]
    decision_buttons.attempt(
        lambda: histories.note(snapshot, decision, text, page_frame.reviewer()),
        f"The note on decision {decision.seq} is kept",
    )
