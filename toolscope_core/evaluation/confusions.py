"""Which queries confuse two tools: one is found where the other is the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.evaluation.metrics import Gold, best_places
from toolscope_core.model.pair import Pair


@dataclass(frozen=True, slots=True)
class PairConfusion:
    """Two tools and the places of the queries in which one stands above the other, which is the
    answer, or is found while the answer is not. ``cost`` is the sum over these of 1 / the place of
    the tool that stands in the way.
    """

    pair: Pair
    queries: tuple[int, ...]
    cost: float


def pair_confusions(
    golds: Sequence[Gold], rankings: Sequence[Sequence[str]]
) -> tuple[PairConfusion, ...]:
    """Every pair of tools that a query confuses, the costliest first.

    ``golds`` and ``rankings`` are those of the queries, in one order. Only tools that no need of
    the query names can stand in an answer's way.
    """
    queries: dict[Pair, list[int]] = {}
    costs: dict[Pair, float] = {}
    for place, (gold, ranking) in enumerate(zip(golds, rankings, strict=True)):
        wanted = {one for need in gold for one in need}
        ranks = {tool_id: rank for rank, tool_id in enumerate(ranking, 1)}
        for need, best in zip(gold, best_places(ranking, gold), strict=True):
            answer = min(need, key=lambda one: (ranks.get(one, len(ranking) + 1), one))
            for other, rank in ranks.items():
                if other in wanted or (best is not None and rank > best):
                    continue
                pair = Pair.of(answer, other)
                queries.setdefault(pair, []).append(place)
                costs[pair] = costs.get(pair, 0.0) + 1 / rank
    confused = [
        PairConfusion(pair, tuple(dict.fromkeys(places)), costs[pair])
        for pair, places in queries.items()
    ]
    return tuple(sorted(confused, key=lambda one: (-one.cost, one.pair.left, one.pair.right)))
