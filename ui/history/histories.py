"""The history of decisions: the toolset at any point, and ways to go back."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from toolscope_core.decisions.constraints import profiles
from toolscope_core.decisions.decision_lines import (
    ImportPreview,
    decision_lines,
    decisions_in,
    import_preview,
)
from toolscope_core.decisions.forms import ACTIONS
from toolscope_core.decisions.log import Restoration, active, notes, restoration
from toolscope_core.merging.analysing import plan_of, proposed
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.profile import Profile
from toolscope_core.model.tool import canonical_json
from toolscope_core.profiles.profile_tools import ProfileTools, profile_tools
from toolscope_core.store.decision_rows import append_decision, append_decisions
from toolscope_core.store.engine import now
from ui.shared.kept import kept, kept_under
from ui.shared.services import review
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

_Standing = Literal["all", "standing", "undone"]

STATES: tuple[_Standing, ...] = ("all", "standing", "undone")


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A decision with the undo that retracted it, if any, and the active notes on it."""

    decision: Decision
    undo: Decision | None = None
    notes: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """A filter. An empty field matches everything.

    ``since`` and ``until`` are days, both included, as ISO dates in UTC. The times in the log are
    in UTC too.
    """

    words: str = ""
    reviewers: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    state: _Standing = "all"
    since: str = ""
    until: str = ""


_Kind = Literal["merged", "split", "regrouped", "reworded", "new", "gone", "unchanged"]

KINDS: tuple[_Kind, ...] = ("merged", "split", "regrouped", "reworded", "new", "gone", "unchanged")
"""The kinds, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class ToolsetDifference:
    """Tools before and after that represent the same original tools, sorted by id.

    *merged*: fewer tools represent the originals, or one tool represents more of them; *split*: the
    opposite; *regrouped*: several tools before and several after; *reworded*: the same originals
    with another id, name, description or schema; *new* and *gone*: on one side only.
    """

    kind: _Kind
    before: tuple[MergedTool, ...]
    after: tuple[MergedTool, ...]

    @property
    def first_id(self) -> str:
        return min(item.tool.id for item in (*self.before, *self.after))

    @property
    def reworded(self) -> list[str]:
        """The fields that agents read and whose text has changed, if one tool became one."""
        if len(self.before) != 1 or len(self.after) != 1:
            return []
        was, now = _read_by_agents(self.before[0]), _read_by_agents(self.after[0])
        return [name for name in was if was[name] != now[name]]


@kept()
def entries(snapshot: Snapshot) -> tuple[HistoryEntry, ...]:
    """Every decision except undos and notes, newest first, with the undo that retracted it and its
    notes.
    """
    log = snapshot.log
    undone = {one.detail["retracts"]: one for one in log if one.action == "undo"}
    noted = notes(log)
    return tuple(
        HistoryEntry(one, undone.get(one.seq), noted.get(one.key, ()))
        for one in log[::-1]
        if one.action not in ("undo", "note")
    )


def plan_at(snapshot: Snapshot, seq: int) -> MergePlan:
    """The merge after the decisions up to row ``seq``, for this version of the catalog.

    Today's judge is used, and merges that need a gateway are included. Row 0 is before the first
    decision. Raises ``JobError`` before the analysis is done.
    """
    analysis = snapshot.analysis
    log = [item for item in snapshot.log if item.seq <= seq]
    return kept_under(
        analysis,
        "plan at",
        len(log),
        lambda: plan_of(analysis, proposed(analysis, log), PlanConfig(gateway=True)),
    )


def effect(snapshot: Snapshot, decision: Decision) -> tuple[ToolsetDifference, ...]:
    """What the decision changed when it was made, in its profile or in the toolset.

    Unchanged tools are left out.
    """
    seqs = (decision.seq - 1, decision.seq)
    plans = [plan_at(snapshot, seq) for seq in seqs]
    if decision.action == "profile":
        plan, name, log = plans[1], decision.detail["profile"], snapshot.log
        logs = [[one for one in log if one.seq <= seq] for seq in seqs]
        profiles_of_logs = [profiles(plan.catalog, own).get(name, Profile(name)) for own in logs]
        changes = toolset_changes(*(profile_tools(plan, one) for one in profiles_of_logs))
    else:
        changes = toolset_changes(*plans)
    return tuple(change for change in changes if change.kind != "unchanged")


def compare(
    work: Workspace, before: tuple[int, int], after: tuple[int, int]
) -> tuple[ToolsetDifference, ...]:
    """The differences between two states of the toolset.

    Each state is given by a catalog id (a version) and the seq of the last decision in that state.
    """
    states = ((work.snapshot(version), seq) for version, seq in (before, after))
    return toolset_changes(*(plan_at(snapshot, seq) for snapshot, seq in states))


def make_again(snapshot: Snapshot, decision: Decision, reviewer: str) -> Decision:
    """Make a retracted decision again, unchanged (redo).

    Raises ``DecisionError`` if it contradicts later decisions.
    """
    if decision in active(snapshot.log):
        raise DecisionError(f"decision {decision.seq} is in effect, so it cannot be redone")
    return append_decision(snapshot.work.store, snapshot.id, _again(snapshot, decision, reviewer))


def restore(snapshot: Snapshot, seq: int, reviewer: str, last: int) -> Restoration:
    """Go back to the state just after row ``seq``, completely or not at all.

    ``last`` is the last row of the log that the person saw. Raises ``StaleDecisionError`` if
    somebody has made a decision since.
    """
    way = restoration(snapshot.log, seq)
    steps = [
        _unless_newer(last),
        *(review.retraction(one.seq, reviewer) for one in way.to_undo),
        *(_again(snapshot, one, reviewer) for one in way.to_redo),
    ]
    append_decisions(snapshot.work.store, snapshot.id, steps)
    return way


def note(snapshot: Snapshot, decision: Decision, text: str, reviewer: str) -> Decision:
    """Add a note to a decision. Raises ``DecisionError`` if the note is blank or too long."""
    detail = {"about": decision.key, "note": text.strip()}
    row = Decision("note", decision.fingerprints, decision.ids, reviewer, now(), detail=detail)
    return review.record(snapshot, row)


def file(snapshot: Snapshot) -> bytes:
    """The log with every row, as ``decisions.jsonl``."""
    return decision_lines(snapshot.log, snapshot.catalog)


def preview_import(snapshot: Snapshot, content: bytes, name: str) -> ImportPreview:
    """A preview of what the decisions file ``name`` would add. Nothing is written.

    Raises ``ConfigError`` or ``DecisionError`` if the file is invalid; the message names the line.
    """
    catalog = snapshot.catalog
    return import_preview(catalog, snapshot.log, decisions_in(catalog, content, name))


def import_decisions(snapshot: Snapshot, preview: ImportPreview) -> tuple[Decision, ...]:
    """Add the decisions that the preview shows as new, all of them or none.

    Raises ``DecisionError`` if somebody has decided otherwise in the meantime.
    """
    steps = [review.admission(snapshot.catalog, one) for one in preview.new]
    return append_decisions(snapshot.work.store, snapshot.id, steps)


def _again(snapshot: Snapshot, decision: Decision, reviewer: str) -> review.NextDecision:
    row = replace(decision, seq=0, reviewer=reviewer, at=now())
    return review.admission(snapshot.catalog, row)


def search(all_entries: Iterable[HistoryEntry], filters: HistoryFilter) -> tuple[HistoryEntry, ...]:
    """The entries that match every field of the filter. Each word must occur in the entry."""
    words = filters.words.casefold().split()
    return tuple(
        entry
        for entry in all_entries
        if (not filters.reviewers or entry.decision.reviewer in filters.reviewers)
        and (not filters.actions or entry.decision.action in filters.actions)
        and (filters.state == "all" or (filters.state == "standing") == (entry.undo is None))
        and filters.since <= entry.decision.at[:10] <= (filters.until or "9999")
        and _has(entry, words)
    )


def toolset_changes(
    before: MergePlan | ProfileTools, after: MergePlan | ProfileTools
) -> tuple[ToolsetDifference, ...]:
    """Every tool of both toolsets exactly once, sorted by kind as in ``KINDS``, then by id."""
    import networkx as nx  # takes longer than the rest of the page

    sides = nx.Graph()
    for side, plan in enumerate((before, after)):
        for place, tool in enumerate(plan.tools):
            sides.add_edges_from(((side, place), member) for member in tool.members)
    changes = []
    for part in nx.connected_components(sides):
        places = sorted(node for node in part if isinstance(node, tuple))
        old = tuple(before.tools[place] for side, place in places if side == 0)
        new = tuple(after.tools[place] for side, place in places if side == 1)
        changes.append(ToolsetDifference(_kind(old, new), old, new))
    return tuple(sorted(changes, key=lambda one: (KINDS.index(one.kind), one.first_id)))


def change_counts(changes: Iterable[ToolsetDifference]) -> str:
    """The number of changes of each kind, in one phrase. Empty if nothing has changed."""
    counts = Counter(change.kind for change in changes)
    return ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS[:-1] if counts[kind])


def _unless_newer(last: int) -> review.NextDecision:
    """A check that writes no decision. It raises ``StaleDecisionError`` if ``last`` is not the last
    row of the log.
    """

    def check(log: tuple[Decision, ...]) -> Decision:
        if not log or log[-1].seq != last:
            raise StaleDecisionError(
                "somebody else has made a decision in the meantime (row "
                f"{log[-1].seq if log else 0}); look at the history again"
            )
        return log[-1]

    return check


def _has(entry: HistoryEntry, words: Sequence[str]) -> bool:
    if not words:
        return True
    one = entry.decision
    parts = [
        f"{one.seq} {ACTIONS[one.action].label} {one.action} {one.reviewer}",
        *one.ids,
        canonical_json(one.detail),
        *(note.detail["note"] for note in entry.notes),
    ]
    text = " ".join(parts).casefold()
    return all(word in text for word in words)


def _kind(old: tuple[MergedTool, ...], new: tuple[MergedTool, ...]) -> _Kind:
    if not old:
        return "new"
    if not new:
        return "gone"
    if len(old) > 1 and len(new) > 1:
        return "regrouped"
    if len(old) != len(new):
        return "merged" if len(old) > len(new) else "split"
    was, now = old[0], new[0]
    if was.members != now.members:
        return "merged" if len(now.members) > len(was.members) else "split"
    return "reworded" if _read_by_agents(was) != _read_by_agents(now) else "unchanged"


def _read_by_agents(item: MergedTool) -> dict[str, object]:
    tool = item.tool
    return {
        "id": tool.id,
        "name": tool.name,
        "description": tool.description,
        "parameters": replace(tool, id="", name="", description="").fingerprint,
    }


def with_members(tools: tuple[MergedTool, ...]) -> str:
    """The tools' ids, each followed by those of the other tools that it replaces."""
    return "; ".join(
        item.tool.id
        if item.members == (item.tool.id,)
        else f"{item.tool.id} ← {', '.join(one for one in item.members if one != item.tool.id)}"
        for item in tools
    )
