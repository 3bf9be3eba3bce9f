"""The index of a set of texts: its vectors and its BM25 arrays, built once and memory-mapped."""

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.files.folders import file_sha256, unusable
from toolscope_core.model.protocols import Embedder, Engine, Progress, Vectors, silent
from toolscope_core.model.tool import digest
from toolscope_core.retrieval.documents import SearchDocument
from toolscope_core.retrieval.sparse import Scores, SparseIndex

RECIPE = "mean of short and full, BM25 of full, 2"
"""Changed with what is kept in the files: then old ones are not read."""
MOST_KEPT = 24
"""Indexes in a cache folder; the one unused for longest goes first."""

_VECTORS, _SPARSE, _SEALS = "vectors.npy", "sparse", "seals.json"


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """``vectors`` is float32 of shape (m, d): for each pair of texts the mean of their vectors, so
    that the product with a request's vector is the mean of two cosines. ``places`` has the row of
    each of n documents: those of equal texts share one, and so have one score to the bit.
    """

    vectors: Vectors
    places: NDArray[np.intp]
    sparse: SparseIndex

    def dense(self, vector: Vectors) -> Scores:
        """float32 of shape (n,) for the vector of a text."""
        scores: Scores = (self.vectors @ vector)[self.places]
        return scores


def open_index(
    documents: Sequence[SearchDocument],
    embedder: Embedder,
    cache: VectorCache,
    progress: Progress = silent,
    *,
    keep: bool = True,
) -> SearchIndex:
    """The index of these documents, in their order: that of the cache folder if it holds one with
    the seals it was written with, else built and, where ``keep`` says so, kept there.

    Only texts without a vector in the cache are embedded. Raises ``ConfigError`` where the folder
    is unusable, ``ModelError`` as the embedder does.
    """
    texts = [(one.short, one.full) for one in documents]
    row = {pair: at for at, pair in enumerate(dict.fromkeys(texts))}
    places = np.array([row[pair] for pair in texts], dtype=np.intp)
    if not texts:
        return SearchIndex(np.zeros((0, 0), dtype=np.float32), places, SparseIndex(0, None))
    folder = cache.folder / "search" / digest(RECIPE, embedder.name, texts)
    kept = _read(folder, places)
    if kept is not None:
        return kept
    both = embed_cached([text for pair in row for text in pair], embedder, cache, progress)
    vectors: Vectors = (both[::2] + both[1::2]) * np.float32(0.5)
    index = SearchIndex(vectors, places, SparseIndex.of([one.full for one in documents]))
    if not keep:
        return index
    try:
        _write(folder, index)
    except OSError as error:
        raise unusable(cache.folder, error) from error
    return index


def encode_documents(
    documents: Iterable[SearchDocument],
    embedder: Embedder,
    cache: VectorCache,
    engine: Engine,
    progress: Progress = silent,
    *,
    keep_tokens: bool = True,
) -> None:
    """Encode on the workers of ``engine`` what the index of these documents needs and the cache
    does not have, the tokens for late interaction too where ``keep_tokens`` says so.
    """
    texts = sorted(frozenset[str]().union(*(one.texts for one in documents)))
    embed_cached(texts, embedder, cache, progress, keep_tokens=keep_tokens, engine=engine)


def _read(folder: Path, places: NDArray[np.intp]) -> SearchIndex | None:
    """The index of a folder; ``None``, and the folder is removed, where it is damaged."""
    if not folder.is_dir():
        return None
    try:
        seals = json.loads((folder / _SEALS).read_text("utf-8"))
        if seals != _seals(folder):
            raise ValueError("a file is not the one that was written")
        vectors: Vectors = np.load(folder / _VECTORS, mmap_mode="r")
        sparse = SparseIndex.read(len(places), folder / _SPARSE)
        os.utime(folder)
    except (OSError, ValueError):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return SearchIndex(vectors, places, sparse)


def _write(folder: Path, index: SearchIndex) -> None:
    """The folder complete or not at all; another program's equal one may stay in its place."""
    beside = folder.with_name(f"{folder.name[:16]}-{os.getpid()}-{os.urandom(4).hex()}.partial")
    beside.mkdir(parents=True)
    try:
        np.save(beside / _VECTORS, index.vectors)
        index.sparse.write(beside / _SPARSE)
        (beside / _SEALS).write_text(json.dumps(_seals(beside)), "utf-8")
        with suppress(OSError):  # it is there: somebody else was faster
            beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    by_age = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime)
    for oldest in by_age[:-MOST_KEPT]:
        shutil.rmtree(oldest, ignore_errors=True)


def _seals(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file but the seals, by its path in the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _SEALS)
    return {path.relative_to(folder).as_posix(): file_sha256(path) for path in files}
