"""Neighbours by inverted lists (FAISS IVF): each row is compared with those of a few lists only.

The time of an exact search grows with the square of the rows; that of lists, of which there are
4 √n, with n √n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.protocols import Vectors

WANTED = 0.995
"""The share of the pairs of the exact search that the lists have to give."""
SAMPLE = 2_000
"""The rows on which that share is measured."""
_TRAINED = 39
"""Rows per list from which its centre is learned; FAISS warns of fewer."""
_SEED = 54

Nearest = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Of each row the cosines of others and their row numbers, both (rows, count)."""


@dataclass(frozen=True, slots=True)
class ListSearch:
    """How a search by lists was set: ``lists``, of which ``probes`` are read for each row, and the
    ``share`` of the pairs of ``sampled`` rows that it finds.
    """

    lists: int
    probes: int
    share: float
    sampled: int

    @property
    def in_words(self) -> str:
        return (
            f"neighbours by {self.lists:,} inverted lists, {self.probes:,} read for each tool: "
            f"{self.share:.2%} of the candidate pairs that an exact search gives "
            f"{self.sampled:,} tools"
        )


@dataclass(frozen=True, slots=True)
class InvertedLists:
    """The rows of ``vectors`` in lists, as ``settings`` says."""

    vectors: Vectors
    settings: ListSearch
    _index: Any

    @classmethod
    def of(
        cls,
        vectors: Vectors,
        count: int,
        pairs_of: Callable[[Nearest, NDArray[np.int64]], NDArray[np.int64]],
    ) -> InvertedLists:
        """Lists of which as few are read as give ``WANTED`` of the pairs that ``pairs_of`` makes of
        the ``count`` nearest of sampled rows; ``vectors`` is float32 (n, d), rows normalised.
        """
        import faiss

        rows, size = vectors.shape
        lists = round(4 * rows**0.5)
        rng = np.random.default_rng(_SEED)
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(size), size, lists, faiss.METRIC_INNER_PRODUCT)
        index.train(vectors[rng.choice(rows, min(rows, _TRAINED * lists), replace=False)])
        index.add(vectors)
        sample = np.sort(rng.choice(rows, min(rows, SAMPLE), replace=False))
        exact = faiss.knn(vectors[sample], vectors, count, faiss.METRIC_INNER_PRODUCT)
        wanted = pairs_of(exact, sample)

        def share_by(probes: int) -> float:
            index.nprobe = probes
            given = pairs_of(index.search(vectors[sample], count), sample)
            return float(np.isin(wanted, given).mean()) if len(wanted) else 1.0

        probes = 1
        while (share := share_by(probes)) < WANTED and probes < lists:
            probes = min(2 * probes, lists)
        return cls(vectors, ListSearch(lists, probes, share, len(sample)), index)

    def nearest(self, rows: slice, count: int) -> Nearest:
        """The ``count`` nearest of each of the rows; −1 for a row where the lists have fewer."""
        found: Nearest = self._index.search(self.vectors[rows], count)
        return found
