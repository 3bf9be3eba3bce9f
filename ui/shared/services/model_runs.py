"""Runs of a model on the screen: what asking costs, and asking in the background.

When a judging run finishes, the plan is made with its answers. A run that was paused, stopped or
cancelled is incomplete, so it leaves the plan unchanged until a person chooses it
(``judging.use``). Starting such a run again continues it.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from toolscope_core.decisions.constraints import constraints
from toolscope_core.export.namespace_writing import descriptions_of_model
from toolscope_core.llm.chat import EndpointModel
from toolscope_core.llm.document_answers import ask_for_documents
from toolscope_core.llm.estimates import Estimates, judging_estimates, question_estimates
from toolscope_core.llm.merge_questions import ask_for_verdicts
from toolscope_core.llm.model_requests import Asker, ModelRequests
from toolscope_core.llm.request_workers import RunBudget, Terms
from toolscope_core.llm.run_configuration import RunKind, configuration, model_without_key
from toolscope_core.llm.tasks.quality import grade_tools
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.configuration import Endpoint, PlanConfig, QuestionConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import ModelError, ModelStopError, PausedError, ToolScopeError
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Ledger, Progress, silent
from toolscope_core.model.tool import JsonObject
from toolscope_core.rps.telling_apart import rewrites_of_model, sibling_pairs
from toolscope_core.rps.variant_writing import variants_of_model
from toolscope_core.store.decision_rows import read_log
from toolscope_core.store.jobs import Work
from toolscope_core.store.named_rows import keep_variants
from toolscope_core.store.runs import ModelRun, RunState, end_run, list_runs, open_run
from ui.shared.chosen_judge import choose, chosen_at
from ui.shared.kept import kept_under
from ui.shared.services.judging import ENDED
from ui.shared.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class RunAccess:
    """The model as one run uses it, with the run's ledger and its limits on spending."""

    model: EndpointModel
    ledger: Ledger
    terms: Terms


def estimate(snapshot: Snapshot, kind: RunKind = "judge", paper: bool = False) -> Estimates:
    """The cost of ``start`` if it were called now. Nothing is sent."""
    if kind != "judge":
        return estimate_of(snapshot, _questions(snapshot, kind))
    analysis, log = snapshot.analysis, read_log(snapshot.work.store, snapshot.id)
    endpoint, links = snapshot.work.endpoints.required(), constraints(analysis.catalog, log)
    model = model_without_key(endpoint)
    return judging_estimates(analysis, links, paper, model, snapshot.work.ledger, endpoint.prices)


def first_estimate(snapshot: Snapshot, endpoint: Endpoint) -> Estimates:
    """The cost of verdicts before people decide. Later decisions do not change it."""
    runs = tuple((run.id, run.ended_at) for run in list_runs(snapshot.work.store, snapshot.id))
    return kept_under(
        snapshot.analysis, "first estimate", (endpoint, runs), lambda: estimate(snapshot)
    )


def estimate_of(snapshot: Snapshot, ask: Callable[[Asker], object]) -> Estimates:
    """The cost of the questions that ``ask`` would ask now. Nothing is sent."""
    endpoint = snapshot.work.endpoints.required()
    return question_estimates(
        ask, model_without_key(endpoint), snapshot.work.ledger, endpoint.prices
    )


def start(
    snapshot: Snapshot, kind: RunKind = "judge", paper: bool = False, clusters: Sequence[str] = ()
) -> str:
    """Ask in the background. Returns the id of the job, or of one that is already running.

    ``clusters`` are the ids of the clusters whose texts are wanted (for *documents*); empty means
    all. Raises ``ConfigError`` without an endpoint, and ``JobError`` before the analysis is done.
    """
    snapshot.work.endpoints.required()
    _ = snapshot.analysis  # raises JobError if there is no analysis
    return snapshot.start(kind, lambda progress: run(snapshot, kind, paper, clusters, progress))


def run(
    snapshot: Snapshot,
    kind: RunKind = "judge",
    paper: bool = False,
    clusters: Sequence[str] = (),
    progress: Progress = silent,
) -> ModelRun:
    """Ask now.

    Raises ``PausedError`` if the budget is used up or the endpoint does not answer, and
    ``ModelStopError`` if the endpoint refuses every call. The answers until then are stored.
    """
    if kind == "judge":
        return _judge(snapshot, QuestionConfig(paper=paper), progress)
    ask = _questions(snapshot, kind, clusters)
    work = partial(_offer_variants, snapshot, ask) if kind == "variants" else ask
    analysis = snapshot.analysis if kind == "documents" else None
    run_config = _configuration(snapshot, kind, analysis=analysis)
    return _run_questions(snapshot, run_config, work, progress)


def ask(
    snapshot: Snapshot,
    kind: RunKind,
    work: Callable[[Asker], object],
    progress: Progress,
    generation: JsonObject | None = None,
) -> ModelRun:
    """Do work that asks about a catalog, as a run of this kind.

    ``generation`` affects the questions. Raises the errors of ``run``.
    """
    run_config = _configuration(snapshot, kind, generation)
    return _run_questions(snapshot, run_config, work, progress)


def ask_in_background(snapshot: Snapshot, kind: RunKind, work: Callable[[Asker], object]) -> str:
    """``ask`` in the background. Returns the job's id. Raises ``ConfigError`` without a model."""
    return in_background(snapshot, kind, lambda progress: ask(snapshot, kind, work, progress))


def in_run(
    snapshot: Snapshot, kind: RunKind, work: Callable[[RunAccess], None], generation: JsonObject
) -> ModelRun:
    """Do work that talks to the model directly, as a run of this kind.

    ``generation`` affects what is said. Raises the errors of ``run`` and of ``work``.
    """

    def done(access: RunAccess) -> tuple[RunState, str]:
        work(access)
        return "done", ""

    return _recorded(snapshot, _configuration(snapshot, kind, generation), done)


def in_background(snapshot: Snapshot, kind: RunKind, work: Work) -> str:
    """Start work that asks a model. Returns the id of the job, or of one that is already running.

    Raises ``ConfigError`` if no model is set up.
    """
    snapshot.work.endpoints.required()
    return snapshot.start(kind, work)


def _judge(snapshot: Snapshot, questions: QuestionConfig, progress: Progress) -> ModelRun:
    analysis, log = snapshot.analysis, read_log(snapshot.work.store, snapshot.id)
    endpoint, links = snapshot.work.endpoints.required(), constraints(analysis.catalog, log)
    run_config = configuration("judge", endpoint, analysis.catalog, analysis, questions)

    def work(requests: ModelRequests) -> object:
        return ask_for_verdicts(analysis, links, requests, questions)

    run = _run_questions(snapshot, run_config, work, progress)
    choose(snapshot.work.store, snapshot.id, chosen_at(run, len(log)))
    _ = snapshot.work.snapshot(snapshot.id).analysis  # computed here, so that no page waits
    return run


def _questions(
    snapshot: Snapshot, kind: RunKind, clusters: Sequence[str] = ()
) -> Callable[[Asker], Any]:
    """A function that asks the questions of a run of this kind. ``clusters`` is as in ``start``.

    This covers all kinds except *judge* and the kinds of other services.
    """
    catalog = snapshot.catalog
    if kind == "quality":
        return partial(grade_tools, catalog)
    if kind == "variants":
        return partial(variants_of_model, catalog.tools)
    analysis, log = snapshot.analysis, read_log(snapshot.work.store, snapshot.id)
    if kind == "siblings":
        return partial(rewrites_of_model, analysis.catalog, _to_tell_apart(analysis, log))
    plan = plan_merge(analysis, log, PlanConfig())
    if kind == "namespaces":
        tools = [item.tool for item in plan.tools]
        return partial(descriptions_of_model, plan.catalog.servers, tools)
    asked_clusters = [one for one in plan.clusters if not clusters or one.id in clusters]
    return partial(ask_for_documents, plan.catalog, asked_clusters)


def _offer_variants(snapshot: Snapshot, ask: Callable[[Asker], Any], asker: Asker) -> None:
    """Store the texts that a model wrote about the tools, for review. Tools without an answer are
    left out.
    """
    variants, tools = ask(asker), snapshot.catalog.tools
    by_content = {one.fingerprint: variants[one.id] for one in tools if one.id in variants}
    keep_variants(snapshot.work.store, snapshot.id, asker.name, by_content)


def _run_questions(
    snapshot: Snapshot,
    run_config: JsonObject,
    work: Callable[[ModelRequests], object],
    progress: Progress,
) -> ModelRun:
    """Do work that asks, as a new run or as the continuation of an unfinished one."""

    def ask_all(access: RunAccess) -> tuple[RunState, str]:
        requests = ModelRequests(access.model, access.ledger, access.terms, progress)
        work(requests)
        if requests.state == "done" and requests.too_many_unusable:
            raise ModelError(requests.too_many_unusable)
        return requests.state, requests.message

    return _recorded(snapshot, run_config, ask_all)


def _configuration(
    snapshot: Snapshot,
    kind: RunKind,
    generation: JsonObject | None = None,
    analysis: Analysis | None = None,
) -> JsonObject:
    """The configuration that determines the questions of a run."""
    catalog, endpoint = snapshot.catalog, snapshot.work.endpoints.required()
    extra = {} if generation is None else {"generation": generation}
    return {**configuration(kind, endpoint, catalog, analysis), **extra}


def _recorded(
    snapshot: Snapshot, run_config: JsonObject, work: Callable[[RunAccess], tuple[RunState, str]]
) -> ModelRun:
    """Do work within the budget of a run, and record how the run ended."""
    endpoint = snapshot.work.endpoints.required()
    run = open_run(
        snapshot.work.store, uuid.uuid4().hex, snapshot.id, run_config["kind"], run_config
    )
    prices, cost = endpoint.prices, run.cost or 0.0
    if run.cost is None and prices:  # an earlier part of the run had no price
        cost = prices.cost(run.tokens_in, run.tokens_out)
    budget = RunBudget(endpoint.budget, prices, run.calls, cost)
    access = RunAccess(
        EndpointModel(endpoint, snapshot.work.endpoints.key(endpoint)),
        snapshot.work.ledger,
        Terms(run.id, budget, endpoint.concurrency, endpoint.most_tokens),
    )
    state: RunState = "cancelled"
    message = ENDED
    try:
        state, message = work(access)
    except PausedError as error:
        state, message = "paused", str(error)
    except ModelStopError as error:
        state, message = "stopped", str(error)
    except ToolScopeError as error:
        state, message = "failed", str(error)
        raise
    finally:
        run = end_run(snapshot.work.store, run.id, state, message)
    if state == "paused":
        raise PausedError(f"paused: {message}")
    if state == "stopped":
        raise ModelStopError(message)
    return run


def _to_tell_apart(analysis: Analysis, log: Sequence[Decision]) -> list[Pair]:
    kept_apart = constraints(analysis.catalog, log).cannot
    plan = plan_merge(analysis, log, PlanConfig())
    return [one.pair for one in sibling_pairs(analysis, plan, kept_apart)]
