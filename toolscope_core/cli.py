"""The command line: the same core as the app, for scripts and CI.

Progress goes to standard error and only to a terminal; results go to files, and a short report
to standard output. Exit status: 0 done, 1 a check that was asked for found something, 2 something
the user can mend, with the reason.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar

import typer

from toolscope_core.backends import Progress, Step, silent
from toolscope_core.catalog.formats import OFFERED
from toolscope_core.config import AnalysisConfig, PlanConfig, RetrievalConfig, read_environment
from toolscope_core.errors import ConfigError, ToolScopeError
from toolscope_core.numbers import quantity

if TYPE_CHECKING:
    from toolscope_core.commands.inspect_command import Inspection
    from toolscope_core.commands.search_command import EvaluationReport
    from toolscope_core.datamodel import Catalog, Finding
    from toolscope_core.evaluation.intervals import Interval
    from toolscope_core.opinions import Spent

app = typer.Typer(
    name="toolscope",
    help="Audit and curate the toolsets of LLM agents.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

P = ParamSpec("P")
R = TypeVar("R")

Catalogs = Annotated[
    list[Path], typer.Argument(help="Catalog files or folders; several make one catalog.")
]


class Accept(StrEnum):
    """Which proposed clusters are taken without a recorded decision."""

    auto = "auto"
    all = "all"
    none = "none"


class Judge(StrEnum):
    """The judge of a merge."""

    offline = "offline"
    llm = "llm"


ModelName = Annotated[
    str | None, typer.Option("--model", help="Name of the model; default TOOLSCOPE_MODEL.")
]
BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url", help="Base URL of an OpenAI-compatible endpoint; default TOOLSCOPE_BASE_URL."
    ),
]
BudgetCalls = Annotated[
    int | None,
    typer.Option(help="Maximum number of model calls in this run; run the command again to go on."),
]
Paper = Annotated[
    bool, typer.Option("--paper", help="Ask about every candidate pair and every cluster.")
]


class Decomposition(StrEnum):
    """How a request is split into sub-queries."""

    none = "none"
    rules = "rules"


class Reranker(StrEnum):
    """What orders the best tools anew."""

    none = "none"
    late = "late"


MOST_RANKED = 1_000
DEFAULT_ALPHA = RetrievalConfig().alpha
Alpha = Annotated[
    float, typer.Option(help="Weight of the dense score, 0 to 1; the rest is BM25's.")
]
Decompose = Annotated[
    Decomposition,
    typer.Option("--decompose", help="Split requests into sub-queries by rules, or not."),
]
Rerank = Annotated[
    Reranker,
    typer.Option(help="Compare the best 50 with the request token by token, or not."),
]
EmbedderName = Annotated[
    str | None, typer.Option(help="A sentence-transformers model, by name or folder.")
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


def _errors_as_sentences(command: Callable[P, R]) -> Callable[P, R]:
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except ToolScopeError as error:
            _say_error(str(error))
            raise typer.Exit(2) from error

    return run


@app.command()
@_errors_as_sentences
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
    from toolscope_core.commands.merge_command import MergeRequest, merge_files
    from toolscope_core.commands.model_options import AskRequest

    ask = AskRequest(base_url, model, paper, budget_calls)
    if judge is Judge.offline and ask != AskRequest(base_url):
        raise ConfigError(
            "--model, --budget-calls and --paper are for --judge llm; give it too (the embedding "
            "model is --embedder)"
        )
    request = MergeRequest(
        out=out,
        analysis=AnalysisConfig(threshold=threshold),
        plan=PlanConfig(accept=accept.value, routers=routers, correct=correct),
        shape=shape,
        fix=fix,
        fail_on=fail_on.value if fail_on else None,
        decisions=decisions,
        embedder=embedder,
        embeddings_model=embeddings_model,
        base_url=base_url,
        ask=ask if judge is Judge.llm else None,
    )
    report = merge_files(catalogs, request, read_environment(), _progress())
    plan = report.plan
    states = {
        state: sum(c.state == state for c in plan.clusters) for state in ("proposed", "stale")
    }
    families = sum(c.state == "proposed" and c.relation == "parametric" for c in plan.clusters)
    among = f", families among them: {families}" if families else ""
    _say(
        f"{len(plan.catalog.tools)} tools in, {len(plan.tools)} out; "
        f"{quantity(len(plan.applied), 'cluster')} merged, {states['proposed']} proposed for review"
        f"{among}{_more(states['stale'], 'to be looked at again')}"
        f"{_more(len(plan.edited), 'edited')}{_more(len(plan.removed), 'left out')}"
    )
    _say(
        f"about {report.tokens_before} tokens before, {report.tokens_after} after "
        f"({report.counted})"
    )
    implied = {tool.implied_server for tool in plan.catalog.tools} - {""}
    _tell_files(plan.catalog)
    for label in (file.label for file in plan.catalog.files if not file.tools):
        _say(f"{label}: no tool is read from it; `inspect` says why")
    if implied:
        _say(
            f"names imply {quantity(len(implied), 'server')}, {_some(implied)}: no merge across "
            "them without review; manifest.json lists their tools"
        )
    if report.toolsets > 1:
        _say(
            f"too many tools for one file: the toolset is in {report.toolsets}, by server; "
            "manifest.json lists them"
        )
    if report.decisions:
        unknown = _more(report.decisions_of_others, "of tools that this catalog does not have")
        _say(f"decisions: {report.decisions} of this catalog{unknown}")
    _tell_spent(report.spent)
    _tell_findings(report.hidden)
    _say(f"bundle: {report.out}{_more(len(plan.dangling), 'dangling references')}")
    _fail_for(report.failing)


@app.command()
@_errors_as_sentences
def judge(
    catalogs: Catalogs,
    pairs: Annotated[Path, typer.Option(help="JSONL with `left` and `right` tool ids.")],
    out: Annotated[Path, typer.Option(help="JSONL of verdicts, in the same order.")],
) -> None:
    """Give a verdict on each pair of tools, with the evidence."""
    from toolscope_core.commands.judge_command import judge_files

    counts = judge_files(catalogs, pairs, out, read_environment(), _progress())
    outcomes = ("merge", "family", "unsure", "keep")
    summary = ", ".join(f"{counts[outcome]} {outcome}" for outcome in outcomes)
    _say(f"{quantity(counts.total(), 'pair')}: {summary}; verdicts: {out}")


@app.command()
@_errors_as_sentences
def inspect(
    catalogs: Catalogs,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(help="Exit with 1 where a finding is that bad or worse; 2 is unusable input."),
    ] = None,
) -> None:
    """Show what a catalog holds: format, counts, problems, findings, tokens."""
    from toolscope_core.commands.inspect_command import inspect_files, why_failing

    inspection = inspect_files(catalogs)
    if as_json:
        typer.echo(json.dumps(inspection.as_json(), indent=1))
    else:
        _tell(inspection)
    _fail_for(why_failing(inspection.catalog.findings, fail_on.value) if fail_on else "")


def _some(names: Collection[str]) -> str:
    """The first five names in order, and how many more there are."""
    shown = ", ".join(sorted(names)[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


def _tell_files(catalog: Catalog) -> None:
    """Which files count as servers, since they name none."""
    if made_up := [file for file in catalog.files if file.server]:
        servers = ", ".join(f"{file.label} → {file.server}" for file in made_up)
        _say(f"files that name no server count as one each: {servers}")


def _tell(inspection: Inspection) -> None:
    from toolscope_core.merging.implied_servers import implied_servers

    catalog = inspection.catalog
    _say(
        f"format {catalog.format}: {quantity(len(catalog.tools), 'tool')} on "
        f"{quantity(len(catalog.servers), 'server')}, "
        f"about {inspection.tokens} tokens ({inspection.counted})"
    )
    if implied := [one.name for one in implied_servers(catalog.tools)]:
        _say(f"names imply {quantity(len(implied), 'server')}: {_some(implied)}")
    _tell_files(catalog)
    for problem in catalog.problems:
        _say(f"problem  {problem.position}: {problem.reason}")
    _tell_findings(catalog.findings)


@app.command()
@_errors_as_sentences
def diff(
    old: Annotated[Path, typer.Argument(help="Catalog file or folder as it was.")],
    new: Annotated[Path, typer.Argument(help="Catalog file or folder as it is now.")],
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Show what changed between two versions of a catalog; exit 1 if a change breaks callers."""
    from toolscope_core.commands.inspect_command import diff_files, diff_json
    from toolscope_core.views.version_changes import counted, table

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
            _say("; ".join(part for part in parts if part))
        _say(counted(changes))
    if changes.breaking:
        raise typer.Exit(1)


@app.command()
@_errors_as_sentences
def quality(
    catalogs: Catalogs,
    out: Annotated[Path, typer.Option(help="JSONL of grades, by tool.")],
    model: ModelName = None,
    base_url: BaseUrl = None,
    budget_calls: BudgetCalls = None,
) -> None:
    """Have a model grade how well each tool is documented, 1 to 5."""
    from toolscope_core.commands.judge_command import quality_files
    from toolscope_core.commands.model_options import AskRequest

    ask = AskRequest(base_url, model, budget_calls=budget_calls)
    bands, tools, spent = quality_files(catalogs, out, ask, read_environment(), _progress())
    counts = ", ".join(f"{bands[band]} {band}" for band in ("High", "Medium", "Low"))
    _say(f"{tools} tools: {counts}{_more(tools - bands.total(), 'unanalysed')}; grades: {out}")
    _tell_spent(spent)


@app.command()
@_errors_as_sentences
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
    from toolscope_core.commands.judge_command import estimate_files
    from toolscope_core.commands.model_options import AskRequest

    ask, config = AskRequest(base_url, model, paper), AnalysisConfig(threshold=threshold)
    estimates_by_kind = estimate_files(catalogs, ask, config, read_environment(), _progress())
    for kind, estimates in estimates_by_kind.items():
        for task, one in estimates.tasks.items():
            cost = "" if one.cost is None else f", at most {one.cost:.2f} of money"
            _say(
                f"{kind:8} {task}: {one.questions - one.reused} questions in {one.calls} calls, "
                f"{one.reused} known; about {one.tokens_in} tokens in, at most {one.tokens_out} out"
                f"{cost}"
            )
    questions, tokens = estimates_by_kind["judge"].saved
    _say(f"saved against the paper's way: {questions} questions, about {tokens} tokens")


@app.command()
@_errors_as_sentences
def relabel(
    queries: Annotated[Path, typer.Argument(help="JSONL with `gold` ids and `calls`.")],
    bundle: Annotated[Path, typer.Option(help="Folder that merge wrote.")],
    out: Annotated[Path, typer.Option(help="JSONL of the rewritten queries.")],
) -> None:
    """Rewrite the gold answers and calls of an evaluation set for the merged toolset."""
    from toolscope_core.commands.relabel_command import relabel_file

    report = relabel_file(queries, bundle, out)
    _say(
        f"{quantity(len(report.queries), 'query')}, {report.changed} changed, "
        f"{len(report.shrunk)} shrunk, {quantity(len(report.unknown), 'unknown id')}, "
        f"{quantity(len(report.lost), 'argument')} lost, "
        f"{quantity(report.unread, 'call')} not understood; written: {out}"
    )
    for query in report.shrunk:
        for group in query.shrunk:
            _say(f"shrunk   query {query.row.get('id', '?')}: {', '.join(group)} are one now")
    for query in report.emptied:
        gone = ", ".join(query.removed)
        _say(f"emptied  query {query.row.get('id', '?')}: {gone} left out, no gold tool stays")
    for name in report.removed:
        _say(f"removed  {name}")
    for name in report.lost:
        _say(f"lost     {name}")
    for name in report.unknown:
        _say(f"unknown  {name}")


@app.command()
@_errors_as_sentences
def search(
    catalogs: Annotated[
        list[str],
        typer.Argument(
            metavar="CATALOGS... REQUEST",
            help="Catalog files, folders or bundles, then the request; no request with --queries.",
        ),
    ],
    queries: Annotated[
        Path | None, typer.Option(help="JSONL with `id` and `query`: a ranking for each.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="JSONL of the rankings; with --queries.")] = None,
    k: Annotated[int, typer.Option("-k", "--top", help="How many tools.")] = 10,
    alpha: Alpha = DEFAULT_ALPHA,
    splitting: Decompose = Decomposition.rules,
    rerank: Rerank = Reranker.none,
    embedder: EmbedderName = None,
) -> None:
    """Show which tools an agent would be given for a request, the best first."""
    from toolscope_core.commands.search_command import (
        SearchOptions,
        search_queries,
        search_request,
    )

    config = RetrievalConfig(alpha=alpha, rerank=rerank.value)
    options = SearchOptions(k, splitting.value, config, embedder)
    settings = read_environment()
    if queries is not None:
        if out is None:
            raise ConfigError("--queries was given without --out; say where the rankings go")
        paths = [Path(one) for one in catalogs]
        count = search_queries(paths, queries, out, options, settings, _progress())
        _say(f"{quantity(count, 'query')}; rankings: {out}")
        return
    *files, request = catalogs
    if not files:
        raise ConfigError(
            f"only {request[:60]!r} was given; give a catalog and after it the request, in quotes"
        )
    report = search_request([Path(one) for one in files], request, options, settings, _progress())
    for number, part in enumerate(report.subqueries if len(report.subqueries) > 1 else (), 1):
        _say(f"part {number}: {part}")
    for place, one in enumerate(report.ranking, 1):
        tool = report.catalog.by_id[one.tool_id]
        part = "" if one.subquery is None else f"  part {one.subquery + 1}"
        server = f"  {tool.server}" if tool.server else ""
        late = "" if one.late is None else f"  late {one.late:.2f}"
        _say(
            f"{place:3}  {one.score:.3f}  dense {one.dense:.2f}  sparse {one.sparse:5.1f}"
            f"{late}{part}  {tool.name}{server}"
        )


@app.command()
@_errors_as_sentences
def evaluate(
    catalogs: Catalogs,
    queries: Annotated[Path, typer.Option(help="JSONL with `id`, `query` and `gold` tool ids.")],
    bundle: Annotated[
        Path | None, typer.Option(help="Folder that merge wrote: the metrics after it as well.")
    ] = None,
    cutoffs: Annotated[
        str, typer.Option("--at", help="The k of the metrics, with commas.")
    ] = "1,5,10",
    least: Annotated[
        list[str] | None,
        typer.Option("--min-recall", help="Such as 5=.9: exit with 1 if recall@5 is less than .9."),
    ] = None,
    skip_unknown: Annotated[
        bool, typer.Option(help="Leave out queries whose tools the catalog does not have.")
    ] = False,
    alpha: Alpha = DEFAULT_ALPHA,
    splitting: Decompose = Decomposition.rules,
    rerank: Rerank = Reranker.none,
    embedder: EmbedderName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Measure how well queries find their tools, before and after a merge."""
    from toolscope_core.commands.search_command import (
        EvaluationOptions,
        SearchOptions,
        evaluate_files,
    )

    wanted = _least_recalls(least or [])
    ks = sorted({*_cutoffs(cutoffs), *wanted})
    searched = SearchOptions(
        max(ks), splitting.value, RetrievalConfig(alpha=alpha, rerank=rerank.value), embedder
    )
    options = EvaluationOptions(searched, tuple(ks), bundle, skip_unknown)
    report = evaluate_files(catalogs, queries, options, read_environment(), _progress())
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1))
    else:
        _tell_evaluation(report)
    _fail_for(report.recall_below(wanted))


def _tell_evaluation(report: EvaluationReport) -> None:
    left = _more(report.unjudged, "without gold answers, left out")
    left += _more(report.skipped, "of tools that are not there, left out")
    _say(f"{quantity(report.queries, 'query')}{left}; {quantity(report.tools, 'tool')}")
    if report.tools_after is not None:
        _say(f"after the merge: {quantity(report.tools_after, 'tool')}")
    after = {row.name: row for row in report.rows_after}
    for row in report.rows:
        line = f"{row.name:13} {_interval(row.interval)}"
        if row.name in after:
            line += f"  after {_interval(after[row.name].interval)}  p {report.p[row.name]:.3f}"
        _say(line)
    _say("[95 % bootstrap intervals over queries; p-values paired, corrected by Holm]")


def _interval(one: Interval) -> str:
    return f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _cutoffs(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= MOST_RANKED for part in parts):
        raise ConfigError(
            f"--at is {text[:60]!r}; give whole numbers from 1 to {MOST_RANKED:,}, such as 1,5,10"
        )
    return [int(part) for part in parts]


def _least_recalls(rows: Iterable[str]) -> dict[int, float]:
    """The least recall by k. Raises ``ConfigError`` for what is not like ``5=.9``."""
    least = {}
    for row in rows:
        k, _, share = row.partition("=")
        try:
            least[_cutoffs(k)[0]] = float(share)
        except ValueError:
            least = {0: 2.0}
        if not all(0.0 <= one <= 1.0 for one in least.values()):
            raise ConfigError(
                f"--min-recall is {row[:60]!r}; give k and a share of 0 to 1, such as 5=.9"
            )
    return least


@app.command()
@_errors_as_sentences
def prepare() -> None:
    """Put the bundled example into the app's store, analysed."""
    from toolscope_core.workspace.workspace import Workspace

    work = Workspace(read_environment())
    try:
        record = work.prepare(_progress())
    finally:
        work.close()
    _say(f"{record.name}: {record.tools} tools, analysed; store: {work.settings.store_url}")


def _tell_findings(findings: Iterable[Finding]) -> None:
    for item in findings:
        _say(f"{item.severity:8} {item.tool_id}, {item.field}: {item.message}")


def _fail_for(reason: str) -> None:
    """End with 1 if there is a reason."""
    if reason:
        _say_error(reason)
        raise typer.Exit(1)


def _tell_spent(spent: Spent | None) -> None:
    if spent is not None:
        _say(
            f"{spent.task}: {spent.questions} questions, {spent.reused} known before"
            f"{_more(spent.unanalysed, 'unanalysed')}; {spent.calls} calls, "
            f"{spent.tokens_in} tokens in, {spent.tokens_out} out"
        )


def _say(text: str) -> None:
    """One line on the terminal, whatever names of a catalog are in it."""
    from toolscope_core.catalog.hidden import for_terminal

    typer.echo(for_terminal(text))


def _say_error(text: str) -> None:
    """A sentence, and the indented lines of a list if it has one."""
    from toolscope_core.catalog.hidden import for_terminal

    lines = f"toolscope: {text}".split("\n  ")
    typer.echo("\n  ".join(map(for_terminal, lines)), err=True)


def _more(count: int, what: str) -> str:
    return f", {count} {what}" if count else ""


def _progress() -> Progress:
    if not sys.stderr.isatty():
        return silent

    def show(step: Step) -> None:
        end = "\n" if step.done >= step.total else ""
        sys.stderr.write(f"\r{step.stage}: {step.done} of {step.total}{end}")
        sys.stderr.flush()

    return show
