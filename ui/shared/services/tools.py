"""One tool: what it says, what is near it, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from toolscope_core.decisions.log import active
from toolscope_core.model.catalog import Finding
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import Tool
from ui.shared.pairs.pair_view import Neighbour, neighbours
from ui.shared.services.analyses import Analyses
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.review import Review

NEAR = 8


@dataclass(frozen=True, slots=True)
class ToolView:
    """What is known of a tool. ``cluster`` is the one it is in or would join; ``said`` are the
    standing decisions on it, the newest first. Before the analysis is finished there are neither
    cluster nor neighbours.
    """

    tool: Tool
    findings: tuple[Finding, ...]
    neighbours: tuple[Neighbour, ...]
    cluster: Cluster | None
    decisions: tuple[Decision, ...]


class Tools:
    """Any tool of a catalog."""

    def __init__(self, catalogs: Catalogs, analyses: Analyses, review: Review) -> None:
        self._catalogs = catalogs
        self._analyses = analyses
        self._review = review

    def view(self, catalog_id: int, key: str) -> ToolView | None:
        """The tool that a link names; ``None`` where the catalog has none such."""
        tool_id = self._catalogs.named(catalog_id, key)
        if tool_id is None:
            return None
        catalog, analysis = self._catalogs.open(catalog_id), self._analyses.get(catalog_id)
        tool, log = catalog.by_id[tool_id], self._review.log(catalog_id)
        return ToolView(
            tool=tool,
            findings=tuple(finding for finding in catalog.findings if finding.tool_id == tool_id),
            neighbours=neighbours(analysis, tool, NEAR) if analysis else (),
            cluster=self._home(catalog_id, tool_id) if analysis else None,
            decisions=tuple(d for d in active(log)[::-1] if tool.fingerprint in d.members),
        )

    def _home(self, catalog_id: int, tool_id: str) -> Cluster | None:
        clusters = self._review.plan(catalog_id).clusters
        return next((c for c in clusters if tool_id in {*c.members, *c.newcomers}), None)
