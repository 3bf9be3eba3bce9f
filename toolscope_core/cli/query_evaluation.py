"""How well queries find their answers, before and after a merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import Costs
from toolscope_core.cli.search_options import Selection
from toolscope_core.cli.terminal import progress
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject

if TYPE_CHECKING:
    from toolscope_core.cli.searcher import QueryRankings, SearchOptions
    from toolscope_core.evaluation.change_effects import ComparedChange
    from toolscope_core.evaluation.comparison import Comparison
    from toolscope_core.evaluation.measured_toolsets import Toolset
    from toolscope_core.evaluation.merge_effects import LabelledMerges
    from toolscope_core.evaluation.metrics import Gold, MetricRow
    from toolscope_core.evaluation.query_sets import Query


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What is measured: at each of ``cutoffs``, after the merge too where a ``bundle`` is given;
    ``skip_unknown`` leaves queries out whose gold answers the catalog does not have. ``select``
    says who takes tools of those that are found: see ``Searcher.selection_rates``. ``labels`` are
    pairs of which people said whether they may be merged; ``each_change`` measures every merge of
    the bundle alone too.
    """

    search: SearchOptions
    cutoffs: tuple[int, ...]
    bundle: Path | None
    skip_unknown: bool
    select: Selection | None
    labels: Path | None
    each_change: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The metrics of a query set, and of the same queries on the merged toolset where a bundle was
    given: ``p`` has by metric the paired p-value of no change, corrected by Holm. ``unjudged`` is
    the number of queries without gold answers, ``skipped`` of those whose answers are not there,
    ``whole`` of those that were searched whole since they have no steps; ``augmented`` is the
    number of tools with a document variant, ``unknown_variants`` of variants of no tool;
    ``from_tools`` is the share of places that a tool led to, of servers less than 1. Where tools
    were searched before and after, the ``comparison`` has every query, tokens and gold calls;
    ``changes`` are the merges, each alone, where they were asked for.
    """

    queries: int
    unjudged: int
    skipped: int
    whole: int
    tools: int
    augmented: int
    unknown_variants: int
    rows: tuple[MetricRow, ...]
    from_tools: float = 1.0
    tools_after: int | None = None
    rows_after: tuple[MetricRow, ...] = ()
    comparison: Comparison | None = None
    labelled: LabelledMerges | None = None
    changes: tuple[ComparedChange, ...] | None = None
    p: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Everything; before and after a merge each query too."""
        from toolscope_core.evaluation.results import change_rows, comparison_result

        before = {row.name: asdict(row.interval) for row in self.rows}
        after = {row.name: asdict(row.interval) for row in self.rows_after}
        counts = "queries unjudged skipped whole tools augmented unknown_variants from_tools"
        return {
            **{name: getattr(self, name) for name in counts.split()},
            "metrics": before,
            **({"merged": {"tools": self.tools_after, "metrics": after}} if after else {}),
            **({"p": dict(self.p)} if self.p else {}),
            **({"labelled": asdict(self.labelled)} if self.labelled else {}),
            **({} if self.changes is None else {"changes": change_rows(self.changes)}),
            **({"result": comparison_result(self.comparison, (), ())} if self.comparison else {}),
        }

    def recall_below(self, least: Mapping[int, float]) -> str:
        """Which of the recalls asked for, by k, are not reached on the last toolset; empty if all
        are.
        """
        rows = {row.k: row for row in self.rows_after or self.rows if row.metric == "recall"}
        missed = [
            f"recall@{k} is {rows[k].interval.mean:.3f}, below {wanted:g}"
            for k, wanted in sorted(least.items())
            if rows[k].interval.mean < wanted
        ]
        return "; ".join(missed)


def evaluation(
    catalogs: Sequence[Path], queries: Path, options: EvaluationOptions
) -> EvaluationReport:
    """The metrics of a query set, and those of a bundle's toolset with the gold answers relabelled
    by φ. With ``search.servers`` the answers are servers.

    Raises ``ConfigError`` where gold answers are not in the catalog, no query has any, or the
    bundle is one of other tools.
    """
    from toolscope_core.catalog.isolation import read_files
    from toolscope_core.cli.searcher import Searcher, searched_catalog
    from toolscope_core.evaluation.change_effects import Searched, compared_changes, merges_of
    from toolscope_core.evaluation.measured_toolsets import with_merged
    from toolscope_core.evaluation.metrics import metric_rows
    from toolscope_core.evaluation.query_sets import read_queries, with_gold_among, with_ids

    of_merges = {"--labels are": options.labels, "--each-change is": options.each_change}
    for what, given in of_merges.items():
        if given and (options.bundle is None or options.search.servers):
            raise ConfigError(f"{what} of merges; give --bundle, and leave out --servers")
    if options.select and options.search.servers:
        raise ConfigError("--select takes tools, not servers; leave out --servers or --select")
    searched = searched_catalog(read_files(catalogs), options.search)
    query_set = with_ids(read_queries(queries), searched.catalog.tools)
    owners = _owners(searched.catalog)
    gold_of = partial(_gold, servers=options.search.servers, owners=owners)
    judged = [query for query in query_set if gold_of(query)]
    names = set(owners.values()) if options.search.servers else owners.keys()
    kept = with_gold_among(judged, names, options.skip_unknown, gold_of)
    if not kept:
        raise ConfigError(
            f"no query of {queries} has a gold answer in the catalog; give tool ids under `gold`, "
            "or names of servers under `gold_servers` with --servers"
        )
    searcher = Searcher(searched.catalog, options.search, progress())
    rankings = searcher.rankings(kept)
    golds = list(map(gold_of, kept))
    rows = metric_rows(golds, rankings.names, options.cutoffs)
    if options.select:
        rates = searcher.selection_rates(rankings, golds, options.cutoffs, options.select)
        rows = (*rows, *rates)
    report = EvaluationReport(
        queries=len(kept),
        unjudged=len(query_set) - len(judged),
        skipped=len(judged) - len(kept),
        whole=rankings.whole,
        tools=len(searched.catalog.tools),
        augmented=len(searched.variants.by_id),
        unknown_variants=len(searched.variants.unknown),
        rows=rows,
        from_tools=rankings.from_tools,
    )
    for toolset in with_merged(searched.catalog, searched.variants.by_id, options.bundle)[1:]:
        report = _with_merge(report, kept, searched.catalog, rankings, toolset, options)
        if options.each_change:
            before = Searched(searched.catalog.tools, kept, rankings.requests, rankings.names)
            merges = tuple(merges_of(toolset))
            changes = compared_changes(before, merges, searcher.ranker, progress())
            report = replace(report, changes=changes)
    return report


def _with_merge(
    report: EvaluationReport,
    queries: tuple[Query, ...],
    catalog: Catalog,
    rankings: QueryRankings,
    toolset: Toolset,
    options: EvaluationOptions,
) -> EvaluationReport:
    """The report with the figures of a bundle's toolset beside those of its catalog."""
    from toolscope_core.cli.searcher import Searcher
    from toolscope_core.evaluation.comparison import Trial, compared, of_rankings
    from toolscope_core.evaluation.measured_toolsets import as_it_is
    from toolscope_core.evaluation.merge_effects import labelled_merges, read_labels
    from toolscope_core.evaluation.metrics import metric_rows, p_values
    from toolscope_core.evaluation.query_sets import owners_after

    merged = Catalog(toolset.tools)
    searcher = Searcher(merged, options.search, progress(), toolset.phi, catalog)
    rankings_after = searcher.rankings(queries)
    report = replace(report, tools_after=len(merged.tools))
    if options.search.servers:
        owners = owners_after(_owners(catalog), _owners(merged), toolset.phi)
        golds = [query.server_gold(owners) for query in queries]
        rows = metric_rows(golds, rankings_after.names, options.cutoffs)
        return replace(report, rows_after=rows, p=p_values(report.rows, rows))
    trial, costs = Trial(catalog, queries, rankings.requests, options.cutoffs), Costs()
    before, after = (
        of_rankings(side, trial, names, lambda tool: costs.of(tool, PROMPT_SHAPES[0]))
        for side, names in ((as_it_is(catalog), rankings.names), (toolset, rankings_after.names))
    )
    if options.select:
        rates = searcher.selection_rates(
            rankings_after, after.golds, options.cutoffs, options.select
        )
        before = replace(before, rows=report.rows)
        after = replace(after, rows=(*after.rows, *rates))
    comparison = compared(trial, before, after)
    labelled = labelled_merges(toolset, read_labels(options.labels)) if options.labels else None
    return replace(
        report, rows_after=after.rows, p=comparison.p, comparison=comparison, labelled=labelled
    )


def _gold(query: Query, servers: bool, owners: Mapping[str, str]) -> Gold:
    return query.server_gold(owners) if servers else query.gold


def _owners(catalog: Catalog) -> dict[str, str]:
    return {tool.id: tool.owner for tool in catalog.tools}
