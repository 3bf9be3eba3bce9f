"""What each server is about: the mean vector of its tools, seen from the mean of all servers."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.minilm import DEFAULT_MODEL, QUANTIZED_MODEL
from toolscope_core.model.protocols import Vectors

SERVER_CENTRE = Path(__file__).with_name("data") / "server_centre.npy"
"""The mean of ``server_means`` over the servers of public catalogs, by the default encoder:
float32 of shape (384,) (``benchmarks/count_words.py``).
"""


def server_means(vectors: Vectors, servers: NDArray[np.int64]) -> NDArray[np.float64]:
    """The mean vector of the tools of each server, by its number; 0 where one has no tools.

    ``servers`` has the number of the server of each row.
    """
    sums = np.zeros((int(servers.max(initial=0)) + 1, vectors.shape[1]))
    np.add.at(sums, servers, vectors)
    return sums / np.maximum(np.bincount(servers, minlength=len(sums)), 1)[:, None]


def server_fields(vectors: Vectors, servers: NDArray[np.int64], model: str) -> Vectors | None:
    """By the number of a server its mean less that of all servers, rows normalised; ``None`` for
    an embedding model of which the latter is not known.
    """
    if model not in (DEFAULT_MODEL, QUANTIZED_MODEL) or vectors.shape[1:] != _centre().shape:
        return None
    fields = server_means(vectors, servers) - _centre()
    return np.asarray(fields / np.linalg.norm(fields, axis=1, keepdims=True), dtype=np.float32)


@lru_cache(maxsize=1)
def _centre() -> Vectors:
    centre: Vectors = np.load(SERVER_CENTRE)
    return centre
