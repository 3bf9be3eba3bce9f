"""The command that plans a request."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli import terminal
from toolscope_core.cli.asking import asking
from toolscope_core.cli.options import SAVED, AskRequest, EmbedderName, VariantsFile
from toolscope_core.cli.searcher import (
    DEFAULT_SEARCH,
    Decompose,
    Filtered,
    Iterative,
    SearchedTools,
    Searcher,
    SearchKnobs,
    SearchOptions,
    WorkerOption,
    catalogs_and_request,
    searched_catalog,
)
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.protocols import TaskCost
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import IN_VIEW
from toolscope_core.rps.planner import PlannerConfig, model_planner, offline_planner
from toolscope_core.rps.workers import PlannedStep, RequestPlan


@terminal.command
def plan_request(
    catalogs: Annotated[
        list[str],
        typer.Argument(
            metavar="CATALOGS... REQUEST",
            help="Catalog files, folders or bundles, then the request.",
        ),
    ],
    k: Annotated[int, typer.Option("-k", "--top", help="Number of tools shown for each job.")] = 5,
    worker: WorkerOption = "best",
    iterative: Iterative = True,
    is_filtered: Filtered = False,
    decomposition: Decompose = None,
    knobs: SearchKnobs = DEFAULT_SEARCH,
    variants: VariantsFile = None,
    embedder: EmbedderName = None,
    ask: AskRequest = SAVED,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole trace as JSON.")] = False,
) -> None:
    """Find the tools for a long request: its jobs, candidates for each, and which to call.

    Example: toolscope plan-request tools.json "Translate this letter, then note it"
    """
    files, request = catalogs_and_request(catalogs)
    if decomposition == "steps":
        raise ConfigError("recorded steps need a file of queries; choose another --decompose")
    searched = SearchedTools(decomposition=decomposition, variants=variants, embedder=embedder)
    options = SearchOptions(k, searched, knobs, ask)
    config = PlannerConfig(worker, iterative, is_filtered)
    report = _plan(files, request, options, config)
    took = terminal.spent_json(report.costs)
    if as_json:
        counts = {"tools_shown": report.tools_shown, "seconds": round(report.seconds, 3)}
        terminal.say_json({**report.plan.as_json(), "searches": report.searches, **took, **counts})
        return
    for number, step in enumerate(report.plan.steps, 1):
        _tell_step(number, step)
    for name, reason in report.plan.dropped.items():
        terminal.say(f"left out: {name}, {reason}")
    terminal.say(
        f"{quantity(len(report.plan.tool_ids), 'tool')}; {quantity(report.searches, 'ranking')}, "
        f"{terminal.spent_text(took)}, {quantity(report.tools_shown, 'tool')} considered, "
        f"{report.seconds:.2f} s"
    )


@dataclass(frozen=True, slots=True)
class PlanReport:
    """A plan and its cost (Retrieval–Plan–Select, table 11).

    The cost is the number of searches, the number of tools shown to a model, the ``costs`` of
    questions to the model, and the time in seconds without loading.
    """

    plan: RequestPlan
    searches: int
    tools_shown: int
    costs: tuple[TaskCost, ...]
    seconds: float


def _plan(
    catalogs: Sequence[Path], request: str, options: SearchOptions, config: PlannerConfig
) -> PlanReport:
    """The plan for one request: jobs split as in ``options``, with ``options.k`` candidates for
    each job.
    """
    catalog, _ = searched_catalog(read_files(catalogs), options)
    searcher = Searcher(catalog, options, terminal.progress())
    _ = searcher.tools  # loads and indexes, which does not count as planning time
    start = time.perf_counter()
    requests = searcher.requests([Query("", request)])
    (plan,) = plans_of(searcher, requests, config)
    in_view = min(IN_VIEW, len(catalog.tools)) if options.split == "context" else 0
    candidates = plan.tools_shown + len(plan.called_tools) * config.is_filtered
    return PlanReport(
        plan=plan,
        searches=plan.searches + bool(in_view),
        tools_shown=in_view + (candidates if config.worker == "model" else 0),
        costs=searcher.costs,
        seconds=time.perf_counter() - start,
    )


def plans_of(
    searcher: Searcher, requests: Sequence[ToolRequest], config: PlannerConfig
) -> tuple[RequestPlan, ...]:
    """A plan for each request, with the k best tools for each job.

    If a model is the worker, raises the errors of commands that ask a model.
    """
    parts = searcher.bench.catalog, searcher.tools, searcher.options.k, config
    if config.worker == "best":
        return offline_planner(*parts).plans(requests, searcher.progress)
    with asking(searcher.options.model_request) as (_, asker):
        plans = model_planner(*parts, asker).plans(requests, searcher.progress)
        searcher.costs += asker.costs
        return plans


def _tell_step(number: int, step: PlannedStep) -> None:
    terminal.say(f"job {number}: {step.job}")
    for call in step.calls:
        sources = ", ".join(f"{name} from {one}" for name, one in call.arguments.items())
        terminal.say(f"  call {call.tool_id}{f' ({sources})' if sources else ''}")
    if not step.calls:
        terminal.say("  no tool")
    called_ids = {call.tool_id for call in step.calls}
    others = [one.tool.id for one in step.candidates if one.tool.id not in called_ids]
    also = f"; also found: {', '.join(others)}" if others else ""
    rounds = f" after {step.rounds} rounds" if step.rounds > 1 else ""
    terminal.say(f"  {step.reason}{rounds}{also}")
