"""Queries with the tools that serve them, as training data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import text_key
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Augmentation, digest

FOLDS = 3
QUESTION_WEIGHT = 1 / 3
"""The weight of a question that a model wrote; a recorded query has the weight 1."""
LEAST_QUERIES = 10
"""The fewest recorded queries. With fewer, nothing could be checked on held-out queries."""

_Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TrainingQueries:
    """n texts, sorted, with the tools that serve them.

    ``ids`` are the ids of all m tools, sorted. ``at`` and ``tool`` have one entry for each pair of
    a text and a tool that serves it: the row of the text and the row of the tool. ``golds`` are the
    needs of each text, as tool ids. ``recorded`` is false if a model wrote the text.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    golds: tuple[Gold, ...]
    recorded: NDArray[np.bool_]
    at: _Rows
    tool: _Rows

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of texts that each tool serves, shape (m,)."""
        return np.bincount(self.tool, minlength=len(self.ids))

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """The training weight of each text, shape (n,): ``QUESTION_WEIGHT`` if a model wrote the
        text, otherwise 1.
        """
        return np.where(self.recorded, 1.0, QUESTION_WEIGHT).astype(np.float32)

    @cached_property
    def evidence(self) -> NDArray[np.float32]:
        """The sum of the weights of the texts that each tool serves, shape (m,)."""
        weights = self.weights[self.at]
        return np.bincount(self.tool, weights, minlength=len(self.ids)).astype(np.float32)

    @cached_property
    def folds(self) -> NDArray[np.int64]:
        """The fold of each text, 0 to 2, shape (n,).

        Recorded texts and questions are dealt out in turn, each in the order of their checksums.
        """
        folds = np.zeros(len(self.texts), dtype=np.int64)
        checksums = np.array([text_key(text) for text in self.texts])
        for kind in (self.recorded, ~self.recorded):
            rows = np.flatnonzero(kind)
            folds[rows[np.argsort(checksums[rows], kind="stable")]] = np.arange(len(rows)) % FOLDS
        return folds

    @property
    def version(self) -> str:
        """A hash of the texts and the tools that serve them."""
        pairs = zip(self.at.tolist(), self.tool.tolist(), strict=True)
        return digest(self.ids, self.texts, sorted(pairs), self.recorded.tolist())

    def labels(self, texts: _Rows) -> NDArray[np.float32]:
        """A matrix of shape (len(texts), m): 1 where the tool serves the text, otherwise 0."""
        place = np.full(len(self.texts), -1, dtype=np.intp)
        place[texts] = np.arange(len(texts))
        own = place[self.at] >= 0
        matrix = np.zeros((len(texts), len(self.ids)), dtype=np.float32)
        matrix[place[self.at[own]], self.tool[own]] = 1.0
        return matrix

    def part(self, keep: NDArray[np.bool_]) -> "TrainingQueries":
        """These queries with only the texts to ``keep``, but with all tools."""
        place = np.cumsum(keep) - 1
        own = keep[self.at]
        rows = np.flatnonzero(keep)
        return TrainingQueries(
            self.ids,
            tuple(self.texts[row] for row in rows),
            tuple(self.golds[row] for row in rows),
            self.recorded[keep],
            place[self.at[own]],
            self.tool[own],
        )


def training_queries(
    queries: Iterable[Query], variants: Mapping[str, Augmentation], ids: Sequence[str]
) -> TrainingQueries:
    """The queries served by a tool of ``ids``, and the questions of document variants.

    A question is served by its tool. A repeated text counts once, with the tools of all its copies.
    Needs that no tool in ``ids`` serves are left out. Raises ``ConfigError`` if fewer than ten
    queries are left.
    """
    ids = tuple(sorted(ids))
    in_catalog = frozenset(ids)
    needs: dict[str, dict[frozenset[str], None]] = {}
    recorded: dict[str, bool] = {}
    for query in queries:
        own = [need & in_catalog for need in query.gold]
        if query.text.strip() and any(own):
            needs.setdefault(query.text, {}).update((need, None) for need in own if need)
            recorded[query.text] = True
    if len(needs) < LEAST_QUERIES:
        raise ConfigError(
            f"queries that name a tool of this catalog: {len(needs)}; use at least {LEAST_QUERIES} "
            "queries with `query` and `gold`"
        )
    for tool_id, variant in sorted(variants.items()):
        for text in variant.questions if tool_id in in_catalog else ():
            needs.setdefault(text, {})[frozenset({tool_id})] = None
            recorded.setdefault(text, False)
    return _in_rows(ids, needs, recorded)


def _in_rows(
    ids: tuple[str, ...],
    needs: Mapping[str, Mapping[frozenset[str], None]],
    recorded: Mapping[str, bool],
) -> TrainingQueries:
    texts = tuple(sorted(needs))
    row = {one: at for at, one in enumerate(ids)}
    pairs = sorted(
        {(at, row[one]) for at, text in enumerate(texts) for need in needs[text] for one in need}
    )
    at, tool = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return TrainingQueries(
        ids,
        texts,
        tuple(tuple(needs[text]) for text in texts),
        np.array([recorded[text] for text in texts], dtype=np.bool_),
        at,
        tool,
    )
