"""How the clusters differ between two thresholds."""

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
    appeared, grown = _regrouped(after, before)
    vanished, split = _regrouped(before, after)
    return ClusterChanges(appeared, grown, split, vanished)


def _regrouped(
    clusters: Sequence[Members], others: Sequence[Members]
) -> tuple[tuple[Members, ...], tuple[Regrouped, ...]]:
    """The clusters of which no two tools are together in the others, and those of some parts."""
    traced = sorted(_traced(clusters, others), key=lambda one: _largest(one[0]))
    loose = [members for members, parts in traced if all(len(part) == 1 for part in parts)]
    rest = [Regrouped(members, parts) for members, parts in traced if len(parts) > 1]
    return tuple(loose), tuple(one for one in rest if one.members not in loose)


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
