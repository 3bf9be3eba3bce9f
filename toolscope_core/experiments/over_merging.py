"""What shows that too much was merged: compression alone looks like success."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolscope_core.datamodel import Pair
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.experiments.measured_toolsets import Toolset


def joined_queries(queries: Sequence[Query], toolset: Toolset) -> tuple[int, ...]:
    """The places of the queries that need two tools which are one now: somebody told them apart."""
    return tuple(
        place
        for place, query in enumerate(queries)
        if len({_after(need, toolset) for need in query.gold}) < len(set(query.gold))
    )


def forbidden_merges(toolset: Toolset, never: Iterable[Pair]) -> tuple[Pair, ...]:
    """The pairs of ``never`` that are one tool now, in their order."""
    return tuple(
        pair
        for pair in sorted(never, key=lambda one: (one.left, one.right))
        if toolset.phi.get(pair.left, pair.left) is not None
        and toolset.phi.get(pair.left, pair.left) == toolset.phi.get(pair.right, pair.right)
    )


def _after(need: frozenset[str], toolset: Toolset) -> frozenset[str | None]:
    return frozenset(toolset.phi.get(one, one) for one in need)
