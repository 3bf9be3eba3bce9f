"""A large catalog: seeded variations of the tools of another, with vectors beside theirs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from benchmarks.measuring import user_cache
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import TokenCache, TokenVectors, embed_cached
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.environment import read_environment
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool

LARGE = 40_000
_SEED, _SERVERS, _NOISE = 7, 400, 0.35
_SYNONYMS = {"get": "fetch", "create": "make", "retrieve": "look up", "find": "search", "the": "a"}


def perturbed_catalog(catalog: Catalog) -> Catalog:
    """``LARGE`` seeded variations of the tools of a catalog; ``raw`` of each names its original."""
    rng = np.random.default_rng(_SEED)
    sources = rng.integers(0, len(catalog.tools), LARGE).tolist()
    tools = [_varied(catalog.tools[source], at, rng) for at, source in enumerate(sources)]
    return catalog_of(tools)


def catalog_of(tools: Iterable[Tool]) -> Catalog:
    """The tools by id, with their servers."""
    by_id = tuple(sorted(tools, key=lambda tool: tool.id))
    servers = sorted({tool.server for tool in by_id})
    return Catalog(by_id, tuple(map(Server, servers)), "mcp")


def moved_a_little(vectors: Vectors) -> Vectors:
    """The vectors with noise that stands in for other words, normalised."""
    rng = np.random.default_rng(_SEED)
    noise = rng.normal(size=vectors.shape) * _NOISE / np.sqrt(vectors.shape[1])
    moved = (vectors + noise).astype(np.float32)
    normalised: Vectors = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return normalised


class RecordedEmbedder:
    """An embedder that looks its texts up."""

    name = MiniLmEmbedder.name

    def __init__(self, vectors: Mapping[str, Vectors], tokens: Mapping[str, Vectors]) -> None:
        self.vectors, self.tokens = vectors, tokens

    def encode(self, texts: Sequence[str]) -> Vectors:
        rows = [self.vectors[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 384), dtype=np.float32)

    def encode_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        return self.encode(texts), list(map(self.tokens_of, texts))

    def tokens_of(self, text: str) -> Vectors:
        return self.tokens[text]


class CatalogEmbedder(RecordedEmbedder):
    """An embedder that knows the texts of a catalog, whose vectors are those of ``originals`` moved
    a little, and the requests of a search; ``of_requests`` knows those alone.
    """

    def __init__(
        self,
        catalog: Catalog,
        originals: Catalog,
        texts_of: Callable[[Tool], Sequence[str]],
        requests: Sequence[str] = (),
    ) -> None:
        model = MiniLmEmbedder()
        encoded, tokens = model.encode_with_tokens(requests)
        self.of_requests = RecordedEmbedder(
            dict(zip(requests, encoded, strict=True)), dict(zip(requests, tokens, strict=True))
        )
        by_id = {tool.id: tool for tool in originals.tools}
        self._source: dict[str, str] = {}
        for tool in catalog.tools:
            original = by_id[tool.raw.get("from", tool.id)]
            self._source |= zip(texts_of(tool), texts_of(original), strict=True)
        own = embed_cached(list(self._source.values()), model, user_cache())
        by_text = dict(zip(self._source, moved_a_little(own), strict=True))
        super().__init__(by_text | self.of_requests.vectors, self.of_requests.tokens)

    @cached_property
    def _cached_tokens(self) -> TokenVectors:
        cache = TokenCache(read_environment().cache_dir)
        return cache.ensure(list(dict.fromkeys(self._source.values())), MiniLmEmbedder())

    def tokens_of(self, text: str) -> Vectors:
        recorded = self.tokens.get(text)
        return self._cached_tokens.of(self._source[text]) if recorded is None else recorded


def _varied(tool: Tool, number: int, rng: np.random.Generator) -> Tool:
    """Another name, other words, a parameter less or more."""
    words = [_SYNONYMS.get(w, w) if rng.random() < 0.7 else w for w in tool.description.split()]
    properties = dict((tool.schema or {}).get("properties") or {})
    if properties and rng.random() < 0.3:
        properties.pop(str(rng.choice(list(properties))))
    if rng.random() < 0.3:
        properties[f"option_{rng.integers(9)}"] = {"type": "string"}
    required = [name for name in (tool.schema or {}).get("required", []) if name in properties]
    server = f"server-{rng.integers(_SERVERS):03d}"
    return Tool(
        id=f"{server}/{tool.name}-{number:05d}",
        name=f"{tool.name}{rng.choice(['', 'V2', 'Now', 'ById', 'Info'])}",
        description=" ".join(words),
        server=server,
        schema={"type": "object", "properties": properties, "required": required},
        raw={"from": tool.id},
    )
