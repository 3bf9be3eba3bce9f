"""The vectors of requests and of their tokens: worked out once, those of many kept on disk."""

from collections.abc import Sequence
from typing import TypeVar

from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.token_cache import TokenCache, TokenCodes, coded
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.protocols import Embedder, Progress, TokenEmbedder, Vectors, silent

FEW = 32
"""Requests that are encoded faster than the cache on disk is looked through."""
MOST = 8_192
"""Requests whose vectors stay in memory."""


T = TypeVar("T")

Comparisons = dict[tuple[tuple[str, ...], str], tuple[float, float]]
"""By the texts of either side of a tool its scores in both directions (``late``)."""


class RequestVectors:
    """Requests encoded by one embedder. Tokens are rounded as those of tools are, so that a request
    scores the same alone and among others.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache, with_tokens: bool = False) -> None:
        self._embedder, self.cache, self._with_tokens = embedder, cache, with_tokens
        self._vectors: dict[str, Vectors] = {}
        self._codes: dict[str, TokenCodes] = {}
        self._compared: dict[str, Comparisons] = {}

    def of(self, texts: Sequence[str], progress: Progress = silent) -> list[Vectors]:
        """The vector of each text. Raises ``ModelError`` as the embedder does."""
        kept, new = _room_for(self._vectors, texts)
        self._vectors = kept
        if len(new) > FEW:
            encoded = embed_cached(
                new, self._embedder, self.cache, progress, keep_tokens=self._with_tokens
            )
        elif self._with_tokens and isinstance(self._embedder, TokenEmbedder):
            encoded, tokens = self._embedder.encode_with_tokens(new)
            self._codes, _ = _room_for(self._codes, new)
            self._codes.update(zip(new, map(coded, tokens), strict=True))
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
        kept, new = _room_for(self._codes, texts)
        self._codes = kept
        if len(new) > FEW:
            vectors = TokenCache(self.cache.folder).ensure(new, embedder)
            kept.update((text, vectors.codes(text)) for text in new)
        elif new:
            kept.update(zip(new, map(coded, embedder.encode_with_tokens(new)[1]), strict=True))
        return {text: kept[text] for text in texts}


def _room_for(kept: dict[str, T], texts: Sequence[str]) -> tuple[dict[str, T], list[str]]:
    """What is kept, and the texts that are not in it; another, empty one where it would grow too
    large, since another thread may still read the old one.
    """
    distinct = list(dict.fromkeys(texts))
    new = [text for text in distinct if text not in kept]
    return ({}, distinct) if len(kept) + len(new) > MOST else (kept, new)
