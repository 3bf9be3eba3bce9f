"""Metrics of one ranking a query, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.evaluation.intervals import Interval, holm, interval, paired_p
from toolscope_core.evaluation.metrics import METRICS, Gold


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric at one cut-off over the queries that have gold answers; ``values`` are theirs, in
    order.
    """

    metric: str
    k: int
    interval: Interval
    values: tuple[float, ...]

    @property
    def name(self) -> str:
        return f"{self.metric}@{self.k}"


def metric_rows(
    golds: Sequence[Gold], rankings: Sequence[Sequence[str]], cutoffs: Sequence[int]
) -> tuple[MetricRow, ...]:
    """Every metric at every cut-off. ``golds`` has for each query its needs, ``rankings`` the ids
    of its ranking, the best first, in the same order.

    Queries without gold answers are left out. Raises ``ValueError`` where none has any.
    """
    judged = [(gold, ids) for gold, ids in zip(golds, rankings, strict=True) if gold]
    rows = []
    for name, metric in METRICS.items():
        for k in cutoffs:
            values = tuple(metric(ids, gold, k) for gold, ids in judged)
            rows.append(MetricRow(name, k, interval(values), values))
    return tuple(rows)


def p_values(before: Sequence[MetricRow], after: Sequence[MetricRow]) -> Mapping[str, float]:
    """By metric the paired bootstrap p-value of no change, corrected by Holm; rows as
    ``metric_rows`` gives them for the same queries.
    """
    names = [row.name for row in before]
    raw = [paired_p(old.values, new.values) for old, new in zip(before, after, strict=True)]
    return dict(zip(names, holm(raw), strict=True))
