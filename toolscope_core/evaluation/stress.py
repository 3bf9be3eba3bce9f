"""Finds the needed tools among many others: the stress test of Retrieval–Plan–Select (§4.4).

Each query has a pool of its gold tools and n distractors, which are random or closest by cosine.
The tools that are found in the pool, or chosen by a worker who sees the whole pool, form a set, for
which precision, recall and F1 are measured.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.evaluation.comparison import Trial
from toolscope_core.evaluation.intervals import Interval, holm, interval, one_sided_p, paired_p
from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.evaluation.metrics import set_metrics
from toolscope_core.evaluation.query_sets import relabelled
from toolscope_core.evaluation.selection import ListChooser, jobs_of
from toolscope_core.model.protocols import Progress, Step, Vectors, silent
from toolscope_core.retrieval.assembly import best_first, weighted
from toolscope_core.retrieval.index_files import Scores
from toolscope_core.retrieval.retriever import Retriever

Noise = Literal["random", "closest"]

LEVELS = (0, 10, 20, 30, 40, 50)
WHOLE_K, STEP_K = 10, 5
"""The number of tools to find for a request that is not split, and for each sub-query."""
_SEED = 20_251


@dataclass(frozen=True, slots=True)
class SplitGain:
    """The gain of splitting over plain retrieval of the same requests, at one noise level (table
    7).

    ``p_one_sided`` is the p-value for no gain in recall, as printed. ``p`` is the two-sided p-value
    for no change, corrected by Holm over all levels.
    """

    p_one_sided: float
    p: float


@dataclass(frozen=True, slots=True)
class StressPoint:
    """The mean precision, recall and F1 over queries at a number of distractors.

    ``p_recall`` and ``p_f1`` are p-values for no change compared with no distractors, corrected by
    Holm. ``p_loss`` is the one-sided p-value for no loss of recall (table 6), uncorrected.
    ``recalls`` and ``f1s`` have the values of each query, in order. ``gain`` is the gain over the
    same requests without splitting.
    """

    noise: Noise
    distractors: int
    precision: Interval
    recall: Interval
    f1: Interval
    p_recall: float
    p_f1: float
    p_loss: float
    recalls: tuple[float, ...]
    f1s: tuple[float, ...]
    gain: SplitGain | None = None


@dataclass(frozen=True, slots=True)
class Stress:
    """The ids of the queries, and the points of each test by the name of the test."""

    queries: tuple[str, ...]
    levels: tuple[int, ...]
    toolsets: Mapping[str, tuple[StressPoint, ...]]


def stress_of(
    trial: Trial, tests: Mapping[str, Sequence[StressPoint]], alone: Mapping[str, str]
) -> Stress:
    """The results of several tests of a trial.

    ``alone`` names, for a test, the test of the same toolset without splitting, from which the gain
    is computed.
    """
    toolsets = {}
    for name, points in tests.items():
        gains = split_gains(points, tests[alone[name]]) if name in alone else [None] * len(points)
        toolsets[name] = tuple(
            replace(one, recalls=_rounded(one.recalls), f1s=_rounded(one.f1s), gain=gain)
            for one, gain in zip(points, gains, strict=True)
        )
    return Stress(tuple(query.id for query in trial.queries), LEVELS, toolsets)


def split_gains(
    points: Sequence[StressPoint], alone: Sequence[StressPoint]
) -> tuple[SplitGain, ...]:
    """The gain at each point; ``alone`` has points of the same noise and levels without
    splitting.
    """
    pairs = [(one.recalls, own.recalls) for one, own in zip(alone, points, strict=True)]
    two_sided = holm([paired_p(*pair) for pair in pairs])
    return tuple(SplitGain(one_sided_p(*pair), p) for pair, p in zip(pairs, two_sided, strict=True))


def random_noise(size: int, gold: Sequence[int], most: int, query_id: str) -> list[int]:
    """Up to ``most`` of ``size`` rows that are not gold, in an order that depends on the query's
    id.

    The first n rows are the noise of level n, so a higher level adds to the noise of a lower one.
    """
    others = np.setdiff1d(np.arange(size), gold)
    generator = np.random.default_rng([_SEED, zlib.crc32(query_id.encode("utf-8", "replace"))])
    return [int(row) for row in generator.permutation(others)[:most]]


def closest_noise(vectors: Vectors, gold: Sequence[int], most: int) -> list[int]:
    """Up to ``most`` rows that are not gold, the closest to a gold row by cosine.

    The closest row to each gold row in turn comes first, then the second closest; each row occurs
    once. ``vectors`` must be normalised.
    """
    cosines = vectors[list(gold)] @ vectors.T
    cosines[:, list(gold)] = -np.inf
    orders = [best_first(row, most + len(gold)) for row in cosines]
    others = dict.fromkeys(
        int(order[place])
        for place in range(min((len(order) for order in orders), default=0))
        for order in orders
        if np.isfinite(cosines[0, order[place]])
    )
    return list(others)[:most]


def stress_test(
    toolset: Toolset,
    retriever: Retriever,
    trial: Trial,
    progress: Progress = silent,
    best: int | None = None,
    choice: ListChooser | None = None,
) -> tuple[StressPoint, ...]:
    """The points for random and closest noise at every level of ``LEVELS``.

    ``retriever`` must have the toolset's tools; only its dense weight (α in the paper) is used. A
    request that is not split finds the ``WHOLE_K`` best tools of the pool by the hybrid score,
    min-max normalised in the pool. Each sub-query finds its ``STEP_K`` best tools, which are joined
    to a set. ``best`` replaces both numbers: 1 is a worker without a model. ``choice`` chooses from
    the whole pool (tables 6 and 8, LLM selection). All tools that serve a need count as gold.
    Reports ``Step("stress", …)`` in queries.
    """
    ids, dense_weight = retriever.ids, retriever.config.dense_weight
    rows = {tool_id: row for row, tool_id in enumerate(ids)}
    retriever.encode_documents(progress)
    vectors = retriever.vectors
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    pools_taken: dict[tuple[Noise, int], list[frozenset[str]]] = {}
    queries = relabelled(trial.queries, toolset.phi)
    retriever.encode(text for one in trial.requests for text in jobs_of(one))
    for number, (query, request) in enumerate(zip(queries, trial.requests, strict=True)):
        progress(Step("stress", number, len(queries)))
        gold = sorted({rows[one] for need in query.gold for one in need if one in rows})
        scores = retriever.base_scores(jobs_of(request))
        most = max(LEVELS)
        noises: dict[Noise, list[int]] = {
            "random": random_noise(len(rows), gold, most, query.id),
            "closest": closest_noise(vectors, gold, most) if gold else [],
        }
        for noise, distractors in noises.items():
            for level in LEVELS:
                pool = np.array(sorted([*gold, *distractors[:level]]), dtype=np.intp)
                best_rows = pool if choice else _best_of(pool, scores, dense_weight, best)
                own = frozenset(ids[row] for row in best_rows)
                pools_taken.setdefault((noise, level), []).append(own)
    progress(Step("stress", len(queries), len(queries)))
    values = {}
    for place, pools in pools_taken.items():
        sets = choice([sorted(one) for one in pools]) if choice else pools
        values[place] = [set_metrics(one, own.gold) for one, own in zip(sets, queries, strict=True)]
    return _points(values)


def _best_of(
    pool: NDArray[np.intp],
    scores: Sequence[tuple[Scores, Scores]],
    dense_weight: float,
    most: int | None,
) -> list[int]:
    """The rows of a pool that the jobs of a request find, based on the scores of all tools."""
    k = most or (WHOLE_K if len(scores) == 1 else STEP_K)
    parts = (weighted(dense[pool], sparse[pool], dense_weight) for dense, sparse in scores)
    return [int(pool[at]) for one in parts for at in best_first(np.sum(one, axis=0), k)]


def _points(
    values: dict[tuple[Noise, int], list[tuple[float, float, float]]],
) -> tuple[StressPoint, ...]:
    columns = {place: tuple(zip(*rows, strict=True)) for place, rows in values.items()}
    p_recall, p_f1 = (
        holm(
            [
                paired_p(columns[noise, LEVELS[0]][at], own[at])
                for (noise, _), own in columns.items()
            ]
        )
        for at in (1, 2)
    )
    points = []
    p_by_place = zip(p_recall, p_f1, strict=True)
    for (place, own), p in zip(columns.items(), p_by_place, strict=True):
        precision, recall, f1 = map(interval, own)
        loss = one_sided_p(own[1], columns[place[0], LEVELS[0]][1])
        points.append(StressPoint(*place, precision, recall, f1, *p, loss, own[1], own[2]))
    return tuple(points)


def _rounded(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(value, 6) for value in values)
