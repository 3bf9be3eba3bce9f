"""What the command line does with files: merge, judge, inspect, diff, relabel.

Each function reads, calls the core and writes; the returned report holds what to print.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core.backends import Embedder, Progress, silent
from toolscope_core.bundle import bundle_files, verdict_row
from toolscope_core.cache import VectorCache
from toolscope_core.catalog import load_paths, read_isolated
from toolscope_core.catalog.cleaning import hidden_in
from toolscope_core.catalog.scan import scan_catalog
from toolscope_core.catalog.tokens import ESTIMATE, tokenizer, tool_tokens
from toolscope_core.commands.model_options import (
    AskRequest,
    bands_of,
    estimates_of,
    grade_rows,
    grades_of,
    spent_on,
    with_opinions,
)
from toolscope_core.config import AnalysisConfig, PlanConfig, Settings
from toolscope_core.datamodel import (
    Catalog,
    Finding,
    JsonObject,
    MergePlan,
    Pair,
    Severity,
)
from toolscope_core.decision_log import owners
from toolscope_core.embedders import embedder_of
from toolscope_core.errors import CatalogError, DecisionError
from toolscope_core.folders import write_folder
from toolscope_core.imported_decisions import count_of_others, read_decisions
from toolscope_core.json_lines import read_rows, write_rows
from toolscope_core.merging.calls import RelabelledQuery, relabel_query
from toolscope_core.opinions import Spent
from toolscope_core.outgoing import with_fixes
from toolscope_core.pipeline import Analysis, analyse, plan_merge, with_owners
from toolscope_core.relabelling import read_relabelling
from toolscope_core.versions.diff import CatalogDiff, diff
from toolscope_core.views.estimates import Estimates

SEVERITIES: tuple[Severity, ...] = ("block", "warn", "info")


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did: the plan, the tokens before and after (``counted`` says whether they are
    estimates), where it was put, in how many files the toolset is, and what a model took; of the
    decisions given, how many are of this catalog and how many name tools that it does not have.
    ``hidden`` are the hidden characters in what was written; ``failing`` says why a check that was
    asked for fails, and is empty where none does.
    """

    plan: MergePlan
    tokens_before: int
    tokens_after: int
    counted: str
    out: Path
    toolsets: int = 1
    spent: Spent | None = None
    decisions: int = 0
    decisions_of_others: int = 0
    hidden: tuple[Finding, ...] = ()
    failing: str = ""


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
            "format": self.catalog.format,
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


@dataclass(frozen=True, slots=True)
class RelabelReport:
    """What relabelling did to each query, in order."""

    queries: tuple[RelabelledQuery, ...]

    @property
    def changed(self) -> int:
        return sum(query.changed for query in self.queries)

    @property
    def shrunk(self) -> tuple[RelabelledQuery, ...]:
        return tuple(query for query in self.queries if query.shrunk)

    @property
    def emptied(self) -> tuple[RelabelledQuery, ...]:
        return tuple(query for query in self.queries if query.emptied)

    @property
    def removed(self) -> tuple[str, ...]:
        """Ids of the tools that were asked for and left out of the toolset, sorted."""
        return tuple(sorted({name for query in self.queries for name in query.removed}))

    @property
    def lost(self) -> tuple[str, ...]:
        return tuple(name for query in self.queries for name in query.lost)

    @property
    def unknown(self) -> tuple[str, ...]:
        return tuple(sorted({name for query in self.queries for name in query.unknown}))

    @property
    def unread(self) -> int:
        """How many calls do not say which tool they call."""
        return sum(query.unread for query in self.queries)


@dataclass(frozen=True, slots=True)
class MergeRequest:
    """The options of one merge; ``ask`` where a model is the judge, ``fail_on`` the least severity
    of a finding in the outgoing tools that is told as failing.
    """

    out: Path
    analysis: AnalysisConfig = field(default_factory=AnalysisConfig)
    plan: PlanConfig = field(default_factory=lambda: PlanConfig(accept="auto"))
    shape: str | None = None
    fix: bool = False
    fail_on: Severity | None = None
    decisions: Path | None = None
    embedder: str | None = None
    embeddings_model: str | None = None
    base_url: str | None = None
    ask: AskRequest | None = None


def merge_files(
    paths: Sequence[Path], request: MergeRequest, settings: Settings, progress: Progress = silent
) -> MergeReport:
    """Merge the catalogs into one bundle folder; none is written while questions to a model are
    open. Raises ``ToolScopeError``s only: ``DecisionError`` where none of the decisions is of these
    catalogs.
    """
    catalog = read_isolated(load_paths(paths))
    log = read_decisions(catalog, request.decisions) if request.decisions else ()
    of_others = count_of_others(catalog, log)
    if of_others and of_others == sum(bool(one.members) for one in log):
        raise DecisionError(
            f"no decision in {request.decisions} names a tool of this catalog (read: {len(log)}); "
            "give the decisions.jsonl of the catalog that is merged"
        )
    remote = (request.embeddings_model, request.base_url)
    embedder = embedder_of(settings, request.embedder, *remote)
    analysis = _analysis(catalog, request.analysis, settings, embedder, progress)
    analysis = with_owners(analysis, owners(catalog, log))
    if request.ask:
        analysis = with_opinions(analysis, log, request.ask, settings, progress)
    plan = plan_merge(analysis, log, request.plan)
    files = bundle_files(analysis, plan, log, request.plan, request.shape, request.fix)
    write_folder(files, request.out)
    manifest = json.loads(files["manifest.json"])
    fixed = with_fixes(plan, request.shape or catalog.format) if request.fix else plan
    leaving = [item.tool for item in fixed.tools]
    findings = scan_catalog(leaving) if request.fail_on else ()
    return MergeReport(
        plan=plan,
        tokens_before=manifest["tokens"]["before"],
        tokens_after=manifest["tokens"]["after"],
        counted=manifest["tokens"]["counted"],
        out=request.out,
        toolsets=len(manifest["toolsets"]),
        spent=spent_on(analysis.opinions),
        decisions=len(log) - of_others,
        decisions_of_others=of_others,
        hidden=hidden_in(leaving),
        failing=why_failing(findings, request.fail_on) if request.fail_on else "",
    )


def quality_files(
    paths: Sequence[Path],
    out: Path,
    ask: AskRequest,
    settings: Settings,
    progress: Progress = silent,
) -> tuple[Counter[str], int, Spent | None]:
    """The documentation quality of every tool as JSONL; how many are in each band, of how many
    tools, and what it took. Raises as ``with_opinions`` does, having written nothing.
    """
    catalog = read_isolated(load_paths(paths))
    opinions = grades_of(catalog, ask, settings, progress)
    write_rows(out, grade_rows(catalog, opinions))
    return bands_of(opinions), len(catalog.tools), spent_on(opinions)


def estimate_files(
    paths: Sequence[Path],
    ask: AskRequest,
    config: AnalysisConfig,
    settings: Settings,
    progress: Progress = silent,
) -> Mapping[str, Estimates]:
    """What asking a model about the catalogs would take, by kind; sends nothing."""
    catalog = read_isolated(load_paths(paths))
    analysis = _analysis(catalog, config, settings, embedder_of(settings), progress)
    return estimates_of(analysis, ask, settings)


def judge_files(
    paths: Sequence[Path], pairs: Path, out: Path, settings: Settings, progress: Progress = silent
) -> Counter[str]:
    """Verdicts on the pairs of a JSONL file, in its order; returns how many of each.

    Raises ``CatalogError`` for a row without two known ids.
    """
    catalog = read_isolated(load_paths(paths))
    tools = catalog.by_id
    rows = [_asked(number, row, tools.keys()) for number, row in read_rows(pairs)]
    analysis = _analysis(catalog, AnalysisConfig(), settings, embedder_of(settings), progress)
    verdicts = analysis.verdicts([Pair.of(left, right) for left, right in rows])
    answers = [verdict_row(*ids, verdict) for ids, verdict in zip(rows, verdicts, strict=True)]
    write_rows(out, answers)
    return Counter(verdict.outcome for verdict in verdicts)


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


def relabel_file(queries: Path, bundle: Path, out: Path) -> RelabelReport:
    """An evaluation set after φ and α of a bundle: as many rows, in the same order."""
    relabelling = read_relabelling(bundle)
    rows = [
        relabel_query(row, relabelling.phi, relabelling.arguments, relabelling.names)
        for _, row in read_rows(queries)
    ]
    write_rows(out, [query.row for query in rows])
    return RelabelReport(tuple(rows))


def _analysis(
    catalog: Catalog,
    config: AnalysisConfig,
    settings: Settings,
    embedder: Embedder,
    progress: Progress,
) -> Analysis:
    return analyse(catalog, config, embedder, VectorCache(settings.cache_dir), progress)


def _asked(number: int, row: JsonObject, ids: Iterable[str]) -> tuple[str, str]:
    left, right = row.get("left"), row.get("right")
    for side, tool_id in (("left", left), ("right", right)):
        if not isinstance(tool_id, str) or tool_id not in ids:
            raise CatalogError(
                f"line {number}: {side} is {tool_id!r}, which is no tool id of the catalog; "
                "`inspect --json` and the bundle's relabel.json list the ids"
            )
    return str(left), str(right)
