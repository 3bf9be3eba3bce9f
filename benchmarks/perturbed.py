"""A large catalog: seeded variations of the tools of another, with vectors beside theirs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from toolscope_core.model.catalog import Catalog, Server
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
