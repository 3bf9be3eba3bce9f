"""Embeddings from an endpoint. They are checked, in the order of the texts, and of length one."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.encoders import CrossScorer, SentenceEmbedder
from toolscope_core.embedding.minilm import SHIPPED_MODEL, MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.llm.chat import sendable
from toolscope_core.llm.http_replies import HttpReply, failure_of
from toolscope_core.model.configuration import Endpoint, Patience
from toolscope_core.model.environment import ApiKey, Settings, key_for, read_environment
from toolscope_core.model.errors import ConfigError, ModelError
from toolscope_core.model.protocols import Embedder, PairScorer, Vectors
from toolscope_core.model.search_configuration import RetrievalConfig

if TYPE_CHECKING:
    from toolscope_core.llm.endpoint_client import EndpointClient


_AT_ONCE = 64
"""The number of texts in one request."""
EMPTY_TEXT = " "
"""What is sent for an empty text, because endpoints refuse empty texts."""
Embeddings = NDArray[np.float64]


class EndpointEmbedder:
    """A ``backends.Embedder`` at an endpoint; vectors from different origins are never mixed."""

    def __init__(self, endpoint: Endpoint, key: ApiKey, patience: Patience | None = None) -> None:
        self.endpoint = endpoint
        self._key = key
        self._patience = patience or Patience()

    @property
    def name(self) -> str:
        """The model and its address, which are part of every cache key."""
        return f"{self.endpoint.model}@{self.endpoint.base_url.rstrip('/')}"

    @property
    def origin(self) -> str:
        return self.endpoint.origin

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors, float32 of shape (len(texts), d) with L2-normalised rows; (0, 0) if there
        are no texts.

        Raises ``ModelError`` if the endpoint returns no usable vectors.
        """
        from toolscope_core.llm.endpoint_client import EndpointClient

        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        client, failed = EndpointClient(self.endpoint, self._key), threading.Event()

        def batch(start: int) -> Embeddings | None:
            some = texts[start : start + _AT_ONCE]
            try:
                page = self._page(client, some, failed)
                return None if page is None else self._rows(page, len(some))
            except BaseException:
                failed.set()
                raise

        with ThreadPoolExecutor(self.endpoint.concurrency, "embedding") as pool:
            parts = [p for p in pool.map(batch, range(0, len(texts), _AT_ONCE)) if p is not None]
        if len({part.shape[1] for part in parts}) > 1:
            raise ModelError(f"{self.name} returned vectors of unequal lengths; use another model")
        return np.asarray(np.concatenate(parts), dtype=np.float32)

    def _page(
        self, client: EndpointClient, texts: Sequence[str], failed: threading.Event
    ) -> HttpReply | None:
        """The reply to a batch, retried while that may help; ``None`` if another batch has
        ``failed``.
        """
        body = {
            "model": self.endpoint.model,
            "input": [sendable(text) or EMPTY_TEXT for text in texts],
            "encoding_format": "float",
        }
        seconds, attempt = 0.0, 0
        while not failed.is_set():
            attempt += 1
            page = client.embeddings(body)
            wrong = failure_of(page, self.endpoint, keyed=bool(self._key.secret))
            if wrong is None:
                return page
            seconds += page.seconds
            pause = None if wrong.wait is None else self._patience.pause(attempt, wrong.wait)
            if pause is None or seconds >= self._patience.seconds:
                raise ModelError(f"texts could not be embedded: {wrong.reason}; try again later")
            failed.wait(pause)
        return None

    def _rows(self, page: HttpReply, count: int) -> Embeddings:
        """One row of length one for each text, in the order of ``index``."""
        rows: dict[int, object] = {}
        try:
            rows = {item["index"]: item["embedding"] for item in page.document()["data"]}
            matrix = np.array([rows[index] for index in range(count)], dtype=np.float64)
        except (ValueError, TypeError, KeyError, OverflowError):
            matrix = np.zeros(0)
        shaped = len(rows) == count and matrix.ndim == 2 and matrix.shape[1] > 0
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(matrix, axis=-1, keepdims=True)
        if not shaped or not np.all(np.isfinite(norms) & (norms > 0.0)):
            raise ModelError(
                f"{self.name} did not return {count} vectors of finite numbers for {count} "
                "texts; check that it is an embeddings model"
            )
        return np.asarray(matrix / norms, dtype=np.float64)


def embedder_of(
    settings: Settings,
    local: str | None = None,
    remote: str | None = None,
    base_url: str | None = None,
) -> Embedder:
    """A sentence-transformers model by name or folder, or an endpoint's model.

    If neither is given, the environment decides, or else the default is used.
    """
    if local and remote:
        raise ConfigError("both --embedder and --embeddings-model were given; keep one of them")
    remote = remote or settings.embeddings_model
    if local or not remote:
        return local_embedder(local or SHIPPED_MODEL)
    address = base_url or settings.base_url
    if not address:
        raise ConfigError(
            f"the embedding model {remote} has no address; set --base-url or TOOLSCOPE_BASE_URL"
        )
    endpoint = Endpoint(address, remote)
    return EndpointEmbedder(endpoint, key_for(endpoint.origin, settings.keys))


def encoder_and_cache(
    local: str | None = None, remote: str | None = None, base_url: str | None = None
) -> tuple[Embedder, VectorCache]:
    """The embedder with these names or from the environment, and the cache for its vectors."""
    settings = read_environment()
    return embedder_of(settings, local, remote, base_url), VectorCache(settings.cache_dir)


def local_embedder(name: str) -> Embedder:
    """The default encoder, all-MiniLM-L6-v2-8bit, by its name, or a sentence-transformers model by
    name or folder.
    """
    return MiniLmEmbedder() if name == SHIPPED_MODEL else SentenceEmbedder(name)


def scorer_of(config: RetrievalConfig) -> PairScorer | None:
    """The cross-encoder for reranking; ``None`` if there is none."""
    return CrossScorer(config.cross_encoder) if config.cross_encoder else None
