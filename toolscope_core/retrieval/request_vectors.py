"""The vectors of requests and of their tokens: worked out once, those of many kept on disk."""

from __future__ import annotations

from collections.abc import Sequence

from toolscope_core.backends import Embedder, Progress, TokenEmbedder, Vectors, silent
from toolscope_core.cache import VectorCache, embed_cached
from toolscope_core.retrieval.token_cache import TokenCache, TokenCodes, coded

FEW = 32
"""Requests that are encoded faster than the cache on disk is looked through."""
MOST = 8_192
"""Requests whose vectors stay in memory."""


Comparisons = dict[tuple[str, str], tuple[float, float]]
"""By the two texts of a tool its scores in both directions (``late``)."""


class RequestVectors:
    """Requests encoded by one embedder. Tokens are rounded as those of tools are, so that a request
    scores the same alone and among others.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self._embedder, self.cache = embedder, cache
        self._vectors: dict[str, Vectors] = {}
        self._codes: dict[str, TokenCodes] = {}
        self._compared: dict[str, Comparisons] = {}

    def of(self, texts: Sequence[str], progress: Progress = silent) -> list[Vectors]:
        """The vector of each text. Raises ``ModelError`` as the embedder does."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if len(self._vectors) + len(new) > MOST:
            self._vectors, new = {}, list(dict.fromkeys(texts))
        if len(new) > FEW:
            found = embed_cached(new, self._embedder, self.cache, progress)
        else:
            found = self._embedder.encode(new)
        self._vectors |= dict(zip(new, found, strict=True))
        return [self._vectors[text] for text in texts]

    def compared(self, text: str) -> Comparisons:
        """What a request was compared with token by token, to be read and added to."""
        if len(self._compared) >= MOST:
            self._compared = {}
        return self._compared.setdefault(text, {})

    def tokens(self, texts: Sequence[str], embedder: TokenEmbedder) -> dict[str, TokenCodes]:
        """By text the vectors of its tokens, in whole numbers of 127ths (``decoded``)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._codes]
        if len(self._codes) + len(new) > MOST:
            self._codes, new = {}, list(dict.fromkeys(texts))
        if len(new) > FEW:
            kept = TokenCache(self.cache.folder).ensure(new, embedder)
            self._codes |= {text: kept.codes(text) for text in new}
        else:
            self._codes |= dict(zip(new, map(coded, embedder.encode_tokens(new)), strict=True))
        return {text: self._codes[text] for text in texts}
