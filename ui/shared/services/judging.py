"""A model on the screen: what it was asked, what it said, and which judge counts."""

from collections.abc import Mapping
from dataclasses import replace

from toolscope_core.llm.requests.model_requests import Asker, ModelRequests
from toolscope_core.llm.run_configuration import (
    RUN_KINDS,
    RunKind,
    model_without_key,
    still_holds,
    stored_answers,
)
from toolscope_core.llm.tool_grades import grade_tools
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.model_verdicts import Grade
from toolscope_core.model.errors import JobError
from toolscope_core.store.decision_rows import read_log
from toolscope_core.store.job_rows import Job
from toolscope_core.store.runs import ModelRun, get_run, list_runs
from ui.shared.services.chosen_judge import OFFLINE, chosen_at
from ui.shared.services.page_service import PageService

ENDED = "it was ended before it was done; start it again to go on"


class Judging(PageService):
    """Answers of models on analysed catalogs; asks nothing."""

    def known_answers(self) -> Asker | None:
        """What the endpoint answered so far, whatever it is asked; sends nothing. ``None`` without
        an endpoint.
        """
        endpoint = self._work.endpoints.get()
        return (
            ModelRequests(model_without_key(endpoint), self._work.ledger, None)
            if endpoint
            else None
        )

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
            self._analyses.chosen_judge.choose(catalog_id, None)
            return
        run = get_run(self._store, judge)
        if run.kind != "judge" or run.catalog_id != catalog_id or not run.ended_at:
            raise JobError(f"the run {judge} has no verdicts to use yet; wait until it has ended")
        decisions = len(read_log(self._store, catalog_id))
        self._analyses.chosen_judge.choose(catalog_id, chosen_at(run, decisions))

    def used(self, catalog_id: int) -> str:
        """What ``use`` was told last: ``OFFLINE`` or the id of a run."""
        choice = self._analyses.chosen_judge.choice(catalog_id)
        return choice.run if choice else OFFLINE

    def grades(self, catalog_id: int) -> Mapping[str, Grade]:
        """Documentation quality by tool id, as far as the newest model was asked."""
        run = self.newest(catalog_id, "quality")
        if run is None:
            return {}
        catalog = self._catalogs.open(catalog_id)
        asking = stored_answers(run.configuration, self._work.ledger)
        return self._cached(
            ("graded", catalog_id), (), lambda: grade_tools(catalog, asking), state=run
        )

    def newest(
        self, catalog_id: int, kind: RunKind, analysis: Analysis | None = None
    ) -> ModelRun | None:
        """The newest run of this kind that would ask the same today."""
        catalog = self._catalogs.open(catalog_id)
        for run in list_runs(self._store, catalog_id):
            if run.kind == kind and still_holds(run.configuration, catalog, analysis):
                return run
        return None

    def _as_it_is(self, run: ModelRun) -> ModelRun:
        job = self._analyses.job(run.catalog_id, run.kind) if run.state == "running" else None
        if run.state != "running" or (job is not None and job.live):
            return run
        return replace(run, state="interrupted", message=ENDED)
