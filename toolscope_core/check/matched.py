"""Which tools of a catalog are new, changed or gone, by definition alone."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolscope_core.check.versions.diff import CatalogDiff, diff
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.pair import Pair


@dataclass(frozen=True, slots=True)
class Matched:
    """The ``changes`` of a catalog against an earlier one, without those that only raw records
    hold; ``before`` is by new id the old id of every tool that was there.
    """

    changes: CatalogDiff
    before: Mapping[str, str]

    @property
    def new(self) -> frozenset[str]:
        """Ids of the tools that came or changed."""
        changed = {change.new.id for change in self.changes.changed}
        return frozenset(changed.union(tool.id for tool in self.changes.added))

    def earlier(self, pair: Pair) -> Pair | None:
        """The pair by the ids of before; ``None`` where one of the two was not there."""
        left, right = self.before.get(pair.left), self.before.get(pair.right)
        return None if left is None or right is None else Pair.of(left, right)


def matched(old: Catalog, new: Catalog) -> Matched:
    """The changes from ``old`` to ``new``; the order of records plays no part."""
    changes = diff(_differing(old, new), _differing(new, old))
    fresh = {tool.id for tool in changes.added}
    renamed = {change.new.id: change.old.id for change in changes.changed}
    before = {tool.id: renamed.get(tool.id, tool.id) for tool in new.tools if tool.id not in fresh}
    return Matched(changes, before)


def _differing(one: Catalog, other: Catalog) -> Catalog:
    """The tools of one catalog that the other does not have as they are, bare of their records."""
    prints = {tool.id: tool.fingerprint for tool in other.tools}
    differing = (tool for tool in one.tools if prints.get(tool.id) != tool.fingerprint)
    return Catalog(tuple(replace(tool, raw={}) for tool in differing))
