"""How each server is described to a model that searches by namespace, and what that finds."""

from __future__ import annotations

from dataclasses import dataclass

from toolscope_core.decisions.constraints import namespace_descriptions
from toolscope_core.export.namespaces import described_servers
from toolscope_core.model.decision import Decision
from ui.shared.services.findable_tools import NAMESPACES, FindableTools
from ui.shared.services.logs import make_decision
from ui.shared.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class NamespaceView:
    """A server with its ``description`` as a namespace, ours unless people wrote it, and the mean
    share of its ``tools``' own requests that find them: ``before`` under what the server says of
    itself, ``after`` under this; ``None`` where that is not worked out.
    """

    server: str
    tools: int
    description: str
    is_written: bool
    before: float | None
    after: float | None


class Namespaces:
    """The servers of a catalog as namespaces of the toolset that people decided on."""

    def __init__(self, work: Workspace) -> None:
        self._catalogs, self._review = work.catalogs, work.review
        self._findable = work.service(FindableTools)

    def views(self, catalog_id: int) -> tuple[NamespaceView, ...]:
        """A view of each server that has tools, by name."""
        plan = self._review.plan(catalog_id)
        written = namespace_descriptions(plan.catalog, self._review.log(catalog_id))
        tools = [item.tool for item in plan.tools]
        before = self._findable.shares(catalog_id, NAMESPACES)
        after = self._findable.shares_after(catalog_id, NAMESPACES)
        views = []
        for server in described_servers(plan.catalog.servers, tools, written):
            ids = [tool.id for tool in tools if tool.server == server.name]
            means = (
                None if shares is None else sum(shares.get(one, 1.0) for one in ids) / len(ids)
                for shares in (before, after)
            )
            is_written = server.name in written
            views.append(
                NamespaceView(server.name, len(ids), server.description, is_written, *means)
            )
        return tuple(views)

    def describe(self, catalog_id: int, server: str, text: str, reviewer: str) -> Decision:
        """Describe a namespace; an empty text takes ours again. Raises ``DecisionError`` as
        ``Review.record``.
        """
        catalog = self._catalogs.open(catalog_id)
        ids = [tool.id for tool in catalog.tools if tool.server == server]
        detail = {"description": text.strip()}
        decision = make_decision(catalog, "namespace", ids, reviewer, detail)
        return self._review.record(catalog_id, decision)
