"""Which tools a merge keeps in every prompt, where clients search for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.catalog.tokens import Costs
from toolscope_core.cli.findability_options import findability_by_search
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.search_configuration import ClientName

if TYPE_CHECKING:
    from toolscope_core.model.decision import Decision

EagerTokens = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Leave tools to the search of clients; those stay in every prompt, up to so many "
        "tokens, whose calls the search would lose and that are called most.",
    ),
]
CallLogs = Annotated[
    list[Path] | None,
    typer.Option(
        "--usage", metavar="LOG", help="With --eager-tokens: a log or trace of calls; again."
    ),
]
SearchedAs = Annotated[
    ClientName,
    typer.Option("--as", help="With --eager-tokens: the search of a client, whose misses count."),
]


def refuse_without_budget(budget: int | None, usage: Sequence[Path], queries: Path | None) -> None:
    """Raises ``ConfigError`` for files that would choose nothing."""
    if budget is None and (usage or queries):
        given = "--usage" if usage else "--queries"
        raise ConfigError(f"{given} has no effect without --eager-tokens; give that too")


def with_eager_tools(
    plan: MergePlan,
    log: Sequence[Decision],
    budget: int | None,
    usage: Sequence[Path],
    queries: Path | None,
    search: ClientName,
) -> MergePlan:
    """The plan with the tools of every prompt chosen, within a ``budget`` of tokens; the plan
    itself without one. Raises ``ConfigError`` for a file that cannot be read.
    """
    if budget is None:
        return plan
    from toolscope_core.cli.usage_command import counted_calls
    from toolscope_core.decisions.constraints import deferrals
    from toolscope_core.export.eager_choice import LoadingEvidence, eager_ids, loaded_tools

    catalog = plan.catalog
    calls = counted_calls(usage, catalog.tools)[0].by_id if usage else {}
    (found,) = findability_by_search(catalog, [search], queries).values()
    evidence = LoadingEvidence(
        {tool_id: one.calls for tool_id, one in calls.items()},
        {row.tool_id: row.share for row in found},
        deferrals(catalog, log),
    )
    chosen = eager_ids(loaded_tools(plan, evidence, budget, Costs()))
    return replace(plan, eager=frozenset(chosen))
