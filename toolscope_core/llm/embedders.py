"""The models that settings name: an embedder, local or of an endpoint, and a cross-encoder."""

from toolscope_core.embedding.encoders import CrossScorer, SentenceEmbedder
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.quantized_model import QUANTIZED_MODEL
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.llm import EndpointEmbedder
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.environment import Settings, key_for, read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Embedder, PairScorer
from toolscope_core.model.search_configuration import RetrievalConfig


def embedder_of(
    settings: Settings,
    local: str | None = None,
    remote: str | None = None,
    base_url: str | None = None,
) -> Embedder:
    """A sentence-transformers model by name or folder, or a model of an endpoint; without either,
    that of the environment, else the default.
    """
    if local and remote:
        raise ConfigError("--embedder and --embeddings-model were both given; give one of them")
    remote = remote or settings.embeddings_model
    if local or not remote:
        return local_embedder(local or QUANTIZED_MODEL)
    address = base_url or settings.base_url
    if not address:
        raise ConfigError(
            f"the embedding model {remote} has no address; give --base-url or TOOLSCOPE_BASE_URL"
        )
    endpoint = Endpoint(address, remote)
    return EndpointEmbedder(endpoint, key_for(endpoint.origin, settings.keys))


def encoder_and_cache(
    local: str | None = None, remote: str | None = None, base_url: str | None = None
) -> tuple[Embedder, VectorCache]:
    """The embedder of the environment or that these name, and the cache of vectors."""
    settings = read_environment()
    return embedder_of(settings, local, remote, base_url), VectorCache(settings.cache_dir)


def local_embedder(name: str) -> Embedder:
    """The default by its name, all-MiniLM-L6-v2-int8, or a sentence-transformers model by name or
    folder.
    """
    return MiniLmEmbedder() if name == QUANTIZED_MODEL else SentenceEmbedder(name)


def scorer_of(config: RetrievalConfig) -> PairScorer | None:
    """The cross-encoder that reranks, ``None`` where none does."""
    return CrossScorer(config.cross_encoder) if config.cross_encoder else None
