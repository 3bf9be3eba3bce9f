"""The command that checks a catalog in CI."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.source_lines import SourceLines
from toolscope_core.catalog.sources import input_files
from toolscope_core.check import report_files
from toolscope_core.check.baseline import Baseline, read_baseline
from toolscope_core.check.change_kinds import CHANGE_KINDS
from toolscope_core.check.checks import PairJudge, checked_profile
from toolscope_core.check.comparison_report import (
    CHECKS,
    AcceptedCase,
    AppPlace,
    GateItem,
    GateReport,
    accepted_cases,
    compare,
    gate_items,
    with_cases,
    with_text_mentions,
)
from toolscope_core.check.item_places import item_places, review_suggestions
from toolscope_core.check.limits import (
    Failure,
    Limits,
    failures,
    growth_limit,
    profile_limits,
    tokens_over,
)
from toolscope_core.check.policy import read_policy
from toolscope_core.check.version_changes import change_counts
from toolscope_core.cli.options import CatalogPaths, EmbedderName, OwnQueries, PolicyFile
from toolscope_core.cli.terminal import command, fail_for, more, progress, say
from toolscope_core.evaluation.measured_toolsets import ToolsetRanker
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.files.folders import read_file
from toolscope_core.files.json_lines import write_whole
from toolscope_core.llm.embedding import encoder_and_cache
from toolscope_core.merging.analysing import analyse
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.profiles.profile_effect import in_words
from toolscope_core.retrieval.client_search import SearchSetup

_MOST_SHOWN = 10
_MOST_DETAILS = 3


def _list_rules(is_asked: bool) -> None:
    """Print the table of change kinds and exit."""
    if is_asked:
        for rule in CHANGE_KINDS.values():
            say(f"{rule.name:30} {rule.level:9} {rule.effect}. {rule.reason}")
            say(f"{'':40} for example: {rule.example.replace('`', '')}")
        raise typer.Exit


FailFor = StrEnum("FailFor", [(one.name, one.name) for one in CHECKS if one.singular])  # type: ignore[misc]
"""The values of ``check --fail-on``; a single case of such a check makes the command fail."""


@command
def check(
    catalogs: CatalogPaths,
    baseline: Annotated[
        Path,
        typer.Option(help="The version to compare with: a bundle (folder or zip) or a catalog."),
    ],
    max_new_overlaps: Annotated[
        int | None, typer.Option(help="Exit with 1 if more than this many new pairs overlap.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Exit with 1 if the catalog has more tokens than this.")
    ] = None,
    max_growth: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with 1 if the catalog has grown by more than this: tokens (500), percent "
            "(5%) or kilobytes (2kB); repeatable."
        ),
    ] = None,
    fail_on: Annotated[
        list[FailFor] | None,
        typer.Option(help="Exit with 1 if the check finds one of these; repeatable."),
    ] = None,
    texts: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder of prompts, skills or rules to search for names of missing tools; "
            "repeatable."
        ),
    ] = None,
    min_findability: Annotated[
        list[str] | None,
        typer.Option(
            help="For example codex=.9: exit with 1 if a lower share of tools is among the first "
            "results of this client's search; repeatable."
        ),
    ] = None,
    queries: OwnQueries = None,
    cases: Annotated[
        Path | None,
        typer.Option(
            help="Requests to replay, without a model: JSONL with `query`, `gold`, `allowed` and "
            "`forbidden`, as saved on the Evaluation page, or any query set."
        ),
    ] = None,
    max_new_confusions: Annotated[
        int | None,
        typer.Option(
            help="With --cases: exit with 1 if more than this many requests newly find the wrong "
            "tool."
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            help="Also check this profile of the baseline: what changed in it, and which requests "
            "(from --cases, or its own) it no longer serves."
        ),
    ] = None,
    profile_limit: Annotated[
        list[str] | None,
        typer.Option(
            help="For example tokens=8000: exit with 1 if the profile has more tokens, tools, "
            "unserved requests, confusions (pairs of similar tools) or misses (requests of "
            "--cases for which another of its tools ranks first); repeatable."
        ),
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Write the report as Markdown, for a pull request.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the report as JUnit XML.")] = None,
    sarif: Annotated[
        Path | None, typer.Option(help="Write the report as SARIF 2.1.0, for code scanning.")
    ] = None,
    annotations: Annotated[
        Path | None,
        typer.Option(
            help="Write the report as GitHub workflow commands, which appear beside the lines."
        ),
    ] = None,
    suggestions: Annotated[
        Path | None,
        typer.Option(
            help="Write lines that would fix a case, such as a new name, as JSON "
            "Lines for review comments."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Minimum cosine similarity of a candidate pair; default: the bundle's, or else "
            "the encoder's."
        ),
    ] = None,
    config: PolicyFile = None,
    _rules: Annotated[
        bool,
        typer.Option(
            "--list-rules",
            help="List the kinds of changes with level, reason and example, and exit.",
            is_eager=True,
            callback=_list_rules,
        ),
    ] = False,
    embedder: EmbedderName = None,
    app_url: Annotated[
        str, typer.Option(help="Address of the app, for links to the app's pages on pairs.")
    ] = "http://localhost:8501",
    app_catalog: Annotated[
        str | None,
        typer.Option(help="Name of the catalog in that app; default: the name of its file."),
    ] = None,
) -> None:
    """Compare a catalog with what was accepted before: new overlaps, breaking changes, tokens.

    Example: toolscope check tools.json --baseline bundle --fail-on breaking
    """
    if max_new_confusions is not None and cases is None:
        raise ConfigError("--max-new-confusions counts cases; add --cases")
    limits = Limits(
        max_new_overlaps,
        max_new_confusions,
        max_tokens,
        tuple(map(growth_limit, max_growth or ())),
        frozenset(one.value for one in fail_on or ()),
        profile_limits(profile_limit or (), profile, cases is not None),
    )
    policy = read_policy(config)
    files = input_files(catalogs)
    place = AppPlace(app_url, app_catalog or (files[0].stem if files else ""))
    catalog, before = read_files(catalogs), read_baseline(baseline)
    encoder, cache = encoder_and_cache(embedder)
    if threshold is None and before.model == encoder.name:
        threshold = before.threshold
    judge = PairJudge(encoder, cache, AnalysisConfig(threshold), progress())
    report = with_text_mentions(compare(catalog, before, judge, policy), before, texts or ())
    report = _with_requests(report, before, judge, profile, cases)
    items, accepted = gate_items(report, place), accepted_cases(report, place)
    failed = failures(report, items, limits)
    least: dict[str, float] = {}
    if min_findability:
        from toolscope_core.cli import findability_report  # loads the search

        least = findability_report.least_findability(min_findability)
        if reason := findability_report.findability_below(catalog, least, queries, embedder):
            failed = (*failed, Failure("findability", reason))
    items = (*items, *tokens_over(failed))
    outcome = _Outcome(report, failed, items, accepted)
    _write(outcome, files, _Reports(summary, junit, sarif, annotations, suggestions))
    _tell(report, items)
    _tell_accepted(accepted)
    if not limits.are_set and not least:
        say("no option was given that can fail the check; see --fail-on and --max-new-overlaps")
    reason = "; ".join(one.reason for one in failed)
    fail_for(reason and f"the check fails: {reason}")


@dataclass(frozen=True, slots=True)
class _Reports:
    """The paths of the reports that were requested."""

    summary: Path | None
    junit: Path | None
    sarif: Path | None
    annotations: Path | None
    suggestions: Path | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    report: GateReport
    failures: Sequence[Failure]
    items: Sequence[GateItem]
    accepted: Sequence[AcceptedCase]


def _write(outcome: _Outcome, files: Sequence[Path], reports: _Reports) -> None:
    failed, items = outcome.failures, outcome.items
    if reports.summary:
        text = report_files.pull_request_summary(outcome.report, failed, items, outcome.accepted)
        write_whole(reports.summary, text.encode(), "--summary")
    if reports.junit:
        write_whole(reports.junit, report_files.junit_report(failed, items), "--junit")
    if not (reports.sarif or reports.annotations or reports.suggestions):
        return
    paths = tuple(map(_from_here, files))
    lines = SourceLines({path: read_file(path) for path in paths})
    places = item_places(outcome.report.catalog, items, lines, paths[0])
    if reports.sarif:
        write_whole(reports.sarif, report_files.sarif_report(failed, items, places), "--sarif")
    if reports.annotations:
        text = report_files.workflow_annotations(failed, items, places)
        write_whole(reports.annotations, text.encode(), "--annotations")
    if reports.suggestions:
        text = review_suggestions(items, places, SourceLines(_contents(paths, items)))
        write_whole(reports.suggestions, text.encode(), "--suggestions")


def _with_requests(
    report: GateReport, baseline: Baseline, judge: PairJudge, name: str | None, cases: Path | None
) -> GateReport:
    """The report with the profile of this name and the results of the cases, if either is given."""
    setup = SearchSetup(judge.embedder, judge.cache, RetrievalConfig())
    requests = read_queries(cases) if cases else ()
    if name is not None:
        analysis = analyse(
            report.catalog, judge.config, judge.embedder, judge.cache, judge.progress
        )
        profile = checked_profile(name, baseline, report.changes, analysis, requests, setup)
        findings = (*report.findings, *profile.toolset.findings)
        report = replace(report, profile=profile, findings=findings)
    return with_cases(report, baseline, requests, ToolsetRanker(setup)) if cases else report


def _contents(paths: Sequence[Path], items: Sequence[GateItem]) -> dict[Path, bytes]:
    """The contents of the catalog's files, and of the texts in which something can be repaired."""
    texts = {item.source.file for item in items if item.source and item.fix}
    return {path: read_file(path) for path in (*paths, *sorted(texts)) if path.is_file()}


def _from_here(path: Path) -> Path:
    """The path relative to the working folder, if it is inside that folder."""
    here = Path.cwd()
    return path.absolute().relative_to(here) if path.absolute().is_relative_to(here) else path


def _tell(report: GateReport, items: Sequence[GateItem]) -> None:
    total = report.tokens.total
    say(f"{quantity(len(report.catalog.tools), 'tool')}; {change_counts(report.changes.diff)}")
    for check in CHECKS:
        cases = [item for item in items if item.check == check.name and item.tools]
        for item in cases[:_MOST_SHOWN]:
            _tell_item(item)
        if len(cases) > _MOST_SHOWN:
            say(f"{check.name:8} and {len(cases) - _MOST_SHOWN} more; --summary lists them all")
    grown = [one for one in report.tokens.servers if one.name and one.grows]
    largest = max(grown, key=lambda one: one.added, default=None)
    where = f", most of it on {largest.name} ({largest.added:+,})" if largest else ""
    say(
        f"about {total.in_words} ({report.tokens.estimator}){where}"
        f"{more(len(report.stale), 'decisions to look at again')}"
    )
    if report.profile:
        say(f"profile {report.profile.toolset.profile.name}: {in_words(report.profile)}")
    if report.replayed.cases:
        new = quantity(len(report.replayed.new_confusions), "new confusion")
        replayed = quantity(report.replayed.cases, "case")
        say(f"{replayed} replayed: {report.replayed.failures:,} not as expected, {new}")


def _tell_accepted(cases: Sequence[AcceptedCase]) -> None:
    for one in cases:
        meets = "" if one.item else "; it no longer matches anything, so delete it"
        say(f"accepted {one.acceptance.in_words}{meets}")


def _tell_item(item: GateItem) -> None:
    say(f"{item.check:8} {', '.join(item.tools)}: {item.summary} [{item.fingerprint}]")
    for detail in item.details[:_MOST_DETAILS]:
        say(f"         {detail}")
    if item.address:
        say(f"         {item.address}")
