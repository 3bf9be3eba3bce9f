"""Experiments on the screen: configuring them, running them as jobs, keeping, comparing and
exporting them.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from toolscope_core.catalog.formats.spreadsheets import csv_bytes
from toolscope_core.evaluation import comparison
from toolscope_core.evaluation.results import result_json, table_of
from toolscope_core.llm.model_requests import Asker
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.plan import Experiment
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject, digest
from toolscope_core.store.experiment_rows import keep_result, open_experiment
from ui.evaluation import experiment_kinds
from ui.evaluation.experiment_kinds import MEASURES, MostQuestions
from ui.evaluation.experiment_requests import (
    SYNTHETIC,
    ExperimentKind,
    ExperimentRequest,
    split_by_model,
    trial_of,
)
from ui.evaluation.measured_sides import POLICIES
from ui.shared.kept import kept
from ui.shared.services import loaded_queries, model_runs, review
from ui.shared.snapshot import Snapshot


def query_sets(snapshot: Snapshot, servers: bool = False) -> tuple[str, ...]:
    """The query sets that can be chosen: those with gold tools (with ``servers``, also those with
    gold servers only), then ``SYNTHETIC``.
    """
    with_answers = (
        view.name
        for view in loaded_queries.sets(snapshot)
        if any(query.gold or (servers and query.servers) for query in view.content.queries)
    )
    return (*with_answers, SYNTHETIC)


def unknown(snapshot: Snapshot, name: str) -> tuple[str, ...]:
    """Names that occur in a query set's answers but not in the catalog."""
    sets = loaded_queries.sets(snapshot)
    return next((view.unknown for view in sets if view.name == name), ())


def start(snapshot: Snapshot, request: ExperimentRequest) -> str:
    """Run an experiment in the background. Returns the job's id.

    If an experiment of the same kind is running, that job's id is returned.
    """
    return snapshot.start(job_kind(request.kind), lambda step: run(snapshot, request, step))


def run(snapshot: Snapshot, request: ExperimentRequest, progress: Progress = silent) -> int:
    """Run an experiment now, or continue an interrupted one. Returns its number.

    Raises ``ConfigError`` if no query has a gold answer and, if a model selects the tools, the
    errors of ``model_runs.ask``.
    """
    work, trial = snapshot.work, trial_of(snapshot, request)
    configuration = _configuration(snapshot, request, trial)
    experiment = open_experiment(work.store, snapshot.id, request.kind, configuration)
    started = time.monotonic() - experiment.seconds

    def keep(result: JsonObject, *, is_done: bool) -> None:
        seconds = time.monotonic() - started
        keep_result(work.store, experiment.number, result, seconds, is_done=is_done)

    if request.splitter:
        split = partial(split_by_model, snapshot, request, trial, progress)
        trial = _of_model(snapshot, split, progress, configuration)
    measured = experiment_kinds.ExperimentRun(snapshot, request, trial, progress)
    if request.kind == "sweep":
        points = list((experiment.result or {}).get("points", ()))
        known = [point["value"] for point in points]
        for point in experiment_kinds.sweep(measured, known):
            points.append(result_json(point.figures(trial.catalog)))
            keep({"points": points}, is_done=False)
        keep({"points": points}, is_done=True)
        return experiment.number
    measure = partial(MEASURES[request.kind], measured)
    if request.select == "model":
        result = _of_model(snapshot, measure, progress, configuration)
    else:
        result = measure(None)
    keep(result_json(result), is_done=True)
    return experiment.number


@kept()
def most_questions(snapshot: Snapshot, request: ExperimentRequest) -> MostQuestions:
    """The maximum that an experiment asks a model. Nothing is sent."""
    return experiment_kinds.most_questions(snapshot, request, trial_of(snapshot, request))


def _of_model(
    snapshot: Snapshot, work: Callable[[Asker], Any], progress: Progress, configuration: JsonObject
) -> Any:
    """The result of work that asks a model. Raises the errors of ``model_runs.ask``."""
    results: list[Any] = []
    model_runs.ask(
        snapshot, "experiment", lambda asker: results.append(work(asker)), progress, configuration
    )
    return results[0]


def is_current(snapshot: Snapshot, experiment: Experiment) -> bool:
    """Whether the catalog and its decisions are unchanged since the experiment."""
    measured_then = experiment.configuration.get("decisions")
    return experiment.catalog_id == snapshot.id and measured_then == decisions_hash(snapshot)


def as_json(experiment: Experiment) -> str:
    """Everything about an experiment, as JSON."""
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
    """The rows of an experiment, as CSV in UTF-8."""
    rows = table_of(experiment.kind, experiment.result or {})
    names = list(dict.fromkeys(name for row in rows for name in row))
    return csv_bytes(names, ([row.get(name, "") for name in names] for row in rows))


def take_back(snapshot: Snapshot, members: Sequence[str], reviewer: str) -> Decision:
    """Undo the merge of these tools.

    This undoes the decision that accepted the merge. If nobody made such a decision, the tools are
    kept apart. Raises ``DecisionError`` if the merge no longer exists.
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
    """For each tool in an accepted merge or a family, the tool that represents it, by id."""
    return {
        member: cluster.canonical
        for cluster in snapshot.plan.clusters
        if cluster.state == "accepted" or cluster.relation == "family"
        for member in cluster.members
    }


def _merge_of(snapshot: Snapshot, members: Sequence[str]) -> Cluster | None:
    clusters = snapshot.plan_under(PlanConfig(accept="all")).clusters
    return next((one for one in clusters if sorted(one.members) == sorted(members)), None)


def _configuration(
    snapshot: Snapshot, request: ExperimentRequest, trial: comparison.Trial
) -> JsonObject:
    """Everything that affects the figures."""
    questions = [
        (one.id, one.text, [sorted(need) for need in one.gold], one.steps, one.calls)
        for one in trial.queries
    ]
    return {
        **asdict(replace(request, recorded=())),
        "recorded": digest(request.recorded) if request.recorded else "",
        "retrieval": request.retrieval.as_json(),
        "embedder": snapshot.work.embedder.name,
        "tools": len(trial.catalog.tools),
        "decisions": decisions_hash(snapshot),
        "query_count": len(trial.queries),
        "query_digest": digest(questions),
    }


@kept()
def decisions_hash(snapshot: Snapshot) -> str:
    """A hash of the decisions, and of the merges that follow from the decisions and the judge."""
    log = [(one.seq, one.action) for one in snapshot.log]
    plans = [snapshot.plan_under(config) for config in POLICIES.values()]
    return digest(log, *(plan.phi for plan in plans))


def job_kind(kind: ExperimentKind) -> str:
    """The kind of job that runs an experiment of this kind."""
    return f"experiment: {kind}"
