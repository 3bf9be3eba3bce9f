"""The offline judge: may two tools be merged? A logistic model over readable signals."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolscope_core.backends import Vectors
from toolscope_core.datamodel import Outcome, Pair, Tool, Verdict
from toolscope_core.merging.alignment import unmappable
from toolscope_core.merging.evidence import COUNTS, explain
from toolscope_core.merging.families import general_tools
from toolscope_core.merging.signals import SIGNALS, Matrix, Signals
from toolscope_core.merging.vocabulary import is_foreign, words_of
from toolscope_core.similarity import Rows, cosines

_WEIGHTS = Path(__file__).with_name("judge_weights.json")
_BLOCK = 4096
_DIGITS = 6
_IN_FAMILY = 0.97
"""Two instances of one general tool, or it and an instance: a fact read off names and schemas."""
_ADDED = SIGNALS.index("name_words_added")
_CERTAIN = 16.0
"""Log-odds that are shown for 0 and 1, whose own have no end: six digits tell no difference."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A trained judge: per signal a weight, and the mean and scale it is standardised with.

    ``same_server`` is added to the log-odds of two tools of one server, which were written to
    stand side by side. A probability ≥ ``merge_at`` is *merge*, ≥ ``unsure_at`` *unsure*, else
    *keep*; ``auto_at`` is what a merge needs to be accepted without a person.
    """

    name: str
    weight: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    intercept: float
    same_server: float
    auto_at: float
    merge_at: float
    unsure_at: float

    @classmethod
    def read(cls, path: Path) -> Weights:
        """The file that ``benchmarks/train_judge.py`` writes; its hash is part of ``name``."""
        text = path.read_bytes()
        found = json.loads(text)
        columns = [found["signals"][signal] for signal in SIGNALS]
        return cls(
            name=f"offline-{found['version']}-{hashlib.sha256(text).hexdigest()[:8]}",
            weight=tuple(column["weight"] for column in columns),
            mean=tuple(column["mean"] for column in columns),
            scale=tuple(column["scale"] for column in columns),
            intercept=found["intercept"],
            same_server=found["same_server"],
            auto_at=found["thresholds"]["auto"],
            merge_at=found["thresholds"]["merge"],
            unsure_at=found["thresholds"]["unsure"],
        )

    def contributions(self, signals: Matrix) -> Matrix:
        """What each signal adds to the log-odds; 0 where it cannot be measured."""
        standard = (signals - np.asarray(self.mean)) / np.asarray(self.scale)
        return np.asarray(np.nan_to_num(standard) * np.asarray(self.weight))

    def outcome(self, probability: float) -> Outcome:
        """What a probability means."""
        if probability >= self.merge_at:
            return "merge"
        return "unsure" if probability >= self.unsure_at else "keep"


@lru_cache(maxsize=1)
def shipped_weights() -> Weights:
    """The weights in the package, trained on all labelled catalogs."""
    return Weights.read(_WEIGHTS)


@dataclass(frozen=True, slots=True)
class Share:
    """What one thing adds to the log-odds that two tools do one job; its name is in words."""

    name: str
    added: float


@dataclass(frozen=True, slots=True)
class OfflineJudge:
    """A judge prepared for one catalog; pairs are given as row numbers into its tools.

    A pair with a tool whose calls cannot be mapped, that has no description, or one that is not
    English, is at most *unsure*; exact copies (equal content hash) have probability 1. Tools of
    one server with the same description and no name word of their own are not held to be made to
    differ.
    """

    tools: tuple[Tool, ...]
    signals: Signals
    weights: Weights
    general: Mapping[str, str]
    _unclear: NDArray[np.bool_]
    _servers: NDArray[np.int64]
    _contents: NDArray[np.int64]
    _texts: NDArray[np.int64]
    _families: NDArray[np.int64]

    @classmethod
    def of(
        cls, tools: Sequence[Tool], vectors: Vectors, weights: Weights | None = None
    ) -> OfflineJudge:
        """``vectors`` is float32 of shape (n, d), rows normalised, in the order of ``tools``."""
        general = general_tools(tools)
        heads = set(general.values())
        families = [general.get(tool.id, tool.id if tool.id in heads else "") for tool in tools]
        return cls(
            tools=tuple(tools),
            signals=Signals.of(tools, vectors),
            weights=weights or shipped_weights(),
            general=general,
            _unclear=np.array([_is_unclear(tool) for tool in tools], dtype=np.bool_),
            _servers=_codes([tool.server for tool in tools]),
            _contents=_codes([tool.content_hash for tool in tools]),
            _texts=_codes([" ".join(words_of(tool.description)) for tool in tools]),
            _families=_codes(families),
        )

    @property
    def name(self) -> str:
        """Version and hash of the weights: equal names judge equally."""
        return self.weights.name

    def probabilities(self, left: Rows, right: Rows) -> NDArray[np.float64]:
        """Probability of *merge* of each pair of rows, float64 of shape (m,) in [0, 1].

        Symmetric, and independent of the pairs judged beside; rounded to six digits.
        """
        parts = [self._judge(left[part], right[part]) for part in _parts(len(left))]
        return np.concatenate([np.empty(0), *parts])

    def verdict(self, left: int, right: int) -> Verdict:
        """The verdict on one pair of rows: see ``verdicts``."""
        rows = np.array([left], dtype=np.int32), np.array([right], dtype=np.int32)
        return self.verdicts(*rows)[0]

    def verdicts(self, left: Rows, right: Rows, brief: bool = False) -> tuple[Verdict, ...]:
        """The verdict on each pair of rows, with its reasons as plain-text sentences; ``brief``
        does not go into the arguments of pairs that are *keep*.

        The sentences quote names and words of the catalog, which are untrusted.
        """
        left, right = np.minimum(left, right), np.maximum(left, right)
        parts = [self._explained(left[part], right[part], brief) for part in _parts(len(left))]
        return tuple(verdict for part in parts for verdict in part)

    def shares(self, left: int, right: int) -> tuple[Share, ...]:
        """Where the probability of a pair of rows comes from: log-odds that add up to it.

        The start, every signal in the order of ``SIGNALS``, then what else moved it: being on one
        server, the family of a general tool, text that holds it back, being exact copies.
        """
        rows = (np.array([side], dtype=np.int32) for side in sorted((left, right)))
        a, b = rows
        signals = self.signals.of_pairs(a, b)
        added = self.weights.contributions(signals)[0].tolist()
        shares = [Share("before looking", self.weights.intercept)]
        shares += [Share(COUNTS[name], value) for name, value in zip(SIGNALS, added, strict=True)]
        if self._made_to_differ(a, b, signals)[0]:
            shares.append(Share("made for one server", self.weights.same_server))
        odds = sum(share.added for share in shares)
        stages = self._stages(a, b, signals)
        for (_, before), (name, after) in pairwise(stages):
            if after[0] != before[0]:
                shares.append(Share(name, _log_odds(float(after[0])) - odds))
                odds += shares[-1].added
        return tuple(shares)

    def _explained(self, left: Rows, right: Rows, brief: bool) -> Iterator[Verdict]:
        signals = self.signals.of_pairs(left, right)
        added = self.weights.contributions(signals).tolist()
        near = cosines(self.signals.vectors, left, right).tolist()
        found = self._from_signals(left, right, signals).tolist()
        for row, (a, b) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            outcome = self.weights.outcome(found[row])
            evidence = explain(
                (self.tools[a], self.tools[b]),
                (self.signals.readings[a], self.signals.readings[b]),
                near[row],
                dict(zip(SIGNALS, added[row], strict=True)),
                self._family(a, b),
                brief and outcome == "keep",
            )
            yield Verdict(
                pair=Pair.of(self.tools[a].id, self.tools[b].id),
                similarity=near[row],
                probability=found[row],
                outcome=outcome,
                evidence=evidence,
                judge=self.name,
            )

    def _family(self, left: int, right: int) -> str:
        """Name of the general tool that both are, or empty."""
        if not self._families[left] or self._families[left] != self._families[right]:
            return ""
        heads = (self.tools[left].id, self.tools[right].id)
        head = next(self.general[tool] for tool in heads if tool in self.general)
        return next(tool.name for tool in self.tools if tool.id == head)

    def _judge(self, left: Rows, right: Rows) -> NDArray[np.float64]:
        return self._from_signals(left, right, self.signals.of_pairs(left, right))

    def _from_signals(self, left: Rows, right: Rows, signals: Matrix) -> NDArray[np.float64]:
        return self._stages(left, right, signals)[-1][1].round(_DIGITS)

    def _stages(
        self, left: Rows, right: Rows, signals: Matrix
    ) -> list[tuple[str, NDArray[np.float64]]]:
        """The probabilities by the signals, then after each thing that may overrule them."""
        odds = self.weights.contributions(signals).sum(axis=1)
        odds += self.weights.intercept
        odds += np.where(self._made_to_differ(left, right, signals), self.weights.same_server, 0.0)
        first = 1.0 / (1.0 + np.exp(-odds))
        family = (self._families[left] == self._families[right]) & (self._families[left] > 0)
        related = np.where(family, np.maximum(first, _IN_FAMILY), first)
        unclear = self._unclear[left] | self._unclear[right]
        held = np.where(unclear, self._held_back(related), related)
        copies = self._contents[left] == self._contents[right]
        return [
            ("signals", first),
            ("forms of one general tool", related),
            ("held back: a person must look", held),
            ("exact copies", np.where(copies, 1.0, held)),
        ]

    def _made_to_differ(self, left: Rows, right: Rows, signals: Matrix) -> NDArray[np.bool_]:
        """Tools of one server, unless their descriptions are the same and neither has a name word
        that the other never mentions.
        """
        siblings = (self._servers[left] == self._servers[right]) & (self._servers[left] > 0)
        twins = (self._texts[left] == self._texts[right]) & (signals[:, _ADDED] == 0.0)
        return np.asarray(siblings & ~twins)

    def _held_back(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """The part above *unsure* squeezed to stay below *merge*, order kept."""
        floor, ceiling = self.weights.unsure_at, self.weights.merge_at - 0.001
        above = np.maximum(probability - floor, 0.0) / (1.0 - floor)
        return np.minimum(probability, floor + above * (ceiling - floor))


def _log_odds(probability: float) -> float:
    if not 0.0 < probability < 1.0:
        return math.copysign(_CERTAIN, probability - 0.5)
    return math.log(probability / (1.0 - probability))


def _is_unclear(tool: Tool) -> bool:
    said = tool.description.strip()
    return unmappable(tool) is not None or not said or is_foreign(said)


def _codes(values: Sequence[str]) -> NDArray[np.int64]:
    """Equal numbers for equal texts; 0 for the empty text."""
    numbers = {"": 0}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _parts(length: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, length, _BLOCK))
