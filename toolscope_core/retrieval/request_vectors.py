"""The vectors of requests and of their tokens: worked out once, those of many kept on disk."""

from __future__ import annotations

from collections.abc import Sequence

from toolscope_core.embedding.vector_cache import VectorCache, embed_cached
from toolscope_core.model.protocols import Embedder, Progress, TokenEmbedder, Vectors, silent
from toolscope_core.retrieval.token_cache import TokenCache, TokenCodes, coded

FEW = 32
"""Requests that are encoded faster than the cache on disk is looked through."""
MOST = 8_192
"""Requests whose vectors stay in memory."""


Comparisons = dict[tuple[tuple[str, ...], str], tuple[float, float]]
"""By the texts of either side of a tool its scores in both directions (``late``)."""


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
        kept, new = self._vectors, [one for one in dict.fromkeys(texts) if one not in self._vectors]
        if len(kept) + len(new) > MOST:  # another thread may still read the old ones
            kept, new = {}, list(dict.fromkeys(texts))
            self._vectors = kept
        if len(new) > FEW:
            encoded = embed_cached(new, self._embedder, self.cache, progress)
        else:
            encoded = self._embedder.encode(new)
        kept.update(zip(new, encoded, strict=True))
        return [kept[text] for text in texts]

    def compared(self, text: str) -> Comparisons:
        """What a request was compared with token by token, to be read and added to."""
        if len(self._compared) >= MOST:
            self._compared = {}
        return self._compared.setdefault(text, {})

    def tokens(self, texts: Sequence[str], embedder: TokenEmbedder) -> dict[str, TokenCodes]:
        """By text the vectors of its tokens, in whole numbers of 127ths (``decoded``)."""
        kept, new = self._codes, [one for one in dict.fromkeys(texts) if one not in self._codes]
        if len(kept) + len(new) > MOST:
            kept, new = {}, list(dict.fromkeys(texts))
            self._codes = kept
        if len(new) > FEW:
            vectors = TokenCache(self.cache.folder).ensure(new, embedder)
            kept.update((text, vectors.codes(text)) for text in new)
        else:
            kept.update(zip(new, map(coded, embedder.encode_tokens(new)), strict=True))
        return {text: kept[text] for text in texts}
