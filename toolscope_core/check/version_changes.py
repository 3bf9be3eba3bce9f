"""What changed between two versions of a catalog, as rows, and which decisions it puts in doubt."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.check.versions.diff import CatalogDiff
from toolscope_core.check.versions.fields import FieldChange
from toolscope_core.decisions.forms import id_list
from toolscope_core.model.decision import Decision
from toolscope_core.model.tool import canonical_json

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
class Reworded:
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
        return f"{self.decision.action} by {self.decision.reviewer}: {id_list(self.decision.ids)}"


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
    reworded: tuple[Reworded, ...]
    doubts: tuple[Doubt, ...]


def table(changes: CatalogDiff) -> tuple[ChangeRow, ...]:
    """Every change in a line, breaking ones first, else in the order of the diff."""
    rows = [change_row(row.what, row.tool_id, row.change) for row in changes.rows]
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


def counted(changes: CatalogDiff) -> str:
    """``2 added, 1 changed; 1 breaking``, of tools and of breaking changes."""
    count = Counter(
        {"removed": len(changes.removed), "added": len(changes.added)}
        | Counter("renamed" if change.renamed else "changed" for change in changes.changed)
    )
    order = ("removed", "renamed", "changed", "added")
    parts = [f"{count[what]} {what}" for what in order if count[what]]
    if not parts:
        return "nothing that a caller sees has changed"
    return f"{', '.join(parts)}; {changes.breaking or 'none'} breaking"


def one_line(value: Any) -> str:
    """A JSON value in one short line; hidden characters are written visibly."""
    text = value if isinstance(value, str) else canonical_json(value)
    return shortened(visible(" ".join(text.split())), _SHOWN)


def shortened(text: str, most: int) -> str:
    """The text, cut to so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
