"""Projects tools onto a plane.

PCA is computed at once. The other methods take seconds to minutes in a child process, ``python -m
toolscope_core.embedding.projection TASK FOLDER``. There are two reasons for the process: UMAP holds
Python's lock for whole passes over the data, which would freeze the screen, and a process can be
stopped at any moment. Everything is seeded, so equal vectors give equal results.
"""

import os
import re
import sys
import threading
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.protocols import Progress, Step, Vectors, silent

Points = NDArray[np.float64]

SEED = 0
NEIGHBOURS = 15
PERPLEXITY = 30.0
PASSES = 1_000
"""The number of passes of t-SNE. UMAP makes 500 passes, or 200 above 10,000 tools."""

SAMPLE = 1_000
"""The number of tools that are projected before all others, if there are at least twice as many."""
_BESIDE = 3
"""Until all tools are projected, each other tool is placed between this many tools of the sample.
"""

LEAST_TOOLS = NEIGHBOURS + 1
"""The fewest tools with which UMAP and t-SNE have neighbourhoods."""

VECTORS_FILE, RESULT_FILE, SAMPLE_FILE = "vectors.npy", "made.npy", "sample.npy"

_FAR = 10.0
_COUNTED = re.compile(r"(?:Iteration |\r|^)(\d+)(?:/(\d+))?")


def pca(vectors: Vectors) -> Points:
    """The first two principal components, float64 of shape (n, 2), for a map of the catalog.

    The sign is fixed: the largest loading of each axis is positive. Missing axes are zero.
    """
    flat = np.zeros((len(vectors), 2))
    if len(vectors) < 2 or not vectors.shape[1]:
        return flat
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :2]
    largest = np.abs(axes).argmax(axis=0)
    flat[:, : axes.shape[1]] = centred @ (axes * np.sign(axes[largest, range(axes.shape[1])]))
    return flat


def umap(vectors: Vectors, progress: Progress = silent) -> Points:
    """UMAP from exact neighbours, started from PCA, float64 (n, 2).

    It is slow, since importing it compiles code. ``vectors`` has at least ``LEAST_TOOLS`` rows and
    is otherwise as for ``candidate_pairs.nearest``.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # UMAP cannot place new tools or use more threads
        from umap import UMAP

        progress(Step("neighbours", 0, 0))
        start = pca(vectors)
        passes = {"disable": False, "file": _PassCounter(progress), "bar_format": "{n}/{total}"}
        model = UMAP(
            n_neighbors=NEIGHBOURS,
            init=_FAR * start / np.abs(start).max(),
            random_state=SEED,
            n_jobs=1,
            precomputed_knn=_neighbours(vectors, NEIGHBOURS),
            force_approximation_algorithm=True,  # otherwise it searches for neighbours once more
            tqdm_kwds=passes,
        )
        return np.asarray(model.fit_transform(vectors), dtype=np.float64)


def tsne(vectors: Vectors, progress: Progress = silent) -> Points:
    """t-SNE (van der Maaten and Hinton 2008), started from PCA, float64 (n, 2).

    It needs at least ``LEAST_TOOLS`` rows.
    """
    progress(Step("neighbours", 0, 0))
    from sklearn.manifold import TSNE

    start = pca(vectors)
    model = TSNE(
        perplexity=min(PERPLEXITY, (len(vectors) - 1) / 3),
        init=(1e-4 * start / start[:, 0].std()).astype(np.float32),
        max_iter=PASSES,
        random_state=SEED,
        n_jobs=1,
        verbose=2,
    )
    stdout, sys.stdout = sys.stdout, _PassCounter(progress, PASSES)  # it only prints its progress
    try:
        return np.asarray(model.fit_transform(vectors), dtype=np.float64)
    finally:
        sys.stdout = stdout


def sampled(task: str, vectors: Vectors, progress: Progress = silent) -> Points:
    """A projection by ``umap`` or ``tsne`` that is computed for ``SAMPLE`` rows, float64 (n, 2).

    Every other row is placed between the nearest rows of the sample. The steps are reported under
    the stage ``sample``.
    """
    import faiss

    rows = np.sort(np.random.default_rng(SEED).choice(len(vectors), SAMPLE, replace=False))
    points = _TASKS[task](vectors[rows], lambda step: progress(replace(step, stage="sample")))
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors[rows])
    near, at = index.search(vectors, _BESIDE)
    weights = np.clip(near, 1e-3, None).astype(np.float64) ** 8
    shares = weights / weights.sum(axis=1, keepdims=True)
    placed: Points = (points[at] * shares[:, :, None]).sum(axis=1)
    placed[rows] = points
    return np.asarray(placed, dtype=np.float64)


_TASKS = {"umap": umap, "tsne": tsne}


def _neighbours(vectors: Vectors, count: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Row numbers and Euclidean distances of the nearest neighbours.

    Each row comes first in its own list.
    """
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    near, at = index.search(vectors, count)
    own = np.arange(len(vectors))
    missing = ~(at == own[:, None]).any(axis=1)  # a row with many copies may not find itself
    at[missing, -1], near[missing, -1] = own[missing], 1.0
    order = np.argsort(np.where(at == own[:, None], -np.inf, -near), axis=1, kind="stable")
    at, near = np.take_along_axis(at, order, 1), np.take_along_axis(near, order, 1)
    return at.astype(np.int32), np.sqrt(np.clip(2 - 2 * near, 0, None)).astype(np.float32)


class _PassCounter:
    """A text file that turns the passes printed by a library into steps of progress."""

    def __init__(self, progress: Progress, total: int = 0) -> None:
        self._progress = progress
        self._total = total

    def write(self, text: str) -> int:
        if match := _COUNTED.search(text):
            done = int(match[1])
            self._progress(Step("layout", done, max(done, int(match[2] or self._total))))
        return len(text)

    def flush(self) -> None:
        """Does nothing, because nothing is buffered."""


# The child process --------------------------------------------------------------------------


def _report(step: Step) -> None:
    sys.__stdout__.write(f"{step.stage} {step.done} {step.total}\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


def _end_with_the_parent() -> None:
    """Ends this process when the parent ends: the parent keeps our input open as long as it
    lives.
    """
    sys.stdin.read()
    os._exit(1)


def _main(task: str, folder: str) -> None:
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(10)  # the screen has priority
    vectors = np.load(Path(folder) / VECTORS_FILE)
    if len(vectors) >= 2 * SAMPLE:
        np.save(Path(folder) / f"half {SAMPLE_FILE}", sampled(task, vectors, _report))
        (Path(folder) / f"half {SAMPLE_FILE}").rename(Path(folder) / SAMPLE_FILE)
    np.save(Path(folder) / RESULT_FILE, _TASKS[task](vectors, _report))


if __name__ == "__main__":
    _main(*sys.argv[1:])
