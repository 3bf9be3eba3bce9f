"""The command that has a model write queries."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.cli.terminal import (
    BaseUrl,
    BudgetCalls,
    Catalogs,
    EmbedderName,
    KeepDoubtful,
    ModelName,
    app,
    errors_as_sentences,
    more,
    progress,
    say,
    tell_estimates,
    tell_spent,
)
from toolscope_core.model.configuration import QueryGeneration
from toolscope_core.model.environment import read_environment
from toolscope_core.model.numbers import quantity

if TYPE_CHECKING:
    from toolscope_core.cli.commands.generate_command import GenerateReport

MOST_TOLD = 10
DEFAULT = QueryGeneration()


@app.command()
@errors_as_sentences
def generate_queries(
    catalogs: Catalogs,
    out: Annotated[Path, typer.Option(help="The query file: JSONL with `id`, `query` and `gold`.")],
    count: Annotated[
        int, typer.Option("--count", help="How many queries the model is asked for.")
    ] = DEFAULT.count,
    seed: Annotated[
        int,
        typer.Option(help="Another seed shows the model other tools; more of one goes on with it."),
    ] = DEFAULT.seed,
    examples: Annotated[
        Path | None,
        typer.Option(
            help="Queries of people, JSONL or CSV with `query` and `gold`: examples for the model. "
            "Tools without one come first, and copies of them are left out."
        ),
    ] = None,
    keep_doubtful: KeepDoubtful = False,
    only_estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Say what it would take; sends and writes nothing."),
    ] = False,
    embedder: EmbedderName = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    budget_calls: BudgetCalls = None,
) -> None:
    """Have a model write queries with the tools that they need, and check them."""
    from toolscope_core.cli.asking import AskRequest
    from toolscope_core.cli.commands.generate_command import (
        GenerateOptions,
        estimate_queries,
        generate_queries_file,
    )

    options = GenerateOptions(
        wanted=QueryGeneration(count, seed),
        examples=examples,
        keep_doubtful=keep_doubtful,
        embedder=embedder,
        ask=AskRequest(base_url, model, budget_calls=budget_calls),
    )
    if only_estimate:
        estimates = estimate_queries(catalogs, options, read_environment(), progress())
        tell_estimates("queries", estimates)
        return
    report = generate_queries_file(catalogs, out, options, read_environment(), progress())
    _tell(report, out, "written with what speaks against them" if keep_doubtful else "left out")
    tell_spent(report.spent)


def _tell(report: GenerateReport, out: Path, doubtful: str) -> None:
    say(
        f"{quantity(len(report.queries), 'question')}: "
        f"{quantity(report.written, 'query')} written"
        f"{more(len(report.doubtful), f'doubtful, {doubtful}')}"
        f"{more(len(report.failed), 'without a query')}; queries: {out}"
    )
    without = len(report.coverage) - report.covered
    say(
        f"tools with a query: {report.covered:,} of {len(report.coverage):,}"
        f"{more(without, 'without one')}"
    )
    for one in report.doubtful[:MOST_TOLD]:
        say(f"doubtful  {one.query.text[:60]!r}: {one.flaws[0].message}")
    if len(report.doubtful) > MOST_TOLD:
        say(f"and {len(report.doubtful) - MOST_TOLD:,} more; --keep-doubtful writes them all")
    reasons = Counter(one.query.reason for one in report.failed)
    for reason, count in reasons.most_common(MOST_TOLD):
        say(f"{count:,} without a query: {reason}")
