"""The history of decisions as a list: what is listed of it, and each one's row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from toolscope_core.decisions.actions import ACTIONS
from toolscope_core.decisions.log import notes
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.tool import canonical_json

Standing = Literal["all", "standing", "taken back"]
STATES: tuple[Standing, ...] = ("all", "standing", "taken back")


@dataclass(frozen=True, slots=True)
class Entry:
    """A decision with the undo that took it back, if one did, and the notes that stand on it."""

    decision: Decision
    undo: Decision | None = None
    notes: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """What is listed; an empty field lists all. ``since`` and ``until`` are days, inclusive, as ISO
    dates (UTC, as the log keeps its times).
    """

    words: str = ""
    reviewers: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    state: Standing = "all"
    since: str = ""
    until: str = ""


def entries(log: Sequence[Decision]) -> tuple[Entry, ...]:
    """Every decision but undo and notes, newest first."""
    undone = {one.detail["retracts"]: one for one in log if one.action == "undo"}
    noted = notes(log)
    return tuple(
        Entry(one, undone.get(one.seq), noted.get(one.key, ()))
        for one in log[::-1]
        if one.action not in ("undo", "note")
    )


def listed(all_entries: Iterable[Entry], wanted: HistoryFilter) -> tuple[Entry, ...]:
    """The entries that pass every field of the filter; each word must be somewhere in the entry."""
    words = wanted.words.casefold().split()
    return tuple(
        entry
        for entry in all_entries
        if (not wanted.reviewers or entry.decision.reviewer in wanted.reviewers)
        and (not wanted.actions or entry.decision.action in wanted.actions)
        and (wanted.state == "all" or (wanted.state == "standing") == (entry.undo is None))
        and wanted.since <= entry.decision.at[:10] <= (wanted.until or "9999")
        and _has(entry, words)
    )


def _has(entry: Entry, words: Sequence[str]) -> bool:
    if not words:
        return True
    one = entry.decision
    parts = [
        f"{one.seq} {ACTIONS[one.action].done} {one.action} {one.reviewer}",
        *one.ids,
        canonical_json(one.detail),
        *(note.detail["note"] for note in entry.notes),
    ]
    text = " ".join(parts).casefold()
    return all(word in text for word in words)
