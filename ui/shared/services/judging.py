"""A model on the screen: what asking it takes, runs in the background, and which judge counts.

A run that is done makes the plan with its answers; one that is paused, stopped or cancelled leaves
the plan as it was until a person chooses it (``use``), for it knows only a part. Starting it again
goes on where it ended.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from toolscope_core.decisions.constraints import constraints
from toolscope_core.llm import EndpointModel
from toolscope_core.llm.endpoints import Endpoints
from toolscope_core.llm.merge_questions import ask_for_verdicts, with_documents, with_grades
from toolscope_core.llm.requests import RunBudget, Terms
from toolscope_core.llm.requests.model_requests import Asker, ModelRequests
from toolscope_core.llm.run_configuration import (
    RUN_KINDS,
    RunKind,
    configuration,
    model_without_key,
    still_holds,
    stored_answers,
)
from toolscope_core.merging.model_verdicts import Band, Grade, ModelVerdicts
from toolscope_core.merging.pipeline import Analysis, plan_merge
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import Endpoint, PlanConfig, QuestionConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import JobError, ModelStopError, PausedError, ToolScopeError
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Ledger, Progress, silent
from toolscope_core.model.tool import JsonObject
from toolscope_core.rps.telling_apart import descriptions_of_model, sibling_pairs
from toolscope_core.rps.variant_writing import variants_of_model
from toolscope_core.store import (
    Job,
    ModelRun,
    RunState,
    Store,
    StoredLedger,
    end_run,
    get_run,
    keep_variants,
    list_runs,
    open_run,
    read_log,
)
from toolscope_core.store.background.jobs import Work
from toolscope_core.tool2vec.estimates import (
    Estimates,
    augmenting_takes,
    grading_takes,
    judging_takes,
    telling_apart_takes,
    writing_takes,
)
from ui.shared.cards.written_documents import Written, written_for
from ui.shared.services.analyses import Analyses
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.chosen_judge import ChosenJudge, chosen_at
from ui.shared.services.result_cache import ResultCache

__all__ = ["OFFLINE", "Band", "Grade", "Judging", "ModelRun"]

OFFLINE = "offline"
OF_TOOLS: tuple[RunKind, ...] = ("quality", "variants", "siblings", "plan", "queries", "agent")
"""Runs that ask about tools whatever judge, θ and neighbours the analysis has."""
_ENDED = "it was ended before it was done; start it again to go on"


@dataclass(frozen=True, slots=True)
class RunAccess:
    """The model within one run: its ledger, and the terms that say what may be spent."""

    model: EndpointModel
    ledger: Ledger
    terms: Terms


class Judging:
    """Runs of the chosen endpoint over analysed catalogs."""

    def __init__(
        self,
        store: Store,
        catalogs: Catalogs,
        analyses: Analyses,
        chosen_judge: ChosenJudge,
        endpoints: Endpoints,
    ) -> None:
        self._store = store
        self._catalogs = catalogs
        self._analyses = analyses
        self._chosen_judge = chosen_judge
        self._endpoints = endpoints
        self._ledger = StoredLedger(store)
        self._graded: ResultCache[Mapping[str, Grade]] = ResultCache()

    def estimate(self, catalog_id: int, kind: RunKind = "judge", paper: bool = False) -> Estimates:
        """What ``start`` would take now; sends nothing."""
        endpoint = self._endpoints.needed()
        model, prices = model_without_key(endpoint), endpoint.prices
        if kind in ("quality", "variants"):
            takes = grading_takes if kind == "quality" else augmenting_takes
            catalog = self._catalogs.open(catalog_id)
            return Estimates(takes(catalog, model, self._ledger, prices))
        analysis, log = self._analyses.required(catalog_id), read_log(self._store, catalog_id)
        if kind == "siblings":
            pairs = _to_tell_apart(analysis, log)
            return Estimates(
                telling_apart_takes(analysis.catalog, pairs, model, self._ledger, prices)
            )
        if kind == "documents":
            plan = plan_merge(analysis, log, PlanConfig())
            return Estimates(writing_takes(plan, model, self._ledger, prices))
        links = constraints(analysis.catalog, log)
        own, whole = (
            judging_takes(analysis, links, model, self._ledger, QuestionConfig(paper=way), prices)
            for way in (paper, True)
        )
        return Estimates(own, whole)

    def start(
        self,
        catalog_id: int,
        kind: RunKind = "judge",
        paper: bool = False,
        clusters: Sequence[str] = (),
    ) -> str:
        """Ask in the background; returns the job's id (that of a running one, if any).

        ``clusters`` are ids of those whose words are wanted (*documents*), all if none are given.
        Raises ``ConfigError`` without an endpoint, ``JobError`` before the analysis is finished.
        """
        self._endpoints.needed()
        self._analyses.required(catalog_id)
        return self._analyses.background(
            catalog_id,
            kind,
            lambda progress: self.run(catalog_id, kind, paper, clusters, progress),
        )

    def run(
        self,
        catalog_id: int,
        kind: RunKind = "judge",
        paper: bool = False,
        clusters: Sequence[str] = (),
        progress: Progress = silent,
    ) -> ModelRun:
        """Ask here and now. Raises ``PausedError`` where the budget is used up or the endpoint does
        not answer, ``ModelStopError`` where it refuses every call: what was answered is kept.
        """
        if kind == "quality":
            return self._grade(catalog_id, progress)
        if kind == "variants":
            return self._augment(catalog_id, progress)
        if kind == "siblings":
            return self._tell_apart(catalog_id, progress)
        if kind == "documents":
            return self._write(catalog_id, frozenset(clusters), progress)
        return self._judge(catalog_id, QuestionConfig(paper=paper), progress)

    def ask(
        self,
        catalog_id: int,
        kind: RunKind,
        work: Callable[[Asker], None],
        progress: Progress,
        generation: JsonObject | None = None,
    ) -> ModelRun:
        """Do work that asks about a catalog, as a run of this kind; ``generation`` is what decides
        the questions of a run that writes queries. Raises as ``run``.
        """
        catalog, endpoint = self._catalogs.open(catalog_id), self._endpoints.needed()
        run_config = configuration(kind, endpoint, catalog)
        if generation is not None:
            run_config = {**run_config, "generation": generation}
        return self._asked(catalog_id, run_config, endpoint, work, progress)

    def in_run(
        self,
        catalog_id: int,
        kind: RunKind,
        work: Callable[[RunAccess], None],
        generation: JsonObject,
    ) -> ModelRun:
        """Do work that talks with the model by itself, as a run of this kind; ``generation`` is
        what decides what it says. Raises as ``run``, and what ``work`` does.
        """
        catalog, endpoint = self._catalogs.open(catalog_id), self._endpoints.needed()

        def done(access: RunAccess) -> tuple[RunState, str]:
            work(access)
            return "done", ""

        run_config = {**configuration(kind, endpoint, catalog), "generation": generation}
        return self._recorded(catalog_id, run_config, endpoint, done)

    def in_background(self, catalog_id: int, kind: RunKind, work: Work) -> str:
        """Start work that asks a model; returns the job's id (that of a running one, if any).

        Raises ``ConfigError`` where no model is set up.
        """
        self._endpoints.needed()
        return self._analyses.background(catalog_id, kind, work)

    def known_answers(self) -> Asker | None:
        """What the endpoint answered so far, whatever it is asked; sends nothing. ``None`` without
        an endpoint.
        """
        endpoint = self._endpoints.get()
        return ModelRequests(model_without_key(endpoint), self._ledger, None) if endpoint else None

    def job(self, catalog_id: int) -> Job | None:
        """The latest job of any kind that asks a model about this catalog."""
        jobs = [self._analyses.job(catalog_id, kind) for kind in RUN_KINDS]
        known_jobs = [job for job in jobs if job is not None]
        return max(known_jobs, key=lambda job: job.started_at, default=None)

    def runs(self, catalog_id: int | None = None) -> tuple[ModelRun, ...]:
        """The history, newest first; a run whose process died is *interrupted*."""
        return tuple(self._as_it_is(run) for run in list_runs(self._store, catalog_id))

    def choices(self, catalog_id: int) -> tuple[ModelRun, ...]:
        """The runs that ``use`` takes: those that judged, have ended and could be gone on with."""
        analysis = self._analyses.required(catalog_id)
        return tuple(
            run
            for run in self.runs(catalog_id)
            if run.kind == "judge"
            and run.ended_at
            and still_holds(run.configuration, analysis.catalog, analysis)
        )

    def use(self, catalog_id: int, judge: str) -> None:
        """Make the plan with ``OFFLINE``, or with all that the run of this id was told so far."""
        if judge == OFFLINE:
            self._chosen_judge.choose(catalog_id, None)
            return
        run = get_run(self._store, judge)
        if run.kind != "judge" or run.catalog_id != catalog_id or not run.ended_at:
            raise JobError(f"the run {judge} has no verdicts to use yet; wait until it has ended")
        decisions = len(read_log(self._store, catalog_id))
        self._chosen_judge.choose(catalog_id, chosen_at(run, decisions))

    def used(self, catalog_id: int) -> str:
        """What ``use`` was told last: ``OFFLINE`` or the id of a run."""
        choice = self._chosen_judge.choice(catalog_id)
        return choice.run if choice else OFFLINE

    def judge_of(self, catalog_id: int) -> str:
        """Who judges in the plan as it stands: ``offline`` or ``MODEL at HOST``."""
        model_verdicts = self.model_verdicts(catalog_id)
        return model_verdicts.judge if model_verdicts else OFFLINE

    def model_verdicts(self, catalog_id: int) -> ModelVerdicts | None:
        """What the plan is made with; ``None`` for the offline judge alone."""
        analysis = self._analyses.get(catalog_id)
        return analysis.model_verdicts if analysis else None

    def grades(self, catalog_id: int) -> Mapping[str, Grade]:
        """Documentation quality by tool id, as far as the newest model was asked."""
        run = self._newest(catalog_id, "quality")
        if run is None:
            return {}
        asking, catalog = (
            stored_answers(run.configuration, self._ledger),
            self._catalogs.open(catalog_id),
        )
        return self._graded.get(
            catalog_id,
            (),
            lambda: with_grades(ModelVerdicts(asking.name), catalog, asking).grades,
            state=run,
        )

    def written(self, catalog_id: int, cluster: Cluster) -> Written | None:
        """The words that the newest model asked for has for a cluster as it stands, if any."""
        analysis = self._analyses.required(catalog_id)
        run = self._newest(catalog_id, "documents", analysis)
        if run is None:
            return None
        return written_for(analysis, cluster, stored_answers(run.configuration, self._ledger))

    def _judge(self, catalog_id: int, questions: QuestionConfig, progress: Progress) -> ModelRun:
        analysis, log = self._analyses.required(catalog_id), read_log(self._store, catalog_id)
        endpoint, links = self._endpoints.needed(), constraints(analysis.catalog, log)
        run_config = configuration("judge", endpoint, analysis.catalog, analysis, questions)

        def work(asking: ModelRequests) -> None:
            ask_for_verdicts(analysis, links, asking, questions)

        run = self._asked(catalog_id, run_config, endpoint, work, progress)
        self._chosen_judge.choose(catalog_id, chosen_at(run, len(log)))
        self._analyses.required(catalog_id)  # heard here, so that no page waits for it
        return run

    def _write(self, catalog_id: int, clusters: frozenset[str], progress: Progress) -> ModelRun:
        analysis, log = self._analyses.required(catalog_id), read_log(self._store, catalog_id)
        plan, endpoint = plan_merge(analysis, log, PlanConfig()), self._endpoints.needed()
        wanted = [cluster.members for cluster in plan.clusters if cluster.id in clusters]

        def work(asking: ModelRequests) -> None:
            with_documents(ModelVerdicts(asking.name), plan, asking, wanted)

        run_config = configuration("documents", endpoint, analysis.catalog, analysis)
        return self._asked(catalog_id, run_config, endpoint, work, progress)

    def _grade(self, catalog_id: int, progress: Progress) -> ModelRun:
        catalog, endpoint = self._catalogs.open(catalog_id), self._endpoints.needed()

        def work(asking: ModelRequests) -> None:
            with_grades(ModelVerdicts(asking.name), catalog, asking)

        run_config = configuration("quality", endpoint, catalog)
        return self._asked(catalog_id, run_config, endpoint, work, progress)

    def _augment(self, catalog_id: int, progress: Progress) -> ModelRun:
        """Put what a model writes about the tools on offer, as far as it answered."""
        catalog, endpoint = self._catalogs.open(catalog_id), self._endpoints.needed()

        def work(asking: ModelRequests) -> None:
            written = variants_of_model(catalog.tools, asking)
            by_content = {
                tool.fingerprint: written[tool.id] for tool in catalog.tools if tool.id in written
            }
            keep_variants(self._store, catalog_id, asking.name, by_content)

        run_config = configuration("variants", endpoint, catalog)
        return self._asked(catalog_id, run_config, endpoint, work, progress)

    def _tell_apart(self, catalog_id: int, progress: Progress) -> ModelRun:
        """Ask for descriptions of all siblings that collide."""
        analysis, log = self._analyses.required(catalog_id), read_log(self._store, catalog_id)
        pairs = _to_tell_apart(analysis, log)

        def work(asking: Asker) -> None:
            descriptions_of_model(analysis.catalog, pairs, asking)

        return self.ask(catalog_id, "siblings", work, progress)

    def _asked(
        self,
        catalog_id: int,
        run_config: JsonObject,
        endpoint: Endpoint,
        work: Callable[[ModelRequests], None],
        progress: Progress,
    ) -> ModelRun:
        """Do work that asks, as a run of its own or going on with the one that has not ended."""

        def asked(access: RunAccess) -> tuple[RunState, str]:
            asking = ModelRequests(access.model, access.ledger, access.terms, progress)
            work(asking)
            return asking.state, asking.message

        return self._recorded(catalog_id, run_config, endpoint, asked)

    def _recorded(
        self,
        catalog_id: int,
        run_config: JsonObject,
        endpoint: Endpoint,
        work: Callable[[RunAccess], tuple[RunState, str]],
    ) -> ModelRun:
        """Do work within the budget of a run; how it ended is kept with it."""
        run = open_run(self._store, uuid.uuid4().hex, catalog_id, run_config["kind"], run_config)
        prices, spent = endpoint.prices, run.cost or 0.0
        if run.cost is None and prices:  # an earlier part had no price
            spent = prices.cost(run.tokens_in, run.tokens_out)
        budget = RunBudget(endpoint.budget, prices, run.calls, spent)
        access = RunAccess(
            EndpointModel(endpoint, self._endpoints.key(endpoint)),
            self._ledger,
            Terms(run.id, budget, endpoint.concurrency),
        )
        state: RunState = "cancelled"
        message = _ENDED
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
            run = end_run(self._store, run.id, state, message)
        if state == "paused":
            raise PausedError(f"paused: {message}")
        if state == "stopped":
            raise ModelStopError(message)
        return run

    def _newest(
        self, catalog_id: int, kind: RunKind, analysis: Analysis | None = None
    ) -> ModelRun | None:
        catalog = self._catalogs.open(catalog_id)
        for run in list_runs(self._store, catalog_id):
            if run.kind == kind and still_holds(run.configuration, catalog, analysis):
                return run
        return None

    def _as_it_is(self, run: ModelRun) -> ModelRun:
        job = self._analyses.job(run.catalog_id, run.kind) if run.state == "running" else None
        if run.state != "running" or (job is not None and job.live):
            return run
        return replace(run, state="interrupted", message=_ENDED)


def _to_tell_apart(analysis: Analysis, log: Sequence[Decision]) -> list[Pair]:
    apart = constraints(analysis.catalog, log).cannot
    plan = plan_merge(analysis, log, PlanConfig())
    return [one.pair for one in sibling_pairs(analysis, plan, apart)]
