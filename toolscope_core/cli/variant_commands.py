"""The commands of document variants."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.cli.terminal import (
    BaseUrl,
    BudgetCalls,
    Catalogs,
    KeepDoubtful,
    ModelName,
    app,
    errors_as_sentences,
    more,
    progress,
    say,
    tell_spent,
)
from toolscope_core.model.environment import read_environment
from toolscope_core.model.numbers import quantity

MOST_TOLD = 10


@app.command()
@errors_as_sentences
def augment(
    catalogs: Catalogs,
    out: Annotated[Path, typer.Option(help="JSONL of document variants, for --variants.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Check the variants of this JSONL in place of asking a model."),
    ] = None,
    keep_doubtful: KeepDoubtful = False,
    model: ModelName = None,
    base_url: BaseUrl = None,
    budget_calls: BudgetCalls = None,
) -> None:
    """Have a model write what helps a search to find each tool, and check it."""
    from toolscope_core.cli.commands.augment_command import augment_files
    from toolscope_core.cli.commands.model_options import AskRequest

    ask = AskRequest(base_url, model, budget_calls=budget_calls)
    report = augment_files(
        catalogs, out, source or ask, keep_doubtful, read_environment(), progress()
    )
    variants = report.variants
    missing = report.tools - len(variants.clean) - len(variants.doubtful)
    kept = "written with what speaks against them" if keep_doubtful else "left out"
    say(
        f"{quantity(report.tools, 'tool')}: {len(variants.clean):,} with a variant"
        f"{more(len(variants.doubtful), f'doubtful, {kept}')}{more(missing, 'without one')}"
        f"{more(report.unknown, 'of no tool here')}; variants: {out}"
    )
    for tool_id, against in sorted(variants.violations.items())[:MOST_TOLD]:
        say(f"doubtful  {tool_id}: {against[0].message}")
    if len(variants.violations) > MOST_TOLD:
        say(f"and {len(variants.violations) - MOST_TOLD:,} more; --keep-doubtful writes them all")
    tell_spent(report.spent)
