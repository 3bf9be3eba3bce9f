"""The command that plans a request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

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
from toolscope_core.config import RetrievalConfig, read_environment
from toolscope_core.errors import ConfigError
from toolscope_core.numbers import quantity


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
    from toolscope_core.commands import plan_command
    from toolscope_core.commands.model_options import AskRequest
    from toolscope_core.commands.search_command import SearchOptions

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
    report = plan_command.plan_request(
        [Path(one) for one in files], request, options, worker.value, read_environment(), progress()
    )
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1))
        return
    for number, step in enumerate(report.plan.steps, 1):
        say(f"job {number}: {step.job}")
        for call in step.calls:
            sources = ", ".join(f"{name} from {one}" for name, one in call.arguments.items())
            say(f"  call {call.tool_id}{f' ({sources})' if sources else ''}")
        if not step.calls:
            say("  no tool")
        called = {call.tool_id for call in step.calls}
        others = [one.tool.id for one in step.candidates if one.tool.id not in called]
        found = f"; also found: {', '.join(others)}" if others else ""
        say(f"  {step.reason}{found}")
    say(
        f"{quantity(len(report.plan.tool_ids), 'tool')}; {quantity(report.searches, 'ranking')}, "
        f"{quantity(report.questions, 'question')} to a model, "
        f"{quantity(report.tools_shown, 'tool')} shown to it, {report.seconds:.2f} s"
    )
