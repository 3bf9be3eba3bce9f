"""A pair of tools: its scores, and the verdict of the judge or of a model."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.tool import digest

PairOutcome = Literal["merge", "family", "keep", "unsure", "unanalysed"]


Relation = Literal["duplicate", "subsumes", "family", "related", "different"]


Serves = Literal["left", "right", "both", "none"]


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """Two tool ids, unordered: build it with ``Pair.of``, which sorts them."""

    left: str
    right: str

    @classmethod
    def of(cls, a: str, b: str) -> "Pair":
        return cls(a, b) if a <= b else cls(b, a)


@dataclass(frozen=True, slots=True)
class PairScores:
    """Judged pairs as columns of equal length m, sorted by (left, right).

    ``left`` and ``right`` are int32 row numbers into ``catalog.tools`` with left < right;
    ``similarity`` is the cosine in [-1, 1]; ``same_job`` and ``family`` are probabilities in [0,
    1]; all are float64.
    """

    left: NDArray[np.int32]
    right: NDArray[np.int32]
    similarity: NDArray[np.float64]
    same_job: NDArray[np.float64]
    family: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.left)

    @property
    def expected_merges(self) -> int:
        """The expected number of merges according to the probabilities.

        Divided by ``len``, it estimates the catalog's share of merges, for which nobody gave
        labels.
        """
        return round(float(self.same_job.sum()))


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on a pair, with its reasons as sentences; ``judge`` names the judge.

    ``same_job`` is the probability of *duplicate* or *subsumes*; ``family`` is that of *family*
    (the same operation for another provider or fixed value); both in [0, 1]. ``serves`` says which
    tool could serve every caller of the other, unchanged. ``differs`` has the words that only the
    left tool and only the right tool contain.
    """

    pair: Pair
    similarity: float
    same_job: float
    outcome: PairOutcome
    evidence: tuple[str, ...] = ()
    judge: str = "offline"
    relation: Relation = "different"
    family: float = 0.0
    serves: Serves = "none"
    differs: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def tool_key(tool_id: str) -> str:
    """A hash of the tool's id, used in addresses so that they contain no catalog text."""
    return digest(tool_id)[:12]


def pair_key(pair: Pair) -> str:
    """The key of a pair in addresses: the keys of both tools."""
    return f"{tool_key(pair.left)}~{tool_key(pair.right)}"
