"""Options for clients' searches: findability, and which tools stay in every prompt."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, get_args

import typer

from toolscope_core.model.errors import ConfigError
from toolscope_core.model.search_configuration import ClientName

OwnQueries = Annotated[
    Path | None,
    typer.Option(
        "--queries",
        help="For findability: JSONL or CSV with `query` and `gold`. A tool that is never a "
        "query's only answer is searched for by its own words.",
    ),
]


def least_findability(limits: Iterable[str]) -> dict[str, float]:
    """The required mean share by search. Raises ``ConfigError`` for
    anything not like ``codex=.9``.
    """
    searches, least = (*get_args(ClientName), "own"), {}
    for limit in limits:
        name, _, share = limit.partition("=")
        try:
            least[name] = float(share)
        except ValueError:
            least[name] = -1.0
        if name not in searches or not 0.0 <= least[name] <= 1.0:
            raise ConfigError(
                f"--min-findability is {limit[:60]!r}; use a search ({', '.join(searches)}) and a "
                "share of 0 to 1, such as codex=.9"
            )
    return least


EagerTokens = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Defer tools to the client's search, and keep in every prompt, up to this many "
        "tokens, the tools that its search would miss and that are called most.",
    ),
]
CallLogs = Annotated[
    list[Path] | None,
    typer.Option(
        "--usage", metavar="LOG", help="With --eager-tokens: a log or trace of calls; repeatable."
    ),
]
SearchedAs = Annotated[
    ClientName,
    typer.Option("--as", help="With --eager-tokens: the client's search whose misses count."),
]


def refuse_without_budget(budget: int | None, usage: Sequence[Path], queries: Path | None) -> None:
    """Raises ``ConfigError`` for files that have no effect without a budget."""
    if budget is None and (usage or queries):
        option = "--usage" if usage else "--queries"
        raise ConfigError(f"{option} only works with --eager-tokens; add that too")
