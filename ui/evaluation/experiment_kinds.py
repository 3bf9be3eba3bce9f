"""What each kind of experiment measures, and with which settings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from toolscope_core.decisions.constraints import constraints
from toolscope_core.evaluation import comparison, selection, stress, sweeps
from toolscope_core.evaluation.change_effects import merge_effects
from toolscope_core.evaluation.confusions import pair_confusions
from toolscope_core.evaluation.measured_toolsets import Toolset, forbidden_merges
from toolscope_core.evaluation.metrics import Gold, metric_rows
from toolscope_core.evaluation.query_sets import (
    Query,
    golds_of_both,
    relabelled,
    synthetic_queries,
    unknown_gold,
)
from toolscope_core.evaluation.results import result_json
from toolscope_core.llm.embedding import local_embedder
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.llm.tasks.selection_prompt import Splitter
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import Knob, PlanConfig, RequestSplit
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Embedder, Progress
from toolscope_core.model.search_configuration import (
    Assembly,
    Corpus,
    RetrievalConfig,
    SearchName,
    named_search,
    usual_split,
)
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import IN_VIEW, splits_of_model
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.rps import planner, workers
from toolscope_core.tool2vec.tuned_embedder import learned_texts
from ui.evaluation import measured_sides
from ui.evaluation.measured_sides import POLICIES
from ui.shared.services import loaded_queries, searches
from ui.shared.services.experiments import ORIGINAL
from ui.shared.snapshot import Snapshot

ExperimentKind = Literal["comparison", "servers", "stress", "sweep", "ablation", "plan"]


ExperimentSplit = Literal["auto"] | RequestSplit | Splitter
"""How requests are split; *auto*: as the search does, *dummy* and *context*: by a model."""
_BY_MODEL: dict[str, Splitter] = {one: one for one in get_args(Splitter)}
_WITHOUT_MODEL: dict[str, RequestSplit] = {one: one for one in get_args(RequestSplit)}
Selector = Literal["", "best", "model"]
"""Who takes tools from those that are found: nobody, the search for each job, or a model."""
SYNTHETIC = "made from descriptions"


_CUTOFFS, _SERVER_CUTOFFS = (1, 5, 10), (1, 3, 5, 10)


MOST_CONFUSIONS = 5_000


@dataclass(frozen=True, slots=True)
class ToolsetPlans(planner.PlanFigures):
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
    ``alpha`` and ``assembly`` ``None`` its own. ``select`` says who takes the tools that count.
    ``recorded`` are the parts of requests by query id, from a file.
    """

    kind: ExperimentKind = "comparison"
    queries: str = SYNTHETIC
    before: str = ORIGINAL
    after: str = "accepted and safe"
    rerank: str = "auto"
    split: ExperimentSplit = "auto"
    knob: Knob = "threshold"
    encoders: tuple[str, ...] = ()
    search: SearchName = ""
    alpha: float | None = None
    assembly: Assembly | None = None
    corpus: Corpus = "both"
    select: Selector = ""
    recorded: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def splitter(self) -> Splitter | None:
        """How a model splits the requests, if it is asked to."""
        return None if self.recorded else _BY_MODEL.get(self.split)

    @property
    def asks_model(self) -> bool:
        """Whether a model has to be asked."""
        return self.select == "model" or self.splitter is not None

    @property
    def retrieval(self) -> RetrievalConfig:
        """The settings of its search."""
        config = named_search(self.search)
        alpha = config.dense_weight if self.alpha is None else self.alpha
        return replace(
            config,
            dense_weight=alpha,
            rerank=config.rerank if self.rerank == "auto" else self.rerank,
            assembly=self.assembly or config.assembly,
            corpus=self.corpus,
        )

    @property
    def request_split(self) -> RequestSplit:
        """How its requests are split without a model."""
        usual = usual_split(self.search)
        return usual if self.split == "auto" else _WITHOUT_MODEL.get(self.split, "none")


def trial_of(snapshot: Snapshot, request: ExperimentRequest) -> comparison.Trial:
    catalog = snapshot.analysis.catalog
    queries = queries_of(snapshot, request.queries)
    for side in (request.before, request.after):
        model = measured_sides.model(snapshot, side)
        if model is not None:
            queries = tuple(one for one in queries if not model.learned_from(one.text))
    for encoder in request.encoders:
        is_learned = learned_texts(Path(encoder))
        queries = tuple(one for one in queries if not is_learned(one.text))
    if not queries:
        raise ConfigError(
            f"the model was trained on every query of {request.queries!r}; choose a set that "
            "was added after the training"
        )
    split = comparison.request_of(request.request_split)
    parts = dict(request.recorded)

    def request_of(query: Query) -> ToolRequest:
        own = parts.get(query.id)
        return split(query) if own is None else ToolRequest(query.text, own, by_rule=False)

    if request.kind != "servers":
        return comparison.Trial.of(catalog, queries, request_of, _CUTOFFS)
    owners = {tool.id: tool.owner for tool in catalog.tools}
    names = {*owners.values()}

    def gold_of(query: Query) -> Gold:
        """The servers that are needed; none if the catalog lacks one."""
        gold = query.server_gold(owners)
        return () if unknown_gold([gold], names) else gold

    return comparison.Trial.of(catalog, queries, request_of, _SERVER_CUTOFFS, gold_of)


def split_by_model(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    progress: Progress,
    asker: Asker,
) -> comparison.Trial:
    """The trial with the parts that a model sees in each request; those it does not answer stay
    whole.
    """
    if request.splitter is None:
        return trial
    texts = [query.text for query in trial.queries]
    bench = searches.bench(snapshot)
    in_view = bench.in_view(texts, request.splitter, request.search, progress)
    splits = splits_of_model(texts, in_view, request.splitter, asker)
    requests = (ToolRequest(*one, by_rule=False) for one in zip(texts, splits, strict=True))
    return replace(trial, requests=tuple(requests))


def queries_of(snapshot: Snapshot, name: str) -> tuple[Query, ...]:
    """The queries of a set in ``query_sets``. Raises ``ConfigError`` if there is none."""
    if name == SYNTHETIC:
        return tuple(synthetic_queries(snapshot.analysis.catalog))
    for view in loaded_queries.sets(snapshot):
        if view.name == name:
            return view.content.queries
    raise ConfigError(f"there is no query set {name!r}; choose another")


def compare(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    progress: Progress,
    asker: Asker | None,
) -> comparison.Comparison:
    """Both toolsets under the same queries, with the effects of single merges."""
    before, _ = measured_sides.toolset_of(snapshot, request.before)
    after, plan = measured_sides.toolset_of(snapshot, request.after)
    models = [measured_sides.model(snapshot, side) for side in (request.before, request.after)]
    bench = searches.bench(snapshot)
    ranker, other = (bench.ranker(request.retrieval, one) for one in models)
    if models[0] is models[1]:
        other = ranker  # compared in memory once
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
    unneeded = [one for one in queries_of(snapshot, request.queries) if one.needs_none]
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
    """The measurement with the correct selections (CSR) of a model in place of the search's."""
    choice = partial(selection.selected_by_model, measurement.toolset.tools, trial.requests, asker)
    rates = selection.selection_rates(
        choice, measurement.rankings, measurement.golds, trial.cutoffs
    )
    by_name = {row.name: row for row in rates}
    rows = tuple(by_name.get(row.name, row) for row in measurement.rows)
    return replace(measurement, rows=rows)


def servers(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    progress: Progress,
    asker: Asker | None,
) -> comparison.Comparison:
    """Both toolsets under the same queries, whose answers are servers."""
    first, second = (
        _found_servers(snapshot, request, trial, side, progress)
        for side in (request.before, request.after)
    )
    queries = tuple(
        replace(query, gold=tuple(map(frozenset, gold)), allowed=frozenset())
        for query, gold in zip(trial.queries, first.golds, strict=True)
    )
    return comparison.compared(replace(trial, queries=queries), first, second)


def _found_servers(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    side: str,
    progress: Progress,
) -> comparison.Measurement:
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


def sweep(
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
    fixed = sweeps.FixedSettings(trial, snapshot.log, bench.tokens, config, request.retrieval)
    if request.knob == "encoder":
        encoder = partial(_encoder, bench.embedder)
        return sweeps.encoder_points(fixed, encoder, bench.cache, request.encoders, known, progress)
    analysis = snapshot.analysis
    return sweeps.setting_points(analysis, fixed, bench.ranker, request.knob, known, progress)


def _encoder(own: Embedder, name: str) -> Embedder:
    """The encoder that is already loaded, or another."""
    return own if name == own.name else local_embedder(name)


def stress_test(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    progress: Progress,
    asker: Asker | None,
) -> stress.Stress:
    """What is found, or taken, among more and more distractors."""
    config = replace(request.retrieval, rerank="none")  # the pools are small
    own = request.request_split if request.split == "auto" else request.split
    trials: dict[str, comparison.Trial] = {"none": trial.split_by("none"), own: trial}

    def chooser(toolset: Toolset, own: comparison.Trial) -> Any:
        tools, requests = toolset.tools, own.requests
        return nullcontext(asker and partial(workers.tools_of_pools, tools, requests, asker))

    sides, best = _sides(snapshot, request), 1 if request.select == "best" else None
    return searches.bench(snapshot).stress(sides, trials, config, progress, best, chooser)


def ablate(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    progress: Progress,
    asker: Asker | None,
) -> sweeps.Ablation:
    """The parts of ToolScope on and off."""
    bench = searches.bench(snapshot)
    fixed = sweeps.FixedSettings(trial, snapshot.log, bench.tokens, config=request.retrieval)
    rows = sweeps.ablation_rows(snapshot.analysis, fixed, bench.ranker, progress)
    if asker is not None:
        rows = (replace(row, measurement=_selected(row.measurement, trial, asker)) for row in rows)
    return sweeps.Ablation(tuple(row.figures(trial.catalog) for row in rows))


def plan(
    snapshot: Snapshot,
    request: ExperimentRequest,
    trial: comparison.Trial,
    progress: Progress,
    asker: Asker | None,
) -> JsonObject:
    """The calls in the queries' plans on both sides, each job decided by the ranking or a model."""
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
    """The most questions that an experiment asks a model, and about how many tokens of definitions
    they show.
    """

    questions: int
    tokens: int


def most_questions(
    snapshot: Snapshot, request: ExperimentRequest, trial: comparison.Trial
) -> MostQuestions:
    """The limit for an experiment that asks a model; sends and searches nothing.

    A request that a model splits counts with the parts that rules find in it.
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
    "comparison": _CUTOFFS,
    "ablation": _CUTOFFS,
    "plan": (planner.WORKER_K, planner.STEP, planner.STEP),
    "stress": (*stress.LEVELS, *stress.LEVELS[1:]),
}
"""The numbers of tools that a model sees for a job."""
MEASURES: Mapping[ExperimentKind, Callable[..., Any]] = {
    "comparison": compare,
    "servers": servers,
    "stress": stress_test,
    "ablation": ablate,
    "plan": plan,
}
"""How each kind is measured; a sweep gives its points one by one."""
