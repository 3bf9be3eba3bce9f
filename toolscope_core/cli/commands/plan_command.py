"""Which tools a long request needs: its jobs, candidates for each, and what is called."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.cli.asking import asking
from toolscope_core.cli.commands.search_command import Searcher, SearchOptions, searched_catalog
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.merging.model_verdicts import Spent
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.subqueries import IN_VIEW
from toolscope_core.rps.planner import PlanOptions, model_planner, offline_planner
from toolscope_core.rps.plans import RequestPlan


@dataclass(frozen=True, slots=True)
class PlanReport:
    """A plan and what it took (Retrieval–Plan–Select, table 11): searches, tools shown to a model,
    what the questions to it ``spent``, and seconds without loading.
    """

    plan: RequestPlan
    searches: int
    tools_shown: int
    spent: tuple[Spent, ...]
    seconds: float

    def as_json(self) -> JsonObject:
        """The trace and what it took; ``questions`` count whether or not the answer was known,
        ``calls`` and tokens are what was paid for now.
        """
        return {
            **self.plan.as_json(),
            "searches": self.searches,
            "questions": sum(one.questions for one in self.spent),
            "calls": sum(one.calls for one in self.spent),
            "tokens_in": sum(one.tokens_in for one in self.spent),
            "tokens_out": sum(one.tokens_out for one in self.spent),
            "tools_shown": self.tools_shown,
            "seconds": round(self.seconds, 3),
        }


def plan_request(
    paths: Sequence[Path],
    request: str,
    options: SearchOptions,
    wanted: PlanOptions,
    settings: Settings,
    progress: Progress = silent,
) -> PlanReport:
    """The plan of one request: its jobs as ``options`` split it, ``options.k`` candidates for each.

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
    spent = searcher.spent
    if wanted.worker == "best":
        planner = offline_planner(catalog, retriever, options.k, wanted)
        (plan,) = planner.plans(requests, progress)
    else:
        with asking(options.ask, settings, progress) as (_, asker):
            planner = model_planner(catalog, retriever, options.k, wanted, asker)
            (plan,) = planner.plans(requests, progress)
            spent += asker.spent
    in_view = min(IN_VIEW, len(catalog.tools)) if options.decomposition == "context" else 0
    shown = plan.tools_shown + len(plan.chosen) * wanted.is_filtered
    return PlanReport(
        plan=plan,
        searches=plan.searches + bool(in_view),
        tools_shown=in_view + (shown if wanted.worker == "model" else 0),
        spent=spent,
        seconds=time.perf_counter() - start,
    )
