"""Sparse scores: BM25 over the stems of words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import bm25s
import numpy as np
import Stemmer
from bm25s.stopwords import STOPWORDS_EN
from numpy.typing import NDArray

from toolscope_core.similarity import split_name

Scores = NDArray[np.float32]

K1, B = 1.2, 0.75
_WORD = re.compile(r"[^\W_]+")
_STOP_WORDS = frozenset(STOPWORDS_EN)


class SparseIndex:
    """BM25 (k1 1.2, b .75, Lucene's form) over texts, in the order in which they are given."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        terms = [sparse_terms(text) for text in texts]
        self._index = bm25s.BM25(k1=K1, b=B) if any(terms) else None
        if self._index is not None:
            self._index.index(terms, show_progress=False)

    def scores(self, query: str) -> Scores:
        """float32 of shape (n,): 0 for each text that shares no stem with the query."""
        terms = sparse_terms(query)
        if self._index is None or not terms:
            return np.zeros(self._size, dtype=np.float32)
        scores: Scores = self._index.get_scores(terms)
        return scores.astype(np.float32)


def sparse_terms(text: str) -> list[str]:
    """The stems of the words of a text, in order; names are split, stop words are left out."""
    stemmer = Stemmer.Stemmer("english")
    words = (part for word in _WORD.findall(text) for part in split_name(word))
    return [stemmer.stemWord(word) for word in words if word not in _STOP_WORDS]
