"""The commands that read, merge and compare catalogs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.catalog.formats.format_table import OFFERED
from toolscope_core.cli.terminal import (
    BaseUrl,
    BudgetCalls,
    Catalogs,
    EmbedderName,
    ModelName,
    app,
    errors_as_sentences,
    fail_for,
    more,
    progress,
    say,
    say_error,
    tell_estimates,
    tell_spent,
)
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity

if TYPE_CHECKING:
    from toolscope_core.cli.commands.inspect_command import Inspection
    from toolscope_core.model.catalog import Catalog, Finding


class Accept(StrEnum):
    """Which proposed clusters are taken without a recorded decision."""

    auto = "auto"
    all = "all"
    none = "none"


class Judge(StrEnum):
    """The judge of a merge."""

    offline = "offline"
    llm = "llm"


Paper = Annotated[
    bool, typer.Option("--paper", help="Ask about every candidate pair and every cluster.")
]


class FailOn(StrEnum):
    """The least severity of a finding that makes ``inspect`` and ``merge`` fail."""

    block = "block"
    warn = "warn"


def _offered(name: str) -> str:
    """The name of a format that an export offers. Raises ``typer.BadParameter`` for another."""
    if name not in OFFERED:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, OFFERED))}.")
    return name


@app.command()
@errors_as_sentences
def merge(
    catalogs: Catalogs,
    out: Annotated[Path, typer.Option(help="Folder for the bundle; an old bundle is replaced.")],
    threshold: Annotated[
        float | None,
        typer.Option(help="Minimum cosine similarity of a candidate pair; default by model."),
    ] = None,
    shape: Annotated[
        str | None,
        typer.Option(
            "--format",
            parser=_offered,
            metavar=f"<{'|'.join(OFFERED)}>",
            help="Shape of toolset.json; default the input's.",
        ),
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Correct or split what the format does not allow; remove hidden characters.",
        ),
    ] = False,
    accept: Annotated[
        Accept, typer.Option(help="Clusters accepted without a recorded decision.")
    ] = Accept.auto,
    routers: Annotated[
        bool, typer.Option("--routers", help="Also merge clusters that need a gateway.")
    ] = False,
    decisions: Annotated[
        Path | None, typer.Option(help="A decisions.jsonl to apply, as a bundle holds it.")
    ] = None,
    correct: Annotated[
        bool, typer.Option("--correct/--no-correct", help="Auto-Correction of clusters.")
    ] = True,
    expanded: Annotated[
        bool,
        typer.Option(
            "--expanded", help="Write accepted document variants as the tools' descriptions."
        ),
    ] = False,
    embedder: EmbedderName = None,
    judge: Annotated[
        Judge, typer.Option(help="The judge: offline, or a model as well.")
    ] = Judge.offline,
    model: ModelName = None,
    base_url: BaseUrl = None,
    embeddings_model: Annotated[
        str | None,
        typer.Option(
            help="An embedding model of the endpoint; default TOOLSCOPE_EMBEDDINGS_MODEL."
        ),
    ] = None,
    budget_calls: BudgetCalls = None,
    paper: Paper = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(help="Exit with 1 where the outgoing tools hold a finding that bad or worse."),
    ] = None,
) -> None:
    """Merge the tools that do the same job and write the export bundle."""
    from toolscope_core.catalog.isolation import start_waiting

    start_waiting()
    from toolscope_core.cli.commands.merge_command import MergeRequest, merge_files
    from toolscope_core.cli.commands.model_options import AskRequest
    from toolscope_core.export.checked_plan import held_back

    ask = AskRequest(base_url, model, paper, budget_calls)
    if judge is Judge.offline and ask != AskRequest(base_url):
        raise ConfigError(
            "--model, --budget-calls and --paper are for --judge llm; give it too (the embedding "
            "model is --embedder)"
        )
    request = MergeRequest(
        out=out,
        analysis=AnalysisConfig(threshold=threshold),
        plan=PlanConfig(accept=accept.value, routers=routers, correct=correct, expanded=expanded),
        shape=shape,
        fix=fix,
        fail_on=fail_on.value if fail_on else None,
        decisions=decisions,
        embedder=embedder,
        embeddings_model=embeddings_model,
        base_url=base_url,
        ask=ask if judge is Judge.llm else None,
    )
    report = merge_files(catalogs, request, read_environment(), progress())
    plan = report.plan
    states = {
        state: sum(c.state == state for c in plan.clusters) for state in ("proposed", "stale")
    }
    families = sum(c.state == "proposed" and c.relation == "parametric" for c in plan.clusters)
    among = f", families among them: {families}" if families else ""
    say(
        f"{len(plan.catalog.tools)} tools in, {len(plan.tools)} out; "
        f"{quantity(len(plan.applied), 'cluster')} merged, {states['proposed']} proposed for review"
        f"{among}{more(states['stale'], 'to be looked at again')}"
        f"{more(len(plan.edited), 'edited')}{more(len(plan.removed), 'left out')}"
    )
    say(
        f"about {report.tokens_before} tokens before, {report.tokens_after} after "
        f"({report.counted})"
    )
    implied = {tool.implied_server for tool in plan.catalog.tools} - {""}
    _tell_files(plan.catalog)
    for label in (file.label for file in plan.catalog.files if not file.tools):
        say(f"{label}: no tool is read from it; `inspect` says why")
    if implied:
        say(
            f"names imply {quantity(len(implied), 'server')}, {_some(implied)}: no merge across "
            "them without review; manifest.json lists their tools"
        )
    if report.toolsets > 1:
        say(
            f"too many tools for one file: the toolset is in {report.toolsets}, by server; "
            "manifest.json lists them"
        )
    if report.decisions:
        unknown = more(report.decisions_of_others, "of tools that this catalog does not have")
        say(f"decisions: {report.decisions} of this catalog{unknown}")
    tell_spent(report.spent)
    _tell_findings(report.hidden)
    for sentence in held_back(plan):
        say_error(sentence)
    say(f"bundle: {report.out}{more(len(plan.dangling), 'dangling references')}")
    fail_for(report.failing)


@app.command()
@errors_as_sentences
def judge(
    catalogs: Catalogs,
    pairs: Annotated[Path, typer.Option(help="JSONL with `left` and `right` tool ids.")],
    out: Annotated[Path, typer.Option(help="JSONL of verdicts, in the same order.")],
) -> None:
    """Give a verdict on each pair of tools, with the evidence."""
    from toolscope_core.cli.commands.judge_command import judge_files

    counts = judge_files(catalogs, pairs, out, read_environment(), progress())
    outcomes = ("merge", "family", "unsure", "keep")
    summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in outcomes)
    say(f"{quantity(counts.total(), 'pair')}: {summary}; verdicts: {out}")


@app.command()
@errors_as_sentences
def inspect(
    catalogs: Catalogs,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(help="Exit with 1 where a finding is that bad or worse; 2 is unusable input."),
    ] = None,
) -> None:
    """Show what a catalog holds: format, counts, problems, findings, tokens."""
    from toolscope_core.cli.commands.inspect_command import inspect_files, why_failing

    inspection = inspect_files(catalogs)
    if as_json:
        typer.echo(json.dumps(inspection.as_json(), indent=1))
    else:
        _tell(inspection)
    fail_for(why_failing(inspection.catalog.findings, fail_on.value) if fail_on else "")


def _some(names: Collection[str]) -> str:
    """The first five names in order, and how many more there are."""
    shown = ", ".join(sorted(names)[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


def _tell_files(catalog: Catalog) -> None:
    """Which files count as servers, since they name none."""
    if made_up := [file for file in catalog.files if file.server]:
        servers = ", ".join(f"{file.label} → {file.server}" for file in made_up)
        say(f"files that name no server count as one each: {servers}")


def _tell(inspection: Inspection) -> None:
    from toolscope_core.judging.implied_servers import implied_servers

    catalog = inspection.catalog
    say(
        f"format {' and '.join(catalog.read_from)}: {quantity(len(catalog.tools), 'tool')} on "
        f"{quantity(len(catalog.servers), 'server')}, "
        f"about {inspection.tokens} tokens ({inspection.counted})"
    )
    if implied := [one.name for one in implied_servers(catalog.tools)]:
        say(f"names imply {quantity(len(implied), 'server')}: {_some(implied)}")
    _tell_files(catalog)
    for problem in catalog.problems:
        say(f"problem  {problem.position}: {problem.reason}")
    _tell_findings(catalog.findings)


@app.command()
@errors_as_sentences
def diff(
    old: Annotated[Path, typer.Argument(help="Catalog file or folder as it was.")],
    new: Annotated[Path, typer.Argument(help="Catalog file or folder as it is now.")],
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Show what changed between two versions of a catalog; exit 1 if a change breaks callers."""
    from toolscope_core.check.version_changes import counted, table
    from toolscope_core.cli.commands.inspect_command import diff_files, diff_json

    changes = diff_files(old, new)
    if as_json:
        typer.echo(json.dumps(diff_json(changes), indent=1))
    else:
        for row in table(changes):
            detail = f"{row.field}: {row.old} -> {row.new}" if row.field else ""
            parts = (
                f"{row.change:8} {row.tool}",
                detail,
                row.breaking and f"BREAKING: {row.breaking}",
            )
            say("; ".join(part for part in parts if part))
        say(counted(changes))
    if changes.breaking:
        raise typer.Exit(1)


@app.command()
@errors_as_sentences
def quality(
    catalogs: Catalogs,
    out: Annotated[Path, typer.Option(help="JSONL of grades, by tool.")],
    model: ModelName = None,
    base_url: BaseUrl = None,
    budget_calls: BudgetCalls = None,
) -> None:
    """Have a model grade how well each tool is documented, 1 to 5."""
    from toolscope_core.cli.commands.judge_command import quality_files
    from toolscope_core.cli.commands.model_options import AskRequest

    ask = AskRequest(base_url, model, budget_calls=budget_calls)
    bands, tools, spent = quality_files(catalogs, out, ask, read_environment(), progress())
    counts = ", ".join(f"{bands[band]} {band}" for band in ("High", "Medium", "Low"))
    say(f"{tools} tools: {counts}{more(tools - bands.total(), 'unanalysed')}; grades: {out}")
    tell_spent(spent)


@app.command()
@errors_as_sentences
def estimate(
    catalogs: Catalogs,
    threshold: Annotated[
        float | None,
        typer.Option(help="Minimum cosine similarity of a candidate pair; default by model."),
    ] = None,
    model: ModelName = None,
    base_url: BaseUrl = None,
    paper: Paper = False,
) -> None:
    """Estimate what asking a model would cost; sends nothing."""
    from toolscope_core.cli.commands.judge_command import estimate_files
    from toolscope_core.cli.commands.model_options import AskRequest

    ask, config = AskRequest(base_url, model, paper), AnalysisConfig(threshold=threshold)
    estimates_by_kind = estimate_files(catalogs, ask, config, read_environment(), progress())
    for kind, estimates in estimates_by_kind.items():
        tell_estimates(kind, estimates)
    questions, tokens = estimates_by_kind["judge"].saved
    say(f"saved against the paper's way: {questions} questions, about {tokens} tokens")


@app.command()
@errors_as_sentences
def relabel(
    queries: Annotated[Path, typer.Argument(help="JSONL with `gold` ids and `calls`.")],
    bundle: Annotated[Path, typer.Option(help="Folder that merge wrote, or Export's zip.")],
    out: Annotated[Path, typer.Option(help="JSONL of the rewritten queries.")],
) -> None:
    """Rewrite the gold answers and calls of an evaluation set for the merged toolset."""
    from toolscope_core.cli.commands.relabel_command import relabel_file

    report = relabel_file(queries, bundle, out)
    say(
        f"{quantity(len(report.queries), 'query')}, {report.changed} changed, "
        f"{len(report.shrunk)} shrunk, {quantity(len(report.unknown), 'unknown id')}, "
        f"{quantity(len(report.lost), 'argument')} lost, "
        f"{quantity(report.unread, 'call')} not understood; written: {out}"
    )
    for query in report.shrunk:
        for group in query.shrunk:
            say(f"shrunk   query {query.row.get('id', '?')}: {', '.join(group)} are one now")
    for query in report.emptied:
        gone = ", ".join(query.removed)
        say(f"emptied  query {query.row.get('id', '?')}: {gone} left out, no gold tool stays")
    for name in report.removed:
        say(f"removed  {name}")
    for name in report.lost:
        say(f"lost     {name}")
    for name in report.unknown:
        say(f"unknown  {name}")


def _tell_findings(findings: Iterable[Finding]) -> None:
    for item in findings:
        say(f"{item.severity:8} {item.tool_id}, {item.field}: {item.message}")
