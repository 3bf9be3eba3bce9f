"""Many proposals decided at once: what a bar takes and leaves out, and an audit of what was taken.

Nobody looked at the rows of a batch one by one. A random sample of them, looked at afterwards, says
how many of the rest are right.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from toolscope_core.evaluation.intervals import share_interval
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.tool import digest
from ui.shared.cards.reasons_against import reason_kind

EXPECTED = 0.9
"""The share of right merges for which the size of a sample is chosen."""
_NORMAL = 1.959964
"""The 97.5th percentile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a bar takes of some proposals, in their order, and how many it leaves out, by why."""

    clusters: tuple[Cluster, ...]
    left_out: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Decisions that were made at once: those that still stand, oldest first."""

    key: str
    action: Action
    reviewer: str
    at: str
    decisions: tuple[Decision, ...]

    @property
    def seqs(self) -> tuple[int, ...]:
        return tuple(one.seq for one in self.decisions)


@dataclass(frozen=True, slots=True)
class BatchAudit:
    """A sample of a batch, with what was said of it: by the seq of a decision whether it is right.
    ``share`` is that of right ones among the answered, ``low`` and ``high`` its 95 % interval
    (Wilson's); all 0 and 1 while there is no answer.
    """

    sample: tuple[Decision, ...]
    answers: dict[int, bool]
    share: float
    low: float
    high: float

    @property
    def wrong(self) -> int:
        return sum(not right for right in self.answers.values())


def taken(clusters: Iterable[Cluster], at_least: float, without: Collection[str]) -> Taken:
    """The proposals whose weakest pair is at ``at_least`` or more (a probability) and against which
    nothing of the kinds in ``without`` speaks (``reasons_against.KINDS``).

    One that is left out counts once: as too weak, else under the first reason against it.
    """
    taken, left = [], Counter[str]()
    for cluster in clusters:
        kinds = [kind for reason in cluster.reasons if (kind := reason_kind(reason)) in without]
        if cluster.state != "proposed" or cluster.newcomers:
            left["changed, in conflict or with newcomers"] += 1
        elif cluster.weakest_edge < at_least:
            left[f"weaker than {at_least:.2f}"] += 1
        elif kinds:
            left[kinds[0]] += 1
        else:
            taken.append(cluster)
    return Taken(tuple(taken), tuple(left.most_common()))


def batches(standing: Iterable[Decision]) -> tuple[Batch, ...]:
    """The batches of two decisions or more among those that stand, the latest first."""
    rows: dict[str, list[Decision]] = {}
    for one in standing:
        key = one.detail.get("batch")
        if isinstance(key, str) and one.action != "flag":
            rows.setdefault(key, []).append(one)
    made = [
        Batch(key, own[0].action, own[0].reviewer, own[0].at, tuple(own))
        for key, own in rows.items()
        if len(own) > 1
    ]
    return tuple(sorted(made, key=lambda batch: -batch.seqs[-1]))


def sample_size(population: int, half_width: float) -> int:
    """How many of ``population`` to look at for a 95 % interval of about ± ``half_width``, where
    nine in ten are right; with the correction for finite populations.
    """
    endless = _NORMAL**2 * EXPECTED * (1 - EXPECTED) / half_width**2
    return min(population, math.ceil(endless / (1 + (endless - 1) / population)))


def audit_of(batch: Batch, size: int, flags: Iterable[Decision]) -> BatchAudit:
    """The first ``size`` decisions of a batch in a random order that is always the same, with the
    answers among the standing ``flags``; the last answer on a decision counts.
    """
    order = sorted(batch.decisions, key=lambda one: digest(batch.key, one.seq))
    sample = tuple(order[:size])
    own = {one.seq for one in batch.decisions}
    answers = {
        one.detail["audited"]: one.detail.get("right") is True
        for one in flags
        if one.detail.get("audited") in own
    }
    return BatchAudit(sample, answers, *share_interval(list(answers.values())))
