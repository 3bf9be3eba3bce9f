"""Finds versions that should be higher, because the tool or file that they belong to has
changed.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from toolscope_core.check.field_changes import FieldChange
from toolscope_core.check.version_changes import CatalogDiff
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import Tool

Versions = Mapping[str, str]
"""The version that each file declares, by the file's label; files without a version are left
out.
"""


def file_versions(catalog: Catalog) -> Versions:
    return {file.label: file.version for file in catalog.files if file.version}


def with_missing_bumps(
    changes: CatalogDiff, old: Catalog, new: Catalog, before: Versions, now: Versions
) -> CatalogDiff:
    """The changes, with the versions that should be higher than before according to the policy.

    A changed tool with its own version must raise that version. For all other tools, it is enough
    if one of the files raises its version.
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


def _changed_ids(changes: CatalogDiff) -> dict[str, None]:
    """The ids of the tools whose changes require a higher version, in order."""
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
    """A tool's own version, before and now; empty if there is none."""
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
    """A sort key for semantic versions: numbers are compared by value; candidates precede the
    release.

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
