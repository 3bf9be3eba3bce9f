"""The command that plans a request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.cli.search_commands import DEFAULT, Decompose, Decomposition, Rerank, Selector
from toolscope_core.cli.terminal import (
    BaseUrl,
    BudgetCalls,
    EmbedderName,
    ModelName,
    VariantsFile,
    app,
    errors_as_sentences,
    progress,
    say,
)
from toolscope_core.model.configuration import RetrievalConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity

if TYPE_CHECKING:  # planning takes half a second to import, which the help does not need
    from toolscope_core.rps.plans import PlannedStep


@app.command()
@errors_as_sentences
def plan_request(
    catalogs: Annotated[
        list[str],
        typer.Argument(
            metavar="CATALOGS... REQUEST", help="Catalog files, folders or bundles, the request."
        ),
    ],
    k: Annotated[int, typer.Option("-k", "--top", help="How many tools each job sees.")] = 5,
    worker: Annotated[
        Selector,
        typer.Option(help="Who takes tools: the best of each ranking, or what a model chooses."),
    ] = Selector.best,
    iterative: Annotated[
        bool,
        typer.Option(
            "--iterative/--once",
            help="Search each job in several phrasings, show a model more tools until it takes "
            "one; or each job once, as it stands.",
        ),
    ] = True,
    is_filtered: Annotated[
        bool, typer.Option("--filter", help="Leave out tools that the whole request does not need.")
    ] = False,
    decomposition: Decompose = Decomposition.rules,
    rerank: Rerank = DEFAULT.rerank,
    variants: VariantsFile = None,
    embedder: EmbedderName = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    budget_calls: BudgetCalls = None,
    as_json: Annotated[bool, typer.Option("--json", help="The whole trace, as JSON.")] = False,
) -> None:
    """Find the tools of a long request: its jobs, candidates for each, what is called."""
    from toolscope_core.cli.asking import AskRequest
    from toolscope_core.cli.commands import plan_command
    from toolscope_core.cli.commands.search_command import SearchOptions
    from toolscope_core.rps.planner import PlanOptions

    *files, request = catalogs
    if not files:
        raise ConfigError(
            f"only {request[:60]!r} was given; give a catalog and after it the request, in quotes"
        )
    options = SearchOptions(
        k=k,
        decomposition=decomposition.value,
        config=RetrievalConfig(rerank=rerank),
        embedder=embedder,
        variants=variants,
        ask=AskRequest(base_url, model, budget_calls=budget_calls),
    )
    wanted = PlanOptions(worker.value, iterative, is_filtered)
    report = plan_command.plan_request(
        [Path(one) for one in files], request, options, wanted, read_environment(), progress()
    )
    took = report.as_json()
    if as_json:
        typer.echo(json.dumps(took, indent=1))
        return
    for number, step in enumerate(report.plan.steps, 1):
        _tell_step(number, step)
    for name, reason in report.plan.dropped.items():
        say(f"left out: {name}, {reason}")
    say(
        f"{quantity(len(report.plan.tool_ids), 'tool')}; {quantity(report.searches, 'ranking')}, "
        f"{quantity(took['questions'], 'question')} to a model in "
        f"{quantity(took['calls'], 'call')} ({took['tokens_in']:,} tokens in, "
        f"{took['tokens_out']:,} out), {quantity(report.tools_shown, 'tool')} shown to it, "
        f"{report.seconds:.2f} s"
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
