"""How the clusters differ between two thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.model.tool import sorted_ids

Members = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Regrouped:
    """A cluster of ``members`` (ids, sorted) that gained or lost: ``parts`` are what came
    together, or what it fell into, single tools included.
    """

    members: Members
    parts: tuple[Members, ...]


@dataclass(frozen=True, slots=True)
class ClusterChanges:
    """How clusters differ from those before: new ones, ones that took more tools in, ones that
    fell apart, ones of which no two tools are left together. The largest first, then by ids.
    """

    appeared: tuple[Members, ...] = ()
    grown: tuple[Regrouped, ...] = ()
    split: tuple[Regrouped, ...] = ()
    vanished: tuple[Members, ...] = ()

    def __len__(self) -> int:
        return len(self.appeared) + len(self.grown) + len(self.split) + len(self.vanished)


def changes(before: Sequence[Members], after: Sequence[Members]) -> ClusterChanges:
    """What became of the clusters ``before``. A cluster may have both fallen apart and grown."""
    same = set(before) & set(after)
    before, after = ([one for one in side if one not in same] for side in (before, after))
    appeared, grown = [], []
    for members, parts in _traced(after, before):
        if all(len(part) == 1 for part in parts):
            appeared.append(members)
        elif len(parts) > 1:
            grown.append(Regrouped(members, parts))
    vanished, split = [], []
    for members, parts in _traced(before, after):
        if all(len(part) == 1 for part in parts):
            vanished.append(members)
        elif len(parts) > 1:
            split.append(Regrouped(members, parts))
    return ClusterChanges(
        appeared=tuple(sorted(appeared, key=_largest)),
        grown=tuple(sorted(grown, key=lambda item: _largest(item.members))),
        split=tuple(sorted(split, key=lambda item: _largest(item.members))),
        vanished=tuple(sorted(vanished, key=_largest)),
    )


def _traced(
    clusters: Sequence[Members], others: Sequence[Members]
) -> list[tuple[Members, tuple[Members, ...]]]:
    """Each cluster with its members as the others group them, the largest part first."""
    home = {tool: place for place, members in enumerate(others) for tool in members}
    mapped = []
    for members in clusters:
        parts: dict[int | str, list[str]] = {}
        for tool in members:
            parts.setdefault(home.get(tool, tool), []).append(tool)
        ordered = sorted((sorted_ids(part) for part in parts.values()), key=_largest)
        mapped.append((members, tuple(ordered)))
    return mapped


def _largest(members: Members) -> tuple[int, Members]:
    return -len(members), members
