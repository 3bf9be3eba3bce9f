"""What two tools have in common and what tells them apart, as numbers for the offline judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.backends import Vectors
from toolscope_core.datamodel import Tool
from toolscope_core.merging.reading import Reading, read_tool
from toolscope_core.merging.vocabulary import opposites, siblings
from toolscope_core.similarity import Rows, cosines

SIGNALS = (
    "closeness",
    "other_action",
    "opposite_words",
    "other_kind",
    "shared_phrase",
    "shared_object",
    "name_words_apart",
    "name_words_added",
    "shared_arguments",
    "shared_returns",
)
"""The columns of ``Signals.of_pairs``, explained there."""

Matrix = NDArray[np.float64]

_MOST_WORDS = 64
_PRIOR_TOOLS = 50
_PRIOR_COSINE = 0.15
_PRIOR_DOCUMENTS = 100


@dataclass(frozen=True, slots=True)
class WordTable:
    """Words of each tool as rows: ids (−1 where a row is shorter) and the weight of each word."""

    ids: NDArray[np.int32]
    weights: Matrix


@dataclass(frozen=True, slots=True)
class Signals:
    """A catalog prepared once; ``of_pairs`` gives the signals of any of its pairs.

    ``silent`` tells which tools do not declare their parameters.
    """

    readings: tuple[Reading, ...]
    vectors: Vectors
    usual: Matrix
    names: WordTable
    objects: WordTable
    phrases: WordTable
    texts: WordTable
    arguments: WordTable
    returns: WordTable
    silent: NDArray[np.bool_]

    @classmethod
    def of(cls, tools: Sequence[Tool], vectors: Vectors) -> Signals:
        """``vectors`` is float32 of shape (n, d), rows normalised, in the order of ``tools``."""
        readings = tuple(read_tool(tool) for tool in tools)
        ids: dict[str, int] = {}
        text = _weights([reading.text for reading in readings])
        phrases = [reading.phrase for reading in readings]
        objects = [reading.objects for reading in readings]
        arguments = [reading.arguments or () for reading in readings]
        returns = [reading.returns for reading in readings]
        return cls(
            readings=readings,
            vectors=vectors,
            usual=_usual_cosines(vectors),
            names=_table([reading.name for reading in readings], text, ids),
            objects=_table(objects, _weights(objects), ids),
            phrases=_table(phrases, _weights(phrases), ids),
            texts=_table([reading.text for reading in readings], text, ids),
            arguments=_table(arguments, _weights(arguments), ids),
            returns=_table(returns, _weights(returns), ids),
            silent=np.array([reading.arguments is None for reading in readings], dtype=np.bool_),
        )

    def of_pairs(self, left: Rows, right: Rows) -> Matrix:
        """float64 of shape (m, len(SIGNALS)); the same for (a, b) and (b, a).

        ``closeness``: the cosine after taking away what all tools of the catalog share, in
        [-1, 1]. ``other_action``: 1 where one reads and the
        other deletes, say. ``opposite_words``: 1 where the names hold contraries (open, close).
        ``other_kind``: 1 where each has another thing of one kind (circle, triangle).
        ``shared_phrase``, ``shared_arguments``, ``shared_returns``: weighted share of common
        words in [0, 1]. ``shared_object``: 1 where
        they end on the same noun. ``name_words_apart`` / ``name_words_added``: weight of the name
        words that the other tool never mentions, on the side that has less / more of them. Rare
        words weigh more. NaN where a signal cannot be measured.
        """
        left, right = np.minimum(left, right), np.maximum(left, right)
        only_left = self._unmentioned(left, right)
        only_right = self._unmentioned(right, left)
        pairs = [(self.readings[a], self.readings[b]) for a, b in zip(left, right, strict=True)]
        columns = (
            self._closeness(left, right),
            [_other_action(a, b) for a, b in pairs],
            [float(opposites(a.contraries, b.contraries) is not None) for a, b in pairs],
            [float(siblings(a.kinds, b.kinds) is not None) for a, b in pairs],
            _jaccard(self.phrases, left, right, both_empty=np.nan, one_empty=0.0),
            self._same_object(left, right),
            np.minimum(only_left, only_right),
            np.maximum(only_left, only_right),
            self._shared_arguments(left, right),
            _jaccard(self.returns, left, right, both_empty=np.nan, one_empty=np.nan),
        )
        return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])

    def _closeness(self, left: Rows, right: Rows) -> Matrix:
        """Cosine of the vectors moved by the catalog's mean, in small catalogs by a usual one."""
        rows = len(self.vectors)
        trust = rows / (rows + _PRIOR_TOOLS)
        mean = float(self.usual.mean())

        def moved(cosine: Matrix | float, a: Rows, b: Rows) -> Matrix:
            here = cosine - self.usual[a] - self.usual[b] + mean
            anywhere = cosine - _PRIOR_COSINE
            return np.asarray(trust * here + (1.0 - trust) * anywhere)

        scale = np.sqrt(moved(1.0, left, left) * moved(1.0, right, right))
        product = moved(cosines(self.vectors, left, right), left, right)
        return np.asarray(np.clip(product / np.maximum(scale, 1e-9), -1.0, 1.0))

    def _unmentioned(self, rows: Rows, others: Rows) -> Matrix:
        weights = self.names.weights[rows]
        known = _hits(self.names.ids[rows], self.texts.ids[others])
        return np.asarray((weights * ~known).sum(axis=1))

    def _same_object(self, left: Rows, right: Rows) -> Matrix:
        ours, theirs = self.objects.ids[left], self.objects.ids[right]
        same = _hits(ours, theirs).any(axis=1).astype(np.float64)
        unknown = (ours < 0).all(axis=1) | (theirs < 0).all(axis=1)
        return np.where(unknown, np.nan, same)

    def _shared_arguments(self, left: Rows, right: Rows) -> Matrix:
        share = _jaccard(self.arguments, left, right, both_empty=1.0, one_empty=0.0)
        return np.where(self.silent[left] | self.silent[right], np.nan, share)


def _other_action(a: Reading, b: Reading) -> float:
    if not a.classes or not b.classes:
        return np.nan
    return float(not a.classes & b.classes)


def _usual_cosines(vectors: Vectors) -> Matrix:
    """Mean cosine of each tool to all tools of the catalog, float64 of shape (n,)."""
    exact = vectors.astype(np.float64)
    return np.asarray(exact @ exact.mean(axis=0)) if len(vectors) else np.zeros(0)


def _weights(rows: Sequence[tuple[str, ...]]) -> dict[str, float]:
    """Weight of each word in (0, 1]: high where few tools use it.

    Smoothed as if the catalog had a hundred more tools, so that two tools give sane weights.
    """
    size = len(rows) + _PRIOR_DOCUMENTS
    used = Counter(word for row in rows for word in row)
    return {word: math.log(size / (count + 1)) / math.log(size) for word, count in used.items()}


def _table(
    rows: Sequence[tuple[str, ...]], weights: dict[str, float], ids: dict[str, int]
) -> WordTable:
    """``rows`` as a table; ``ids`` gets the words it does not know yet. Long rows are cut."""
    width = max((min(len(row), _MOST_WORDS) for row in rows), default=0)
    table = WordTable(
        np.full((len(rows), max(width, 1)), -1, dtype=np.int32),
        np.zeros((len(rows), max(width, 1))),
    )
    for at, row in enumerate(rows):
        kept = row[:_MOST_WORDS]
        table.ids[at, : len(kept)] = [ids.setdefault(word, len(ids)) for word in kept]
        table.weights[at, : len(kept)] = [weights[word] for word in kept]
    return table


def _hits(ours: NDArray[np.int32], theirs: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of our words are among theirs, row by row: shape of ``ours``."""
    found = (ours[:, :, None] == theirs[:, None, :]).any(axis=2)
    return np.asarray(found & (ours >= 0))


def _jaccard(
    table: WordTable, left: Rows, right: Rows, both_empty: float, one_empty: float
) -> Matrix:
    """Weight of the common words over the weight of all words of both rows."""
    ours, theirs = table.weights[left], table.weights[right]
    common = (ours * _hits(table.ids[left], table.ids[right])).sum(axis=1)
    ours_all, theirs_all = ours.sum(axis=1), theirs.sum(axis=1)
    union = ours_all + theirs_all - common
    share = common / np.where(union > 0, union, 1.0)
    share = np.where((ours_all > 0) & (theirs_all > 0), share, one_empty)
    return np.where((ours_all == 0) & (theirs_all == 0), both_empty, share)
