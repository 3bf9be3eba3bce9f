"""Toolsets to measure, each with a mapping from the ids of the catalog that the queries refer
to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.relabelling import read_relabelling, with_members
from toolscope_core.catalog.sources import load_paths
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.files.archives import bundle_folder
from toolscope_core.files.json_lines import read_rows
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Augmentation, Tool, digest
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools, SearchSetup
from toolscope_core.retrieval.retriever import searched_as


@dataclass(frozen=True, slots=True)
class Toolset:
    """Tools with ids of their own.

    ``phi`` maps ids in queries to ids of these tools: unknown ids do not change, and ``None`` means
    that the tool is gone. ``arguments`` has α by old id.
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
        """A hash that is the same for equal tools and mappings, whatever the name of the
        toolset.
        """
        parts = sorted((tool.id, tool.fingerprint) for tool in self.tools)
        searched = (one for tool in self.tools for one in searched_as(tool))
        variants = sorted((t.id, repr(t.augmentation)) for t in searched if t.augmentation)
        return digest(
            parts, variants, sorted(self.phi.items()), repr(sorted(self.arguments.items()))
        )


def augmented(toolset: Toolset, variants: Mapping[str, Augmentation]) -> Toolset:
    """The toolset with document variants for the catalog's tools; see ``with_variants``."""
    return replace(toolset, tools=with_variants(toolset.tools, variants, toolset.phi))


def as_it_is(catalog: Catalog, name: str = "as it is") -> Toolset:
    """The unchanged catalog as a toolset."""
    return Toolset(name, catalog.tools)


def of_plan(plan: MergePlan, name: str) -> Toolset:
    """The plan's export as a toolset; searches also use the members' words and variants."""
    arguments = {one.tool_id: one for one in plan.arguments}
    tools = with_members((item.tool for item in plan.tools), plan.catalog, plan.phi)
    return Toolset(name, tools, plan.phi, arguments)


def of_bundle(folder: Path, catalog: Catalog, name: str, file: object) -> Toolset:
    """The tools of an exported bundle that was unpacked from ``file``, with the bundle's φ and α.

    Raises ``ConfigError`` for a bundle that was made from other tools.
    """
    relabelling = read_relabelling(folder)
    if foreign := sorted(catalog.by_id.keys() - relabelling.phi.keys()):
        raise ConfigError(
            f"{file} does not cover {foreign[0]}; use a bundle that was made from this catalog"
        )
    merged = read_isolated(load_paths([folder]))
    tools = with_members(merged.tools, catalog, relabelling.phi)
    return Toolset(name, tools, relabelling.phi, relabelling.arguments)


def merged_toolset(bundle: Path, catalog: Catalog) -> Toolset:
    """The toolset in the folder or zip of a bundle. Raises the same errors as ``of_bundle``."""
    with bundle_folder(bundle) as folder:
        return of_bundle(folder, catalog, "merged", bundle)


def with_merged(catalog: Catalog, bundle: Path | None) -> list[Toolset]:
    """The catalog itself and, if a bundle is given, the bundle's toolset.

    Raises the same errors as ``merged_toolset``.
    """
    toolsets = [as_it_is(catalog)]
    if bundle is not None:
        toolsets.append(merged_toolset(bundle, catalog))
    return toolsets


def variants_of(catalog: Catalog) -> dict[str, Augmentation]:
    """The variants of the catalog's tools, by tool id."""
    return {one.id: one.augmentation for one in catalog.tools if one.augmentation}


def of_version(catalog: Catalog, before: Catalog, name: str) -> Toolset:
    """A later version of the catalog ``before``: tools keep their ids, and some may be gone."""
    ids = catalog.by_id
    return Toolset(name, catalog.tools, {one.id: None for one in before.tools if one.id not in ids})


_LABELS = ("merge", "keep")


def joined_queries(queries: Sequence[Query], toolset: Toolset) -> tuple[int, ...]:
    """The positions of queries that need two tools that are now one."""
    return tuple(
        place
        for place, query in enumerate(queries)
        if len({_after(need, toolset) for need in query.gold}) < len(set(query.gold))
    )


def forbidden_merges(toolset: Toolset, never: Iterable[Pair]) -> tuple[Pair, ...]:
    """The pairs in ``never`` that are now one tool, in order."""
    ranked = sorted(never, key=lambda one: (one.left, one.right))
    return tuple(pair for pair in ranked if _is_one(pair, toolset))


@dataclass(frozen=True, slots=True)
class LabelledMerges:
    """The result of comparing merges with labelled pairs.

    ``right`` is the number of right merges, ``wrong`` has the wrong ones, and ``missed`` is the
    number of pairs that should have been merged.
    """

    right: int
    wrong: tuple[Pair, ...]
    missed: int


def labelled_merges(toolset: Toolset, labels: Mapping[Pair, bool]) -> LabelledMerges:
    """The merges compared with ``labels``, which say for each pair whether it may be merged."""
    merged = [pair for pair in labels if _is_one(pair, toolset)]
    right = sum(labels[pair] for pair in merged)
    return LabelledMerges(
        right=right,
        wrong=forbidden_merges(toolset, [pair for pair in merged if not labels[pair]]),
        missed=sum(labels.values()) - right,
    )


def read_labels(path: Path) -> dict[Pair, bool]:
    """Labelled pairs from a JSONL file with ``left``, ``right`` (tool ids) and ``label``.

    A label is *merge* or *keep*. Raises ``ConfigError`` for an unreadable file or a malformed row.
    """
    labels: dict[Pair, bool] = {}
    for number, row in read_rows(path):
        left, right, label = row.get("left"), row.get("right"), row.get("label")
        if not isinstance(left, str) or not isinstance(right, str) or label not in _LABELS:
            raise ConfigError(
                f"{path}, line {number} is {str(row)[:60]}; use tool ids for `left` and `right`, "
                f"and {' or '.join(_LABELS)} for `label`"
            )
        labels[Pair.of(left, right)] = label == _LABELS[0]
    return labels


def _is_one(pair: Pair, toolset: Toolset) -> bool:
    left = toolset.phi.get(pair.left, pair.left)
    return left is not None and left == toolset.phi.get(pair.right, pair.right)


def _after(need: frozenset[str], toolset: Toolset) -> frozenset[str | None]:
    return frozenset(toolset.phi.get(one, one) for one in need)


Rankings = tuple[tuple[str, ...], ...]
"""For each request, the ids of tools, the best first."""


class Ranker(Protocol):
    """Ranks tools for requests."""

    def rankings(
        self,
        tools: Sequence[Tool],
        requests: Sequence[ToolRequest],
        k: int,
        progress: Progress = silent,
    ) -> Rankings:
        """The ids of the ``k`` best tools for each request."""


class ToolsetRanker:
    """A ``Ranker`` that searches; only the index of the first toolset is stored on disk."""

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
