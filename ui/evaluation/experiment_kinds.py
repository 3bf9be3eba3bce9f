"""What each kind of experiment measures, and with which settings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from toolscope_core.decisions.constraints import constraints
from toolscope_core.evaluation import comparison, selection, stress, sweeps
from toolscope_core.evaluation.change_effects import merge_effects
from toolscope_core.evaluation.confusions import pair_confusions
from toolscope_core.evaluation.measured_toolsets import Toolset, forbidden_merges
from toolscope_core.evaluation.metrics import metric_rows
from toolscope_core.evaluation.query_sets import golds_of_both, relabelled
from toolscope_core.evaluation.results import result_json
from toolscope_core.llm.embedding import local_embedder
from toolscope_core.llm.model_requests import Asker
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.protocols import Embedder, Progress
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.decomposition import IN_VIEW
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.rps import planner, workers
from ui.evaluation import experiment_requests, measured_sides
from ui.evaluation.experiment_requests import CUTOFFS, ExperimentKind, ExperimentRequest
from ui.evaluation.measured_sides import POLICIES
from ui.shared.services import searches
from ui.shared.services.experiments import ORIGINAL
from ui.shared.snapshot import Snapshot

MOST_CONFUSIONS = 5_000


@dataclass(frozen=True, slots=True)
class ToolsetPlans(planner.PlanFigures):
    """The figures for the plans made with one toolset."""

    toolset: str


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans made with each toolset."""

    plans: tuple[ToolsetPlans, ...]


class ExperimentRun(NamedTuple):
    """An experiment on the queries of its ``trial``; ``progress`` may raise to cancel."""

    snapshot: Snapshot
    request: ExperimentRequest
    trial: comparison.Trial
    progress: Progress


def compare(run: ExperimentRun, asker: Asker | None) -> comparison.Comparison:
    """Compare both toolsets on the same queries, and measure the effect of each merge."""
    snapshot, request, trial, progress = run
    before, _ = measured_sides.toolset_of(snapshot, request.before)
    after, plan = measured_sides.toolset_of(snapshot, request.after)
    models = [measured_sides.model(snapshot, side) for side in (request.before, request.after)]
    bench = searches.bench(snapshot)
    ranker, other = (bench.ranker(request.retrieval, one) for one in models)
    if models[0] is models[1]:
        other = ranker  # already cached in memory
    first = second = comparison.measurement_of(before, trial, ranker, bench.tokens, progress)
    if after.version != before.version or other is not ranker:
        second = comparison.measurement_of(after, trial, other, bench.tokens, progress)
    if asker is not None:
        first, second = (_selected(one, trial, asker) for one in (first, second))
    effects: tuple[comparison.MergeEffect, ...] = ()
    if plan is not None and request.before == ORIGINAL:
        effects = merge_effects(plan, trial, first, second, ranker, progress)
    relabelled_queries = relabelled(trial.queries, before.phi)
    never = constraints(trial.catalog, snapshot.log).cannot
    unneeded = [
        one for one in experiment_requests.queries_of(snapshot, request.queries) if one.needs_none
    ]
    requests = list(map(comparison.request_of(request.request_split), unneeded))
    rankings = (
        ranker.rankings(before.tools, requests, comparison.PLACES, progress) if requests else ()
    )
    return replace(
        comparison.compared(trial, first, replace(second, toolset=after)),
        merges=effects,
        confusions=pair_confusions(relabelled_queries, first.rankings)[:MOST_CONFUSIONS],
        forbidden=tuple((one.left, one.right) for one in forbidden_merges(after, never)),
        never=len(never),
        needing_none=tuple(map(comparison.SearchedQuery.of, unneeded, rankings)),
    )


def _selected(
    measurement: comparison.Measurement, trial: comparison.Trial, asker: Asker
) -> comparison.Measurement:
    """The measurement with a model's rates of correct selection (CSR) in place of the search's."""
    choice = partial(selection.selected_by_model, measurement.toolset.tools, trial.requests, asker)
    rates = selection.selection_rates(
        choice, measurement.rankings, measurement.golds, trial.cutoffs
    )
    by_name = {row.name: row for row in rates}
    rows = tuple(by_name.get(row.name, row) for row in measurement.rows)
    return replace(measurement, rows=rows)


def servers(run: ExperimentRun, asker: Asker | None) -> comparison.Comparison:
    """Compare both toolsets on the same queries. The answers to these queries are servers."""
    first, second = (_found_servers(run, side) for side in (run.request.before, run.request.after))
    queries = tuple(
        replace(query, gold=tuple(map(frozenset, gold)), allowed=frozenset())
        for query, gold in zip(run.trial.queries, first.golds, strict=True)
    )
    return comparison.compared(replace(run.trial, queries=queries), first, second)


def _found_servers(run: ExperimentRun, side: str) -> comparison.Measurement:
    snapshot, request, trial, progress = run
    toolset, _ = measured_sides.toolset_of(snapshot, side)
    catalog, phi = replace(trial.catalog, tools=toolset.tools), toolset.phi
    bench = searches.bench(snapshot, catalog)
    retriever = bench.server_search(request.retrieval, progress)
    found = retriever.search_each(trial.requests, max(trial.cutoffs), progress)
    rankings = tuple(tuple(place.server for place in ranking) for ranking in found)
    _, golds = golds_of_both(trial.queries, trial.catalog.tools, catalog.tools, phi, servers=True)
    tokens = {tool.id: bench.tokens(tool) for tool in catalog.tools}
    costs = {one.name: sum(map(tokens.__getitem__, one.tools)) for one in retriever.profiles}
    return comparison.Measurement(
        toolset=toolset,
        golds=tuple(golds),
        rankings=rankings,
        rows=metric_rows(golds, rankings, trial.cutoffs),
        coverage=comparison.coverage(comparison.gold_calls(trial.queries, trial.catalog), toolset),
        tokens=sum(tokens.values()),
        token_means=comparison.token_means(rankings, costs, trial.cutoffs),
    )


def sweep(run: ExperimentRun, done: Sequence[float | str]) -> Iterator[sweeps.SweepPoint]:
    """The points of a sweep that are not in ``done`` yet."""
    snapshot, request, trial, progress = run
    bench, config = (
        searches.bench(snapshot),
        POLICIES.get(request.after, PlanConfig(accept="auto")),
    )
    fixed = sweeps.FixedSettings(trial, snapshot.log, bench.tokens, config, request.retrieval)
    if request.knob == "encoder":
        encoder = partial(_encoder, bench.embedder)
        return sweeps.encoder_points(fixed, encoder, bench.cache, request.encoders, done, progress)
    analysis = snapshot.analysis
    return sweeps.setting_points(analysis, fixed, bench.ranker, request.knob, done, progress)


def _encoder(own: Embedder, name: str) -> Embedder:
    """The encoder that is already loaded if it has this ``name``; otherwise the encoder with this
    name.
    """
    return own if name == own.name else local_embedder(name)


def stress_test(run: ExperimentRun, asker: Asker | None) -> stress.Stress:
    """Measure what is found or selected as the number of distractors grows."""
    snapshot, request, trial, progress = run
    config = replace(request.retrieval, rerank="none")  # the pools are small
    own = request.request_split if request.split == "auto" else request.split
    trials: dict[str, comparison.Trial] = {"none": trial.split_by("none"), own: trial}

    def chooser(toolset: Toolset, own: comparison.Trial) -> Any:
        tools, requests = toolset.tools, own.requests
        return nullcontext(asker and partial(workers.tools_of_pools, tools, requests, asker))

    sides, best = _sides(snapshot, request), 1 if request.select == "best" else None
    return searches.bench(snapshot).stress(sides, trials, config, progress, best, chooser)


def ablate(run: ExperimentRun, asker: Asker | None) -> sweeps.Ablation:
    """Measure with each part of ToolScope on and off."""
    snapshot, request, trial, progress = run
    bench = searches.bench(snapshot)
    fixed = sweeps.FixedSettings(trial, snapshot.log, bench.tokens, config=request.retrieval)
    rows = sweeps.ablation_rows(snapshot.analysis, fixed, bench.ranker, progress)
    if asker is not None:
        rows = (replace(row, measurement=_selected(row.measurement, trial, asker)) for row in rows)
    return sweeps.Ablation(tuple(row.figures(trial.catalog) for row in rows))


def plan(run: ExperimentRun, asker: Asker | None) -> JsonObject:
    """The calls in the plans for the queries with both toolsets. The ranking or a model decides
    each job.
    """
    snapshot, request, trial, progress = run
    bench, rows = searches.bench(snapshot), []
    for toolset in _sides(snapshot, request):
        retriever = Retriever(toolset.tools, bench.embedder, bench.cache, request.retrieval)
        parts = Catalog(toolset.tools), retriever, planner.WORKER_K, planner.PlannerConfig()
        by = planner.model_planner(*parts, asker) if asker else planner.offline_planner(*parts)
        golds = [query.gold for query in relabelled(trial.queries, toolset.phi)]
        figures = planner.plan_figures(by.plans(trial.requests, progress), golds, bench.tokens)
        rows.append({"toolset": toolset.name, **result_json(figures)})
    return {"plans": rows}


def _sides(snapshot: Snapshot, request: ExperimentRequest) -> list[Toolset]:
    sides = dict.fromkeys((request.before, request.after))
    return [measured_sides.toolset_of(snapshot, side)[0] for side in sides]


@dataclass(frozen=True, slots=True)
class MostQuestions:
    """The maximum number of questions that an experiment asks a model, and roughly how many tokens
    of definitions they show.
    """

    questions: int
    tokens: int


def most_questions(
    snapshot: Snapshot, request: ExperimentRequest, trial: comparison.Trial
) -> MostQuestions:
    """The maximum for an experiment that asks a model. Nothing is sent or searched.

    If a model splits a request, the parts are counted as the rules split it.
    """
    bench, queries = searches.bench(snapshot), len(trial.queries)
    mean = sum(map(bench.tokens, trial.catalog.tools)) / len(trial.catalog.tools)
    shown = [IN_VIEW * queries * (request.splitter == "context")]
    questions = queries if request.splitter else 0
    if request.select == "model":
        requests = (trial.split_by("rules") if request.splitter else trial).requests
        jobs = sum(len(selection.jobs_of(one)) for one in requests)
        jobs *= 10 if request.kind == "ablation" else len({request.before, request.after})
        pools = _POOLS[request.kind]
        questions += jobs * len(pools)
        shown += [jobs * size for size in pools]
    return MostQuestions(questions, round(sum(shown) * mean))


_POOLS: Mapping[ExperimentKind, Sequence[int]] = {
    "comparison": CUTOFFS,
    "ablation": CUTOFFS,
    "plan": (planner.WORKER_K, planner.STEP, planner.STEP),
    "stress": (*stress.LEVELS, *stress.LEVELS[1:]),
}
"""The sizes of the pools of tools that a model sees for a job."""
MEASURES: Mapping[ExperimentKind, Callable[..., Any]] = {
    "comparison": compare,
    "servers": servers,
    "stress": stress_test,
    "ablation": ablate,
    "plan": plan,
}
"""The function that measures each kind. A sweep is not among them, because it yields its points one
by one.
"""
