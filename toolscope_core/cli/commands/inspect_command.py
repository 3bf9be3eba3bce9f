"""What catalog files hold, and what changed between two versions; no model is loaded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.catalog import load_paths, read_isolated
from toolscope_core.catalog.tokens import ESTIMATE, tokenizer, tool_tokens
from toolscope_core.check.versions.diff import CatalogDiff, diff
from toolscope_core.model.catalog import Catalog, Finding, Severity
from toolscope_core.model.tool import JsonObject

SEVERITIES: tuple[Severity, ...] = ("block", "warn", "info")


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a catalog holds, with its tokens by server name and in all; ``counted`` says whether
    they are estimates.
    """

    catalog: Catalog
    tokens: int
    tokens_by_server: dict[str, int]
    counted: str = ESTIMATE.label

    def as_json(self) -> JsonObject:
        counts = Counter(finding.severity for finding in self.catalog.findings)
        return {
            "format": " and ".join(self.catalog.read_from),
            "tools": len(self.catalog.tools),
            "servers": len(self.catalog.servers),
            "records": len(self.catalog.tools) + len(self.catalog.problems),
            "problems": [
                {"position": p.position, "reason": p.reason} for p in self.catalog.problems
            ],
            "findings": {
                "counts": {severity: counts[severity] for severity in SEVERITIES},
                "items": [
                    {
                        "tool": finding.tool_id,
                        "severity": finding.severity,
                        "code": finding.code,
                        "field": finding.field,
                        "message": finding.message,
                        "excerpt": finding.excerpt,
                    }
                    for finding in self.catalog.findings
                ],
            },
            "tokens": {
                "estimate": self.counted == ESTIMATE.label,
                "counted": self.counted,
                "total": self.tokens,
                "by_server": dict(sorted(self.tokens_by_server.items())),
            },
            "version": self.catalog.version,
        }


def why_failing(findings: Sequence[Finding], least: Severity) -> str:
    """How many findings are of that severity or worse and which is the first; empty if none."""
    bad = SEVERITIES[: SEVERITIES.index(least) + 1]
    failing = [item for item in findings if item.severity in bad]
    if not failing:
        return ""
    counts = Counter(item.severity for item in failing)
    told = ", ".join(f"{counts[severity]} {severity}" for severity in bad if counts[severity])
    worst = min(failing, key=lambda item: SEVERITIES.index(item.severity))
    return f"found {told}; the first: {worst.tool_id}, {worst.field}: {worst.message}"


def inspect_files(paths: Sequence[Path], forced: str | None = None) -> Inspection:
    """What the catalogs hold, without any model."""
    catalog = read_isolated(load_paths(paths), forced)
    by_server: Counter[str] = Counter()
    for tool in catalog.tools:
        by_server[tool.server] += tool_tokens(tool)
    return Inspection(catalog, sum(by_server.values()), dict(by_server), tokenizer().label)


def diff_files(old: Path, new: Path) -> CatalogDiff:
    """What changed from one catalog file or folder to another, without any model."""
    return diff(read_isolated(load_paths([old])), read_isolated(load_paths([new])))


def diff_json(changes: CatalogDiff) -> JsonObject:
    """A diff as JSON values; ``old`` and ``new`` are left out on a side that has none."""
    return {
        "breaking": changes.breaking,
        "removed": [tool.id for tool in changes.removed],
        "renamed": [
            {"from": change.old.id, "to": change.new.id}
            for change in changes.changed
            if change.renamed
        ],
        "added": [tool.id for tool in changes.added],
        "changed": [
            {
                "tool": change.new.id,
                "field": item.field,
                "kind": item.kind,
                **({} if item.kind == "added" else {"old": item.old}),
                **({} if item.kind == "removed" else {"new": item.new}),
                "breaking": item.breaking,
            }
            for change in changes.changed
            for item in change.fields
        ],
    }
