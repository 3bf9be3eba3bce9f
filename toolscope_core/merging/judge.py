"""The offline judge: may two tools be merged? A logistic model over readable signals."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolscope_core.backends import Vectors
from toolscope_core.datamodel import Outcome, Pair, Tool, Verdict
from toolscope_core.merging.evidence import explain
from toolscope_core.merging.signals import SIGNALS, Matrix, Signals
from toolscope_core.similarity import Rows, cosines

_WEIGHTS = Path(__file__).with_name("judge_weights.json")
_BLOCK = 4096
_DIGITS = 6


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
class OfflineJudge:
    """A judge prepared for one catalog; pairs are given as row numbers into its tools.

    A pair with a tool whose parameters are not declared, or that has no description, is at most
    *unsure*; exact copies (equal content hash) have probability 1.
    """

    tools: tuple[Tool, ...]
    signals: Signals
    weights: Weights
    _unclear: NDArray[np.bool_]
    _servers: NDArray[np.int64]
    _contents: NDArray[np.int64]

    @classmethod
    def of(
        cls, tools: Sequence[Tool], vectors: Vectors, weights: Weights | None = None
    ) -> OfflineJudge:
        """``vectors`` is float32 of shape (n, d), rows normalised, in the order of ``tools``."""
        return cls(
            tools=tuple(tools),
            signals=Signals.of(tools, vectors),
            weights=weights or shipped_weights(),
            _unclear=np.array([_is_unclear(tool) for tool in tools], dtype=np.bool_),
            _servers=_codes([tool.server for tool in tools]),
            _contents=_codes([tool.content_hash for tool in tools]),
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
        """The verdict on one pair of rows, with its reasons as plain-text sentences.

        The sentences quote names and words of the catalog, which are untrusted.
        """
        left, right = min(left, right), max(left, right)
        rows = np.array([left], dtype=np.int32), np.array([right], dtype=np.int32)
        probability = float(self.probabilities(*rows)[0])
        added = self.weights.contributions(self.signals.of_pairs(*rows))[0]
        similarity = float(cosines(self.signals.vectors, *rows)[0])
        evidence = explain(
            (self.tools[left], self.tools[right]),
            (self.signals.readings[left], self.signals.readings[right]),
            similarity,
            dict(zip(SIGNALS, added.tolist(), strict=True)),
        )
        return Verdict(
            pair=Pair.of(self.tools[left].id, self.tools[right].id),
            similarity=similarity,
            probability=probability,
            outcome=self.weights.outcome(probability),
            evidence=evidence,
            judge=self.name,
        )

    def _judge(self, left: Rows, right: Rows) -> NDArray[np.float64]:
        odds = self.weights.contributions(self.signals.of_pairs(left, right)).sum(axis=1)
        siblings = (self._servers[left] == self._servers[right]) & (self._servers[left] > 0)
        odds += self.weights.intercept + np.where(siblings, self.weights.same_server, 0.0)
        probability = 1.0 / (1.0 + np.exp(-odds))
        unclear = self._unclear[left] | self._unclear[right]
        probability = np.where(unclear, self._held_back(probability), probability)
        copies = self._contents[left] == self._contents[right]
        return np.where(copies, 1.0, probability).round(_DIGITS)

    def _held_back(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """The part above *unsure* squeezed to stay below *merge*, order kept."""
        floor, ceiling = self.weights.unsure_at, self.weights.merge_at - 0.001
        above = np.maximum(probability - floor, 0.0) / (1.0 - floor)
        return np.minimum(probability, floor + above * (ceiling - floor))


def _is_unclear(tool: Tool) -> bool:
    return tool.schema is None or not tool.description.strip()


def _codes(values: Sequence[str]) -> NDArray[np.int64]:
    """Equal numbers for equal texts; 0 for the empty text."""
    numbers = {"": 0}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _parts(length: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, length, _BLOCK))
