"""The command that checks a catalog in CI."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.cli.terminal import (
    Catalogs,
    EmbedderName,
    app,
    errors_as_sentences,
    fail_for,
    more,
    progress,
    say,
)
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.numbers import quantity

if TYPE_CHECKING:
    from toolscope_core.check.gate_items import GateItem
    from toolscope_core.cli.commands.check_command import CheckOutcome

_MOST_SHOWN = 10
_MOST_DETAILS = 3


class FailFor(StrEnum):
    """What ``check --fail-on`` takes: one case of it is enough to fail."""

    problem = "problem"
    overlap = "overlap"
    family = "family"
    dangling = "dangling"
    breaking = "breaking"
    stale = "stale"
    changed = "changed"
    block = "block"
    warn = "warn"


@app.command()
@errors_as_sentences
def check(
    catalogs: Catalogs,
    baseline: Annotated[
        Path,
        typer.Option(help="What was accepted before: a bundle's folder or zip, or a catalog."),
    ],
    max_new_overlaps: Annotated[
        int | None,
        typer.Option(help="Exit with 1 where more pairs than this overlap that did not before."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Exit with 1 where the catalog has more tokens than this.")
    ] = None,
    max_token_growth: Annotated[
        int | None,
        typer.Option(help="Exit with 1 where the catalog has grown by more tokens than this."),
    ] = None,
    fail_on: Annotated[
        list[FailFor] | None,
        typer.Option(help="Exit with 1 where there is one of these; again for each."),
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Write the report as Markdown, for a pull request.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the report as JUnit XML.")] = None,
    sarif: Annotated[
        Path | None, typer.Option(help="Write the report as SARIF 2.1.0, for code scanning.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Minimum cosine similarity of a candidate pair; default the bundle's, else by "
            "model."
        ),
    ] = None,
    embedder: EmbedderName = None,
    app_url: Annotated[
        str, typer.Option(help="Where the app is in which the links to pairs lead.")
    ] = "http://localhost:8501",
    app_catalog: Annotated[
        str | None,
        typer.Option(help="The catalog's name in that app; default the name of its file."),
    ] = None,
) -> None:
    """Compare a catalog with what was accepted before: new overlaps, breaking changes, tokens."""
    from toolscope_core.catalog.isolation import start_waiting

    start_waiting()
    from toolscope_core.check.comparison_report import Limits
    from toolscope_core.cli.commands.check_command import CheckRequest, check_files

    limits = Limits(
        max_new_overlaps,
        max_tokens,
        max_token_growth,
        frozenset(one.value for one in fail_on or ()),
    )
    request = CheckRequest(
        baseline=baseline,
        limits=limits,
        analysis=AnalysisConfig(threshold=threshold),
        embedder=embedder,
        summary=summary,
        junit=junit,
        sarif=sarif,
        app_url=app_url,
        app_catalog=app_catalog,
    )
    outcome = check_files(catalogs, request, read_environment(), progress())
    _tell(outcome)
    if not limits.are_set:
        say("nothing was asked for that fails the check; see --fail-on and --max-new-overlaps")
    fail_for(outcome.reason and f"the check fails: {outcome.reason}")


def _tell(outcome: CheckOutcome) -> None:
    from toolscope_core.check.gate_items import TITLES
    from toolscope_core.check.version_changes import counted

    report, total = outcome.report, outcome.report.tokens.total
    say(f"{quantity(len(report.catalog.tools), 'tool')}; {counted(report.tools.changes)}")
    for section in TITLES:
        items = [item for item in outcome.items if item.section == section and item.tools]
        for item in items[:_MOST_SHOWN]:
            _tell_item(item)
        if len(items) > _MOST_SHOWN:
            say(f"{section:8} and {len(items) - _MOST_SHOWN} more; --summary lists them")
    grown = [one for one in report.tokens.servers if one.name and one.growth > 0]
    largest = max(grown, key=lambda one: one.growth, default=None)
    where = f", most of it on {largest.name} ({largest.growth:+,})" if largest else ""
    say(
        f"about {total.now:,} tokens, {total.growth:+,} ({report.tokens.counted}){where}"
        f"{more(len(report.stale), 'decisions to look at again')}"
    )


def _tell_item(item: GateItem) -> None:
    say(f"{item.section:8} {', '.join(item.tools)}: {item.says}")
    for detail in item.details[:_MOST_DETAILS]:
        say(f"         {detail}")
    if item.address:
        say(f"         {item.address}")
