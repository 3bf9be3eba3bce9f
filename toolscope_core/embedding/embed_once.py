"""Texts encoded once: what a cache folder has is read, the rest is encoded and kept there."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from toolscope_core.embedding.token_cache import TokenCache, TokenCodes, coded
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.protocols import (
    LOCAL,
    Embedder,
    Engine,
    Progress,
    RemoteModel,
    Shared,
    Step,
    TokenEmbedder,
    Vectors,
    silent,
)

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
    engine: Engine = LOCAL,
) -> Vectors:
    """float32 of shape (len(texts), d) in the order of ``texts``; (0, 0) for no texts.

    Each distinct text is encoded at most once, short texts first, in chunks that reach the cache
    before the next one starts: an interrupted run goes on where it stopped. With ``keep_tokens``
    the vectors of its tokens are kept from the same pass, for a later search, where the embedder
    gives them. A local embedder encodes on the workers of ``engine``; one of an endpoint encodes
    here, where its key is. Reports ``Step("embed", …)`` in distinct texts; ``progress`` may raise
    to cancel.
    """
    distinct = sorted(set(texts), key=lambda text: (len(text), text))
    vectors = cache.read(embedder.name, distinct)
    missing = [text for text in distinct if text not in vectors]
    progress(Step("embed", len(vectors), len(distinct)))
    runner = LOCAL if isinstance(embedder, RemoteModel) else engine
    size = min(PIECE, CHUNK)
    pieces = [missing[start : start + size] for start in range(0, len(missing), size)]
    encode = partial(_encode, keep_tokens)
    made = runner.map_blocks(encode, Shared(embedder), pieces)
    fresh: dict[str, Vectors] = {}
    codes: dict[str, TokenCodes] = {}
    for at, (piece, (encoded, tokens)) in enumerate(zip(pieces, made, strict=True), 1):
        fresh.update(zip(piece, encoded, strict=True))
        codes.update(zip(piece, tokens, strict=False))
        if len(fresh) >= CHUNK or at == len(pieces):
            cache.write(embedder.name, fresh)
            if codes:
                TokenCache(cache.folder).write(embedder.name, codes)
            vectors.update(fresh)
            fresh, codes = {}, {}
        progress(Step("embed", len(vectors) + len(fresh), len(distinct)))
    if not vectors:
        return np.zeros((0, 0), dtype=np.float32)
    return np.stack([vectors[text] for text in texts])


def _encode(
    keep_tokens: bool, embedder: Embedder, texts: list[str]
) -> tuple[Vectors, list[TokenCodes]]:
    """The vectors of texts and the codes of their tokens; no codes where they are not kept."""
    if keep_tokens and isinstance(embedder, TokenEmbedder):
        encoded, tokens = embedder.encode_with_tokens(texts)
        return encoded, list(map(coded, tokens))
    return embedder.encode(texts), []
