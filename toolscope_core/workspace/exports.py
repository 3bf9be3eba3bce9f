"""What an export would hold, in figures and lists, and the bundle as one file to download."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.bundle import zipped
from toolscope_core.catalog.tokens import tool_tokens
from toolscope_core.catalog.writers import name_violations
from toolscope_core.datamodel import Catalog, Cluster, Dangling, MergePlan


@dataclass(frozen=True, slots=True)
class MergeLine:
    """One merge of the outgoing toolset; ``gone`` are the ids that agents no longer see."""

    kept: str
    name: str
    gone: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class ExportFigures:
    """What a plan makes of the catalog; tokens are estimates.

    ``pending`` counts the clusters that stay unmerged because nobody decided, ``withheld`` the
    accepted ones left out because they need a gateway; ``violations`` are sentences on names that
    the target refuses.
    """

    tools_before: int
    tools_after: int
    tokens_before: int
    tokens_after: int
    merges: tuple[MergeLine, ...]
    pending: int
    withheld: int
    dangling: tuple[Dangling, ...]
    violations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SafeBatch:
    """What *accept safe* would do now, and how many clusters it leaves out for which reason.

    A cluster that is left out counts once, under the first reason that holds.
    """

    clusters: tuple[Cluster, ...]
    tools: int
    tokens_saved: int
    left_out: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Download:
    """The files of a bundle and their zip; ``file_name`` changes only with the content."""

    files: Mapping[str, bytes]
    archive: bytes
    file_name: str


def download_of(files: Mapping[str, bytes], catalog_name: str) -> Download:
    """One file to download, named after the catalog and the hash of its bytes."""
    archive = zipped(files)
    plain = re.sub(r"[^a-z0-9]+", "-", catalog_name.casefold()).strip("-")[:40] or "catalog"
    return Download(
        files, archive, f"toolscope-{plain}-{hashlib.sha256(archive).hexdigest()[:8]}.zip"
    )


def figures_of(plan: MergePlan, shape: str) -> ExportFigures:
    """The figures of a plan written in ``shape``. Raises ``ExportError`` for an unknown shape."""
    applied = plan.applied
    taken = {cluster.id for cluster in applied}
    accepted = [cluster for cluster in plan.clusters if cluster.state == "accepted"]
    return ExportFigures(
        tools_before=len(plan.catalog.tools),
        tools_after=len(plan.tools),
        tokens_before=sum(tool_tokens(tool) for tool in plan.catalog.tools),
        tokens_after=sum(tool_tokens(item.tool) for item in plan.tools),
        merges=tuple(_line(cluster) for cluster in applied),
        pending=len(plan.clusters) - len(accepted),
        withheld=sum(cluster.id not in taken for cluster in accepted),
        dangling=plan.dangling,
        violations=name_violations(plan.tools, shape),
    )


def safe_batch(catalog: Catalog, clusters: Sequence[Cluster], saved: int) -> SafeBatch:
    """The waiting ``clusters`` as safe ones, which save so many tokens, and others."""
    tools = catalog.by_id
    safe, left = [], dict.fromkeys(_DOUBTS, 0)
    for cluster in clusters:
        if cluster.state == "proposed" and cluster.safe:
            safe.append(cluster)
            continue
        servers = {tools[member].server for member in cluster.members}
        holds = (
            bool(cluster.newcomers),
            cluster.state != "proposed",
            bool(catalog.blocked.intersection(cluster.members)),
            cluster.kind == "router",
            len(servers) > 1,
            True,
        )
        left[_DOUBTS[holds.index(True)]] += 1
    return SafeBatch(
        clusters=tuple(safe),
        tools=sum(len(cluster.members) for cluster in safe),
        tokens_saved=saved,
        left_out=tuple((doubt, count) for doubt, count in left.items() if count),
    )


_DOUBTS = (
    "would let a newcomer into an accepted merge",
    "are stale or in conflict",
    "hold a tool with hidden or hostile text",
    "need a gateway",
    "reach over several servers",
    "have a weak pair, act differently or were cut",
)


def _line(cluster: Cluster) -> MergeLine:
    gone = tuple(member for member in cluster.members if member != cluster.canonical)
    return MergeLine(cluster.canonical, cluster.document.name, gone, cluster.kind)
