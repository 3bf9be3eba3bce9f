"""The command that plans a request."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.cli.options import SAVED, AskRequest, EmbedderName, VariantsFile
from toolscope_core.cli.search_options import (
    DEFAULT_SEARCH,
    Decompose,
    Filtered,
    Iterative,
    SearchKnobs,
    Worker,
    catalogs_and_request,
)
from toolscope_core.cli.terminal import command, progress, say, say_json, spent_json, spent_text
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import JsonObject

if TYPE_CHECKING:  # planning takes half a second to import, which the help does not need
    from toolscope_core.cli.searcher import SearchOptions
    from toolscope_core.model.protocols import Spent
    from toolscope_core.rps.planner import PlanOptions
    from toolscope_core.rps.workers import PlannedStep, RequestPlan


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
        """The trace and what it took."""
        return {
            **self.plan.as_json(),
            "searches": self.searches,
            **spent_json(self.spent),
            "tools_shown": self.tools_shown,
            "seconds": round(self.seconds, 3),
        }


@command
def plan_request(
    catalogs: Annotated[
        list[str],
        typer.Argument(
            metavar="CATALOGS... REQUEST", help="Catalog files, folders or bundles, the request."
        ),
    ],
    k: Annotated[int, typer.Option("-k", "--top", help="How many tools each job sees.")] = 5,
    worker: Worker = "best",
    iterative: Iterative = True,
    is_filtered: Filtered = False,
    decomposition: Decompose = "rules",
    knobs: SearchKnobs = DEFAULT_SEARCH,
    variants: VariantsFile = None,
    embedder: EmbedderName = None,
    ask: AskRequest = SAVED,
    as_json: Annotated[bool, typer.Option("--json", help="The whole trace, as JSON.")] = False,
) -> None:
    """Find the tools of a long request: its jobs, candidates for each, what is called."""
    from toolscope_core.cli.searcher import SearchOptions
    from toolscope_core.rps.planner import PlanOptions

    files, request = catalogs_and_request(catalogs)
    options = SearchOptions(
        k=k,
        decomposition=decomposition,
        config=knobs.config(),
        embedder=embedder,
        variants=variants,
        ask=ask,
    )
    report = _plan(files, request, options, PlanOptions(worker, iterative, is_filtered))
    took = report.as_json()
    if as_json:
        say_json(took)
        return
    for number, step in enumerate(report.plan.steps, 1):
        _tell_step(number, step)
    for name, reason in report.plan.dropped.items():
        say(f"left out: {name}, {reason}")
    say(
        f"{quantity(len(report.plan.tool_ids), 'tool')}; {quantity(report.searches, 'ranking')}, "
        f"{spent_text(took)}, {quantity(report.tools_shown, 'tool')} shown to it, "
        f"{report.seconds:.2f} s"
    )


def _plan(
    catalogs: Sequence[Path], request: str, options: SearchOptions, plan_options: PlanOptions
) -> PlanReport:
    """The plan of one request: its jobs as ``options`` split it, ``options.k`` candidates for
    each.
    """
    from toolscope_core.catalog.isolation import read_files
    from toolscope_core.cli.searcher import Searcher, searched_catalog
    from toolscope_core.evaluation.query_sets import Query
    from toolscope_core.retrieval.decomposition import IN_VIEW

    if options.decomposition == "steps":
        raise ConfigError("recorded steps are of the queries of a file; take another --decompose")
    catalog = searched_catalog(read_files(catalogs), options).catalog
    searcher = Searcher(catalog, options, progress())
    _ = searcher.tools  # loads and indexes, which is not the plan's time
    start = time.perf_counter()
    requests = searcher.requests([Query("", request)])
    (plan,) = searcher.plans(requests, plan_options)
    in_view = min(IN_VIEW, len(catalog.tools)) if options.decomposition == "context" else 0
    shown = plan.tools_shown + len(plan.chosen) * plan_options.is_filtered
    return PlanReport(
        plan=plan,
        searches=plan.searches + bool(in_view),
        tools_shown=in_view + (shown if plan_options.worker == "model" else 0),
        spent=searcher.spent,
        seconds=time.perf_counter() - start,
    )


def _tell_step(number: int, step: PlannedStep) -> None:
    say(f"job {number}: {step.job}")
    for call in step.calls:
        sources = ", ".join(f"{name} from {one}" for name, one in call.arguments.items())
        say(f"  call {call.tool_id}{f' ({sources})' if sources else ''}")
    if not step.calls:
        say("  no tool")
    called = {call.tool_id for call in step.calls}
    others = [one.tool.id for one in step.candidates if one.tool.id not in called]
    also = f"; also found: {', '.join(others)}" if others else ""
    rounds = f" after {step.rounds} rounds" if step.rounds > 1 else ""
    say(f"  {step.reason}{rounds}{also}")
