"""The index of a set of texts: vectors and BM25 arrays, built once and memory-mapped."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import bm25s
import numpy as np
from bm25s.stopwords import STOPWORDS_EN
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.files.folders import file_sha256, unusable
from toolscope_core.model.protocols import Embedder, Engine, Progress, Vectors, silent
from toolscope_core.model.tool import digest
from toolscope_core.retrieval.documents import SearchDocument
from toolscope_core.wording.tool_text import split_name
from toolscope_core.wording.words import stem

Scores = NDArray[np.float32]

K1, B = 1.2, 0.75
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, which put no spaces between words."""
_WORD = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_STOP_WORDS = frozenset(STOPWORDS_EN)


class SparseIndex:
    """BM25 (k1 1.2, b .75, Lucene's form) over ``size`` texts, in the given order.

    ``None`` if the texts have no words.
    """

    def __init__(self, size: int, index: bm25s.BM25 | None) -> None:
        self._size = size
        self._index = index

    @classmethod
    def of(cls, texts: Sequence[str]) -> SparseIndex:
        """The index of some texts."""
        terms = [sparse_terms(text) for text in texts]
        index = bm25s.BM25(k1=K1, b=B) if any(terms) else None
        if index is not None:
            index.index(terms, show_progress=False)
        return cls(len(texts), index)

    @classmethod
    def read(cls, size: int, folder: Path) -> SparseIndex:
        """The index from a folder, memory-mapped. Raises the errors of ``bm25s`` for a damaged
        folder.
        """
        is_kept = folder.is_dir()
        return cls(
            size, bm25s.BM25.load(folder, mmap=True, show_progress=False) if is_kept else None
        )

    def write(self, folder: Path) -> None:
        """Write the index to a folder; nothing is written for texts without words."""
        if self._index is not None:
            self._index.save(folder, show_progress=False)

    def scores(self, query: str) -> Scores:
        """The scores: float32 of shape (size,); 0 for a text that shares no stem with the query."""
        terms = sparse_terms(query)
        if self._index is None or not terms:
            return np.zeros(self._size, dtype=np.float32)
        scores: Scores = self._index.get_scores(terms)
        return scores.astype(np.float32)


def sparse_terms(text: str) -> list[str]:
    """The stems of a text's words, in order; names are split, stop words are left out.

    In a script without spaces, each pair of neighbouring letters is a term, as in Lucene's analysis
    of CJK.
    """
    terms: list[str] = []
    for word in _WORD.finditer(text):
        if run := word[1]:
            terms += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        else:
            terms += [stem(part) for part in split_name(word[0]) if part not in _STOP_WORDS]
    return terms


RECIPE = "mean of short and full, BM25 of full, 2"
"""Changed with the contents of the files, so that old ones are not read."""
MOST_KEPT = 24
"""The most indexes in a cache folder; the least recently used goes first."""

_VECTORS, _SPARSE, _SEALS = "vectors.npy", "sparse", "seals.json"


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The index of n documents.

    ``vectors`` is float32 of shape (m, d): the mean vector of each pair of texts, so that the
    product with a request's vector is the mean of two cosines. ``places`` has the row of each
    document: documents with equal texts share a row, so their scores are exactly equal.
    """

    vectors: Vectors
    places: NDArray[np.intp]
    sparse: SparseIndex

    def dense(self, vector: Vectors) -> Scores:
        """The cosines, float32 of shape (n,), to the vector of a text."""
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
    """The index of these documents, in order.

    It is read from the cache folder if it is there with valid seals, or else built, and stored
    there if ``keep``. Only texts that are not in the cache are embedded. Raises ``ConfigError`` if
    the folder is unusable, ``ModelError`` as the embedder does.
    """
    texts = [(one.short, one.full) for one in documents]
    row = {pair: at for at, pair in enumerate(dict.fromkeys(texts))}
    places = np.array([row[pair] for pair in texts], dtype=np.intp)
    if not texts:
        return SearchIndex(np.zeros((0, 0), dtype=np.float32), places, SparseIndex(0, None))
    folder = cache.folder / "search" / digest(RECIPE, embedder.name, texts)
    stored_index = _read(folder, places)
    if stored_index is not None:
        return stored_index
    in_pairs = embed_cached([text for pair in row for text in pair], embedder, cache, progress)
    vectors: Vectors = (in_pairs[::2] + in_pairs[1::2]) * np.float32(0.5)
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
    """Encode the texts of these documents that the cache lacks, on the workers of ``engine``.

    ``keep_tokens`` includes the tokens for late interaction.
    """
    texts = sorted(frozenset[str]().union(*(one.texts for one in documents)))
    embed_cached(texts, embedder, cache, progress, keep_tokens=keep_tokens, engine=engine)


def _read(folder: Path, places: NDArray[np.intp]) -> SearchIndex | None:
    """The index in a folder; ``None`` if it is damaged, and then the folder is removed."""
    if not folder.is_dir():
        return None
    try:
        seals = json.loads((folder / _SEALS).read_text("utf-8"))
        if seals != _seals(folder):
            raise ValueError("a file differs from the one that was written")
        vectors: Vectors = np.load(folder / _VECTORS, mmap_mode="r")
        sparse = SparseIndex.read(len(places), folder / _SPARSE)
        os.utime(folder)
    except (OSError, ValueError):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return SearchIndex(vectors, places, sparse)


def _write(folder: Path, index: SearchIndex) -> None:
    """Write the folder completely or not at all; an equal one by another program may stay."""
    partial = folder.with_name(f"{folder.name[:16]}-{os.getpid()}-{os.urandom(4).hex()}.partial")
    partial.mkdir(parents=True)
    try:
        np.save(partial / _VECTORS, index.vectors)
        index.sparse.write(partial / _SPARSE)
        (partial / _SEALS).write_text(json.dumps(_seals(partial)), "utf-8")
        with suppress(OSError):  # it is there: somebody else was faster
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    by_age = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime)
    for oldest in by_age[:-MOST_KEPT]:
        shutil.rmtree(oldest, ignore_errors=True)


def _seals(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file but the seals, by its path in the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != _SEALS)
    return {path.relative_to(folder).as_posix(): file_sha256(path) for path in files}
