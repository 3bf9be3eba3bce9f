"""How well a set of queries finds its gold answers, before and after a merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.catalog.tokens import Costs
from toolscope_core.cli.commands.search_command import (
    Searcher,
    SearchOptions,
    Selection,
    searched_catalog,
)
from toolscope_core.evaluation.comparison import Comparison, Trial, compared, of_rankings
from toolscope_core.evaluation.intervals import holm
from toolscope_core.evaluation.measured_toolsets import Toolset, as_it_is, augmented, of_bundle
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.evaluation.over_merging import LabelledMerges, labelled_merges, read_labels
from toolscope_core.evaluation.query_sets import (
    Query,
    owners_after,
    read_queries,
    with_gold_among,
)
from toolscope_core.evaluation.reports import MetricRow, metric_rows, p_values
from toolscope_core.evaluation.results import comparison_result
from toolscope_core.evaluation.selection import selection_rate
from toolscope_core.files.archives import bundle_folder
from toolscope_core.merging.relabelling import read_relabelling
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What is measured: at each of ``cutoffs``, after the merge too where a ``bundle`` is given;
    ``skip_unknown`` leaves queries out whose gold answers the catalog does not have. ``select``
    says who takes tools, of as many as the largest cut-off for each sub-query: see
    ``Searcher.selected``. ``labels`` are pairs of which people said whether they may be merged.
    """

    search: SearchOptions = field(default_factory=SearchOptions)
    cutoffs: tuple[int, ...] = (1, 5, 10)
    bundle: Path | None = None
    skip_unknown: bool = False
    select: Selection | None = None
    labels: Path | None = None


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The metrics of a query set, and of the same queries on the merged toolset where a bundle was
    given: ``p`` has by metric the paired p-value of no change, corrected by Holm. ``unjudged`` is
    the number of queries without gold answers, ``skipped`` of those whose answers are not there,
    ``whole`` of those that were searched whole since they have no steps; ``augmented`` is the
    number of tools with a document variant, ``unknown_variants`` of variants of no tool;
    ``from_tools`` is the share of places that a tool led to, of servers less than 1. Where tools
    were searched before and after, the ``comparison`` has every query, tokens and gold calls.
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
    p: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Everything; before and after a merge each query too."""
        before = {row.name: asdict(row.interval) for row in self.rows}
        after = {row.name: asdict(row.interval) for row in self.rows_after}
        return {
            "queries": self.queries,
            "unjudged": self.unjudged,
            "skipped": self.skipped,
            "whole": self.whole,
            "tools": self.tools,
            "augmented": self.augmented,
            "unknown_variants": self.unknown_variants,
            "from_tools": self.from_tools,
            "metrics": before,
            **({"merged": {"tools": self.tools_after, "metrics": after}} if after else {}),
            **({"p": dict(self.p)} if self.p else {}),
            **({"labelled": asdict(self.labelled)} if self.labelled else {}),
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


def evaluate_files(
    paths: Sequence[Path],
    queries: Path,
    options: EvaluationOptions,
    settings: Settings,
    progress: Progress = silent,
) -> EvaluationReport:
    """The metrics of a query set, and those of a bundle's toolset with the gold answers relabelled
    by φ. With ``search.servers`` the answers are servers.

    Raises ``ConfigError`` where gold answers are not in the catalog, no query has any, or the
    bundle is one of other tools.
    """
    if options.labels and (options.bundle is None or options.search.servers):
        raise ConfigError("--labels are of merges; give --bundle, and leave out --servers")
    if options.select and options.search.servers:
        raise ConfigError("--select takes tools, not servers; leave out --servers or --select")
    searched_in = searched_catalog(paths, options.search.variants, options.search.learned)
    catalog, variants = searched_in.catalog, searched_in.variants
    asked = read_queries(queries)
    owners = {tool.id: tool.owner for tool in catalog.tools}
    names = set(owners.values()) if options.search.servers else owners.keys()
    gold_of = partial(_gold, servers=options.search.servers, owners=owners)
    judged = [one for one in asked if gold_of(one)]
    kept = with_gold_among(judged, names, options.skip_unknown, gold_of)
    if not kept:
        raise ConfigError(
            f"no query of {queries} has a gold answer in the catalog; give tool ids under `gold`, "
            "or names of servers under `gold_servers` with --servers"
        )
    k, searcher = max(options.cutoffs), Searcher(catalog, options.search, settings)
    searched = searcher.rankings(kept, k, progress)
    golds = list(map(gold_of, kept))
    rows = metric_rows(golds, searched.names, options.cutoffs)
    if options.select:
        chosen = searcher.selected(searched.requests, k, options.select, progress)
        rows = (*rows, selection_rate(chosen, golds, k))
    report = EvaluationReport(
        queries=len(kept),
        unjudged=len(asked) - len(judged),
        skipped=len(judged) - len(kept),
        whole=searched.whole,
        tools=len(catalog.tools),
        augmented=len(variants.by_id),
        unknown_variants=len(variants.unknown),
        rows=rows,
        from_tools=searched.from_tools,
    )
    if options.bundle is None:
        return report
    toolset = augmented(merged_toolset(options.bundle, catalog), variants.by_id)
    merged = Catalog(toolset.tools)
    searcher = Searcher(merged, options.search, settings, toolset.phi, catalog)
    searched_after = searcher.rankings(kept, k, progress)
    report = replace(report, tools_after=len(merged.tools))
    if options.search.servers:
        new_owners = owners_after(
            owners, {tool.id: tool.owner for tool in merged.tools}, toolset.phi
        )
        gold_after = [one.server_gold(new_owners) for one in kept]
        after = metric_rows(gold_after, searched_after.names, options.cutoffs)
        raw = p_values(rows, after)
        corrected = dict(zip(raw, holm([*raw.values()]), strict=True))
        return replace(report, rows_after=after, p=corrected)
    trial, costs = Trial(catalog, tuple(kept), searched.requests, options.cutoffs), Costs()
    before, later = (
        of_rankings(side, trial, names, lambda tool: costs.of(tool, PROMPT_SHAPES[0]))
        for side, names in ((as_it_is(catalog), searched.names), (toolset, searched_after.names))
    )
    if options.select:
        chosen = searcher.selected(searched_after.requests, k, options.select, progress)
        later = replace(later, rows=(*later.rows, selection_rate(chosen, later.golds, k)))
        before = replace(before, rows=rows)
    comparison = compared(trial, before, later)
    labelled = labelled_merges(toolset, read_labels(options.labels)) if options.labels else None
    return replace(
        report,
        rows_after=later.rows,
        p=comparison.p,
        comparison=comparison,
        labelled=labelled,
    )


def _gold(query: Query, servers: bool, owners: Mapping[str, str]) -> Gold:
    return query.server_gold(owners) if servers else query.gold


def merged_toolset(bundle: Path, catalog: Catalog) -> Toolset:
    """A bundle's toolset. Raises ``ConfigError`` for a bundle of other tools."""
    with bundle_folder(bundle) as folder:
        relabelling = read_relabelling(folder)
        merged = read_isolated(load_paths([folder]))
    if foreign := sorted(catalog.by_id.keys() - relabelling.phi.keys()):
        raise ConfigError(
            f"{bundle} says nothing of {foreign[0]}; give a bundle that was made of this catalog"
        )
    return of_bundle(merged, relabelling, "merged")
