"""The seams to what is replaceable: models, and whoever watches long work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors.

    ``name`` identifies the model and its version: equal names give equal vectors, so it is part
    of every cache key.
    """

    @property
    def name(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 of shape (len(texts), d), rows L2-normalised, in the order of ``texts``.

        Raises ``ModelError`` where the model cannot be loaded.
        """
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """True progress of long work: ``done`` of ``total`` items of ``stage``."""

    stage: str
    done: int
    total: int


Progress = Callable[[Step], None]
"""Called after every batch; may raise to cancel the work."""


def silent(step: Step) -> None:
    """The progress nobody watches."""
