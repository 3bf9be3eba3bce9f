"""All decisions as a table under filters, and the one that is chosen."""

from __future__ import annotations

import streamlit as st

from toolscope_core.decisions.actions import ACTIONS
from toolscope_core.model.numbers import quantity
from ui.history import histories
from ui.history.decision_detail import decision_detail
from ui.history.histories import STATES, Entry, HistoryFilter, listed
from ui.shared import data_tables, safe_text
from ui.shared.snapshot import Snapshot

HEIGHT = 330
PAGE_SIZE = 500


def decision_list(snapshot: Snapshot) -> None:
    """Draw the filters, the table and the chosen decision."""
    entries = histories.entries(snapshot)
    if not entries:
        st.info("No decisions yet. Review and Documents make them.", icon=":material/history:")
        return
    shown = listed(entries, _filters(entries))
    with st.container(horizontal=True, vertical_alignment="center"):
        standing = sum(entry.undo is None for entry in entries)
        st.caption(
            f"{len(shown):,} of {quantity(len(entries), 'decision')} listed; {standing:,} "
            f"{'stands' if standing == 1 else 'stand'}.",
            width="stretch",
        )
        st.download_button(
            "Export decisions.jsonl",
            lambda: histories.file(snapshot),
            f"{snapshot.record.name}-decisions.jsonl",
            "application/jsonl",
            key="export_decisions",
            icon=":material/download:",
            help="Every row of the log, undos and notes too. `merge --decisions` replays it, and "
            "*Import decisions* reads it.",
        )
    if not shown:
        st.info("No decision matches the filters.", icon=":material/filter_list_off:")
        return
    shown = _page_of(shown)
    place = _table(shown, snapshot)
    decision_detail(snapshot, shown[place])


def _filters(entries: tuple[Entry, ...]) -> HistoryFilter:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search", key="history_words", placeholder="tool, note, number …", width=230,
            persist_state="session",
        )  # fmt: skip
        people = st.multiselect(
            "Who", sorted({entry.decision.reviewer for entry in entries}),
            key="history_reviewers", width=200, placeholder="everybody",
        )  # fmt: skip
        made = {entry.decision.action for entry in entries}
        actions = st.multiselect(
            "What", [action for action in ACTIONS if action in made], key="history_actions",
            format_func=lambda action: ACTIONS[action].done, width=240, placeholder="everything",
        )  # fmt: skip
        days = [entry.decision.at[:10] for entry in entries if entry.decision.at]
        first, last = (min(days), max(days)) if days else ("", "")
        since, until = "", ""
        if first != last:
            since, until = st.select_slider(
                "When", sorted(set(days)), (first, last), key=f"history_days_{last}", width=240
            )
        state = st.segmented_control(
            "State", STATES, default="all", required=True, key="history_state"
        )
    return HistoryFilter(words, tuple(people), tuple(actions), state, since, until)


def _page_of(shown: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """The page of the list that is chosen, at first the one with the decision of the address."""
    pages = -(-len(shown) // PAGE_SIZE)
    if pages == 1:
        return shown
    chosen = str(st.query_params.get("decision"))
    numbers = [str(entry.decision.seq) for entry in shown]
    default = numbers.index(chosen) // PAGE_SIZE + 1 if chosen in numbers else 1
    page = st.pagination(pages, default=default, key=f"history_page_{pages}")
    return shown[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]


def _table(shown: tuple[Entry, ...], snapshot: Snapshot) -> int:
    """Draw the table; the place of the chosen row, which the address names by its number."""
    tools = snapshot.catalog.by_id
    by_seq = {str(entry.decision.seq): place for place, entry in enumerate(shown)}
    place = by_seq.get(str(st.query_params.get("decision")), 0)

    def choose(row: int) -> None:
        st.query_params["decision"] = str(shown[row].decision.seq)

    data_tables.row_chooser(
        [
            {
                "no.": entry.decision.seq,
                "when": safe_text.clock(entry.decision.at),
                "who": entry.decision.reviewer,
                "what": ACTIONS[entry.decision.action].done,
                "state": f"taken back by {entry.undo.reviewer}" if entry.undo else "stands",
                "batch": "✓" if "batch" in entry.decision.detail else "",
                "tools": ", ".join(
                    safe_text.named(one, tools[one].name if one in tools else one)
                    for one in entry.decision.ids
                ),
                "note": " / ".join(str(note.detail["note"]) for note in entry.notes),
            }
            for entry in shown
        ],
        "Decisions, newest first",
        {"no.": 50, "when": 130, "who": 100, "what": 190, "batch": 55, "state": 150, "tools": 360},
        most=HEIGHT,
        key="history_table",
        choose=choose,
        shown=[place],
        selection_mode="single-row-required",
    )
    return place
