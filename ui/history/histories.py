"""The history of decisions: the toolset at any point of it, and ways back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.imported_decisions import (
    ImportPreview,
    decision_lines,
    decisions_in,
    import_preview,
)
from toolscope_core.decisions.log import active, admit
from toolscope_core.decisions.restore import Restoration, restoration, with_dependents
from toolscope_core.merging.plan_making import plan_of, proposed
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from toolscope_core.model.plan import MergePlan
from toolscope_core.store import append_decisions, now
from ui.history.history_rows import Entry, entries
from ui.history.toolset_changes import ToolsetChange, toolset_changes
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

Step = Callable[[tuple[Decision, ...]], Decision]


class Histories:
    """Reads the log of a catalog's name, and appends what goes back in it. Nothing is deleted."""

    def __init__(self, work: Workspace) -> None:
        self._store = work.store
        self._catalogs = work.catalogs
        self._analyses = work.analyses
        self._review = work.review
        self._entries: ResultCache[tuple[Entry, ...]] = ResultCache(most=4)
        self._plans: ResultCache[MergePlan] = ResultCache(most=8)

    def entries(self, catalog_id: int) -> tuple[Entry, ...]:
        """Every decision, newest first, with who took it back and its notes."""
        log = self._review.log(catalog_id)
        return self._entries.get(catalog_id, (), lambda: entries(log), state=len(log))

    def plan_at(self, catalog_id: int, seq: int) -> MergePlan:
        """The merge as the decisions up to row ``seq`` make it of this version of the catalog, by
        today's judge and with the merges that need a gateway; 0 is before the first. Raises
        ``JobError`` before the analysis is finished.
        """
        analysis = self._analyses.required(catalog_id)
        log = [item for item in self._review.log(catalog_id) if item.seq <= seq]

        def make() -> MergePlan:
            return plan_of(analysis, proposed(analysis, log), PlanConfig(routers=True))

        return self._plans.get((catalog_id, len(log)), (analysis,), make)

    def effect(self, catalog_id: int, decision: Decision) -> tuple[ToolsetChange, ...]:
        """What the decision changed in the toolset when it was made; unchanged tools left out."""
        changes = toolset_changes(
            self.plan_at(catalog_id, decision.seq - 1), self.plan_at(catalog_id, decision.seq)
        )
        return tuple(change for change in changes if change.kind != "unchanged")

    def compare(self, before: tuple[int, int], after: tuple[int, int]) -> tuple[ToolsetChange, ...]:
        """Two states of the toolset, each a catalog id (a version) and the seq of the last decision
        that counts.
        """
        return toolset_changes(self.plan_at(*before), self.plan_at(*after))

    def with_dependents(self, catalog_id: int, seqs: Collection[int]) -> tuple[Decision, ...]:
        """These decisions and all that build on them, newest first."""
        return with_dependents(self._review.log(catalog_id), seqs)

    def take_back(self, catalog_id: int, seqs: Sequence[int], reviewer: str) -> int:
        """Take back these decisions, newest first, all or none; how many. Raises ``DecisionError``
        where others build on one of them.
        """
        steps = [self._undo(seq, reviewer) for seq in sorted(seqs, reverse=True)]
        return len(append_decisions(self._store, catalog_id, steps))

    def make_again(self, catalog_id: int, decision: Decision, reviewer: str) -> Decision:
        """Make a decision that was taken back once more, as it was (redo). Raises
        ``DecisionError`` where it contradicts what was decided since.
        """
        if decision in active(self._review.log(catalog_id)):
            raise DecisionError(f"decision {decision.seq} stands; nothing was changed")
        (made,) = append_decisions(
            self._store, catalog_id, [self._again(catalog_id, decision, reviewer)]
        )
        return made

    def restoration(self, catalog_id: int, seq: int) -> Restoration:
        """What going back to the state right after row ``seq`` would take back and make again."""
        return restoration(self._review.log(catalog_id), seq)

    def restore(self, catalog_id: int, seq: int, reviewer: str, last: int) -> Restoration:
        """Go back to the state right after row ``seq``, all or nothing; ``last`` is the last row of
        the log that was looked at. Raises ``StaleDecisionError`` where somebody decided since.
        """
        way = self.restoration(catalog_id, seq)
        steps = [
            _unless_newer(last),
            *(self._undo(one.seq, reviewer) for one in way.back),
            *(self._again(catalog_id, one, reviewer) for one in way.again),
        ]
        append_decisions(self._store, catalog_id, steps)
        return way

    def note(self, catalog_id: int, decision: Decision, text: str, reviewer: str) -> Decision:
        """Keep a note on a decision. Raises ``DecisionError`` for one that is blank or long."""
        detail = {"about": decision.key, "note": text.strip()}
        row = Decision("note", decision.members, decision.ids, reviewer, now(), detail=detail)
        return self._review.record(catalog_id, row)

    def file(self, catalog_id: int) -> bytes:
        """The log as ``decisions.jsonl``, every row of it."""
        return decision_lines(self._review.log(catalog_id), self._catalogs.open(catalog_id))

    def preview_import(self, catalog_id: int, content: bytes, name: str) -> ImportPreview:
        """What the decisions file ``name`` would add; writes nothing. Raises ``ConfigError`` or
        ``DecisionError``, naming the line, for a file that is none.
        """
        catalog = self._catalogs.open(catalog_id)
        return import_preview(
            catalog, self._review.log(catalog_id), decisions_in(catalog, content, name)
        )

    def import_decisions(self, catalog_id: int, seen: ImportPreview) -> tuple[Decision, ...]:
        """Add the decisions that were shown as new, all or none. Raises ``DecisionError`` where
        somebody decided otherwise meanwhile.
        """
        catalog = self._catalogs.open(catalog_id)

        def step(one: Decision) -> Callable[[tuple[Decision, ...]], Decision]:
            return lambda log: admit(log, one, None, suspended_decisions(catalog, log))

        return append_decisions(self._store, catalog_id, map(step, seen.new))

    def _undo(self, seq: int, reviewer: str) -> Step:
        undo = Decision("undo", (), (), reviewer, now(), detail={"retracts": seq})
        return lambda log: admit(log, undo, None)

    def _again(self, catalog_id: int, decision: Decision, reviewer: str) -> Step:
        catalog = self._catalogs.open(catalog_id)
        row = replace(decision, seq=0, reviewer=reviewer, at=now())
        return lambda log: admit(log, row, None, suspended_decisions(catalog, log))


def _unless_newer(last: int) -> Step:
    """A step that writes nothing, and refuses where the log has grown."""

    def check(log: tuple[Decision, ...]) -> Decision:
        if not log or log[-1].seq != last:
            raise StaleDecisionError(
                f"somebody decided since (row {log[-1].seq if log else 0}); look at the history "
                "again"
            )
        return log[-1]

    return check
