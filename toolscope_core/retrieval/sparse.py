"""Sparse scores: BM25 over the stems of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np
from bm25s.stopwords import STOPWORDS_EN
from numpy.typing import NDArray

from toolscope_core.wording.tool_text import split_name
from toolscope_core.wording.words import stem

Scores = NDArray[np.float32]

K1, B = 1.2, 0.75
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, which put no spaces between words."""
_WORD = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_STOP_WORDS = frozenset(STOPWORDS_EN)


class SparseIndex:
    """BM25 (k1 1.2, b .75, Lucene's form) over ``size`` texts, in the order they were given;
    ``None`` for an index of texts without a word.
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
        """What ``write`` kept, memory-mapped. Raises what ``bm25s`` does for a damaged folder."""
        found = folder.is_dir()
        return cls(size, bm25s.BM25.load(folder, mmap=True, show_progress=False) if found else None)

    def write(self, folder: Path) -> None:
        """Keep the index in a folder; none is made for texts without a word."""
        if self._index is not None:
            self._index.save(folder, show_progress=False)

    def scores(self, query: str) -> Scores:
        """float32 of shape (size,): 0 for each text that shares no stem with the query."""
        terms = sparse_terms(query)
        if self._index is None or not terms:
            return np.zeros(self._size, dtype=np.float32)
        scores: Scores = self._index.get_scores(terms)
        return scores.astype(np.float32)


def sparse_terms(text: str) -> list[str]:
    """The stems of the words of a text, in order; names are split, stop words are left out. Where a
    script has no spaces each two neighbouring letters are a term, as in Lucene's analysis of CJK.
    """
    terms: list[str] = []
    for word in _WORD.finditer(text):
        if run := word[1]:
            terms += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
        else:
            terms += [stem(part) for part in split_name(word[0]) if part not in _STOP_WORDS]
    return terms
