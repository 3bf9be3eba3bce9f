"""The command that measures how well queries find their answers, before and after a merge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.tokens import Costs
from toolscope_core.cli.options import SAVED, AskRequest, Catalogs
from toolscope_core.cli.query_evaluation import EvaluationOptions, EvaluationReport, evaluation
from toolscope_core.cli.search_options import (
    ALL_TOOLS,
    DEFAULT_SEARCH,
    Filtered,
    Iterative,
    MergedBundle,
    SearchedTools,
    SearchKnobs,
    Selection,
    SkipUnknown,
    Worker,
)
from toolscope_core.cli.searcher import Searcher, SearchOptions, searched_catalog
from toolscope_core.cli.terminal import (
    command,
    fail_for,
    more,
    progress,
    say,
    say_json,
    spent_json,
    spent_text,
)
from toolscope_core.evaluation.measured_toolsets import with_merged
from toolscope_core.evaluation.query_sets import read_queries, relabelled, with_gold_among, with_ids
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import interval_text, quantity
from toolscope_core.model.protocols import Spent
from toolscope_core.model.tool import JsonObject
from toolscope_core.rps.planner import PlanFigures, PlanOptions, plan_figures

if TYPE_CHECKING:
    from toolscope_core.evaluation.change_effects import ComparedChange
    from toolscope_core.evaluation.comparison import Comparison


@dataclass(frozen=True, slots=True)
class PlannedSide:
    """The plans of the queries on one toolset, and what questions to a model ``spent``."""

    name: str
    figures: PlanFigures
    spent: tuple[Spent, ...]

    def as_json(self) -> JsonObject:
        return {"toolset": self.name, **self.figures.as_json(), **spent_json(self.spent)}


def plan_evaluation(
    catalogs: Sequence[Path],
    queries: Path,
    search: SearchOptions,
    plan_options: PlanOptions,
    bundle: Path | None = None,
    skip_unknown: bool = False,
) -> list[PlannedSide]:
    """The plans of a query set, on the toolset of a bundle too, with gold answers moved by φ.
    Raises ``ConfigError`` where gold answers are not in the catalog, or no query has any.
    """
    searched = searched_catalog(read_files(catalogs), search)
    query_set = with_ids(read_queries(queries), searched.catalog.tools)
    judged = [query for query in query_set if query.gold]
    kept = with_gold_among(judged, searched.catalog.by_id, skip_unknown)
    if not kept:
        raise ConfigError(f"no query of {queries} has a gold answer here; give ids under `gold`")
    costs, sides = Costs(), []
    for toolset in with_merged(searched.catalog, searched.variants.by_id, bundle):
        catalog = Catalog(toolset.tools) if toolset.phi else searched.catalog
        searcher = Searcher(catalog, search, progress(), toolset.phi, searched.catalog)
        plans = searcher.plans(searcher.requests(kept), plan_options)
        golds = [query.gold for query in relabelled(kept, toolset.phi)]
        figures = plan_figures(plans, golds, lambda tool: costs.of(tool, PROMPT_SHAPES[0]))
        sides.append(PlannedSide(toolset.name, figures, searcher.spent))
    return sides


def tell_plans(sides: Sequence[PlannedSide], *, as_json: bool) -> None:
    """Print the figures of each toolset."""
    if as_json:
        say_json({"sides": [side.as_json() for side in sides]})
        return
    for side in sides:
        own = side.figures
        say(f"{side.name}: {quantity(own.queries, 'query')}")
        for name in ("precision", "recall", "f1", "exact"):
            say(f"  {name:10} {interval_text(*astuple(getattr(own, name)))}")
        say(
            f"  a query: {own.jobs:.1f} jobs, {own.searches:.1f} rankings, {own.tools_called:.1f} "
            f"tools called of {own.tools_shown:.1f} shown ({own.tokens_shown:,.0f} tokens)"
        )
        say(f"  {spent_text(spent_json(side.spent))}")
    say("[95 % bootstrap intervals over queries]")


MOST_RANKED = 1_000


@command
def evaluate(
    catalogs: Catalogs,
    queries: Annotated[
        Path, typer.Option(help="JSONL or CSV with `id`, `query` and `gold` or `gold_servers`.")
    ],
    bundle: MergedBundle = None,
    cutoffs: Annotated[
        str, typer.Option("--at", help="The k of the metrics, with commas.")
    ] = "1,5,10",
    least: Annotated[
        list[str] | None,
        typer.Option("--min-recall", help="Such as 5=.9: exit with 1 if recall@5 is less than .9."),
    ] = None,
    skip_unknown: SkipUnknown = False,
    select: Annotated[
        Selection | None,
        typer.Option(
            help="Measure correct selections (CSR) too: of the k tools found for a request each "
            "sub-query takes the best by its own search, or what a model chooses."
        ),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Measure plans in place of rankings (Retrieval-Plan-Select, tables 9 and 10): the "
            "set of tools that the jobs of a request call.",
        ),
    ] = False,
    per_job: Annotated[int, typer.Option(help="With --plan: tools that each job sees.")] = 5,
    worker: Worker = "best",
    iterative: Iterative = True,
    is_filtered: Filtered = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="With --bundle: JSONL of pairs with `left`, `right` and `label` (merge or keep); "
            "how many merges are right and wrong."
        ),
    ] = None,
    each_change: Annotated[
        bool,
        typer.Option(
            "--each-change",
            help="With --bundle: what each merge alone does to the queries that meet its tools, "
            "with p-values after Holm.",
        ),
    ] = False,
    knobs: SearchKnobs = DEFAULT_SEARCH,
    searched: SearchedTools = ALL_TOOLS,
    ask: AskRequest = SAVED,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Measure how well queries find their tools or servers, before and after a merge."""
    from toolscope_core.cli.searcher import search_options
    from toolscope_core.evaluation.change_effects import PLACES
    from toolscope_core.rps.planner import PlanOptions

    wanted = _least_recalls(least or [])
    ks = sorted({*_cutoffs(cutoffs), *wanted})
    k = per_job if plan else max(*ks, PLACES * each_change)
    search = search_options(k, searched, knobs, ask, asks="model" in (select, worker))
    options = EvaluationOptions(
        search, tuple(ks), bundle, skip_unknown, select, labels, each_change
    )
    if plan:
        if wanted or select or labels or each_change or searched.servers:
            raise ConfigError(
                "--plan measures sets of tools; leave out --min-recall, --select, --labels, "
                "--each-change and --servers"
            )
        ways = PlanOptions(worker, iterative, is_filtered)
        sides = plan_evaluation(catalogs, queries, search, ways, bundle, skip_unknown)
        tell_plans(sides, as_json=as_json)
        return
    report = evaluation(catalogs, queries, options)
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1))
    else:
        _tell_evaluation(report)
    fail_for(report.recall_below(wanted))


def _tell_evaluation(report: EvaluationReport) -> None:
    left = more(report.unjudged, "without gold answers, left out")
    left += more(report.skipped, "of answers that are not there, left out")
    left += more(report.whole, "without steps, searched whole")
    say(f"{quantity(report.queries, 'query')}{left}; {quantity(report.tools, 'tool')}")
    if report.augmented:
        strange = more(report.unknown_variants, "of no tool here")
        say(f"{quantity(report.augmented, 'tool')} with a document variant{strange}")
    if report.from_tools < 1.0:
        say(f"places that a tool led to: {report.from_tools:.1%}; the others a server's own text")
    if report.tools_after is not None:
        say(f"after the merge: {quantity(report.tools_after, 'tool')}")
    after = {row.name: row for row in report.rows_after}
    for row in report.rows:
        line = f"{row.name:13} {interval_text(*astuple(row.interval))}"
        if row.name in after:
            interval = interval_text(*astuple(after[row.name].interval))
            line += f"  after {interval}  p {report.p[row.name]:.3f}"
        say(line)
    if report.comparison is not None:
        _tell_comparison(report.comparison)
    if report.labelled is not None:
        wrong = ", ".join(f"{one.left} + {one.right}" for one in report.labelled.wrong[:5])
        say(
            f"labelled pairs merged: {report.labelled.right:,} right, "
            f"{len(report.labelled.wrong):,} wrong{f' ({wrong})' if wrong else ''}; "
            f"{report.labelled.missed:,} left apart that may be merged"
        )
    for change in report.changes or ():
        _tell_change(change)
    say("[95 % bootstrap intervals over queries; p-values paired, corrected by Holm]")


def _tell_comparison(comparison: Comparison) -> None:
    before, after = comparison.before, comparison.after
    say(f"tokens of all tools: {before.tokens:,}, after {after.tokens:,}")
    if before.coverage.calls:
        say(
            f"gold calls that run: {before.coverage.runnable:,} of {before.coverage.calls:,}, "
            f"after {after.coverage.runnable:,} (share, TCCR: {before.coverage.tccr:.3f}, "
            f"{after.coverage.tccr:.3f}; equal sets of argument names counted once, UCC: "
            f"{before.coverage.ucc:.3f}, {after.coverage.ucc:.3f})"
        )
    won, lost = comparison.count("won"), comparison.count("lost")
    unchanged = comparison.count("unchanged")
    say(f"{quantity(won, 'query')} won, {lost:,} lost, {unchanged:,} unchanged")


def _tell_change(one: ComparedChange) -> None:
    from toolscope_core.evaluation.intervals import rate_text, too_few_text

    effect = one.effect
    won, lost = len(effect.won), len(effect.lost)
    few = too_few_text(won + lost)
    say(
        f"{' + '.join(one.change.replaced)}: {quantity(effect.touched, 'query')}, {won:,} won, "
        f"{lost:,} lost, rate of wins {rate_text(won, won + lost)}, p {effect.p:.3f}, "
        f"{one.corrected_p:.3f} after Holm{f'; {few}' if few else ''}"
    )


def _cutoffs(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= MOST_RANKED for part in parts):
        raise ConfigError(
            f"--at is {text[:60]!r}; give whole numbers from 1 to {MOST_RANKED:,}, such as 1,5,10"
        )
    return [int(part) for part in parts]


def _least_recalls(rows: Iterable[str]) -> dict[int, float]:
    """The least recall by k. Raises ``ConfigError`` for what is not like ``5=.9``."""
    least = {}
    for row in rows:
        k, _, share = row.partition("=")
        try:
            least[_cutoffs(k)[0]] = float(share)
        except ValueError:
            least = {0: 2.0}
        if not all(0.0 <= one <= 1.0 for one in least.values()):
            raise ConfigError(
                f"--min-recall is {row[:60]!r}; give k and a share of 0 to 1, such as 5=.9"
            )
    return least
