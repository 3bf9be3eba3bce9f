"""The plan of a merge: the tools that result, and the relabel mapping φ.

φ is defined in ToolScope (arXiv 2510.20036, section 3.2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.cluster import ArgumentMap, CardFamily, Cluster
from toolscope_core.model.tool import JsonObject, Tool

RelabelStatus = Literal["kept", "renamed", "merged", "removed"]


@dataclass(frozen=True, slots=True)
class Relabel:
    """One row of φ: the new id and name of an input tool. A *removed* tool has neither."""

    old_id: str
    new_id: str | None
    server: str
    old_name: str
    new_name: str | None
    status: RelabelStatus


@dataclass(frozen=True, slots=True)
class MergedTool:
    """A tool of the outgoing toolset; ``members`` are the ids it replaces, sorted."""

    tool: Tool
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DanglingReference:
    """A kept description that cites the name of a tool that is gone.

    ``now`` is that tool's new name, empty if it was left out.
    """

    tool_id: str
    cites: str
    now: str


@dataclass(frozen=True)
class MergePlan:
    """Clusters, the outgoing toolset, φ and α, all in id order.

    ``edited`` are single tools with a document that people wrote: clusters of one. ``held_back``
    says, by the ids of single tools, why their own document is not used. ``unreadable`` says, by
    the ids of the tools involved, why no MCP client could read an outgoing tool: a single tool is
    left out, a merge is undone. ``eager`` are the ids of outgoing tools that stay in every prompt
    of a client that searches for tools; ``None`` if nothing is left to a search. ``profile`` names
    the only profile that is exported. ``families`` are the families of the clusters; they change
    nothing in the plan.
    """

    catalog: Catalog
    clusters: tuple[Cluster, ...]
    tools: tuple[MergedTool, ...]
    relabels: tuple[Relabel, ...]
    arguments: tuple[ArgumentMap, ...]
    dangling: tuple[DanglingReference, ...] = ()
    edited: tuple[Cluster, ...] = ()
    held_back: Mapping[str, str] = field(default_factory=dict)
    unreadable: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    eager: frozenset[str] | None = None
    profile: str = ""
    families: tuple[CardFamily, ...] = ()

    @property
    def phi(self) -> dict[str, str | None]:
        """φ: the new id of each tool by its old id; ``None`` if it was left out."""
        return {row.old_id: row.new_id for row in self.relabels}

    @property
    def outgoing_servers(self) -> tuple[Server, ...]:
        """The servers of the outgoing tools."""
        names = {item.tool.server for item in self.tools}
        return tuple(one for one in self.catalog.servers if one.name in names)

    @property
    def removed(self) -> tuple[str, ...]:
        """Ids of the tools left out by people or as ``unreadable``."""
        return tuple(row.old_id for row in self.relabels if row.new_id is None)

    @property
    def applied(self) -> tuple[Cluster, ...]:
        """The clusters that the outgoing toolset merges."""
        merged_ids = {item.tool.id for item in self.tools if len(item.members) > 1}
        return tuple(
            cluster
            for cluster in self.clusters
            if cluster.state == "accepted" and cluster.canonical in merged_ids
        )

    @property
    def behind_gateway(self) -> tuple[MergedTool, ...]:
        """The outgoing tools that no server has: only a gateway can answer calls to them."""
        merged = (*self.applied, *self.edited)
        ids = {cluster.canonical for cluster in merged if cluster.kind != "drop_in"}
        return tuple(item for item in self.tools if item.tool.id in ids)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment on one version of a catalog.

    ``configuration`` decides all its figures. ``result`` has the figures so far, complete if
    ``is_done``; in a list it is ``None``.
    """

    number: int
    catalog_id: int
    kind: str
    configuration: JsonObject
    at: str
    seconds: float
    is_done: bool
    result: JsonObject | None = field(default=None, repr=False)
