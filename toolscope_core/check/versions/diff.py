"""The changes between two versions of a catalog: tools added, removed, renamed, changed.

Tools are matched by id, the rest one to one by likeness, so that a renamed tool is not one lost
and one gained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from toolscope_core.catalog.renamed_tools import renames
from toolscope_core.check.versions.fields import FieldChange, field_changes
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Tool

What = Literal["removed", "renamed", "changed", "added"]


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool of both versions with the fields that differ, in the order of a definition."""

    old: Tool
    new: Tool
    fields: tuple[FieldChange, ...]

    @property
    def renamed(self) -> bool:
        """Whether it is called by another name or on another server now."""
        return (self.old.server, self.old.name) != (self.new.server, self.new.name)


@dataclass(frozen=True, slots=True)
class CatalogDiff:
    """Tools that came, went and changed, each sorted by id (a changed one by its new id)."""

    added: tuple[Tool, ...]
    removed: tuple[Tool, ...]
    changed: tuple[ToolChange, ...]

    @property
    def new_ids(self) -> dict[str, str]:
        """By their earlier ids the ids of the tools that have others now."""
        return {one.old.id: one.new.id for one in self.changed if one.old.id != one.new.id}

    @property
    def rows(self) -> tuple[DiffRow, ...]:
        """Everything as one flat table: removed, renamed, changed, added."""
        gone = (
            DiffRow("removed", t.id, FieldChange("", "removed", t.name, None, "the tool is gone"))
            for t in self.removed
        )
        ranked = sorted(self.changed, key=lambda change: not change.renamed)
        differ = (
            DiffRow("renamed" if change.renamed else "changed", change.new.id, item)
            for change in ranked
            for item in change.fields
        )
        come = (DiffRow("added", t.id, FieldChange("", "added", None, t.name)) for t in self.added)
        return (*gone, *differ, *come)

    @property
    def breaking(self) -> int:
        """The number of changes that break a caller."""
        return sum(bool(row.change.breaking) for row in self.rows)


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One change of one tool; the field of a whole tool is empty."""

    what: What
    tool_id: str
    change: FieldChange


def diff(old: Catalog, new: Catalog) -> CatalogDiff:
    """The changes from ``old`` to ``new``; the order of records plays no part.

    Compared are id, server, name, description, arguments, result and annotations; local
    references in schemas are followed. So are the fields that only the raw record holds.
    """
    before, after = old.by_id, new.by_id
    pairs = [(tool, after[tool.id]) for tool in old.tools if tool.id in after]
    pairs += renames(
        [tool for tool in old.tools if tool.id not in after],
        [tool for tool in new.tools if tool.id not in before],
    )
    matched = {id(tool) for pair in pairs for tool in pair}
    changes = (ToolChange(a, b, field_changes(a, b)) for a, b in pairs)
    return CatalogDiff(
        added=_sorted([tool for tool in new.tools if id(tool) not in matched]),
        removed=_sorted([tool for tool in old.tools if id(tool) not in matched]),
        changed=tuple(sorted((c for c in changes if c.fields), key=lambda c: c.new.id)),
    )


def _sorted(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    return tuple(sorted(tools, key=lambda tool: tool.id))
