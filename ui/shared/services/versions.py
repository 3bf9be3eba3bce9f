"""The versions of a catalog on the screen: what has changed, and which decisions that affects."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.check import version_changes
from toolscope_core.check.field_changes import FieldChange, field_changes
from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.decision_lines import under_new_ids
from toolscope_core.decisions.forms import LINKING
from toolscope_core.decisions.log import active
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import JobError
from toolscope_core.model.tool import Tool
from toolscope_core.store.catalog_rows import CatalogRecord
from ui.shared.kept import kept, kept_under
from ui.shared.snapshot import Snapshot

_NOTES = ("flag", "note")


@dataclass(frozen=True, slots=True)
class StandingDecisions:
    """The active decisions on the tools of a version, oldest first.

    Notes and flags are left out, and so are decisions that were made again after their tools
    changed. ``hold`` still apply. ``wait`` are suspended because one of their tools has changed.
    ``gone`` have no tools left or, if they join or separate tools, at most one.
    """

    hold: tuple[Decision, ...]
    wait: tuple[Decision, ...]
    gone: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class ToolSince:
    """A tool of a decision, and what has changed in the tool since then.

    ``rows`` is ``None`` if the earlier version of the tool is unknown.
    """

    tool_id: str
    rows: tuple[version_changes.ChangeRow, ...] | None
    reworded: tuple[version_changes.TextChange, ...] = ()


def since(snapshot: Snapshot, earlier: CatalogRecord) -> version_changes.Changes:
    """What has changed from an earlier version to this one, and the decisions that are suspended
    now.
    """
    suspended = carried_decisions(snapshot).wait
    doubts = (version_changes.Doubt(one, _suspended_cluster(snapshot, one)) for one in suspended)
    return _changes(snapshot, earlier, snapshot.catalog, doubts)


def ahead(snapshot: Snapshot, name: str, catalog: Catalog) -> version_changes.Changes | None:
    """What would change if ``catalog`` were stored under ``name``; ``None`` for a new name.

    The decisions in it are the active ones that would be suspended.
    """
    newest = snapshot.newest.get(name.strip())
    if newest is None:
        return None
    before = {one.seq for one in carried_decisions(snapshot.work.snapshot(newest.id)).wait}
    suspended = _standing_then(snapshot, newest, catalog).wait
    doubts = (version_changes.Doubt(one) for one in suspended if one.seq not in before)
    return _changes(snapshot, newest, catalog, doubts)


def carried_decisions(snapshot: Snapshot) -> StandingDecisions:
    """Which active decisions apply to this version, are suspended in it, or have
    lost their tools.
    """
    return standing_decisions(snapshot.catalog, snapshot.log)


def standing_ahead(snapshot: Snapshot, name: str, catalog: Catalog) -> StandingDecisions | None:
    """The same as ``carried_decisions``, if ``catalog`` were stored; ``None`` for a new name."""
    newest = snapshot.newest.get(name.strip())
    return None if newest is None else _standing_then(snapshot, newest, catalog)


def _standing_then(
    snapshot: Snapshot, newest: CatalogRecord, catalog: Catalog
) -> StandingDecisions:
    """The same as ``carried_decisions``, if ``catalog`` came after ``newest``."""
    then = snapshot.work.snapshot(newest.id)
    renamed = _diff(newest.id, then.catalog, catalog).new_ids
    log = [under_new_ids(one, renamed) for one in then.log]
    return standing_decisions(catalog, log)


def since_decision(snapshot: Snapshot, decision: Decision) -> tuple[ToolSince, ...]:
    """The tools of a decision that have changed since the decision was made, with the changes."""
    catalog = snapshot.catalog
    return tuple(
        tool_since(_as_it_was(snapshot, member), catalog.by_id[tool_id])
        for tool_id, member in changed_members(catalog, decision)
    )


def waiting_on(snapshot: Snapshot, cluster: Cluster) -> tuple[Decision, ...]:
    """The suspended decisions behind a stale cluster. Each of them names two or more members of the
    cluster.
    """
    members, suspended = set(cluster.members), carried_decisions(snapshot).wait
    return tuple(one for one in suspended if len(members.intersection(one.ids)) > 1)


def _as_it_was(snapshot: Snapshot, fingerprint: str) -> Tool | None:
    """The tool with this fingerprint in an earlier version, if there is one."""
    earlier = (snapshot.work.catalogs.open(version.id) for version in snapshot.earlier)
    tools = (_by_fingerprint(catalog).get(fingerprint) for catalog in earlier)
    return next(filter(None, tools), None)


@kept()
def _by_fingerprint(catalog: Catalog) -> dict[str, Tool]:
    return {tool.fingerprint: tool for tool in catalog.tools}


def _suspended_cluster(snapshot: Snapshot, decision: Decision) -> str | None:
    """The id of the stale cluster that has most of the decision's tools."""
    try:
        clusters = snapshot.plan.clusters
    except JobError:
        return None
    common = {
        cluster.id: len(set(decision.ids) & set(cluster.members))
        for cluster in clusters
        if cluster.state == "stale"
    }
    return max((i for i in common if common[i]), key=lambda i: (common[i], i), default=None)


def _changes(
    snapshot: Snapshot,
    earlier: CatalogRecord,
    new: Catalog,
    doubts: Iterable[version_changes.Doubt],
) -> version_changes.Changes:
    old = snapshot.work.catalogs.open(earlier.id)
    changes = _diff(earlier.id, old, new)
    return version_changes.Changes(
        number=earlier.number,
        same=old == new,
        summary=version_changes.change_counts(changes),
        breaking=changes.breaking,
        rows=version_changes.table(changes),
        reworded=tuple(_reworded(changes)),
        doubts=tuple(doubts),
    )


def _diff(old_id: int, old: Catalog, new: Catalog) -> version_changes.CatalogDiff:
    return kept_under(new, "diff", old_id, lambda: version_changes.diff(old, new))


def standing_decisions(catalog: Catalog, log: Sequence[Decision]) -> StandingDecisions:
    """Which active decisions in ``log`` apply to ``catalog``, are suspended, or have lost their
    tools.
    """
    suspended = suspended_decisions(catalog, log)
    prints = {tool.fingerprint for tool in catalog.tools}
    in_force = [one for one in active(log) if one.action not in _NOTES]
    hold, wait, gone = list[Decision](), list[Decision](), list[Decision]()
    for place, one in enumerate(in_force):
        if one.seq in suspended:
            if not _is_made_again(catalog, one, in_force[place + 1 :]):
                wait.append(one)
        elif one.fingerprints and len(prints & set(one.fingerprints)) < 1 + (one.action in LINKING):
            gone.append(one)
        else:
            hold.append(one)
    return StandingDecisions(tuple(hold), tuple(wait), tuple(gone))


def changed_members(catalog: Catalog, decision: Decision) -> tuple[tuple[str, str], ...]:
    """The id and the earlier fingerprint of each member that has changed, in order."""
    tools = catalog.by_id
    return tuple(
        (tool_id, member)
        for tool_id, member in zip(decision.ids, decision.fingerprints, strict=True)
        if tool_id in tools and tools[tool_id].fingerprint != member
    )


def tool_since(before: Tool | None, current: Tool) -> ToolSince:
    """What has changed in a tool since ``before``. If that is ``None``, the earlier version is
    unknown.
    """
    if before is None:
        return ToolSince(current.id, None)
    changes = field_changes(before, current)
    rows = (
        version_changes.change_row(version_changes.DiffRow("changed", current.id, change))
        for change in changes
    )
    return ToolSince(current.id, tuple(rows), tuple(reworded(current.id, changes)))


def reworded(tool_id: str, changes: Iterable[FieldChange]) -> Iterable[version_changes.TextChange]:
    """The descriptions that have changed, among the changes."""
    for change in changes:
        is_text = isinstance(change.old, str) and isinstance(change.new, str)
        if change.kind == "changed" and is_text and change.field.endswith("description"):
            yield version_changes.TextChange(
                tool_id, change.field, visible(change.old), visible(change.new)
            )


def _reworded(changes: version_changes.CatalogDiff) -> Iterator[version_changes.TextChange]:
    for change in changes.changed:
        yield from reworded(change.new.id, change.fields)


def _is_made_again(catalog: Catalog, decision: Decision, later: Sequence[Decision]) -> bool:
    """Whether ``later`` decisions repeat this decision on its tools.

    If the decision links tools, they must cover all but one of these tools. Otherwise, they must
    cover each tool that has changed.
    """
    links = decision.action in LINKING
    kind = LINKING if links else (decision.action,)
    joined = {tool_id for one in later if one.action in kind for tool_id in one.ids}
    members = decision.ids if links else [one for one, _ in changed_members(catalog, decision)]
    remaining = [one for one in members if one in catalog.by_id and one not in joined]
    return len(remaining) <= int(links)
