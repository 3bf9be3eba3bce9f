"""A model on the screen: its questions, its answers, and the judge that counts."""

from collections.abc import Mapping
from dataclasses import replace

from toolscope_core.llm.model_requests import Asker, ModelRequests
from toolscope_core.llm.run_configuration import (
    RUN_KINDS,
    RunKind,
    model_without_key,
    still_holds,
    stored_answers,
)
from toolscope_core.llm.tasks.quality import grade_tools
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.model_verdicts import DocumentationGrade
from toolscope_core.model.errors import JobError
from toolscope_core.store.decision_rows import read_log
from toolscope_core.store.jobs import Job
from toolscope_core.store.runs import ModelRun, get_run, list_runs
from ui.shared.chosen_judge import OFFLINE, choose, chosen_at
from ui.shared.kept import kept_under
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

ENDED = "the run was stopped before it was done; start it again to continue"


def known_answers(snapshot: Snapshot) -> Asker | None:
    """The answers that the endpoint has given so far, to any question. Nothing is sent. ``None``
    without an endpoint.
    """
    endpoint = snapshot.work.endpoints.get()
    return (
        ModelRequests(model_without_key(endpoint), snapshot.work.ledger, None) if endpoint else None
    )


def job(snapshot: Snapshot) -> Job | None:
    """The latest job of any kind that asks a model about this catalog."""
    jobs = [snapshot.job(kind) for kind in RUN_KINDS]
    known_jobs = [job for job in jobs if job is not None]
    return max(known_jobs, key=lambda job: job.started_at, default=None)


def runs(snapshot: Snapshot, of_all: bool = False) -> tuple[ModelRun, ...]:
    """The runs on the catalog (or ``of_all`` catalogs), newest first. A run whose process died is
    *interrupted*.
    """
    work = snapshot.work
    rows = list_runs(work.store, None if of_all else snapshot.id)
    return tuple(_as_it_is(work, run) for run in rows)


def choices(snapshot: Snapshot) -> tuple[ModelRun, ...]:
    """The runs that ``use`` accepts: judging runs that have ended and could still be continued."""
    analysis = snapshot.analysis
    return tuple(
        run
        for run in runs(snapshot)
        if run.kind == "judge"
        and run.ended_at
        and still_holds(run.configuration, analysis.catalog, analysis)
    )


def use(snapshot: Snapshot, judge: str) -> None:
    """Make the plan with ``OFFLINE``, or with all answers so far of the run that has this id."""
    if judge == OFFLINE:
        choose(snapshot.work.store, snapshot.id, None)
        return
    run = get_run(snapshot.work.store, judge)
    if run.kind != "judge" or run.catalog_id != snapshot.id or not run.ended_at:
        raise JobError(f"the run {judge} has no usable verdicts yet; wait until it ends")
    decisions = len(read_log(snapshot.work.store, snapshot.id))
    choose(snapshot.work.store, snapshot.id, chosen_at(run, decisions))


def judge_in_use(snapshot: Snapshot) -> str:
    """What was last chosen with ``use``: ``OFFLINE``, or the id of a run."""
    choice = snapshot.judge_choice
    return choice.run if choice else OFFLINE


def grades(snapshot: Snapshot) -> Mapping[str, DocumentationGrade]:
    """The documentation grades by tool id, for all tools about which the newest model was asked."""
    run = newest(snapshot, "quality")
    if run is None:
        return {}
    catalog, answers = snapshot.catalog, stored_answers(run.configuration, snapshot.work.ledger)
    as_of = (run.id, run.state, run.questions, run.ended_at)
    return kept_under(catalog, "grades", as_of, lambda: grade_tools(catalog, answers))


def newest(snapshot: Snapshot, kind: RunKind, analysis: Analysis | None = None) -> ModelRun | None:
    """The newest run of this kind that would still ask the same questions."""
    catalog = snapshot.catalog
    for run in list_runs(snapshot.work.store, snapshot.id):
        if run.kind == kind and still_holds(run.configuration, catalog, analysis):
            return run
    return None


def _as_it_is(work: Workspace, run: ModelRun) -> ModelRun:
    job = work.analyses.job(run.catalog_id, run.kind) if run.state == "running" else None
    if run.state != "running" or (job is not None and job.live):
        return run
    return replace(run, state="interrupted", message=ENDED)
