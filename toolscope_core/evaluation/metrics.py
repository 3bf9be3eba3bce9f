"""Metrics of a search: a ranking against gold answers with alternatives (names as in ranx), and how
well it tells requests that a tool serves from those that no tool serves.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from toolscope_core.evaluation.intervals import Interval, holm, interval, paired_p
from toolscope_core.retrieval.fitting import Fit

Gold = Sequence[Collection[str]]
"""A query's needs: for each need, the ids of which any one serves it."""
RankingMetric = Callable[[Sequence[str], Gold, int], float]


def gains(ranking: Sequence[str], gold: Gold, k: int) -> tuple[int, ...]:
    """For each of the first k places, 1 if it serves a need that no earlier place serves, otherwise
    0.

    Only the first of two alternatives counts, and a repeated id does not count.
    """
    open_needs = _needs(gold)
    hits = []
    for ranked in ranking[:k]:
        left = [need for need in open_needs if ranked not in need]
        hits.append(int(len(left) < len(open_needs)))
        open_needs = left
    return tuple(hits)


def best_places(ranking: Iterable[str], gold: Gold) -> tuple[int | None, ...]:
    """For each need, the best place that serves it, counted from 1; ``None`` if no place does."""
    ranks = {tool_id: rank for rank, tool_id in enumerate(ranking, 1)}
    return tuple(min((ranks[one] for one in need if one in ranks), default=None) for need in gold)


def recall(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """The share of needs that the first k places serve."""
    needs, first = _needs(gold), set(ranking[:k])
    return sum(not first.isdisjoint(need) for need in needs) / len(needs)


def precision(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """The share of k places that serve a need; missing places serve none."""
    return sum(gains(ranking, gold, k)) / k


def f1(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """The harmonic mean of precision@k and recall@k; 0 if both are 0."""
    p, r = precision(ranking, gold, k), recall(ranking, gold, k)
    return 2 * p * r / (p + r) if p + r else 0.0


def ndcg(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """Normalised discounted cumulative gain with binary gains (Järvelin and Kekäläinen 2002)."""
    return _discounted(gains(ranking, gold, k)) / _discounted([1] * min(len(_needs(gold)), k))


def average_precision(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """The mean, over all needs, of the precision at the place that serves the need.

    MAP@k is the mean of this value over queries. Needs that the first k places do not serve count
    as 0, as in trec_eval.
    """
    hits = gains(ranking, gold, k)
    at_hits = (sum(hits[: at + 1]) / (at + 1) for at, gain in enumerate(hits) if gain)
    return sum(at_hits) / len(_needs(gold))


def reciprocal_rank(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """One divided by the first place that serves a need; 0 if none of the first k places does."""
    hits = gains(ranking, gold, k)
    return 1 / (hits.index(1) + 1) if 1 in hits else 0.0


def hit(ranking: Sequence[str], gold: Gold, k: int) -> float:
    """1 if one of the first k places serves a need, otherwise 0."""
    return float(any(gains(ranking, gold, k)))


def set_metrics(selected: Collection[str], gold: Gold) -> tuple[float, float, float]:
    """Precision, recall and F1 for a set of tools.

    A need counts if any tool in the set serves it, and a tool counts if it serves any need.
    """
    served = sum(any(one in need for one in selected) for need in gold)
    right = sum(any(one in need for need in gold) for one in selected)
    recall = served / len(gold)
    precision = right / len(selected) if selected else 0.0
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its name in reports, its title and explanation on the screen, and its function.

    The function takes a ranking, gold answers and k. It is ``None`` if the metric depends on
    selections (see ``selection``). Comparisons show the metric from ``least_k`` on if ``is_shown``,
    sweeps if ``is_swept``, and ablations at the cut-offs in ``ablated_at``.
    """

    name: str
    title: str
    help: str
    of: RankingMetric | None = None
    is_shown: bool = True
    least_k: int = 1
    is_swept: bool = False
    ablated_at: tuple[int, ...] = ()


METRICS: Mapping[str, Metric] = {
    one.name: one
    for one in (
        Metric(
            "recall",
            "recall",
            "share of the needed tools that are found",
            recall,
            is_swept=True,
            ablated_at=(1, 5, 10),
        ),
        Metric(
            "precision",
            "precision",
            "share of the found tools that are needed",
            precision,
            is_shown=False,
        ),
        Metric(
            "f1", "f1", "recall and precision combined (their harmonic mean)", f1, is_shown=False
        ),
        Metric(
            "ndcg",
            "nDCG",
            "how high the needed tools rank; 1 if they are all on top",
            ndcg,
            is_swept=True,
        ),
        Metric(
            "map",
            "MAP",
            "how few other tools rank above the needed ones; 1 if none does",
            average_precision,
            least_k=2,
        ),
        Metric(
            "mrr",
            "MRR",
            "one divided by the rank of the first needed tool",
            reciprocal_rank,
            is_shown=False,
        ),
        Metric("hit", "hit", "share of queries that find at least one needed tool", hit),
        Metric(
            "csr",
            "CSR",
            "share of requests where the best match for each sub-query gives exactly the "
            "right tools",
            is_swept=True,
            ablated_at=(5, 10),
        ),
        Metric(
            "parts",
            "best of each part",
            "the same, with each sub-query searched separately among all tools",
        ),
    )
}
"""The metrics by their names in reports."""


RANKING_METRICS = {name: one.of for name, one in METRICS.items() if one.of}


SWEPT_METRICS = tuple(one for one in METRICS.values() if one.is_swept)


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric at one cut-off, measured on the queries with gold answers.

    ``values`` are in the order of the queries.
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
    """Every metric at every cut-off.

    ``golds`` has the needs of each query, ``rankings`` the ids found for the query, the best first;
    both are in the same order. Queries without gold answers are left out. Raises ``ValueError`` if
    no query has gold answers.
    """
    rankings_by_gold = [(gold, ids) for gold, ids in zip(golds, rankings, strict=True) if gold]
    rows = []
    for name, metric in RANKING_METRICS.items():
        for k in cutoffs:
            values = tuple(metric(ids, gold, k) for gold, ids in rankings_by_gold)
            rows.append(MetricRow(name, k, interval(values), values))
    return tuple(rows)


def p_values(before: Sequence[MetricRow], after: Sequence[MetricRow]) -> Mapping[str, float]:
    """The paired bootstrap p-value for no change, by metric, corrected by Holm.

    The rows must come from ``metric_rows`` and measure the same queries.
    """
    names = [row.name for row in before]
    raw = [paired_p(old.values, new.values) for old, new in zip(before, after, strict=True)]
    return dict(zip(names, holm(raw), strict=True))


@dataclass(frozen=True, slots=True)
class Refusals:
    """How often a search says that no tool fits.

    ``served`` is the share among requests that a tool serves, ``unserved`` the share among requests
    that need no tool. ``auroc`` says how well the probabilities tell the two apart. The last two
    are ``None`` without requests that need no tool.
    """

    served: Interval
    unserved: Interval | None
    auroc: float | None

    @classmethod
    def of(cls, served: Iterable[Fit | None], unserved: Iterable[Fit | None]) -> "Refusals | None":
        """The refusals of a search; ``None`` if the search cannot refuse."""
        ours, others = list(filter(None, served)), list(filter(None, unserved))
        if not ours:
            return None
        own = interval([float(one.is_none) for one in ours])
        if not others:
            return cls(own, None, None)
        return cls(
            own,
            interval([float(one.is_none) for one in others]),
            auroc([one.probability for one in ours], [one.probability for one in others]),
        )


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """The share of pairs, one of each kind, in which the first is higher; ties count half."""
    differences = np.subtract.outer(np.asarray(higher), np.asarray(lower))
    return float((differences > 0).mean() + (differences == 0).mean() / 2)


def _needs(gold: Gold) -> list[frozenset[str]]:
    """Every need once. Raises ``ValueError`` without needs, for which no metric is defined."""
    needs = list(dict.fromkeys(frozenset(need) for need in gold if need))
    if not needs:
        raise ValueError("a query without gold answers has no metrics")
    return needs


def _discounted(hits: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(hits))
