"""A catalog checked against a baseline, for CI, and the reports of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core.catalog import load_paths, read_isolated
from toolscope_core.catalog.record_lines import RecordLine, record_lines
from toolscope_core.catalog.scan.hidden import for_terminal
from toolscope_core.catalog.sources import input_files
from toolscope_core.check.baseline import Baseline, read_baseline
from toolscope_core.check.comparison_report import Failure, GateReport, Limits, compare, failures
from toolscope_core.check.gate_items import GateItem, gate_items
from toolscope_core.check.junit_report import junit_report
from toolscope_core.check.new_pairs import PairJudge
from toolscope_core.check.pair_addresses import AppPlace
from toolscope_core.check.pull_request_summary import pull_request_summary
from toolscope_core.check.sarif_report import sarif_report
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.files.json_lines import write_whole
from toolscope_core.files.whole_files import read_file
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Embedder, Progress, silent

APP_URL = "http://localhost:8501"


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """The options of one check: the limits, the files to write, and where the app is in which pairs
    are opened. ``app_catalog`` is the name that the catalog has there, by default that of its file.
    """

    baseline: Path
    limits: Limits = field(default_factory=Limits)
    analysis: AnalysisConfig = field(default_factory=AnalysisConfig)
    embedder: str | None = None
    summary: Path | None = None
    junit: Path | None = None
    sarif: Path | None = None
    app_url: str = APP_URL
    app_catalog: str | None = None


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What a check found: the report, its cases, and the limits that are not kept."""

    report: GateReport
    items: tuple[GateItem, ...]
    failures: tuple[Failure, ...]

    @property
    def reason(self) -> str:
        """Why the check fails, in words; empty where it does not."""
        return "; ".join(one.reason for one in self.failures)


def check_files(
    paths: Sequence[Path], request: CheckRequest, settings: Settings, progress: Progress = silent
) -> CheckOutcome:
    """Compare the catalogs with the baseline and write the reports that were asked for. Raises
    ``ToolScopeError``s only.
    """
    files = input_files(paths)
    app = AppPlace(request.app_url, request.app_catalog or (files[0].stem if files else ""))
    catalog, baseline = read_isolated(load_paths(paths)), read_baseline(request.baseline)
    embedder = embedder_of(settings, request.embedder)
    config = _config(request.analysis, baseline, embedder)
    judge = PairJudge(embedder, VectorCache(settings.cache_dir), config, progress)
    report = compare(catalog, baseline, judge)
    failed = failures(report, request.limits)
    outcome = CheckOutcome(report, gate_items(report, failed, app), failed)
    _write(outcome, request, files)
    return outcome


def _config(asked: AnalysisConfig, baseline: Baseline, embedder: Embedder) -> AnalysisConfig:
    """The threshold that was asked for, else that of a bundle made with the same model."""
    if asked.threshold is None and baseline.model == embedder.name:
        return AnalysisConfig(baseline.threshold, asked.neighbours)
    return asked


def _write(outcome: CheckOutcome, request: CheckRequest, files: Sequence[Path]) -> None:
    if request.summary:
        text = pull_request_summary(outcome.report, outcome.failures, outcome.items)
        write_whole(request.summary, text.encode(), "--summary")
    if request.junit:
        write_whole(request.junit, junit_report(outcome.failures, outcome.items), "--junit")
    if request.sarif:
        shown = tuple(map(_from_here, files))
        lines = _lines(outcome, shown)
        content = sarif_report(outcome.failures, outcome.items, lines, shown[0])
        write_whole(request.sarif, content, "--sarif")


def _lines(outcome: CheckOutcome, files: Sequence[Path]) -> dict[str, RecordLine]:
    """By tool id as the cases show it where the tool stands."""
    named = {tool for item in outcome.items for tool in item.tools}
    catalog: Catalog = outcome.report.catalog
    shown = {for_terminal(tool.id): tool for tool in catalog.tools}
    wanted = [tool for one, tool in shown.items() if one in named]
    lines = record_lines(wanted, {path: read_file(path) for path in files})
    return {one: lines[tool.id] for one, tool in shown.items() if tool.id in lines}


def _from_here(path: Path) -> Path:
    """The path from the working folder, where it lies below it."""
    here = Path.cwd()
    return path.absolute().relative_to(here) if path.absolute().is_relative_to(here) else path
