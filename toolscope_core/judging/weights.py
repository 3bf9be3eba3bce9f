"""The trained weights of the offline judge, applied to the signals of pairs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.judging.signals import SIGNALS, Matrix
from toolscope_core.model.pair import PairOutcome, Relation, Serves

Mask = NDArray[np.bool_]

_WEIGHTS = Path(__file__).with_name("judge_weights.json")

EVEN = 0.5
_FAR = 0.45
"""Below this cosine, two tools without another relation are unrelated."""

MODELS = ("job_beside", "job_across", "family_beside", "family_across")
"""The models in ``Weights``, by name."""


@dataclass(frozen=True, slots=True)
class Model:
    """A logistic model, with a weight for each signal, and the mean and scale for
    standardising it.
    """

    weight: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    intercept: float

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Model:
        columns = [content["signals"][signal] for signal in SIGNALS]
        return cls(
            weight=tuple(column["weight"] for column in columns),
            mean=tuple(column["mean"] for column in columns),
            scale=tuple(column["scale"] for column in columns),
            intercept=content["intercept"],
        )

    def standard(self, signals: Matrix) -> Matrix:
        """The signals with mean 0 and scale 1; 0 for a signal that cannot be measured."""
        return np.asarray(np.nan_to_num((signals - np.asarray(self.mean)) / np.asarray(self.scale)))

    def contributions(self, signals: Matrix) -> Matrix:
        """The amount that each signal adds to the log-odds; 0 if the signal cannot be measured."""
        return np.asarray(self.standard(signals) * np.asarray(self.weight))

    def probability(self, signals: Matrix) -> NDArray[np.float64]:
        """The probabilities: float64 of shape (m,) in [0, 1]."""
        odds = self.contributions(signals).sum(axis=1) + self.intercept
        return np.asarray(1.0 / (1.0 + np.exp(-odds)))


@dataclass(frozen=True, slots=True)
class Weights:
    """A trained judge.

    It has models for the same job and for a family, each for tools beside each other (on one
    server, or without servers) and for tools across servers. The outcome is *merge* if the
    probability of the same job is ≥ ``merge_at``; or else *family* if the probability of a family
    is ≥ ``family_at``; or else *unsure* if the probability of the same job is ≥ ``unsure_at``; or
    else *keep*. Without a person, a merge is accepted only from ``auto_at`` on.
    """

    name: str
    job_beside: Model
    job_across: Model
    family_beside: Model
    family_across: Model
    auto_at: float
    merge_at: float
    unsure_at: float
    family_at: float

    @classmethod
    def read(cls, path: Path) -> Weights:
        """The weights from the file of ``benchmarks/train_judge.py``; its
        hash is part of ``name``.
        """
        text = path.read_bytes()
        content = json.loads(text)
        models, thresholds = content["models"], content["thresholds"]
        return cls(
            name=f"offline-{content['version']}-{hashlib.sha256(text).hexdigest()[:8]}",
            **{name: Model.read(models[name]) for name in MODELS},
            auto_at=thresholds["auto"],
            merge_at=thresholds["merge"],
            unsure_at=thresholds["unsure"],
            family_at=thresholds["family"],
        )

    def job(self, same_server: bool) -> Model:
        """The model for the same job."""
        return self.job_beside if same_server else self.job_across

    def job_probability(self, signals: Matrix, same_server: Mask) -> NDArray[np.float64]:
        """Probabilities of the same job, float64 of shape (m,).

        ``same_server`` says which pairs are on one server.
        """
        here, across = self.job_beside, self.job_across
        return np.where(same_server, here.probability(signals), across.probability(signals))

    def family_probability(self, signals: Matrix, same_server: Mask) -> NDArray[np.float64]:
        """Probabilities of a family, in the same form."""
        here, across = self.family_beside, self.family_across
        return np.where(same_server, here.probability(signals), across.probability(signals))

    def job_contributions(self, signals: Matrix, same_server: Mask) -> Matrix:
        """The amount that each signal adds to the log-odds of the same job."""
        here, across = self.job_beside, self.job_across
        log_odds = here.contributions(signals), across.contributions(signals)
        return np.where(same_server[:, None], *log_odds)

    def outcome(self, same_job: float, family: float = 0.0) -> PairOutcome:
        """The verdict for these probabilities."""
        if same_job >= self.merge_at:
            return "merge"
        if family >= self.family_at:
            return "family"
        return "unsure" if same_job >= self.unsure_at else "keep"

    def relation(
        self,
        similarity: float,
        probabilities: tuple[float, float],
        unshared: tuple[tuple[str, ...], tuple[str, ...]],
        serves: Serves,
    ) -> tuple[Relation, Serves]:
        """The relation of two tools, and which could serve the other's callers.

        ``serves`` is the answer according to their schemas. ``probabilities`` are for the same job
        and for a family.
        """
        same_job, family = probabilities
        if family >= self.family_at:
            return "family", "none"
        if same_job < EVEN:
            return ("different" if similarity < _FAR else "related"), "none"
        one_sided = bool(unshared[0]) != bool(unshared[1])
        if serves in ("left", "right") or (serves == "none" and one_sided):
            return "subsumes", serves
        return "duplicate", serves


@lru_cache(maxsize=1)
def shipped_weights() -> Weights:
    """The weights in the package, trained on all labelled catalogs."""
    return Weights.read(_WEIGHTS)
