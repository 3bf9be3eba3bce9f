"""A toolset to be measured, and the way from the catalog that the queries name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.relabelling import Relabelling, read_relabelling
from toolscope_core.catalog.sources import load_paths
from toolscope_core.files.archives import bundle_folder
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Augmentation, Tool, digest
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools, SearchSetup


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools by ids of their own. ``phi`` leads to them from the ids that queries name: an id that
    it does not know stays, one that it has as ``None`` is gone. ``arguments`` has α by old id.
    """

    name: str
    tools: tuple[Tool, ...]
    phi: Mapping[str, str | None] = field(default_factory=dict)
    arguments: Mapping[str, ArgumentMap] = field(default_factory=dict)

    @property
    def by_id(self) -> dict[str, Tool]:
        return {tool.id: tool for tool in self.tools}

    @property
    def version(self) -> str:
        """The same for toolsets of equal tools and maps, whatever their name."""
        parts = sorted((tool.id, tool.fingerprint) for tool in self.tools)
        written = sorted((t.id, repr(t.augmentation)) for t in self.tools if t.augmentation)
        return digest(
            parts, written, sorted(self.phi.items()), repr(sorted(self.arguments.items()))
        )


def augmented(toolset: Toolset, variants: Mapping[str, Augmentation]) -> Toolset:
    """The toolset with variants of the catalog's tools, see ``with_variants``."""
    return replace(toolset, tools=with_variants(toolset.tools, variants, toolset.phi))


def as_it_is(catalog: Catalog, name: str = "as it is") -> Toolset:
    """The catalog itself."""
    return Toolset(name, catalog.tools)


def of_plan(plan: MergePlan, name: str) -> Toolset:
    """What the plan exports, with the variants that the tools of its catalog carry."""
    arguments = {one.tool_id: one for one in plan.arguments}
    toolset = Toolset(name, tuple(item.tool for item in plan.tools), plan.phi, arguments)
    written = {one.id: one.augmentation for one in plan.catalog.tools if one.augmentation}
    return augmented(toolset, written) if written else toolset


def of_bundle(catalog: Catalog, relabelling: Relabelling, name: str) -> Toolset:
    """The tools of an exported bundle with its own φ and α."""
    return Toolset(name, catalog.tools, relabelling.phi, relabelling.arguments)


def merged_toolset(bundle: Path, catalog: Catalog) -> Toolset:
    """The toolset of a bundle's folder or zip. Raises ``ConfigError`` for one of other tools."""
    with bundle_folder(bundle) as folder:
        relabelling = read_relabelling(folder)
        merged = read_isolated(load_paths([folder]))
    if foreign := sorted(catalog.by_id.keys() - relabelling.phi.keys()):
        raise ConfigError(
            f"{bundle} says nothing of {foreign[0]}; give a bundle that was made of this catalog"
        )
    return of_bundle(merged, relabelling, "merged")


def with_merged(
    catalog: Catalog, variants: Mapping[str, Augmentation], bundle: Path | None
) -> list[Toolset]:
    """The catalog itself and, where a bundle is given, the toolset of it, with the catalog's
    variants. Raises as ``merged_toolset`` does.
    """
    merged = [augmented(merged_toolset(bundle, catalog), variants)] if bundle else []
    return [as_it_is(catalog), *merged]


def of_version(catalog: Catalog, named: Catalog, name: str) -> Toolset:
    """Another version of the catalog ``named``: its tools by the same ids, and what is gone."""
    kept = catalog.by_id
    return Toolset(name, catalog.tools, {one.id: None for one in named.tools if one.id not in kept})


Rankings = tuple[tuple[str, ...], ...]
"""For each request tool ids, the best first."""


class Ranker(Protocol):
    """Ranks tools for requests."""

    def rankings(
        self,
        tools: Sequence[Tool],
        requests: Sequence[ToolRequest],
        k: int,
        progress: Progress = silent,
    ) -> Rankings:
        """The ids of the k best tools for each request."""


class ToolsetRanker:
    """A ``Ranker`` that searches. Only the index of the first toolset is kept on disk."""

    def __init__(self, setup: SearchSetup) -> None:
        self._setup = setup
        self._first: SearchableTools | None = None

    def rankings(
        self,
        tools: Sequence[Tool],
        requests: Sequence[ToolRequest],
        k: int,
        progress: Progress = silent,
    ) -> Rankings:
        """See ``Ranker``."""
        if self._first is None:
            retriever = self._first = self._setup.open(tools, progress)
        else:
            retriever = self._first.over(tools)
        ranked = retriever.search_each(requests, k, progress)
        return tuple(tuple(place.tool_id for place in places) for places in ranked)
