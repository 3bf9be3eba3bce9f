"""The command that measures how well queries find their answers, before and after a merge."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli import terminal
from toolscope_core.cli.options import SAVED, AsJson, AskRequest, CatalogPaths
from toolscope_core.cli.plan_command import plans_of
from toolscope_core.cli.searcher import (
    ALL_TOOLS,
    DEFAULT_SEARCH,
    Filtered,
    Iterative,
    MergedBundle,
    QueryRankings,
    SearchedTools,
    Searcher,
    SearchKnobs,
    SearchOptions,
    SkipUnknown,
    ToolsTakenBy,
    WorkerOption,
    searched_catalog,
)
from toolscope_core.evaluation import change_effects, measured_toolsets, query_sets
from toolscope_core.evaluation.bench import Bench
from toolscope_core.evaluation.comparison import PLACES, Comparison, Trial, compared, of_rankings
from toolscope_core.evaluation.intervals import Interval, rate_text, too_few_text
from toolscope_core.evaluation.metrics import Gold, MetricRow, Refusals, metric_rows, p_values
from toolscope_core.evaluation.results import result_json
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.rps.planner import PlanFigures, PlannerConfig, plan_figures

MOST_RANKED = 1_000


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """The options of a measurement.

    The metrics are computed at each of the ``cutoffs``. If a ``bundle`` is given, they are also
    computed after the merge.
    """

    bundle: MergedBundle = None
    cutoffs: Annotated[
        str, typer.Option("--at", help="The values of k for the metrics, separated by commas.")
    ] = "1,5,10"
    least: Annotated[
        list[str] | None,
        typer.Option("--min-recall", help="For example 5=.9: exit with 1 if recall@5 is below .9."),
    ] = None
    skip_unknown: SkipUnknown = False
    select: Annotated[
        ToolsTakenBy | None,
        typer.Option(
            help="Also measure correct selection (CSR): for each sub-query, one of its k tools is "
            "chosen, either the best by the search or the model's choice."
        ),
    ] = None
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Measure plans instead of rankings (Retrieval-Plan-Select, tables 9 and 10): the "
            "set of tools that the jobs of a request call.",
        ),
    ] = False
    per_job: Annotated[
        int, typer.Option(help="With --plan: number of tools shown for each job.")
    ] = 5
    worker: WorkerOption = "best"
    iterative: Iterative = True
    is_filtered: Filtered = False
    labels: Annotated[
        Path | None,
        typer.Option(
            help="With --bundle: JSONL of pairs with `left`, `right` and `label` (merge or keep), "
            "to count right and wrong merges."
        ),
    ] = None
    each_change: Annotated[
        bool,
        typer.Option(
            "--each-change",
            help="With --bundle: the effect of each single merge on the queries that need its "
            "tools, with p-values corrected by Holm.",
        ),
    ] = False

    def refuse(self, servers: bool) -> None:
        """Raises ``ConfigError`` for options that exclude each other, or that exclude --servers."""
        others = self.least or self.select or self.labels or self.each_change
        if self.plan and (others or servers):
            raise ConfigError(
                "--plan measures sets of tools; leave out --min-recall, --select, --labels, "
                "--each-change and --servers"
            )
        of_merges = {"--labels": self.labels, "--each-change": self.each_change}
        for option, value in of_merges.items():
            if value and (self.bundle is None or servers):
                raise ConfigError(f"{option} measures merges; use --bundle and leave out --servers")
        if self.select and servers:
            raise ConfigError("--select chooses tools, not servers; leave out one of the two")


RANKINGS = EvaluationOptions()
"""The default options."""


@terminal.command
def evaluate(
    catalogs: CatalogPaths,
    queries: Annotated[
        Path, typer.Option(help="JSONL or CSV with `id`, `query` and `gold` or `gold_servers`.")
    ],
    options: EvaluationOptions = RANKINGS,
    knobs: SearchKnobs = DEFAULT_SEARCH,
    searched: SearchedTools = ALL_TOOLS,
    ask: AskRequest = SAVED,
    as_json: AsJson = False,
) -> None:
    """Measure how well queries find their tools or servers, before and after a merge.

    Example: toolscope evaluate tools.json --queries queries.jsonl --bundle bundle
    """
    least = _least_recalls(options.least or [])
    ks = tuple(sorted({*_cutoffs(options.cutoffs), *least}))
    k = options.per_job if options.plan else max(*ks, PLACES * options.each_change)
    search = SearchOptions(k, searched, knobs, ask, "model" in (options.select, options.worker))
    options.refuse(search.servers)
    if options.plan:
        _tell_plans(planned_sides(catalogs, queries, search, options), as_json=as_json)
        return
    report = evaluation(catalogs, queries, search, options, ks)
    if as_json:
        terminal.say_json(result_json(report))
    else:
        _tell_evaluation(report)
    terminal.fail_for(report.recall_below(least))


@dataclass(frozen=True, slots=True)
class MergedMetrics:
    """The number of tools after a merge, and the metrics of the same queries with these tools."""

    tools: int
    metrics: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The metrics of a query set and, with a bundle, of the same queries on the ``merged`` toolset.

    ``p`` maps each metric to its paired p-value for no change, corrected by Holm. ``unjudged``
    counts the queries without gold answers, ``skipped`` the queries whose answers are not in the
    catalog, and ``whole`` the queries that were searched whole because they have no steps.
    ``augmented`` counts the tools with a document variant, ``unknown_variants`` the variants of
    unknown tools. ``from_tools`` is the share of results that were found through a tool; it is less
    than 1 only for servers.

    If tools were searched before and after a merge, ``result`` has every query, the tokens and the
    gold calls. ``changes`` has the effect of each merge alone, if requested. ``refusals`` says how
    often the search finds that no tool fits.
    """

    queries: int
    unjudged: int
    skipped: int
    whole: int
    tools: int
    augmented: int
    unknown_variants: int
    from_tools: float
    metrics: Mapping[str, Interval]
    merged: MergedMetrics | None = None
    p: Mapping[str, float] | None = None
    labelled: measured_toolsets.LabelledMerges | None = None
    changes: tuple[change_effects.ComparedChange, ...] | None = None
    result: Comparison | None = None
    refusals: Refusals | None = None

    def recall_below(self, least: Mapping[int, float]) -> str:
        """The required recalls, by k, that the last toolset does not reach, in words; empty if
        it reaches all.
        """
        metrics = (self.merged or self).metrics
        recalls = {k: metrics[f"recall@{k}"].mean for k in sorted(least)}
        return "; ".join(
            f"recall@{k} is {recall:.3f}, below {least[k]:g}"
            for k, recall in recalls.items()
            if recall < least[k]
        )


def evaluation(
    catalogs: Sequence[Path],
    queries: Path,
    search: SearchOptions,
    options: EvaluationOptions,
    cutoffs: tuple[int, ...],
) -> EvaluationReport:
    """The metrics of a query set, also on a bundle's toolset with gold answers relabelled by φ.

    If ``search.servers`` is true, the answers are servers. Raises ``ConfigError`` if gold answers
    are not in the catalog, if no query has any, or if the bundle was made from other tools.
    """
    catalog, variants = searched_catalog(read_files(catalogs), search)
    query_set = query_sets.with_ids(query_sets.read_queries(queries), catalog.tools)
    owners = {tool.id: tool.owner for tool in catalog.tools}

    def gold_of(query: query_sets.Query) -> Gold:
        return query.server_gold(owners) if search.servers else query.gold

    with_gold = [query for query in query_set if gold_of(query)]
    names = set(owners.values()) if search.servers else owners.keys()
    answerable = query_sets.with_gold_among(with_gold, names, options.skip_unknown, gold_of)
    if not answerable:
        raise ConfigError(
            f"no query in {queries} has a gold answer in the catalog; use tool ids under "
            "`gold`, or, with --servers, server names under `gold_servers`"
        )
    searcher = Searcher(catalog, search, terminal.progress())
    rankings = searcher.rankings(answerable)
    golds = list(map(gold_of, answerable))
    rows = metric_rows(golds, rankings.names, cutoffs)
    if options.select:
        rows += searcher.selection_rates(rankings, golds, cutoffs, options.select)
    report = EvaluationReport(
        queries=len(answerable),
        unjudged=len(query_set) - len(with_gold),
        skipped=len(with_gold) - len(answerable),
        whole=rankings.whole,
        tools=len(catalog.tools),
        augmented=len(variants.by_id),
        unknown_variants=len(variants.unknown_names),
        from_tools=rankings.from_tools,
        metrics=_intervals(rows),
        refusals=Refusals.of(
            rankings.fits, searcher.rankings([one for one in query_set if one.needs_none]).fits
        ),
    )
    for toolset in measured_toolsets.with_merged(catalog, options.bundle)[1:]:
        trial = Trial(catalog, answerable, rankings.requests, cutoffs)
        report = _with_merge(report, trial, rankings, rows, toolset, search, options)
        if options.each_change:
            before = change_effects.SearchedQueries(
                catalog.tools, answerable, rankings.requests, rankings.names
            )
            merges = tuple(change_effects.merges_of(toolset))
            changes = change_effects.compared_changes(
                before, merges, searcher.ranker, terminal.progress()
            )
            report = replace(report, changes=changes)
    return report


def _with_merge(
    report: EvaluationReport,
    trial: Trial,
    rankings: QueryRankings,
    rows: tuple[MetricRow, ...],
    toolset: measured_toolsets.Toolset,
    search: SearchOptions,
    options: EvaluationOptions,
) -> EvaluationReport:
    """The report with the figures of a bundle's toolset added."""
    catalog = trial.catalog
    merged = replace(catalog, tools=toolset.tools)
    searcher = Searcher(merged, search, terminal.progress(), catalog)
    rankings_after = searcher.rankings(trial.queries)
    if search.servers:
        toolsets = trial.queries, catalog.tools, merged.tools, toolset.phi
        _, golds = query_sets.golds_of_both(*toolsets, servers=True)
        rows_after = metric_rows(golds, rankings_after.names, trial.cutoffs)
        metrics = MergedMetrics(len(merged.tools), _intervals(rows_after))
        return replace(report, merged=metrics, p=p_values(rows, rows_after))
    before, after = (
        of_rankings(side, trial, names, searcher.bench.tokens)
        for side, names in (
            (measured_toolsets.as_it_is(catalog), rankings.names),
            (toolset, rankings_after.names),
        )
    )
    if options.select:
        rates = searcher.selection_rates(rankings_after, after.golds, trial.cutoffs, options.select)
        before, after = replace(before, rows=rows), replace(after, rows=(*after.rows, *rates))
    comparison = compared(trial, before, after)
    return replace(
        report,
        merged=MergedMetrics(len(merged.tools), comparison.after.metrics),
        p=comparison.p,
        labelled=measured_toolsets.labelled_merges(
            toolset, measured_toolsets.read_labels(options.labels)
        )
        if options.labels
        else None,
        result=comparison,
    )


def _intervals(rows: Iterable[MetricRow]) -> dict[str, Interval]:
    return {row.name: row.interval for row in rows}


@dataclass(frozen=True, slots=True)
class PlannedSide:
    """The plans of the queries with one toolset, and the cost of questions to a model."""

    name: str
    figures: PlanFigures
    counts: Mapping[str, int]


def planned_sides(
    catalogs: Sequence[Path], queries: Path, search: SearchOptions, options: EvaluationOptions
) -> list[PlannedSide]:
    """The plans of a query set, also with a bundle's toolset, for which φ maps the gold answers.

    Raises ``ConfigError`` if gold answers are not in the catalog, or if no query has any.
    """
    original, _ = searched_catalog(read_files(catalogs), search)
    bench, sides = Bench.of(original, search.searched.embedder), []
    judged_queries = bench.queries(queries, options.skip_unknown)
    if not judged_queries:
        raise ConfigError(f"no query in {queries} has gold answers here; use tool ids under `gold`")
    config = PlannerConfig(options.worker, options.iterative, options.is_filtered)
    for toolset in measured_toolsets.with_merged(original, options.bundle):
        catalog = Catalog(toolset.tools) if toolset.phi else original
        searcher = Searcher(catalog, search, terminal.progress(), original)
        plans = plans_of(searcher, searcher.requests(judged_queries), config)
        golds = [query.gold for query in query_sets.relabelled(judged_queries, toolset.phi)]
        figures = plan_figures(plans, golds, bench.tokens)
        sides.append(PlannedSide(toolset.name, figures, terminal.spent_json(searcher.costs)))
    return sides


def _tell_plans(sides: Sequence[PlannedSide], *, as_json: bool) -> None:
    """Print the figures of each toolset."""
    if as_json:
        rows = [{"toolset": one.name, **result_json(one.figures), **one.counts} for one in sides]
        terminal.say_json({"sides": rows})
        return
    for side in sides:
        own = side.figures
        terminal.say(f"{side.name}: {quantity(own.queries, 'query')}")
        for name in ("precision", "recall", "f1", "exact"):
            terminal.say(f"  {name:10} {getattr(own, name).text}")
        terminal.say(
            f"  per query: {own.jobs:.1f} jobs, {own.searches:.1f} rankings, "
            f"{own.tools_called:.1f} of {own.tools_shown:.1f} shown tools called "
            f"({own.tokens_shown:,.0f} tokens)"
        )
        terminal.say(f"  {terminal.spent_text(side.counts)}")
    terminal.say("[95 % bootstrap intervals over queries]")


def _tell_evaluation(report: EvaluationReport) -> None:
    notes = terminal.more(report.unjudged, "left out, without gold answers")
    notes += terminal.more(report.skipped, "left out, with answers that are not in the catalog")
    notes += terminal.more(report.whole, "without steps, searched whole")
    terminal.say(f"{quantity(report.queries, 'query')}{notes}; {quantity(report.tools, 'tool')}")
    if report.augmented:
        strange = terminal.more(report.unknown_variants, "for tools that are not in the catalog")
        terminal.say(f"{quantity(report.augmented, 'tool')} with a document variant{strange}")
    if report.from_tools < 1.0:
        terminal.say(
            f"results found through a tool of a server: {report.from_tools:.1%}; the other results "
            "through a server's own text"
        )
    if report.merged is not None:
        terminal.say(f"after the merge: {quantity(report.merged.tools, 'tool')}")
    for name, interval in report.metrics.items():
        line = f"{name:13} {interval.text}"
        if report.merged is not None and report.p is not None:
            after = report.merged.metrics[name].text
            line += f"  after {after}  p {report.p[name]:.3f}"
        terminal.say(line)
    if report.refusals is not None:
        _tell_refusals(report.refusals)
    if report.result is not None:
        _tell_comparison(report.result)
    if report.labelled is not None:
        wrong = ", ".join(f"{one.left} + {one.right}" for one in report.labelled.wrong[:5])
        terminal.say(
            f"labelled pairs merged: {report.labelled.right:,} right, "
            f"{len(report.labelled.wrong):,} wrong{f' ({wrong})' if wrong else ''}; "
            f"{report.labelled.missed:,} left apart that may be merged"
        )
    for change in report.changes or ():
        _tell_change(change)
    terminal.say("[95 % bootstrap intervals over queries; p-values paired, corrected by Holm]")


def _tell_refusals(refusals: Refusals) -> None:
    terminal.say(f"answered *no tool does this*: {refusals.served.text} of requests with a tool")
    if refusals.unserved is not None:
        terminal.say(
            f"and {refusals.unserved.text} of requests without (AUROC {refusals.auroc:.3f})"
        )


def _tell_comparison(comparison: Comparison) -> None:
    before, after = comparison.before, comparison.after
    terminal.say(f"tokens of all tools: {before.tokens:,}, after {after.tokens:,}")
    if before.calls:
        terminal.say(
            f"gold calls that run: {before.runnable:,} of {before.calls:,}, after "
            f"{after.runnable:,} (share, TCCR: {before.tccr:.3f}, {after.tccr:.3f}; equal sets of "
            f"argument names counted once, UCC: {before.ucc:.3f}, {after.ucc:.3f})"
        )
    won, lost = comparison.count("won"), comparison.count("lost")
    unchanged = comparison.count("unchanged")
    terminal.say(f"{quantity(won, 'query')} won, {lost:,} lost, {unchanged:,} unchanged")


def _tell_change(change: change_effects.ComparedChange) -> None:
    won, lost = len(change.won), len(change.lost)
    few = too_few_text(won + lost)
    terminal.say(
        f"{' + '.join(change.tools)}: {quantity(change.queries, 'query')}, {won:,} won, "
        f"{lost:,} lost, rate of wins {rate_text(won, won + lost)}, p {change.p:.3f}, "
        f"{change.p_holm:.3f} after Holm{f'; {few}' if few else ''}"
    )


def _cutoffs(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= MOST_RANKED for part in parts):
        raise ConfigError(
            f"--at is {text[:60]!r}; use whole numbers from 1 to {MOST_RANKED:,}, such as 1,5,10"
        )
    return [int(part) for part in parts]


def _least_recalls(rows: Iterable[str]) -> dict[int, float]:
    """The minimum recall for each k. Raises ``ConfigError`` for a text that is not like
    ``5=.9``.
    """
    least = {}
    for row in rows:
        k, _, share = row.partition("=")
        try:
            least[_cutoffs(k)[0]] = float(share)
        except ValueError:
            least = {0: 2.0}
        if not all(0.0 <= one <= 1.0 for one in least.values()):
            raise ConfigError(
                f"--min-recall is {row[:60]!r}; use k and a share of 0 to 1, such as 5=.9"
            )
    return least
