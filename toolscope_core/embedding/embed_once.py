"""Texts encoded once: what a cache folder has is read, the rest is encoded and kept there."""

from collections.abc import Sequence

import numpy as np

from toolscope_core.embedding.token_cache import TokenCache, TokenCodes, coded
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.protocols import Embedder, Progress, Step, TokenEmbedder, Vectors, silent

CHUNK = 512
PIECE = 128
"""Texts between two steps of progress."""


def embed_cached(
    texts: Sequence[str],
    embedder: Embedder,
    cache: VectorCache,
    progress: Progress = silent,
    *,
    keep_tokens: bool = False,
) -> Vectors:
    """float32 of shape (len(texts), d) in the order of ``texts``; (0, 0) for no texts.

    Each distinct text is encoded at most once, short texts first, in chunks that reach the cache
    before the next one starts: an interrupted run goes on where it stopped. With ``keep_tokens``
    the vectors of its tokens are kept from the same pass, for a later search, where the embedder
    gives them. Reports ``Step("embed", …)`` in distinct texts; ``progress`` may raise to cancel.
    """
    distinct = sorted(set(texts), key=lambda text: (len(text), text))
    vectors = cache.read(embedder.name, distinct)
    missing = [text for text in distinct if text not in vectors]
    progress(Step("embed", len(vectors), len(distinct)))
    for start in range(0, len(missing), CHUNK):
        fresh: dict[str, Vectors] = {}
        codes: dict[str, TokenCodes] = {}
        end = min(start + CHUNK, len(missing))
        for at in range(start, end, PIECE):
            piece = missing[at : min(at + PIECE, end)]
            if keep_tokens and isinstance(embedder, TokenEmbedder):
                encoded, tokens = embedder.encode_with_tokens(piece)
                codes.update(zip(piece, map(coded, tokens), strict=True))
            else:
                encoded = embedder.encode(piece)
            fresh.update(zip(piece, encoded, strict=True))
            if at + PIECE < end:
                progress(Step("embed", len(vectors) + len(fresh), len(distinct)))
        cache.write(embedder.name, fresh)
        if codes:
            TokenCache(cache.folder).write(embedder.name, codes)
        vectors.update(fresh)
        progress(Step("embed", len(vectors), len(distinct)))
    if not vectors:
        return np.zeros((0, 0), dtype=np.float32)
    return np.stack([vectors[text] for text in texts])
