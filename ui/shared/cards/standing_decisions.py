"""Decisions on a version of a catalog: those that hold, those that wait, and what changed since."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.check.version_changes import ChangeRow, Reworded, change_row
from toolscope_core.check.versions.fields import FieldChange, field_changes
from toolscope_core.decisions.actions import LINKING
from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.log import active
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import Tool
from ui.shared.cards.queue import waits

_NOTES = ("flag", "note")


@dataclass(frozen=True, slots=True)
class StandingDecisions:
    """The decisions in force on the tools of a version, oldest first; notes and flags left out, and
    those that were made again on tools that had changed.

    ``wait`` are suspended, as a tool that they name has changed; ``gone`` name tools of which none
    is left, or one alone where they put tools together or keep them apart.
    """

    hold: tuple[Decision, ...]
    wait: tuple[Decision, ...]
    gone: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class ToolSince:
    """A tool that a decision names, and what changed in it since; ``rows`` are ``None`` where it is
    not known how it was.
    """

    tool_id: str
    rows: tuple[ChangeRow, ...] | None
    reworded: tuple[Reworded, ...] = ()


def standing_decisions(catalog: Catalog, log: Sequence[Decision]) -> StandingDecisions:
    """What becomes of the decisions in force on ``catalog``."""
    suspended = suspended_decisions(catalog, log)
    prints = {tool.fingerprint for tool in catalog.tools}
    in_force = [one for one in active(log) if one.action not in _NOTES]
    hold, wait, gone = list[Decision](), list[Decision](), list[Decision]()
    for place, one in enumerate(in_force):
        if one.seq in suspended:
            if not _is_made_again(catalog, one, in_force[place + 1 :]):
                wait.append(one)
        elif one.members and len(prints & set(one.members)) < (2 if one.action in LINKING else 1):
            gone.append(one)
        else:
            hold.append(one)
    return StandingDecisions(tuple(hold), tuple(wait), tuple(gone))


def _is_made_again(catalog: Catalog, decision: Decision, later: Sequence[Decision]) -> bool:
    """Whether its tools were decided on again in the same respect: of those that it links all but
    one, else each that has changed.
    """
    links = decision.action in LINKING
    kind = LINKING if links else (decision.action,)
    again = {tool_id for one in later if one.action in kind for tool_id in one.ids}
    named = decision.ids if links else [one for one, _ in changed_members(catalog, decision)]
    left = [one for one in named if one in catalog.by_id and one not in again]
    return len(left) <= int(links)


def changed_members(catalog: Catalog, decision: Decision) -> tuple[tuple[str, str], ...]:
    """Id and earlier fingerprint of the members that are other tools now, in their order."""
    tools = catalog.by_id
    return tuple(
        (tool_id, member)
        for tool_id, member in zip(decision.ids, decision.members, strict=True)
        if tool_id in tools and tools[tool_id].fingerprint != member
    )


def tool_since(before: Tool | None, now: Tool) -> ToolSince:
    """What changed in a tool since it was ``before``; ``None`` where that is not known."""
    if before is None:
        return ToolSince(now.id, None)
    changes = field_changes(before, now)
    rows = (change_row("changed", now.id, change) for change in changes)
    return ToolSince(now.id, tuple(rows), tuple(reworded(now.id, changes)))


def reworded(tool_id: str, changes: Iterable[FieldChange]) -> Iterable[Reworded]:
    """The descriptions among the changes that read otherwise now."""
    for change in changes:
        is_text = isinstance(change.old, str) and isinstance(change.new, str)
        if change.kind == "changed" and is_text and change.field.endswith("description"):
            yield Reworded(tool_id, change.field, visible(change.old), visible(change.new))


def new_proposals(
    clusters: Iterable[Cluster], catalog: Catalog, earlier: Catalog
) -> tuple[Cluster, ...]:
    """The clusters that wait for a first decision and hold a tool, or a newcomer, that ``earlier``
    did not have as it is now.
    """
    prints = {tool.fingerprint for tool in earlier.tools}
    fresh = {tool.id for tool in catalog.tools if tool.fingerprint not in prints}
    return tuple(
        one
        for one in clusters
        if waits(one)
        and one.state != "stale"
        and not fresh.isdisjoint(one.newcomers if one.state == "accepted" else one.members)
    )


def of_cluster(waiting: Iterable[Decision], members: Collection[str]) -> tuple[Decision, ...]:
    """Those of the decisions that name two of a cluster's members or more."""
    return tuple(one for one in waiting if len(set(one.ids) & set(members)) > 1)
