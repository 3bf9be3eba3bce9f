"""What the judge could learn from the decisions on a catalog, and what it uses of that."""

from __future__ import annotations

from dataclasses import dataclass, replace

from toolscope_core.judging.explanation import COUNTS
from toolscope_core.judging.judge_update import JudgeUpdate
from toolscope_core.judging.learned_weights import (
    LEAST_DECISIONS,
    LEAST_OF_A_KIND,
    Learned,
    Lesson,
    learned,
    lessons,
)
from ui.shared.kept import kept
from ui.shared.services import learned_judge
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class LearningView:
    """What there is to learn from, what would be learned of it now (``None``: too few), and the
    update in use, which stays as it is however many decisions follow.
    """

    taught: tuple[Lesson, ...]
    offer: Learned | None
    used: JudgeUpdate | None

    least = LEAST_DECISIONS, LEAST_OF_A_KIND
    """So many decisions, and pairs of each kind, are needed."""

    @property
    def decisions(self) -> int:
        return len({one.seq for one in self.taught})

    @property
    def changes(self) -> tuple[tuple[str, float], ...]:
        """What the update in use adds to each signal's weight, in words, the largest first."""
        weights = self.used.weights if self.used else {}
        ordered = sorted(weights.items(), key=lambda one: (-abs(one[1]), one[0]))
        return tuple((COUNTS[name], weight) for name, weight in ordered if name in COUNTS)


def view(snapshot: Snapshot) -> LearningView:
    """Raises ``JobError`` before the analysis is finished."""
    return replace(_learned(snapshot), used=learned_judge.chosen(snapshot))


@kept()
def _learned(snapshot: Snapshot) -> LearningView:
    taught = lessons(snapshot.analysis.catalog, snapshot.log)
    return LearningView(taught, learned(snapshot.analysis.judge, taught), None)
