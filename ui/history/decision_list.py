"""All decisions in a table with filters, the comparison of two states, and
decisions from a file.
"""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from toolscope_core.decisions.decision_lines import ImportedRow, ImportOutcome, ImportPreview
from toolscope_core.decisions.forms import ACTIONS, LONGEST_NOTE
from toolscope_core.decisions.log import Restoration, restoration, with_dependents
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from ui.history import histories
from ui.shared import data_tables, page_frame, safe_text
from ui.shared.cards import decision_buttons, decision_trail
from ui.shared.cards.batches import batches
from ui.shared.data_tables import Column, Columns
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

_SHOWN = 12
CHANGES: Columns[histories.ToolsetDifference] = [
    Column("change", lambda one: one.kind, width=90),
    Column("before", lambda one: histories.with_members(one.before)),
    Column("after", lambda one: histories.with_members(one.after)),
    Column("what", lambda one: ", ".join(one.reworded)),
]


def decision_detail(snapshot: Snapshot, entry: histories.HistoryEntry) -> None:
    """Show what the decision said and did, and the buttons that undo it."""
    decision = entry.decision
    with st.container(border=True):
        words = f"**Decision {decision.seq}: {decision_trail.in_words(decision)}**"
        undone = f" Undone by {decision_trail.by_whom(entry.undo)}." if entry.undo else ""
        st.markdown(f"{words}, by {decision_trail.by_whom(decision)}.{undone}")
        if decision.parts:
            names = (_names(snapshot, part) for part in decision.parts)
            st.caption(" | ".join(safe_text.first_few(part, _SHOWN) for part in names))
        for note in entry.notes:
            text = safe_text.untrusted(str(note.detail["note"]))
            st.markdown(f":material/sticky_note_2: {text}, {decision_trail.by_whom(note)}")
        _buttons(snapshot, entry)
        _effect(snapshot, decision)


def _buttons(snapshot: Snapshot, entry: histories.HistoryEntry) -> None:
    decision = entry.decision
    log = snapshot.log
    with st.container(horizontal=True, vertical_alignment="center"):
        if entry.undo is None:
            together = with_dependents(log, {decision.seq})
            if len(together) > 1:
                with st.popover(f"Undo, with {quantity(len(together) - 1, 'later decision')}…"):
                    st.markdown(
                        "Later decisions on the same tools build on this one. They are "
                        "undone together:"
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
            "Restore to just before this decision…": decision.seq - 1,
            "Restore to just after this decision…": decision.seq,
        }
        for label, seq in ways.items():
            if way := restoration(log, seq):
                _restore(snapshot, label, seq, way, log[-1].seq)
        with (
            st.popover("Note", icon=":material/sticky_note_2:"),
            st.form(f"note_form_{decision.seq}", border=False),
        ):
            st.text_area(
                "Reason for this decision",
                key=f"history_note_{decision.seq}",
                max_chars=LONGEST_NOTE,
            )
            st.form_submit_button("Save note", on_click=_note, args=(snapshot, decision))


def _batch(snapshot: Snapshot, decision: Decision) -> None:
    active = review.active_decisions(snapshot)
    batch = next((one for one in batches(active) if decision.seq in one.seqs), None)
    if batch is None:
        return
    together = with_dependents(snapshot.log, batch.seqs)
    more = len(together) - len(batch.decisions)
    later = f", and {quantity(more, 'later decision')} on the same tools" if more else ""
    with st.popover(f"Undo the batch of {len(batch.decisions):,}…"):
        st.markdown(f"{quantity(len(batch.decisions), 'decision')} made at once{later}:")
        _undo_all(snapshot, together, f"history_undo_batch_{batch.key}")


def _undo_all(snapshot: Snapshot, together: Sequence[Decision], key: str) -> None:
    """Draw a list of decisions to undo together, and the button that undoes them."""
    _listed(together)
    st.button(
        f"Undo all {len(together):,}",
        key=key,
        type="primary",
        on_click=decision_buttons.undo,
        args=(snapshot, tuple(one.seq for one in together)),
    )


def _restore(snapshot: Snapshot, label: str, seq: int, way: Restoration, last: int) -> None:
    where = f"as decision {seq} left it" if seq else "as it was before the first decision"
    with st.popover(label, icon=":material/restore:"):
        if way.to_undo:
            st.markdown(f"Undoes {quantity(len(way.to_undo), 'decision')}:")
            _listed(way.to_undo)
        if way.to_redo:
            st.markdown(f"Makes {quantity(len(way.to_redo), 'decision')} again, in your name:")
            _listed(way.to_redo)
        st.caption("No decision is deleted, so this can be undone too.")
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
        for one in decisions[:_SHOWN]
    ]
    rest = len(decisions) - _SHOWN
    st.markdown("\n".join([*lines, *([f"- and {rest:,} more"] if rest > 0 else [])]))


def _effect(snapshot: Snapshot, decision: Decision) -> None:
    if snapshot.analysed is None:
        st.caption("To see what the decision changed, analyse the catalog first.")
        return
    changes = histories.effect(snapshot, decision)
    where = f"the profile {decision.detail['profile']}" if decision.action == "profile" else ""
    if not changes:
        st.caption(f"The decision changed no tool of {where or 'this version'}.")
        return
    st.markdown(f"Effect on {where or 'the toolset'}: {histories.change_counts(changes)}.")
    data_tables.draw(
        changes[:_SHOWN], CHANGES, "Effect of the decision", key=f"effect_{decision.seq}"
    )
    for change in changes[:_SHOWN]:
        if change.kind == "reworded":
            before, after = change.before[0].tool, change.after[0].tool
            if before.description != after.description:
                st.caption(safe_text.untrusted(f"{after.id}, description"))
                st.html(safe_text.word_diff(before.description, after.description, dim=True))


def _names(snapshot: Snapshot, ids: Sequence[str]) -> list[str]:
    """The ids of the tools. A tool's name is added if it is known and not part of the id."""
    tools = snapshot.catalog.by_id
    return [safe_text.named_tool(one, tools[one].name if one in tools else one) for one in ids]


def _note(snapshot: Snapshot, decision: Decision) -> None:
    text = st.session_state[f"history_note_{decision.seq}"]
    decision_buttons.attempt(
        lambda: histories.note(snapshot, decision, text, page_frame.reviewer()),
        f"The note on decision {decision.seq} is saved",
    )


_HEIGHT = 330
PAGE_SIZE = 500


def decision_list(snapshot: Snapshot) -> None:
    """Draw the filters, the table and the chosen decision."""
    entries = histories.entries(snapshot)
    if not entries:
        st.info("No decisions yet. Make them on Review and Documents.", icon=":material/history:")
        return
    listed = histories.search(entries, _filters(entries))
    with st.container(horizontal=True, vertical_alignment="center"):
        active = sum(entry.undo is None for entry in entries)
        st.caption(
            f"{len(listed):,} of {quantity(len(entries), 'decision')} listed; {active:,} "
            f"{'is' if active == 1 else 'are'} in effect.",
            width="stretch",
        )
        st.download_button(
            "Export decisions.jsonl",
            lambda: histories.file(snapshot),
            f"{snapshot.record.name}-decisions.jsonl",
            "application/jsonl",
            key="export_decisions",
            icon=":material/download:",
            help="Every row of the log, including undos and notes. `merge --decisions` applies "
            "the file again, and *Import decisions* reads it.",
        )
    if not listed:
        st.info("No decision matches the filters.", icon=":material/filter_list_off:")
        return
    listed = _page_of(listed)
    decision_detail(snapshot, listed[_table(listed, snapshot)])


def _filters(entries: tuple[histories.HistoryEntry, ...]) -> histories.HistoryFilter:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search", key="history_words", placeholder="tool, note, number …", width=230,
            persist_state="session",
        )  # fmt: skip
        people = st.multiselect(
            "Who", sorted({entry.decision.reviewer for entry in entries}),
            key="history_reviewers", width=200, placeholder="everybody",
        )  # fmt: skip
        actions_made = {entry.decision.action for entry in entries}
        actions = st.multiselect(
            "What", [action for action in ACTIONS if action in actions_made], key="history_actions",
            format_func=lambda action: ACTIONS[action].label, width=240, placeholder="everything",
        )  # fmt: skip
        days = [entry.decision.at[:10] for entry in entries if entry.decision.at]
        first, last = (min(days), max(days)) if days else ("", "")
        since, until = "", ""
        if first != last:
            since, until = st.select_slider(
                "When", sorted(set(days)), (first, last), key=f"history_days_{last}", width=240
            )
        state = st.segmented_control(
            "State", histories.STATES, default="all", required=True, key="history_state"
        )
    return histories.HistoryFilter(words, tuple(people), tuple(actions), state, since, until)


def _page_of(entries: tuple[histories.HistoryEntry, ...]) -> tuple[histories.HistoryEntry, ...]:
    """The chosen page of the list. At first, it is the page with the decision in the address."""
    pages = -(-len(entries) // PAGE_SIZE)
    if pages == 1:
        return entries
    seq = str(st.query_params.get("decision"))
    numbers = [str(entry.decision.seq) for entry in entries]
    default = numbers.index(seq) // PAGE_SIZE + 1 if seq in numbers else 1
    page = st.pagination(pages, default=default, key=f"history_page_{pages}")
    return entries[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]


def _table(entries: tuple[histories.HistoryEntry, ...], snapshot: Snapshot) -> int:
    """Draw the table, and put the number of the chosen row into the address. Returns the row's
    position.
    """
    by_seq = {str(entry.decision.seq): place for place, entry in enumerate(entries)}
    place = by_seq.get(str(st.query_params.get("decision")), 0)

    def choose(row: int) -> None:
        st.query_params["decision"] = str(entries[row].decision.seq)

    columns: Columns[histories.HistoryEntry] = [
        Column("no.", lambda entry: entry.decision.seq, width=50),
        Column("when", lambda entry: safe_text.clock(entry.decision.at), width=130),
        Column("who", lambda entry: entry.decision.reviewer, width=100),
        Column("what", lambda entry: ACTIONS[entry.decision.action].label, width=190),
        Column(
            "state",
            lambda entry: f"undone by {entry.undo.reviewer}" if entry.undo else "stands",
            width=150,
        ),
        Column("batch", lambda entry: "✓" if "batch" in entry.decision.detail else "", width=55),
        Column("tools", lambda entry: ", ".join(_names(snapshot, entry.decision.ids)), width=360),
        Column("note", lambda entry: " / ".join(str(one.detail["note"]) for one in entry.notes)),
    ]
    data_tables.row_chooser(
        entries,
        columns,
        "Decisions (newest first)",
        most=_HEIGHT,
        key="history_table",
        choose=choose,
        selected=[place],
        selection_mode="single-row-required",
    )
    return place


IMPORTED_HEIGHT = 320
_OUTCOMES: dict[ImportOutcome, str] = {
    "refused": "refused",
    "suspended": "added, waits",
    "new": "added",
    "of another catalog": "other catalog",
    "recorded": "recorded",
}
"""The outcomes in words, the most urgent first."""


def import_panel(snapshot: Snapshot) -> None:
    """Draw the field for a file, and a preview of what the file would add."""
    turn = st.session_state.setdefault("import_turn", 0)
    with st.expander("Import decisions", icon=":material/upload_file:"):
        file = st.file_uploader(
            "A decisions.jsonl from a bundle or written by hand. Decisions about tools "
            "that this catalog does not have are skipped.",
            type=["jsonl"],
            key=f"import_{turn}",
        )
        if file is None:
            return
        imported = safe_text.value_or_error(
            lambda: histories.preview_import(snapshot, file.getvalue(), file.name)
        )
        if imported is None:
            return
        st.write(summary(imported))
        columns: Columns[ImportedRow] = [
            Column("outcome", lambda row: _OUTCOMES[row.outcome]),
            Column("decision", lambda row: ACTIONS[row.decision.action].label),
            Column("who", lambda row: row.decision.reviewer),
            Column("when", lambda row: safe_text.clock(row.decision.at)),
            Column("tools", lambda row: ", ".join(row.decision.ids)),
            Column("why"),
        ]
        data_tables.draw(
            sorted(imported.rows, key=lambda row: list(_OUTCOMES).index(row.outcome)),
            columns,
            "What the file would add",
            most=IMPORTED_HEIGHT,
            key=f"import_rows_{turn}",
        )
        decision_buttons.record_button(
            f"Add {quantity(len(imported.new), 'decision')}",
            lambda: histories.import_decisions(snapshot, imported),
            f"Added {quantity(len(imported.new), 'decision')}",
            lambda: st.session_state.update(import_turn=turn + 1),
            as_batch=True,
            key=f"import_button_{turn}",
            type="primary",
            disabled=not imported.new,
        )


def summary(imported: ImportPreview) -> str:
    """A sentence on what the file would add."""
    counts = Counter(row.outcome for row in imported.rows)
    waiting = f" ({counts['suspended']:,} would wait, because a tool has changed)"
    parts = [
        f"{quantity(len(imported.new), 'decision')} to add{waiting if counts['suspended'] else ''}"
    ]
    parts += [f"{counts['recorded']:,} already recorded"] if counts["recorded"] else []
    foreign = counts["of another catalog"]
    parts += [f"{foreign:,} about tools not in this catalog"] if foreign else []
    parts += [f"{counts['refused']:,} refused"] if counts["refused"] else []
    return ", ".join(parts)


STATES_HEIGHT = 480


def state_panel(snapshot: Snapshot) -> None:
    """Draw the choice of two states, and how they differ."""
    page_frame.wait_for_analysis(snapshot)
    records = {one.id: one for one in (snapshot.record, *snapshot.earlier)}
    analyses = snapshot.work.analyses
    analysed = [one for one in records if analyses.offline(one) is not None]
    log = snapshot.log
    numbers = [0, *(one.seq for one in log if one.action not in ("note", "flag"))]
    by_seq = {one.seq: one for one in log}

    def point(seq: int) -> str:
        if not seq:
            return "before any decision"
        one = by_seq[seq]
        return f"after {seq}: {one.action_name} by {one.reviewer}, {safe_text.clock(one.at)}"

    sides = []
    for column, title, seq in zip(
        st.columns(2), ("Before", "After"), (0, len(numbers) - 1), strict=True
    ):
        with column:
            version = st.selectbox(
                f"{title}: version", analysed, key=f"state_version_{title}",
                format_func=lambda one: f"version {records[one].number}",
            )  # fmt: skip
            at = st.selectbox(
                f"{title}: decisions", numbers[::-1], len(numbers) - 1 - seq,
                key=f"state_at_{title}_{numbers[-1]}", format_func=point,
            )  # fmt: skip
            sides.append((version, at))
    changes = histories.compare(snapshot.work, *sides)
    counts = Counter(change.kind for change in changes)
    before, after = (
        sum(len(getattr(one, side)) for one in changes) for side in ("before", "after")
    )
    st.markdown(
        f"**{before:,} tools before, {after:,} after**: "
        f"{', '.join(f'{counts[kind]:,} {kind}' for kind in histories.KINDS if counts[kind])}."
    )
    kinds = [kind for kind in histories.KINDS if counts[kind]]
    state = st.pills(
        "Show", kinds, selection_mode="multi", key="state_kinds",
        default=[kind for kind in kinds if kind != "unchanged"],
    )  # fmt: skip
    rows = [one for one in changes if one.kind in state]
    if not rows:
        st.info("These two states do not differ.", icon=":material/check_circle:")
        return
    data_tables.draw(
        rows, CHANGES, "Differences between the two states", most=STATES_HEIGHT, key="state_rows"
    )
    st.caption("Merges that need a gateway are counted as made, whatever Export includes.")
    if len(analysed) < len(records):
        st.caption("Versions that are not analysed yet cannot be compared; open one to analyse it.")
