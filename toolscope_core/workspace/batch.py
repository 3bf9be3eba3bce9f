"""What the command line does with files: merge, judge, inspect, diff, relabel.

Each function reads, calls the core and writes; the returned report holds what to print.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolscope_core.backends import Embedder, Progress, silent
from toolscope_core.bundle import bundle_files, read_relabelling, verdict_row, write_folder
from toolscope_core.cache import VectorCache
from toolscope_core.catalog import load_paths, read_catalog
from toolscope_core.catalog.tokens import ESTIMATE, tokenizer, tool_tokens
from toolscope_core.config import AnalysisConfig, PlanConfig, Settings
from toolscope_core.datamodel import (
    Catalog,
    Decision,
    Document,
    JsonObject,
    MergePlan,
    Pair,
    Severity,
    canonical_json,
)
from toolscope_core.decisions import check_form, resolve
from toolscope_core.errors import CatalogError, ConfigError, DecisionError, ExportError
from toolscope_core.merging.calls import RelabelledQuery, relabel_query
from toolscope_core.merging.validity import document_problems
from toolscope_core.opinions import Spent
from toolscope_core.pipeline import Analysis, analyse, plan_merge
from toolscope_core.review import admit, recorded, suspended
from toolscope_core.versions.diff import CatalogDiff, diff
from toolscope_core.workspace.batch_asking import (
    AskRequest,
    bands_of,
    estimates_of,
    grade_rows,
    grades_of,
    spent_on,
    with_opinions,
)
from toolscope_core.workspace.embedders import embedder_of
from toolscope_core.workspace.estimates import Estimates

_DOCUMENT = ("name", "description", "schema")

SEVERITIES: tuple[Severity, ...] = ("block", "warn", "info")


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What a merge did: the plan, the tokens before and after (``counted`` says whether they are
    estimates), where it was put, in how many files the toolset is, and what a model took; of the
    decisions given, how many are of this catalog and how many name tools that it does not have.
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


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a catalog holds, with its tokens by server name and in all; ``counted`` says whether
    they are estimates.
    """

    catalog: Catalog
    tokens: int
    tokens_by_server: dict[str, int]
    counted: str = ESTIMATE.label

    def why_failing(self, least: Severity) -> str:
        """How many findings are of that severity or worse and which is the first; empty if none."""
        bad = SEVERITIES[: SEVERITIES.index(least) + 1]
        found = [item for item in self.catalog.findings if item.severity in bad]
        if not found:
            return ""
        counts = Counter(item.severity for item in found)
        told = ", ".join(f"{counts[severity]} {severity}" for severity in bad if counts[severity])
        worst = min(found, key=lambda item: SEVERITIES.index(item.severity))
        return f"found {told}; the first: {worst.tool_id}, {worst.field}: {worst.message}"

    def as_json(self) -> JsonObject:
        found = Counter(finding.severity for finding in self.catalog.findings)
        return {
            "format": self.catalog.format,
            "tools": len(self.catalog.tools),
            "servers": len(self.catalog.servers),
            "records": len(self.catalog.tools) + len(self.catalog.problems),
            "problems": [
                {"position": p.position, "reason": p.reason} for p in self.catalog.problems
            ],
            "findings": {
                "counts": {severity: found[severity] for severity in SEVERITIES},
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
    """The options of one merge; ``ask`` where a model is the judge."""

    out: Path
    analysis: AnalysisConfig = field(default_factory=AnalysisConfig)
    plan: PlanConfig = field(default_factory=lambda: PlanConfig(accept="auto"))
    shape: str | None = None
    fix: bool = False
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
    catalog = read_catalog(load_paths(paths))
    log = read_decisions(catalog, request.decisions) if request.decisions else ()
    of_others = _of_others(catalog, log)
    if of_others and of_others == sum(bool(one.members) for one in log):
        raise DecisionError(
            f"no decision in {request.decisions} names a tool of this catalog (read: {len(log)}); "
            "give the decisions.jsonl of the catalog that is merged"
        )
    remote = (request.embeddings_model, request.base_url)
    embedder = embedder_of(settings, request.embedder, *remote)
    analysis = _analysis(catalog, request.analysis, settings, embedder, progress)
    if request.ask:
        analysis = with_opinions(analysis, log, request.ask, settings, progress)
    plan = plan_merge(analysis, log, request.plan)
    files = bundle_files(analysis, plan, log, request.plan, request.shape, request.fix)
    write_folder(files, request.out)
    told = json.loads(files["manifest.json"])
    return MergeReport(
        plan=plan,
        tokens_before=told["tokens"]["before"],
        tokens_after=told["tokens"]["after"],
        counted=told["tokens"]["counted"],
        out=request.out,
        toolsets=len(told["toolsets"]),
        spent=spent_on(analysis.opinions),
        decisions=len(log) - of_others,
        decisions_of_others=of_others,
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
    catalog = read_catalog(load_paths(paths))
    told = grades_of(catalog, ask, settings, progress)
    _write_rows(out, grade_rows(catalog, told))
    return bands_of(told), len(catalog.tools), spent_on(told)


def estimate_files(
    paths: Sequence[Path],
    ask: AskRequest,
    config: AnalysisConfig,
    settings: Settings,
    progress: Progress = silent,
) -> Mapping[str, Estimates]:
    """What asking a model about the catalogs would take, by kind; sends nothing."""
    catalog = read_catalog(load_paths(paths))
    analysis = _analysis(catalog, config, settings, embedder_of(settings), progress)
    return estimates_of(analysis, ask, settings)


def judge_files(
    paths: Sequence[Path], pairs: Path, out: Path, settings: Settings, progress: Progress = silent
) -> Counter[str]:
    """Verdicts on the pairs of a JSONL file, in its order; returns how many of each.

    Raises ``CatalogError`` for a row without two known ids.
    """
    catalog = read_catalog(load_paths(paths))
    known = catalog.by_id
    rows = [_asked(number, row, known.keys()) for number, row in _read_rows(pairs)]
    analysis = _analysis(catalog, AnalysisConfig(), settings, embedder_of(settings), progress)
    said = analysis.verdicts([Pair.of(left, right) for left, right in rows])
    answers = [verdict_row(*ids, verdict) for ids, verdict in zip(rows, said, strict=True)]
    _write_rows(out, answers)
    return Counter(verdict.outcome for verdict in said)


def inspect_files(paths: Sequence[Path], forced: str | None = None) -> Inspection:
    """What the catalogs hold, without any model."""
    catalog = read_catalog(load_paths(paths), forced)
    by_server: Counter[str] = Counter()
    for tool in catalog.tools:
        by_server[tool.server] += tool_tokens(tool)
    return Inspection(catalog, sum(by_server.values()), dict(by_server), tokenizer().label)


def diff_files(old: Path, new: Path) -> CatalogDiff:
    """What changed from one catalog file or folder to another, without any model."""
    return diff(read_catalog(load_paths([old])), read_catalog(load_paths([new])))


def diff_json(found: CatalogDiff) -> JsonObject:
    """A diff as JSON values; ``old`` and ``new`` are left out on a side that has none."""
    return {
        "breaking": found.breaking,
        "removed": [tool.id for tool in found.removed],
        "renamed": [
            {"from": change.old.id, "to": change.new.id}
            for change in found.changed
            if change.renamed
        ],
        "added": [tool.id for tool in found.added],
        "changed": [
            {
                "tool": change.new.id,
                "field": item.field,
                "kind": item.kind,
                **({} if item.kind == "added" else {"old": item.old}),
                **({} if item.kind == "removed" else {"new": item.new}),
                "breaking": item.breaking,
            }
            for change in found.changed
            for item in change.fields
        ],
    }


def relabel_file(queries: Path, bundle: Path, out: Path) -> RelabelReport:
    """An evaluation set after φ and α of a bundle: as many rows, in the same order."""
    relabelling = read_relabelling(bundle)
    rows = [
        relabel_query(row, relabelling.phi, relabelling.arguments, relabelling.names)
        for _, row in _read_rows(queries)
    ]
    _write_rows(out, [query.row for query in rows])
    return RelabelReport(tuple(rows))


def read_decisions(catalog: Catalog, path: Path) -> tuple[Decision, ...]:
    """The log in a decisions file. A line with a ``seq`` was admitted once and is replayed as it
    is; a line without one must pass the rules of review.

    Raises ``DecisionError`` with the line of the decision that is refused.
    """
    log: tuple[Decision, ...] = ()
    for number, row in _read_rows(path):
        try:
            decision = resolve(catalog, row)
            _check_document(decision)
            if decision.seq:
                admitted = recorded(log, decision)
            else:
                admitted = admit(log, decision, None, suspended(catalog, log))
        except DecisionError as error:
            raise DecisionError(f"{path.name}, line {number}: {error}") from error
        if admitted not in log:
            log = (*log, admitted)
    return log


def _of_others(catalog: Catalog, log: Sequence[Decision]) -> int:
    """How many decisions name tools, and none that the catalog has, by id or by content."""
    ids, prints = catalog.by_id.keys(), {tool.fingerprint for tool in catalog.tools}
    return sum(
        ids.isdisjoint(one.ids) and prints.isdisjoint(one.members) for one in log if one.members
    )


def _check_document(decision: Decision) -> None:
    """An edit from a file must be as valid as one from the screen."""
    if decision.action != "edit":
        return
    check_form(decision)
    before = Document("", "told", None)
    said = {key: decision.detail[key] for key in _DOCUMENT if key in decision.detail}
    problems = document_problems(replace(before, **said), before, frozenset())
    if problems:
        raise DecisionError(f"the document is not valid: {'; '.join(problems)}")


def _analysis(
    catalog: Catalog,
    config: AnalysisConfig,
    settings: Settings,
    embedder: Embedder,
    progress: Progress,
) -> Analysis:
    return analyse(catalog, config, embedder, VectorCache(settings.cache_dir), progress)


def _asked(number: int, row: JsonObject, known: Iterable[str]) -> tuple[str, str]:
    left, right = row.get("left"), row.get("right")
    for side, tool_id in (("left", left), ("right", right)):
        if not isinstance(tool_id, str) or tool_id not in known:
            raise CatalogError(
                f"line {number}: {side} is {tool_id!r}, which is no tool id of the catalog; "
                "`inspect --json` and the bundle's relabel.json list the ids"
            )
    return str(left), str(right)


def _read_rows(path: Path) -> Iterator[tuple[int, JsonObject]]:
    """The objects of a JSONL file with their line numbers; blank lines are passed over."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; give a JSONL file in UTF-8") from error
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"{path}, line {number} is not JSON ({error}); give one JSON object a line"
            ) from error
        if not isinstance(row, dict):
            raise ConfigError(f"{path}, line {number} is {line[:40]!r}; give a JSON object")
        yield number, row


def _write_rows(path: Path, rows: Iterable[JsonObject]) -> None:
    """All rows or none: the file is written beside its place and renamed."""
    text = "".join(f"{canonical_json(row)}\n" for row in rows)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(text.encode("utf-8", "backslashreplace"))
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise ExportError(f"{path} cannot be written: {error.strerror or error}") from error
