"""The changes between two versions of a catalog, as rows, and the decisions they affect.

Also the versions that should be higher, because what they belong to has changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from toolscope_core.catalog.flaws import MAX_EXCERPT
from toolscope_core.catalog.renamed_tools import renames
from toolscope_core.catalog.scan.hidden import visible
from toolscope_core.catalog.scan.scanner import scan_catalog
from toolscope_core.check.change_kinds import CHANGE_KINDS, Level
from toolscope_core.check.field_changes import FieldChange, field_changes
from toolscope_core.check.policy import Acceptance, Policy, fingerprint_of
from toolscope_core.decisions.forms import id_list
from toolscope_core.model.catalog import Catalog, Problem
from toolscope_core.model.decision import Decision
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import Tool, canonical_json

What = Literal["unread", "removed", "renamed", "changed", "added"]
_NO_POLICY = Policy()
Versions = Mapping[str, str]
"""The version that each file names, by its label; files that name none are left out."""


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that both versions contain, and the fields that differ, in the order of a
    definition.
    """

    old: Tool
    new: Tool
    fields: tuple[FieldChange, ...]

    @property
    def is_renamed(self) -> bool:
        """Whether the name or the server has changed."""
        return (self.old.server, self.old.name) != (self.new.server, self.new.name)


@dataclass(frozen=True, slots=True)
class CatalogDiff:
    """The added, removed and changed tools, each sorted by id (changed tools by their new id).

    ``replaced`` are the ids of removed tools whose calls go to another tool because of an accepted
    merge. ``unread`` are records that could not be compared, because one side could not be read.
    ``bumps`` are versions that are not higher than before although the ``policy`` requires it, each
    with the tool or file that it belongs to.
    """

    added: tuple[Tool, ...]
    removed: tuple[Tool, ...]
    changed: tuple[ToolChange, ...]
    replaced: frozenset[str] = frozenset()
    unread: tuple[Problem, ...] = ()
    bumps: tuple[tuple[str, FieldChange], ...] = ()
    policy: Policy = _NO_POLICY

    @property
    def new_ids(self) -> dict[str, str]:
        """The new ids of renamed tools, keyed by their old ids."""
        return {one.old.id: one.new.id for one in self.changed if one.old.id != one.new.id}

    @property
    def rows(self) -> tuple[DiffRow, ...]:
        """All changes as one flat table: not compared, removed, renamed, changed, added."""
        return tuple(DiffRow(*row, self.policy) for row in self._changes())

    def _changes(self) -> Iterator[tuple[What, str, FieldChange]]:
        for problem in self.unread:
            change = FieldChange("", "changed", None, problem.reason, "not-compared")
            yield "unread", problem.position, change
        for tool in self.removed:
            rule = "tool-merged-away" if tool.id in self.replaced else "tool-removed"
            yield "removed", tool.id, FieldChange("", "removed", tool.name, None, rule)
        for one in sorted(self.changed, key=lambda one: not one.is_renamed):
            for field in one.fields:
                yield "renamed" if one.is_renamed else "changed", one.new.id, field
        for name, version in self.bumps:
            yield "changed", name, version
        for tool in self.added:
            yield "added", tool.id, FieldChange("", "added", None, tool.name, "tool-added")

    @property
    def breaking(self) -> int:
        """The number of changes that break callers, or that may break them because they were not
        compared.
        """
        return sum(bool(row.breaking) for row in self.rows)


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One change to a tool; its field is empty if the whole tool is affected.

    The ``policy`` sets the level.
    """

    kind: What
    tool_id: str
    change: FieldChange
    policy: Policy = _NO_POLICY

    @property
    def fingerprint(self) -> str:
        """A name that identifies this change of the tool, from the old value to the new one."""
        change = self.change
        return fingerprint_of(self.tool_id, change.rule, change.field, change.old, change.new)

    @property
    def accepted(self) -> Acceptance | None:
        return self.policy.accepted.get(self.fingerprint) if self.policy.accepted else None

    @property
    def level(self) -> Level:
        return "info" if self.accepted else self.policy.level(self.change.rule)

    @property
    def breaking(self) -> str:
        """Why callers break; empty if they do not."""
        return CHANGE_KINDS[self.change.rule].effect if self.level == "breaking" else ""

    @property
    def warning(self) -> str:
        """A hint on what to check although no caller breaks; empty if there is nothing to check."""
        return CHANGE_KINDS[self.change.rule].effect if self.level == "careful" else ""


def diff(old: Catalog, new: Catalog, policy: Policy = _NO_POLICY) -> CatalogDiff:
    """The changes from ``old`` to ``new``, judged by the policy; the order of records is ignored.

    The comparison covers id, server, name, description, arguments, result and annotations, and
    fields that are only in the raw record. Local references in schemas are followed.
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
        unread=unread_records(old, new),
        policy=policy,
        added=_sorted([tool for tool in new.tools if id(tool) not in matched_ids]),
        removed=_sorted([tool for tool in old.tools if id(tool) not in matched_ids]),
        changed=tuple(sorted((c for c in changes if c.fields), key=lambda c: c.new.id)),
    )


def unread_records(old: Catalog, new: Catalog) -> tuple[Problem, ...]:
    """The records on either side that could not be read, except for records that both sides
    share.
    """
    sides = [
        {(one.reason, one.raw) for one in side.problems if len(one.raw) < MAX_EXCERPT}
        for side in (old, new)
    ]
    same = sides[0] & sides[1]
    return tuple(
        dict.fromkeys(
            one
            for side in (old, new)
            for one in side.problems
            if (one.reason, one.raw) not in same or len(one.raw) >= MAX_EXCERPT
        )
    )


_EFFECTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def why_look_again(before: Catalog, tool: Tool) -> tuple[str, ...]:
    """Short reasons why somebody should review a changed tool before it is called again.

    The reasons are changes that break callers, other effects, and new *warn* and *block* findings.
    They contain no words from the tool.
    """
    old = before.by_id[tool.id]
    changes = field_changes(replace(old, raw=tool.raw), tool)
    effects = {f"annotations/{one}" for one in _EFFECTS}
    reasons = [
        CHANGE_KINDS[one.rule].effect for one in changes if one.breaking or one.field in effects
    ]
    beside = [tool if one.id == tool.id else one for one in before.tools]
    known = {(one.severity, one.code) for one in before.findings if one.tool_id == tool.id}
    reasons += [
        f"the scan finds {one.code}"
        for one in scan_catalog(beside, before.servers)
        if one.tool_id == tool.id
        and one.severity != "info"
        and (one.severity, one.code) not in known
    ]
    return tuple(dict.fromkeys(reasons))


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One change, as a row of a table.

    ``change`` is unread, removed, renamed, changed or added. ``old`` and ``new`` are values on one
    line. ``breaking`` says why callers break, or is empty. ``warning`` says what else to check.
    ``rule`` is the kind of change, ``fingerprint`` identifies the change, and ``accepted`` says who
    accepted it.
    """

    change: str
    tool: str
    field: str
    old: str
    new: str
    breaking: str
    warning: str = ""
    rule: str = ""
    fingerprint: str = ""
    accepted: str = ""


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text that has changed."""

    tool: str
    field: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """A decision that is suspended because one of its tools has changed.

    ``cluster`` is the stale cluster that waits for a review. It is ``None`` before the analysis,
    and if the tools are no longer similar.
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
    """The changes from version ``number`` to a later one, the worst first.

    ``same`` says that the two versions are equal in every field, so that storing the later one
    changes nothing. ``summary`` has the counts in a sentence.
    """

    number: int
    same: bool
    summary: str
    breaking: int
    rows: tuple[ChangeRow, ...]
    reworded: tuple[TextChange, ...]
    doubts: tuple[Doubt, ...]


def table(changes: CatalogDiff) -> tuple[ChangeRow, ...]:
    """Every change as one row, breaking changes first, otherwise in the order of the diff."""
    rows = map(change_row, changes.rows)
    return tuple(sorted(rows, key=lambda row: not row.breaking))


def change_row(row: DiffRow) -> ChangeRow:
    """A change to a tool as a row of a table."""
    return ChangeRow(
        row.kind,
        one_line(row.tool_id),
        one_line(row.change.field),
        *both_sides(row.change),
        row.breaking,
        row.warning,
        row.change.rule,
        row.fingerprint,
        row.accepted.in_words if row.accepted else "",
    )


def both_sides(change: FieldChange) -> tuple[str, str]:
    """The values before and after, each on one line; a dash for a missing side."""
    return (
        _ABSENT if change.kind == "added" else one_line(change.old),
        _ABSENT if change.kind == "removed" else one_line(change.new),
    )


def change_counts(changes: CatalogDiff) -> str:
    """The counts in words, such as ``2 added, 1 changed; 3 breaking changes in 1 tool``."""
    count = Counter(
        {"removed": len(changes.removed), "added": len(changes.added)}
        | Counter("renamed" if change.is_renamed else "changed" for change in changes.changed)
    )
    order = ("removed", "renamed", "changed", "added")
    parts = [f"{count[what]} {what}" for what in order if count[what]]
    if changes.unread:
        parts.append(f"{quantity(len(changes.unread), 'record')} not compared")
    if not parts:
        return "nothing that a caller sees has changed"
    broken_ids = [row.tool_id for row in changes.rows if row.breaking and row.kind != "unread"]
    breaking = f"{quantity(len(broken_ids), 'breaking change')} in "
    breaking += quantity(len(set(broken_ids)), "tool")
    none = "none of the others breaking" if changes.unread else "none breaking"
    return f"{', '.join(parts)}; {breaking if broken_ids else none}"


def one_line(value: Any) -> str:
    """A JSON value on one short line; hidden characters are made visible."""
    text = value if isinstance(value, str) else canonical_json(value)
    return shortened(visible(" ".join(text.split())), _SHOWN)


def shortened(text: str, most: int) -> str:
    """The text, cut to ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def file_versions(catalog: Catalog) -> Versions:
    return {file.label: file.version for file in catalog.files if file.version}


def with_missing_bumps(
    changes: CatalogDiff, old: Catalog, new: Catalog, before: Versions, now: Versions
) -> CatalogDiff:
    """The changes with the versions that are not higher than before, if the policy requires it.

    A tool with its own version must raise it. For all other tools, it is enough that one of the
    files raises its version.
    """
    ids = _changed_ids(changes)
    own = {tool_id: pair for tool_id in ids if all(pair := _own(tool_id, changes, old, new))}
    bumps = [(tool_id, *pair) for tool_id, pair in own.items()]
    if len(before) == len(now) == 1:
        before = dict(zip(now, before.values(), strict=True))
    shared = sorted(before.keys() & now.keys())
    if ids.keys() - own.keys() and not any(_is_higher(now[one], before[one]) for one in shared):
        bumps += [(label, before[label], now[label]) for label in shared]
    missing = (
        (name, FieldChange("version", "changed", then, today, "missing-version-bump"))
        for name, then, today in bumps
        if not _is_higher(today, then)
    )
    return replace(changes, bumps=tuple(missing))


def _sorted(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    return tuple(sorted(tools, key=lambda tool: tool.id))


_SHOWN = 160


_ABSENT = "–"


def _changed_ids(changes: CatalogDiff) -> dict[str, None]:
    """The ids of the tools that require a higher version, in order."""
    policy = changes.policy
    if policy.version_bump == "none":
        return {}
    rows = (row for row in changes.rows if row.kind != "unread")
    return {
        row.tool_id: None
        for row in rows
        if policy.version_bump == "any" or policy.level(row.change.rule) == "breaking"
    }


def _own(tool_id: str, changes: CatalogDiff, old: Catalog, new: Catalog) -> tuple[str, str]:
    """A tool's own version, before and now; empty without one."""
    old_ids = {now: before for before, now in changes.new_ids.items()}
    sides = (old.by_id.get(old_ids.get(tool_id, tool_id)), new.by_id.get(tool_id))
    then, today = ("" if tool is None else _version(tool) for tool in sides)
    return then, today


def _version(tool: Tool) -> str:
    places = (tool.raw, tool.raw.get("function"), tool.raw.get("_meta"))
    versions = (place.get("version") for place in places if isinstance(place, Mapping))
    return next((one for one in versions if isinstance(one, str) and one), "")


def _is_higher(version: str, before: str) -> bool:
    return _order(version) > _order(before)


def _order(version: str) -> tuple[tuple[int, ...], bool, tuple[tuple[int, str], ...]]:
    """Sort key of semantic versions: numbers by value, candidates before the release.

    Dates and single numbers can be compared too.
    """
    core, _, candidate = version.partition("+")[0].lstrip("vV").partition("-")
    if re.fullmatch(r"\d{4}", core):
        core, candidate = f"{core}.{candidate.replace('-', '.')}", ""  # a date
    numbers = tuple(int(digits[:18]) for digits in re.findall(r"\d+", core))
    while numbers and not numbers[-1]:
        numbers = numbers[:-1]
    parts = tuple(
        (int(part[:18]), "") if part.isdecimal() else (-1, part) for part in candidate.split(".")
    )
    return numbers, not candidate, parts
