"""Which tools a long request needs: its jobs, candidates for each, and what is called."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.backends import Progress, silent
from toolscope_core.commands.model_options import asking
from toolscope_core.commands.search_command import (
    Searcher,
    SearchOptions,
    Selection,
    searched_catalog,
)
from toolscope_core.config import Settings
from toolscope_core.datamodel import JsonObject
from toolscope_core.errors import ConfigError
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.planning import RequestPlan, by_model, by_score, plans_of
from toolscope_core.subqueries import IN_VIEW


@dataclass(frozen=True, slots=True)
class PlanReport:
    """A plan and what it took (Retrieval–Plan–Select, table 11): searches, questions to a model
    whether or not it knew the answer, tools shown to it, and seconds without loading.
    """

    plan: RequestPlan
    searches: int
    questions: int
    tools_shown: int
    seconds: float

    def as_json(self) -> JsonObject:
        """The trace and what it took."""
        return {
            **self.plan.as_json(),
            "searches": self.searches,
            "questions": self.questions,
            "tools_shown": self.tools_shown,
            "seconds": round(self.seconds, 3),
        }


def plan_request(
    paths: Sequence[Path],
    request: str,
    options: SearchOptions,
    worker: Selection,
    settings: Settings,
    progress: Progress = silent,
) -> PlanReport:
    """The plan of one request: its jobs as ``options`` split it, ``options.k`` candidates for each,
    of which the *best* are called or those that a *model* chooses.

    Raises ``ConfigError`` for a request without text and for recorded splits, and as the model's
    commands do.
    """
    if not request.strip():
        raise ConfigError("the request is empty; say in words what an agent is asked")
    if options.splits is not None or options.decomposition == "steps":
        raise ConfigError("recorded steps are of the queries of a file; take another --decompose")
    catalog = searched_catalog(paths, options.variants).catalog
    searcher = Searcher(catalog, options, settings)
    retriever, start = searcher.tools(progress), time.perf_counter()
    requests = searcher.requests([Query("", request)], progress)
    if worker == "best":
        (plan,) = plans_of(requests, catalog.by_id, retriever, by_score, options.k, progress)
    else:
        with asking(options.ask, settings, progress) as (_, asker):
            (plan,) = plans_of(
                requests, catalog.by_id, retriever, by_model(asker), options.k, progress
            )
    is_asked = options.decomposition in ("dummy", "context")
    in_view = min(IN_VIEW, len(catalog.tools)) if options.decomposition == "context" else 0
    shown = sum(len(step.candidates) for step in plan.steps) if worker == "model" else 0
    return PlanReport(
        plan=plan,
        searches=len(plan.steps) + bool(in_view),
        questions=is_asked + (len(plan.steps) if worker == "model" else 0),
        tools_shown=in_view + shown,
        seconds=time.perf_counter() - start,
    )
