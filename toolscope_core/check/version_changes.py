"""What changed between two versions of a catalog, as rows, and which decisions it puts in doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from toolscope_core.catalog.renamed_tools import renames
from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.check.field_changes import FieldChange, field_changes
from toolscope_core.decisions.forms import id_list
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool, canonical_json

What = Literal["removed", "renamed", "changed", "added"]


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool of both versions with the fields that differ, in the order of a definition."""

    old: Tool
    new: Tool
    fields: tuple[FieldChange, ...]

    @property
    def is_renamed(self) -> bool:
        """Whether it is called by another name or on another server now."""
        return (self.old.server, self.old.name) != (self.new.server, self.new.name)


@dataclass(frozen=True, slots=True)
class CatalogDiff:
    """Tools that came, went and changed, each sorted by id (a changed one by its new id).
    ``replaced`` are the ids of those that went and that nobody calls any more: another tool takes
    their calls by a merge that was accepted.
    """

    added: tuple[Tool, ...]
    removed: tuple[Tool, ...]
    changed: tuple[ToolChange, ...]
    replaced: frozenset[str] = frozenset()

    @property
    def new_ids(self) -> dict[str, str]:
        """By their earlier ids the ids of the tools that have others now."""
        return {one.old.id: one.new.id for one in self.changed if one.old.id != one.new.id}

    @property
    def rows(self) -> tuple[DiffRow, ...]:
        """Everything as one flat table: removed, renamed, changed, added."""
        removed = (
            DiffRow("removed", t.id, FieldChange("", "removed", t.name, None, self._why_gone(t)))
            for t in self.removed
        )
        in_order = sorted(self.changed, key=lambda change: not change.is_renamed)
        changed = (
            DiffRow("renamed" if change.is_renamed else "changed", change.new.id, item)
            for change in in_order
            for item in change.fields
        )
        added = (DiffRow("added", t.id, FieldChange("", "added", None, t.name)) for t in self.added)
        return (*removed, *changed, *added)

    def _why_gone(self, tool: Tool) -> str:
        return "" if tool.id in self.replaced else "the tool is gone"

    @property
    def breaking(self) -> int:
        """The number of changes that break a caller."""
        return sum(bool(row.change.breaking) for row in self.rows)


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One change of one tool; the field of a whole tool is empty."""

    kind: What
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
    matched_ids = {id(tool) for pair in pairs for tool in pair}
    changes = (ToolChange(a, b, field_changes(a, b)) for a, b in pairs)
    return CatalogDiff(
        added=_sorted([tool for tool in new.tools if id(tool) not in matched_ids]),
        removed=_sorted([tool for tool in old.tools if id(tool) not in matched_ids]),
        changed=tuple(sorted((c for c in changes if c.fields), key=lambda c: c.new.id)),
    )


def _sorted(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    return tuple(sorted(tools, key=lambda tool: tool.id))


_SHOWN = 160
_ABSENT = "–"


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One change in a table; ``change`` is removed, renamed, changed or added, ``old`` and
    ``new`` are values in one line, ``breaking`` says why callers break or is empty, ``warning``
    what else to look at.
    """

    change: str
    tool: str
    field: str
    old: str
    new: str
    breaking: str
    warning: str = ""


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text that reads otherwise now."""

    tool: str
    field: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A decision that is suspended because a tool it names has changed.

    ``cluster`` is the stale cluster that waits for a second look; ``None`` before the analysis,
    and where the tools no longer look alike.
    """

    decision: Decision
    cluster: str | None = None

    @property
    def seq(self) -> int:
        return self.decision.seq

    @property
    def summary(self) -> str:
        return (
            f"{self.decision.action_name} by {self.decision.reviewer}: {id_list(self.decision.ids)}"
        )


@dataclass(frozen=True, slots=True)
class Changes:
    """What a version changes against version ``number``, the worst first.

    ``same`` tells that the two are equal to the last field, so that storing it does nothing.
    ``said`` are the counts in a sentence.
    """

    number: int
    same: bool
    summary: str
    breaking: int
    rows: tuple[ChangeRow, ...]
    reworded: tuple[TextChange, ...]
    doubts: tuple[Doubt, ...]


def table(changes: CatalogDiff) -> tuple[ChangeRow, ...]:
    """Every change in a line, breaking ones first, else in the order of the diff."""
    rows = [change_row(row.kind, row.tool_id, row.change) for row in changes.rows]
    return tuple(sorted(rows, key=lambda row: not row.breaking))


def change_row(what: str, tool_id: str, change: FieldChange) -> ChangeRow:
    """One change of a tool as the row of a table."""
    return ChangeRow(
        what,
        one_line(tool_id),
        one_line(change.field),
        *both_sides(change),
        change.breaking,
        change.warning,
    )


def both_sides(change: FieldChange) -> tuple[str, str]:
    """The values before and after in one line each, a dash on the side where there is none."""
    return (
        _ABSENT if change.kind == "added" else one_line(change.old),
        _ABSENT if change.kind == "removed" else one_line(change.new),
    )


def change_counts(changes: CatalogDiff) -> str:
    """``2 added, 1 changed; 3 breaking changes in 1 tool``."""
    count = Counter(
        {"removed": len(changes.removed), "added": len(changes.added)}
        | Counter("renamed" if change.is_renamed else "changed" for change in changes.changed)
    )
    order = ("removed", "renamed", "changed", "added")
    parts = [f"{count[what]} {what}" for what in order if count[what]]
    if not parts:
        return "nothing that a caller sees has changed"
    broken_ids = {row.tool_id for row in changes.rows if row.change.breaking}
    breaking = f"{quantity(changes.breaking, 'breaking change')} in "
    breaking += quantity(len(broken_ids), "tool")
    return f"{', '.join(parts)}; {breaking if broken_ids else 'none breaking'}"


def one_line(value: Any) -> str:
    """A JSON value in one short line; hidden characters are written visibly."""
    text = value if isinstance(value, str) else canonical_json(value)
    return shortened(visible(" ".join(text.split())), _SHOWN)


def shortened(text: str, most: int) -> str:
    """The text, cut to so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
