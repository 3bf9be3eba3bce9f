"""The index of a set of texts: vectors and BM25 arrays, built once and memory-mapped."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import VectorCache, by_length, embed_cached
from toolscope_core.files.folders import file_sha256, unusable
from toolscope_core.model.cluster import grouped
from toolscope_core.model.protocols import Embedder, Progress, Vectors, silent
from toolscope_core.model.tool import digest
from toolscope_core.retrieval.documents import SearchDocument
from toolscope_core.wording.tool_text import split_name
from toolscope_core.wording.words import SEARCH_STOP_WORDS, stem

Scores = NDArray[np.float32]

K1, B = 1.2, 0.75
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, which put no spaces between words."""
_WORD = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_TERMS = "terms.json"
_ARRAYS = {"starts": "indptr", "texts": "indices", "weights": "data"}
"""The arrays of an index and their names in ``bm25s``."""


class SparseIndex:
    """BM25 (k1 1.2, b .75, Lucene's form) over ``size`` texts, in the given order.

    ``terms`` maps a term to its number t. The term is in the texts ``texts[starts[t]:starts[t+1]]``
    (int32), and adds as many ``weights`` (float32) to their scores.
    """

    def __init__(
        self, size: int, terms: Mapping[str, int], arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        self._size, self._terms, self._arrays = size, terms, arrays

    @classmethod
    def of(cls, texts: Sequence[str]) -> "SparseIndex":
        """The index of some texts."""
        terms = [sparse_terms(text) for text in texts]
        if not any(terms):
            return cls(len(texts), {}, {})
        import bm25s  # imports Numba and SciPy, which a search does not need

        index = bm25s.BM25(k1=K1, b=B)
        index.index(terms, show_progress=False)
        arrays = {ours: index.scores[theirs] for ours, theirs in _ARRAYS.items()}
        return cls(len(texts), index.vocab_dict, arrays)

    @classmethod
    def read(cls, size: int, folder: Path) -> "SparseIndex":
        """The index from a folder, memory-mapped. Raises ``OSError`` and ``ValueError`` for a
        damaged folder.
        """
        if not folder.is_dir():
            return cls(size, {}, {})
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS}
        return cls(size, json.loads((folder / _TERMS).read_text("utf-8")), arrays)

    def write(self, folder: Path) -> None:
        """Write the index to a folder; nothing is written for texts without words."""
        if self._terms:
            folder.mkdir()
            (folder / _TERMS).write_text(json.dumps(self._terms), "utf-8")
            for name, array in self._arrays.items():
                np.save(folder / f"{name}.npy", array)

    def scores(self, query: str) -> Scores:
        """The scores: float32 of shape (size,); 0 for a text that shares no stem with the query."""
        scores = np.zeros(self._size, dtype=np.float32)
        for term in sparse_terms(query):
            if (number := self._terms.get(term)) is not None:
                start, end = self._arrays["starts"][number : number + 2].tolist()
                own = slice(start, end)
                scores[self._arrays["texts"][own]] += self._arrays["weights"][own]
        return scores


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
            terms += [stem(part) for part in split_name(word[0]) if part not in SEARCH_STOP_WORDS]
    return terms


RECIPE = "short, full, BM25 of full, 4"
"""Changed with the contents of the files, so that old ones are not read."""
MOST_KEPT = 24
"""The most indexes in a cache folder; the least recently used goes first."""

_SHORT, _FULL, _SPARSE, _SEALS = "short.npy", "full.npy", "sparse", "seals.json"


class SearchIndex:
    """The index of n documents, in the given order.

    Documents with equal texts share a row of vectors, so their scores are exactly equal. The full
    texts, which are several times as long as the short ones, are encoded when they are needed.
    """

    def __init__(
        self,
        documents: Sequence[SearchDocument],
        short: Vectors,
        sparse: SparseIndex,
        full: Vectors | None = None,
    ) -> None:
        row = _distinct(documents)
        self.sparse, self._short = sparse, short
        self._places = np.array([row[one.short, one.full] for one in documents], dtype=np.intp)
        self._texts = [full_text for _, full_text in row]
        self._rows = grouped(range(len(row)), lambda at: self._texts[at])
        self._full = np.empty_like(short) if full is None else full
        self._is_read = np.full(len(short), full is not None, dtype=np.bool_)

    def dense(self, vector: Vectors) -> Scores:
        """The cosines, float32 of shape (n,), of the short texts to the vector of a request."""
        scores: Scores = (self._short @ vector)[self._places]
        return scores

    def in_full(self, dense: Scores, vector: Vectors, documents: Sequence[int]) -> Scores:
        """The dense scores, but the mean of the cosines of both texts for ``documents``, and for
        others with the same texts.

        Their full texts must have been added.
        """
        rows = np.unique(self._places[list(documents)])
        is_compared = np.zeros(len(self._full), dtype=np.bool_)
        is_compared[rows] = True
        cosines = np.zeros(len(self._full), dtype=np.float32)
        cosines[rows] = np.einsum("ij,j->i", self._full[rows], vector)
        own = is_compared[self._places]
        mean = (dense + cosines[self._places]) * np.float32(0.5)
        return np.where(own, mean, dense)

    def unread(self, documents: Sequence[int]) -> list[str]:
        """The full texts of these documents that have not been added, short ones first."""
        rows = self._places[list(documents)]
        return by_length({self._texts[row] for row in rows[~self._is_read[rows]]})

    def add(self, vectors: Mapping[str, Vectors]) -> None:
        """Add the vectors of full texts, by text, each float32 of shape (d,)."""
        for text, vector in vectors.items():
            self._full[self._rows[text]] = vector
            self._is_read[self._rows[text]] = True

    def means(self) -> Vectors:
        """The mean vectors of both texts: float32 of shape (n, d).

        All full texts must have been added.
        """
        means: Vectors = ((self._short + self._full) * np.float32(0.5))[self._places]
        return means

    def write(self, folder: Path) -> None:
        """Write the index to a folder, with the full texts' vectors if they are complete."""
        np.save(folder / _SHORT, self._short)
        if self._is_read.all():
            np.save(folder / _FULL, self._full)
        self.sparse.write(folder / _SPARSE)


def open_index(
    documents: Sequence[SearchDocument],
    embedder: Embedder,
    cache: VectorCache,
    progress: Progress = silent,
    *,
    keep: bool = True,
) -> SearchIndex:
    """The index of these documents, in order, with those full texts whose vectors are cached.

    It is read from the cache folder if it is there with valid seals, or else built, and stored
    there if ``keep``. Only short texts that are not in the cache are embedded. Raises
    ``ConfigError`` if the folder is unusable, ``ModelError`` as the embedder does.
    """
    if not documents:
        return SearchIndex((), np.zeros((0, 0), dtype=np.float32), SparseIndex.of(()))
    texts = [(one.short, one.full) for one in documents]
    folder = cache.folder / "search" / digest(RECIPE, embedder.name, texts)
    index = _read(folder, documents)
    is_stored = index is not None
    if index is None:
        short_texts = [short for short, _ in _distinct(documents)]
        short = embed_cached(short_texts, embedder, cache, progress)
        index = SearchIndex(documents, short, SparseIndex.of([full for _, full in texts]))
    every = range(len(documents))
    if unread := index.unread(every):
        index.add(cache.read(embedder.name, unread))
        is_stored = is_stored and bool(index.unread(every))
    if is_stored or not keep:
        return index
    try:
        _write(folder, index)
    except OSError as error:
        raise unusable(cache.folder, error) from error
    return index


def _distinct(documents: Iterable[SearchDocument]) -> dict[tuple[str, str], int]:
    """The row of each pair of texts."""
    pairs = dict.fromkeys((one.short, one.full) for one in documents)
    return {pair: row for row, pair in enumerate(pairs)}


def _read(folder: Path, documents: Sequence[SearchDocument]) -> SearchIndex | None:
    """The index in a folder; ``None`` if it is damaged, and then the folder is removed."""
    if not folder.is_dir():
        return None
    try:
        seals = json.loads((folder / _SEALS).read_text("utf-8"))
        if seals != _seals(folder):
            raise ValueError("a file differs from the one that was written")
        short: Vectors = np.load(folder / _SHORT, mmap_mode="r")
        full = np.load(folder / _FULL, mmap_mode="r") if (folder / _FULL).exists() else None
        sparse = SparseIndex.read(len(documents), folder / _SPARSE)
        os.utime(folder)
    except (OSError, ValueError):
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return SearchIndex(documents, short, sparse, full)


def _write(folder: Path, index: SearchIndex) -> None:
    """Write the folder completely or not at all; an equal one by another program may stay."""
    partial = folder.with_name(f"{folder.name[:16]}-{os.getpid()}-{os.urandom(4).hex()}.partial")
    partial.mkdir(parents=True)
    try:
        index.write(partial)
        (partial / _SEALS).write_text(json.dumps(_seals(partial)), "utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # it is there again: somebody else was faster
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
