"""The plan of a merge: the tools that result, and the relabel mapping φ.

φ is that of ToolScope (arXiv 2510.20036, section 3.2).
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
    """One row of φ: the new id and name of a tool that came in. One that is left out is *removed*
    and has neither.
    """

    old_id: str
    new_id: str | None
    server: str
    old_name: str
    new_name: str | None
    status: RelabelStatus


@dataclass(frozen=True, slots=True)
class MergedTool:
    """A tool of the outgoing toolset; ``members`` are the ids it stands for, sorted."""

    tool: Tool
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DanglingReference:
    """A kept description that still cites the name of a tool that is gone; ``now`` is what it is
    called, empty for a tool that was left out.
    """

    tool_id: str
    cites: str
    now: str


@dataclass(frozen=True)
class MergePlan:
    """Clusters, the outgoing toolset, φ and α, all in id order. ``edited`` are tools that stand
    alone under a document that people wrote: clusters of one; ``held_back`` says, by the ids of
    tools alone, why their own document is not taken. ``unreadable`` says, by
    the ids that an outgoing tool stood for, why no client of MCP could read it: one that stood
    alone is left out, a merge came apart. ``eager`` are the ids of outgoing tools that a client
    which searches for tools keeps in every prompt; ``None`` where nothing is left to a search.
    ``profile`` names the one whose tools alone leave. ``families`` are those that the clusters are
    members of: nothing follows from them.
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
        """φ: the new id of each tool, by its old id; ``None`` for one that was left out."""
        return {row.old_id: row.new_id for row in self.relabels}

    @property
    def outgoing_servers(self) -> tuple[Server, ...]:
        """The servers of the tools that leave."""
        names = {item.tool.server for item in self.tools}
        return tuple(one for one in self.catalog.servers if one.name in names)

    @property
    def removed(self) -> tuple[str, ...]:
        """Ids of the tools that are left out, by people or as ``unreadable``."""
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
        """The outgoing tools that no server has: only a gateway can answer for them."""
        merged = (*self.applied, *self.edited)
        ids = {cluster.canonical for cluster in merged if cluster.kind != "drop_in"}
        return tuple(item for item in self.tools if item.tool.id in ids)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment on one version of a catalog. ``configuration`` is all that decides its figures;
    ``result`` is what is there of them, all where it ``is_done``, ``None`` in a list.
    """

    number: int
    catalog_id: int
    kind: str
    configuration: JsonObject
    at: str
    seconds: float
    is_done: bool
    result: JsonObject | None = field(default=None, repr=False)
