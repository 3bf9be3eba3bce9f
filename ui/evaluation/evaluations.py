"""Experiments on the screen: configured, run as jobs, kept, compared, exported."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Literal

from toolscope_core.catalog.formats.spreadsheets import csv_bytes
from toolscope_core.decisions.constraints import constraints
from toolscope_core.evaluation import comparison, sweeps
from toolscope_core.evaluation.change_effects import merge_effects
from toolscope_core.evaluation.confusions import pair_confusions
from toolscope_core.evaluation.measured_toolsets import Toolset, forbidden_merges
from toolscope_core.evaluation.query_sets import Query, relabelled, synthetic_queries
from toolscope_core.evaluation.results import result_json, table_of
from toolscope_core.evaluation.stress import Stress
from toolscope_core.llm.embedding import local_embedder
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import Knob, PlanConfig, RequestSplit
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ConfigError, DecisionError
from toolscope_core.model.plan import Experiment
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig, SearchName, named_search
from toolscope_core.model.tool import JsonObject, digest
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.rps.planner import (
    WORKER_K,
    PlanFigures,
    PlannerConfig,
    offline_planner,
    plan_figures,
)
from toolscope_core.store.experiment_rows import keep_result, open_experiment
from ui.evaluation import measured_sides
from ui.evaluation.measured_sides import POLICIES
from ui.shared.kept import kept
from ui.shared.services import loaded_queries, review, searches
from ui.shared.services.experiments import ORIGINAL
from ui.shared.snapshot import Snapshot

ExperimentKind = Literal["comparison", "stress", "sweep", "ablation", "plan"]

SYNTHETIC = "made from descriptions"
_CUTOFFS = (1, 5, 10)
MOST_CONFUSIONS = 5_000


@dataclass(frozen=True, slots=True)
class ToolsetPlans(PlanFigures):
    """The figures of the plans on one toolset."""

    toolset: str


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans of every toolset."""

    plans: tuple[ToolsetPlans, ...]


@dataclass(frozen=True, slots=True)
class ExperimentRequest:
    """An experiment requested by a page.

    ``queries`` names a query set, or is ``SYNTHETIC``. ``before`` and ``after`` are toolsets; see
    ``measured_sides``. ``knob`` is the setting of a sweep, with the merge policy of ``after``.
    ``encoders`` are names or folders of sentence-transformers models. ``search`` names a paper or
    client whose search is used, empty for ours. With it, ``rerank`` *auto* means its reranker, and
    ``alpha`` ``None`` its weight of dense scores.
    """

    kind: ExperimentKind = "comparison"
    queries: str = SYNTHETIC
    before: str = ORIGINAL
    after: str = "accepted and safe"
    rerank: str = "auto"
    split: RequestSplit = "rules"
    knob: Knob = "threshold"
    encoders: tuple[str, ...] = ()
    search: SearchName = ""
    alpha: float | None = None


def query_sets(snapshot: Snapshot) -> tuple[str, ...]:
    """The available queries: names of query sets with gold tools, then ``SYNTHETIC``."""
    with_answers = (
        view.name
        for view in loaded_queries.sets(snapshot)
        if any(query.gold for query in view.content.queries)
    )
    return (*with_answers, SYNTHETIC)


def unknown(snapshot: Snapshot, name: str) -> tuple[str, ...]:
    """Names in a query set's answers that the catalog does not have."""
    sets = loaded_queries.sets(snapshot)
    return next((view.unknown for view in sets if view.name == name), ())


def start(snapshot: Snapshot, request: ExperimentRequest) -> str:
    """Run an experiment in the background; returns the job's id.

    If one of its kind is running, that job's id.
    """
    return snapshot.start(job_kind(request.kind), lambda step: run(snapshot, request, step))


def run(snapshot: Snapshot, request: ExperimentRequest, progress: Progress = silent) -> int:
    """Run an experiment now, or continue an interrupted one; returns its number.

    Raises ``ConfigError`` if no query has a gold answer.
    """
    work, trial = snapshot.work, _trial(snapshot, request)
    configuration = _configuration(snapshot, request, trial)
    experiment = open_experiment(work.store, snapshot.id, request.kind, configuration)
    started = time.monotonic() - experiment.seconds

    def keep(result: JsonObject, *, is_done: bool) -> None:
        seconds = time.monotonic() - started
        keep_result(work.store, experiment.number, result, seconds, is_done=is_done)

    if request.kind == "sweep":
        points = list((experiment.result or {}).get("points", ()))
        known = [point["value"] for point in points]
        for point in _sweep(snapshot, request, trial, known, progress):
            points.append(result_json(point.figures(trial.catalog)))
            keep({"points": points}, is_done=False)
        keep({"points": points}, is_done=True)
    else:
        measure = {"comparison": _compare, "stress": _stress, "ablation": _ablate, "plan": _plans}
        result = measure[request.kind](snapshot, request, trial, progress)
        keep(result_json(result), is_done=True)
    return experiment.number


def is_current(snapshot: Snapshot, experiment: Experiment) -> bool:
    """Whether the catalog and its decisions are unchanged since the experiment."""
    measured_then = experiment.configuration.get("decisions")
    return experiment.catalog_id == snapshot.id and measured_then == decisions_hash(snapshot)


def as_json(experiment: Experiment) -> str:
    """All of an experiment."""
    return json.dumps(
        {
            "kind": experiment.kind,
            "at": experiment.at,
            "seconds": round(experiment.seconds, 3),
            "configuration": experiment.configuration,
            "result": experiment.result,
        },
        indent=1,
    )


def spreadsheet(experiment: Experiment) -> bytes:
    """The rows of an experiment as CSV in UTF-8."""
    rows = table_of(experiment.kind, experiment.result or {})
    names = list(dict.fromkeys(name for row in rows for name in row))
    return csv_bytes(names, ([row.get(name, "") for name in names] for row in rows))


def take_back(snapshot: Snapshot, members: Sequence[str], reviewer: str) -> Decision:
    """Undo the merge of these tools.

    It undoes the decision that accepted it, or keeps the tools apart if nobody decided. Raises
    ``DecisionError`` if there is no such merge any more.
    """
    for decision in review.active_decisions(snapshot):
        if decision.action == "accept" and sorted(decision.ids) == sorted(members):
            return review.undo(snapshot, reviewer, decision.seq)
    cluster = _merge_of(snapshot, members)
    if cluster is None:
        raise DecisionError(
            f"{', '.join(members[:3])} are no longer proposed as one merge; run the "
            "experiment again"
        )
    return review.decide(snapshot, "keep_apart", cluster, reviewer)


def equal_tools(snapshot: Snapshot) -> dict[str, str]:
    """The representative of each tool, by id, for accepted merges and families."""
    return {
        member: cluster.canonical
        for cluster in snapshot.plan.clusters
        if cluster.state == "accepted" or cluster.relation == "family"
        for member in cluster.members
    }


def _merge_of(snapshot: Snapshot, members: Sequence[str]) -> Cluster | None:
    clusters = snapshot.plan_under(PlanConfig(accept="all")).clusters
    return next((one for one in clusters if sorted(one.members) == sorted(members)), None)


def _trial(snapshot: Snapshot, request: ExperimentRequest) -> comparison.Trial:
    catalog = snapshot.analysis.catalog
    queries = queries_of(snapshot, request.queries)
    for side in (request.before, request.after):
        model = measured_sides.model(snapshot, side)
        if model is not None:
            queries = tuple(one for one in queries if not model.learned_from(one.text))
    if not queries:
        raise ConfigError(
            f"the model was trained on every query of {request.queries!r}; choose a set that "
            "was added after the training"
        )
    return comparison.Trial.of(catalog, queries, comparison.request_of(request.split), _CUTOFFS)


def queries_of(snapshot: Snapshot, name: str) -> tuple[Query, ...]:
    """The queries of a set in ``query_sets``. Raises ``ConfigError`` if there is none."""
    if name == SYNTHETIC:
        return tuple(synthetic_queries(snapshot.analysis.catalog))
    for view in loaded_queries.sets(snapshot):
        if view.name == name:
            return view.content.queries
    raise ConfigError(f"there is no query set {name!r}; choose another")


def _compare(
    snapshot: Snapshot, request: ExperimentRequest, trial: comparison.Trial, progress: Progress
) -> comparison.Comparison:
    before, _ = measured_sides.toolset_of(snapshot, request.before)
    after, plan = measured_sides.toolset_of(snapshot, request.after)
    models = [measured_sides.model(snapshot, side) for side in (request.before, request.after)]
    bench = searches.bench(snapshot)
    ranker, other = (bench.ranker(_retrieval(request), one) for one in models)
    if models[0] is models[1]:
        other = ranker  # compared in memory once
    first = second = comparison.measurement_of(before, trial, ranker, bench.tokens, progress)
    if after.version != before.version or other is not ranker:
        second = comparison.measurement_of(after, trial, other, bench.tokens, progress)
    effects: tuple[comparison.MergeEffect, ...] = ()
    if plan is not None and request.before == ORIGINAL:
        effects = merge_effects(plan, trial, first, second, ranker, progress)
    relabelled_queries = relabelled(trial.queries, before.phi)
    never = constraints(trial.catalog, snapshot.log).cannot
    unneeded = [one for one in queries_of(snapshot, request.queries) if one.needs_none]
    requests = list(map(comparison.request_of(request.split), unneeded))
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


def _sweep(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    known: Sequence[float | str],
    progress: Progress,
) -> Iterator[sweeps.SweepPoint]:
    """The points of a sweep that are not ``known`` yet."""
    bench, config = (
        searches.bench(snapshot),
        POLICIES.get(request.after, PlanConfig(accept="auto")),
    )
    fixed = sweeps.FixedSettings(trial, snapshot.log, bench.tokens, config, _retrieval(request))
    if request.knob == "encoder":
        encoder = partial(_encoder, bench.embedder)
        return sweeps.encoder_points(fixed, encoder, bench.cache, request.encoders, known, progress)
    analysis = snapshot.analysis
    return sweeps.setting_points(analysis, fixed, bench.ranker, request.knob, known, progress)


def _encoder(own: Embedder, name: str) -> Embedder:
    """The encoder that is already loaded, or another."""
    return own if name == own.name else local_embedder(name)


def _stress(
    snapshot: Snapshot, request: ExperimentRequest, trial: comparison.Trial, progress: Progress
) -> Stress:
    config = replace(_retrieval(request), rerank="none")  # the pools are small
    splits: tuple[RequestSplit, ...] = ("none", request.split)
    trials: dict[str, comparison.Trial] = {one: trial.split_by(one) for one in splits}
    return searches.bench(snapshot).stress(_sides(snapshot, request), trials, config, progress)


def _ablate(
    snapshot: Snapshot, request: ExperimentRequest, trial: comparison.Trial, progress: Progress
) -> sweeps.Ablation:
    bench = searches.bench(snapshot)
    fixed = sweeps.FixedSettings(trial, snapshot.log, bench.tokens)
    rows = sweeps.ablation_rows(snapshot.analysis, fixed, bench.ranker, progress)
    return sweeps.Ablation(tuple(row.figures(trial.catalog) for row in rows))


def _plans(
    snapshot: Snapshot, request: ExperimentRequest, trial: comparison.Trial, progress: Progress
) -> JsonObject:
    """The calls in the queries' plans on both sides, each job decided by the ranking."""
    bench, rows = searches.bench(snapshot), []
    for toolset in _sides(snapshot, request):
        retriever = Retriever(toolset.tools, bench.embedder, bench.cache, _retrieval(request))
        planner = offline_planner(Catalog(toolset.tools), retriever, WORKER_K, PlannerConfig())
        golds = [query.gold for query in relabelled(trial.queries, toolset.phi)]
        figures = plan_figures(planner.plans(trial.requests, progress), golds, bench.tokens)
        rows.append({"toolset": toolset.name, **result_json(figures)})
    return {"plans": rows}


def _sides(snapshot: Snapshot, request: ExperimentRequest) -> list[Toolset]:
    sides = dict.fromkeys((request.before, request.after))
    return [measured_sides.toolset_of(snapshot, side)[0] for side in sides]


def _configuration(
    snapshot: Snapshot, request: ExperimentRequest, trial: comparison.Trial
) -> JsonObject:
    """Everything that decides the figures."""
    questions = [
        (one.id, one.text, [sorted(need) for need in one.gold], one.steps, one.calls)
        for one in trial.queries
    ]
    return {
        **asdict(request),
        "retrieval": _retrieval(request).as_json(),
        "embedder": snapshot.work.embedder.name,
        "tools": len(trial.catalog.tools),
        "decisions": decisions_hash(snapshot),
        "query_count": len(trial.queries),
        "query_digest": digest(questions),
    }


@kept()
def decisions_hash(snapshot: Snapshot) -> str:
    """A hash of the decisions and the merges that follow from them and from the judge."""
    log = [(one.seq, one.action) for one in snapshot.log]
    plans = [snapshot.plan_under(config) for config in POLICIES.values()]
    return digest(log, *(plan.phi for plan in plans))


def job_kind(kind: ExperimentKind) -> str:
    """The job kind of an experiment."""
    return f"experiment: {kind}"


def _retrieval(request: ExperimentRequest) -> RetrievalConfig:
    config = named_search(request.search)
    alpha = config.dense_weight if request.alpha is None else request.alpha
    rerank = config.rerank if request.rerank == "auto" else request.rerank
    return replace(config, dense_weight=alpha, rerank=rerank)
