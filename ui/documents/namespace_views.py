"""How each server is described to a model that searches by namespace, and what that finds."""

from dataclasses import dataclass

from toolscope_core.decisions.constraints import namespace_descriptions
from toolscope_core.export.namespace_writing import descriptions_of_model, namespace_violations
from toolscope_core.export.namespaces import described_servers, servers_with_tools
from toolscope_core.merging.faithful import Violation
from toolscope_core.model.decision import Decision
from ui.shared.services import findable_tools, judging, review
from ui.shared.services.findable_tools import NAMESPACES
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class NamespaceView:
    """A server with its ``description`` as a namespace, ours unless people wrote it, and the mean
    share of its ``tools``' own requests that find them: ``before`` under what the server says of
    itself, ``after`` under this, ``if_suggested`` where each has what a model ``suggested`` for it,
    if anything; ``None`` where that is not worked out.
    """

    server: str
    tools: int
    description: str
    is_written: bool
    suggested: str
    before: float | None
    after: float | None
    if_suggested: float | None

    @property
    def is_measured(self) -> bool:
        """Whether all shares are worked out that there are texts for."""
        return self.after is not None and (not self.suggested or self.if_suggested is not None)


def views(snapshot: Snapshot) -> tuple[NamespaceView, ...]:
    """A view of each server that has tools, by name."""
    plan, (written, suggested) = snapshot.plan, _texts(snapshot)
    tools = [item.tool for item in plan.tools]
    before = findable_tools.shares(snapshot, NAMESPACES)
    after = findable_tools.shares_after(snapshot, NAMESPACES)
    under = findable_tools.shares_under(snapshot, {**written, **suggested})
    rows = []
    for server in described_servers(plan.catalog.servers, tools, written):
        ids = [tool.id for tool in tools if tool.server == server.name]
        means = (
            None if shares is None else sum(shares.get(one, 1.0) for one in ids) / len(ids)
            for shares in (before, after, under)
        )
        is_written, text = server.name in written, suggested.get(server.name, "")
        rows.append(
            NamespaceView(server.name, len(ids), server.description, is_written, text, *means)
        )
    return tuple(rows)


def texts_to_measure(snapshot: Snapshot) -> dict[str, str] | None:
    """What ``findable_tools`` is to measure beside the texts as they stand: those of the model,
    where there are any.
    """
    written, suggested = _texts(snapshot)
    return {**written, **suggested} if suggested else None


def violations(snapshot: Snapshot, server: str, text: str) -> tuple[Violation, ...]:
    """What speaks against a description of a namespace."""
    plan = snapshot.plan
    spaces = servers_with_tools(plan.catalog.servers, [item.tool for item in plan.tools])
    (own,) = (one for one in spaces if one[0].name == server)
    return namespace_violations(plan.catalog, *own, text)


def describe(snapshot: Snapshot, server: str, text: str, reviewer: str) -> Decision:
    """Describe a namespace; an empty text takes ours again. Raises ``DecisionError`` as
    ``review.say``.
    """
    catalog = snapshot.catalog
    ids = [tool.id for tool in catalog.tools if tool.server == server]
    detail = {"description": text.strip()}
    return review.say(snapshot, "namespace", ids, reviewer, detail)


def _texts(snapshot: Snapshot) -> tuple[dict[str, str], dict[str, str]]:
    """By server what people wrote, and what the model did so far."""
    plan, log = snapshot.plan, snapshot.log
    written, asker = namespace_descriptions(plan.catalog, log), judging.known_answers(snapshot)
    if asker is None:
        return written, {}
    tools = [item.tool for item in plan.tools]
    return written, descriptions_of_model(plan.catalog.servers, tools, asker)
