"""What two tools have in common and what tells them apart, as numbers for the offline judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import Rows, cosines
from toolscope_core.judging.owners import product_words, proper_names, shared_product
from toolscope_core.judging.pair_words import PairWords, across, is_strange, pair_words
from toolscope_core.judging.reading import Reading, read_tool
from toolscope_core.judging.vocabulary import stem
from toolscope_core.judging.word_match import ToolWords, tool_words
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool

SIGNALS = (
    "closeness",
    "other_action",
    "opposite_words",
    "turned_round",
    "shared_object",
    "shared_arguments",
    "name_words_apart",
    "all_said",
    "one_word_apart",
    "strange_words",
    "names_of_a_kind",
    "length",
    "one_server",
    "kept_things",
    "found_anywhere",
    "shared_product",
    "shared_names",
    "other_names",
)
"""The columns of ``Signals.of_pairs``, explained there."""

Matrix = NDArray[np.float64]

_MOST_WORDS = 64
_PRIOR_TOOLS = 50
_PRIOR_COSINE = 0.15
_PRIOR_DOCUMENTS = 100
_COMES_BACK = 2
_USUAL_NAME = 0.25
"""A name that a larger share of the tools mentions is no longer telling."""


@dataclass(frozen=True, slots=True)
class WordTable:
    """Words of each tool as rows: ids (−1 where a row is shorter) and the weight of each word."""

    ids: NDArray[np.int32]
    weights: Matrix


@dataclass(frozen=True, slots=True)
class Signals:
    """A catalog prepared once; ``of_pairs`` gives the signals of any of its pairs.

    ``weights`` are those of the words of names and descriptions, by stem, in (0, 1]. ``servers``
    are the tools' servers as numbers, 0 for none. ``names`` are proper names that few tools
    mention; ``frames`` tell for each name word what stands around it. ``silent`` tells which
    tools do not declare their parameters.
    """

    tools: tuple[Tool, ...]
    readings: tuple[Reading, ...]
    words_by_row: tuple[ToolWords, ...]
    vectors: Vectors
    usual: Matrix
    weights: Mapping[str, float]
    objects: WordTable
    arguments: WordTable
    silent: NDArray[np.bool_]
    servers: NDArray[np.int64]
    names: tuple[frozenset[str], ...]
    rarity: Mapping[str, float]
    frames: Mapping[str, frozenset[tuple[str, ...]]]

    @classmethod
    def of(cls, tools: Sequence[Tool], vectors: Vectors) -> Signals:
        """``vectors`` is float32 of shape (n, d), rows normalised, in the order of ``tools``."""
        readings = tuple(read_tool(tool) for tool in tools)
        words_by_row = tuple(tool_words(tool) for tool in tools)
        ids: dict[str, int] = {}
        objects = [_stems(reading.objects) for reading in readings]
        arguments = [_stems(reading.arguments or ()) for reading in readings]
        servers = {tool.server for tool in tools} - {""}
        return cls(
            tools=tuple(tools),
            readings=readings,
            words_by_row=words_by_row,
            vectors=vectors,
            usual=_usual_cosines(vectors),
            weights=_weights([_stems(one.words) for one in words_by_row]),
            objects=_table(objects, _weights(objects), ids),
            arguments=_table(arguments, _weights(arguments), ids),
            silent=np.array([reading.arguments is None for reading in readings], dtype=np.bool_),
            servers=codes([tool.server for tool in tools]),
            names=_rare_names(tools),
            rarity=_rarity([product_words(server) for server in servers]),
            frames=_frames(words_by_row),
        )

    def of_pairs(self, left: Rows, right: Rows) -> Matrix:
        """float64 of shape (m, len(SIGNALS)); the same for (a, b) and (b, a).

        ``closeness``: the cosine after taking away what all tools of the catalog share, in
        [-1, 1]. ``other_action``: 1 where one reads and the other deletes, say.
        ``opposite_words``: 1 where the names hold contraries (open, close).
        ``turned_round``: 1 where one goes from a to b and the other from b to a.
        ``shared_object``: 1 where they end on the same noun. ``shared_arguments``: weighted
        share of common words of the parameters' names. ``name_words_apart``: weight of the
        name words that the other tool says in no form, on the side that has less of them.
        ``all_said``: 1 where neither says a word that the other does not, and both speak of
        one thing or both of several. ``one_word_apart``: 1 where the names are equal but
        for one to three words. ``strange_words``: 1 where each says a word that the other
        does not and English does not have. ``names_of_a_kind``: 1 where one stands for the
        other in two or more names of the catalog that are otherwise equal, and one is no
        English word. ``length``: logarithm of how many words both say. ``one_server``: 1
        where both are on one server, unless their descriptions are the same and their names
        say the same. ``kept_things`` and ``found_anywhere``: 1 where the name words they
        share are of things that somebody keeps, or that are the same everywhere.
        ``shared_product``: rarity of a word that the names of two servers share.
        ``shared_names``: 1 where both mention one proper name; ``other_names``: 1 where
        each mentions one that the other does not. Rare words weigh more. NaN where a signal
        cannot be measured.
        """
        left, right = np.minimum(left, right), np.maximum(left, right)
        columns = {
            "closeness": self._closeness(left, right),
            "shared_object": self._same_object(left, right),
            "shared_arguments": self._shared_arguments(left, right),
        }
        rest = [signal for signal in SIGNALS if signal not in columns]
        read_off = itemgetter(*rest)
        worded = [
            read_off(self._worded(a, b)) for a, b in zip(left.tolist(), right.tolist(), strict=True)
        ]
        table = np.array(worded, dtype=np.float64).reshape(-1, len(rest))
        columns |= {signal: table[:, at] for at, signal in enumerate(rest)}
        return np.column_stack([columns[signal] for signal in SIGNALS])

    def beside(self, left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Which pairs are not of two servers: of one, or in a catalog without them."""
        ours, theirs = self.servers[left], self.servers[right]
        return np.asarray((ours == theirs) | (ours == 0) | (theirs == 0))

    def verbs_apart(self, left: int, right: int) -> bool:
        """Whether the other says the verb of one of them in no form: *hold*, *release*."""
        unshared = self.unshared(left, right)
        return any(
            self._verb(row) in words for row, words in zip((left, right), unshared, strict=True)
        )

    def _verb(self, row: int) -> str:
        """The word that says what a tool does: the one that begins both name and description, else
        the one that the judge reads.
        """
        words = self.words_by_row[row]
        if words.name and words.text and stem(words.name[0]) == stem(words.text[0]):
            return words.name[0]
        return self.readings[row].verb

    def renamed(self, left: int, right: int) -> tuple[str, str]:
        """The name words that only the one, and only the other says, joined."""
        ours, theirs = self._compare(left, right).renamed
        return "_".join(ours), "_".join(theirs)

    def unshared(self, left: int, right: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words that only the one, and only the other says."""
        return self._compare(left, right).unshared

    def _compare(self, left: int, right: int) -> PairWords:
        return pair_words(self.tools[left], self.tools[right])

    def _worded(self, left: int, right: int) -> dict[str, float]:
        """The signals that are read off words, by name."""
        pair = self._compare(left, right)
        servers = self.tools[left].server, self.tools[right].server
        return {
            **pair.signals,
            "name_words_apart": min(map(self._weight, pair.renamed)),
            "names_of_a_kind": float(self._are_of_a_kind(*pair.renamed)),
            "shared_product": (
                shared_product(*servers, self.rarity) if across(*servers) else math.nan
            ),
            "shared_names": float(not self.names[left].isdisjoint(self.names[right])),
            "other_names": float(self._names_apart(left, right)),
        }

    def _names_apart(self, left: int, right: int) -> bool:
        ours, theirs = self.names[left], self.names[right]
        return bool(ours - self.words_by_row[right].plain) and bool(
            theirs - self.words_by_row[left].plain
        )

    def _are_of_a_kind(self, ours: Sequence[str], theirs: Sequence[str]) -> bool:
        none = frozenset[tuple[str, ...]]()
        return any(
            len(self.frames.get(a, none) & self.frames.get(b, none)) >= _COMES_BACK
            and is_strange((a, b))
            for a in ours
            for b in theirs
        )

    def _weight(self, words: Iterable[str]) -> float:
        return sum(self.weights[stem(word)] for word in words)

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

    def _same_object(self, left: Rows, right: Rows) -> Matrix:
        ours, theirs = self.objects.ids[left], self.objects.ids[right]
        same = _hits(ours, theirs).any(axis=1).astype(np.float64)
        unknown = (ours < 0).all(axis=1) | (theirs < 0).all(axis=1)
        return np.where(unknown, np.nan, same)

    def _shared_arguments(self, left: Rows, right: Rows) -> Matrix:
        share = _jaccard(self.arguments, left, right)
        return np.where(self.silent[left] | self.silent[right], np.nan, share)


def _rare_names(tools: Sequence[Tool]) -> tuple[frozenset[str], ...]:
    names_by_tool = proper_names(tools)
    used = Counter(name for names in names_by_tool for name in names)
    most = max(_USUAL_NAME * len(tools), 3)
    return tuple(frozenset(name for name in names if used[name] < most) for names in names_by_tool)


def _frames(tools: Sequence[ToolWords]) -> dict[str, frozenset[tuple[str, ...]]]:
    """Name word → the rests of the names it stands in, in order, with a gap for it."""
    frames: dict[str, set[tuple[str, ...]]] = {}
    for one in tools:
        for at, word in enumerate(one.name):
            rest = (*map(stem, one.name[:at]), "", *map(stem, one.name[at + 1 :]))
            frames.setdefault(word, set()).add(rest)
    return {word: frozenset(rests) for word, rests in frames.items()}


def _rarity(servers: Sequence[frozenset[str]]) -> dict[str, float]:
    """How rare each product word is among the servers, in [0, 1]."""
    used = Counter(word for words in servers for word in words)
    size = math.log(len(servers) + 1)
    return {word: math.log((len(servers) + 1) / count) / size for word, count in used.items()}


def codes(values: Sequence[str]) -> NDArray[np.int64]:
    """Equal numbers for equal texts; 0 for the empty text."""
    numbers = {"": 0}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _stems(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(stem, words)))


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
    hits = (ours[:, :, None] == theirs[:, None, :]).any(axis=2)
    return np.asarray(hits & (ours >= 0))


def _jaccard(table: WordTable, left: Rows, right: Rows) -> Matrix:
    """Weight of the common words over that of all words of both rows; 1 where none has any."""
    ours, theirs = table.weights[left], table.weights[right]
    common = (ours * _hits(table.ids[left], table.ids[right])).sum(axis=1)
    union = ours.sum(axis=1) + theirs.sum(axis=1) - common
    return np.where(union > 0, common / np.where(union > 0, union, 1.0), 1.0)
