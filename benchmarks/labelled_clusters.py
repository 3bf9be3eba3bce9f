"""Clusters whose rightness is known, built from the labelled pairs of a catalog.

Right: cliques of labelled merges, and components of them without a labelled keep inside. Wrong:
a right cluster, or a labelled merge, with one more tool that is labelled *keep* against a member;
and the union of two right clusters with a *keep* between them. Coin-toss labels are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np

from benchmarks.train_judge import Labelled

_LARGEST = 12
_COIN_TOSS = 0.3


@dataclass(frozen=True, slots=True)
class Example:
    """Rows of the tools of one cluster, ascending, and whether it holds a labelled keep."""

    rows: tuple[int, ...]
    wrong: bool


def examples(catalog: Labelled, seed: int = 0) -> list[Example]:
    """As many wrong clusters as right ones where the labels allow, three to twelve tools each."""
    merges, keeps = _graphs(catalog)
    right = _right(merges, keeps)
    rng = np.random.default_rng(seed)
    wrong = sorted(_wrong(right, merges, keeps) - right)
    chosen = rng.permutation(len(wrong))[: len(right)]
    return [
        *(Example(rows, False) for rows in sorted(right)),
        *(Example(wrong[at], True) for at in sorted(chosen.tolist())),
    ]


def _graphs(catalog: Labelled) -> tuple[nx.Graph, nx.Graph]:
    sure = catalog.sureness > _COIN_TOSS
    graphs = nx.Graph(), nx.Graph()
    for graph, label in zip(graphs, (True, False), strict=True):
        chosen = sure & (catalog.merge == label)
        graph.add_edges_from(
            zip(catalog.left[chosen].tolist(), catalog.right[chosen].tolist(), strict=True)
        )
    return graphs


def _right(merges: nx.Graph, keeps: nx.Graph) -> set[tuple[int, ...]]:
    whole = [part for part in nx.connected_components(merges) if not _apart(part, keeps)]
    found = {tuple(sorted(part)) for part in [*whole, *nx.find_cliques(merges)]}
    return {rows for rows in found if 3 <= len(rows) <= _LARGEST}


def _wrong(right: set[tuple[int, ...]], merges: nx.Graph, keeps: nx.Graph) -> set[tuple[int, ...]]:
    bases = [*sorted(right), *(tuple(sorted(edge)) for edge in merges.edges)]
    grown = {
        tuple(sorted({*base, other}))
        for base in bases
        for row in base
        if row in keeps
        for other in keeps[row]
        if other not in base
    }
    joined = {
        tuple(sorted({*one, *other}))
        for one, other in combinations(sorted(right), 2)
        if _apart({*one, *other}, keeps)
    }
    return {rows for rows in grown | joined if len(rows) <= _LARGEST}


def _apart(rows: set[int], keeps: nx.Graph) -> bool:
    return keeps.subgraph(rows).number_of_edges() > 0
