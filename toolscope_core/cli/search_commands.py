"""The commands that search a catalog and measure the search."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.cli.terminal import (
    BaseUrl,
    BudgetCalls,
    Catalogs,
    EmbedderName,
    VariantsFile,
    app,
    errors_as_sentences,
    fail_for,
    more,
    progress,
    say,
)
from toolscope_core.model.configuration import RetrievalConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity

if TYPE_CHECKING:
    from toolscope_core.cli.commands.evaluate_command import EvaluationReport
    from toolscope_core.cli.commands.search_command import SearchReport
    from toolscope_core.evaluation.comparison import Comparison
    from toolscope_core.evaluation.intervals import Interval


class Corpus(StrEnum):
    """Whose texts lead to a server."""

    both = "both"
    tools = "tools"
    servers = "servers"


class Selector(StrEnum):
    """Who takes tools of those that are found."""

    best = "best"
    model = "model"


class Decomposition(StrEnum):
    """How a request is split into sub-queries."""

    none = "none"
    rules = "rules"
    steps = "steps"
    dummy = "dummy"
    context = "context"


MOST_RANKED = 1_000
ASKING = (Decomposition.dummy, Decomposition.context)
"""A model is asked for these."""
DEFAULT = RetrievalConfig()
Alpha = Annotated[
    float, typer.Option(help="Weight of the dense score, 0 to 1; the rest is BM25's.")
]
Decompose = Annotated[
    Decomposition,
    typer.Option(
        "--decompose",
        help="Split requests by rules, by their own steps, or by a model: dummy sees the request, "
        "context the nearest tools too.",
    ),
]
Splits = Annotated[
    Path | None,
    typer.Option(help="JSONL with `id` and the recorded steps, dummy or context split of each."),
]
Rerank = Annotated[
    str,
    typer.Option(
        metavar="<auto|none|late|MODEL>",
        help="Score the best 50 anew: token by token (late), or by a sentence-transformers "
        "CrossEncoder; auto is late for tools, none for servers.",
    ),
]
ModelFolder = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="DIR",
        help="Folder of a trained model (learn --out). With --decompose dummy or context any other "
        "text is the name of the model that is asked; default TOOLSCOPE_MODEL.",
    ),
]
Usage = Annotated[
    Path | None,
    typer.Option(
        help="JSONL or CSV with `query` and `gold`: tools are found by the mean vector of the "
        "queries that they serve too (Tool2Vec)."
    ),
]
Servers = Annotated[bool, typer.Option("--servers", help="Find servers in place of tools.")]
CorpusOption = Annotated[
    Corpus, typer.Option(help="What --servers searches: the texts of tools, of servers, or both.")
]


@app.command()
@errors_as_sentences
def search(
    catalogs: Annotated[
        list[str],
        typer.Argument(
            metavar="CATALOGS... REQUEST",
            help="Catalog files, folders or bundles, then the request; no request with --queries.",
        ),
    ],
    queries: Annotated[
        Path | None, typer.Option(help="JSONL or CSV with `id` and `query`: a ranking for each.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="JSONL of the rankings; with --queries.")] = None,
    k: Annotated[int, typer.Option("-k", "--top", help="How many are given.")] = 10,
    alpha: Alpha = DEFAULT.alpha,
    rerank: Rerank = DEFAULT.rerank,
    decomposition: Decompose = Decomposition.rules,
    splits: Splits = None,
    servers: Servers = False,
    corpus: CorpusOption = Corpus.both,
    variants: VariantsFile = None,
    embedder: EmbedderName = None,
    usage: Usage = None,
    model: ModelFolder = None,
    base_url: BaseUrl = None,
    budget_calls: BudgetCalls = None,
) -> None:
    """Show which tools an agent would be given for a request, the best first."""
    from toolscope_core.cli.asking import AskRequest
    from toolscope_core.cli.commands.search_command import (
        SearchOptions,
        search_queries,
        search_request,
    )
    from toolscope_core.evaluation.search_results import doubt

    learned = _trained_model(model, asks=decomposition in ASKING)
    options = SearchOptions(
        k=k,
        decomposition=decomposition.value,
        config=RetrievalConfig(alpha=alpha, rerank=rerank, corpus=corpus.value),
        embedder=embedder,
        servers=servers,
        splits=splits,
        variants=variants,
        ask=AskRequest(base_url, None if learned else model, budget_calls=budget_calls),
        learned=learned,
        usage=usage,
    )
    settings = read_environment()
    if queries is not None:
        if out is None:
            raise ConfigError("--queries was given without --out; say where the rankings go")
        paths = [Path(one) for one in catalogs]
        found = search_queries(paths, queries, out, options, settings, progress())
        whole = more(found.whole, "without steps, searched whole")
        say(f"{quantity(len(found.requests), 'query')}{whole}; rankings: {out}")
        return
    *files, request = catalogs
    if not files:
        raise ConfigError(
            f"only {request[:60]!r} was given; give a catalog and after it the request, in quotes"
        )
    report = search_request([Path(one) for one in files], request, options, settings, progress())
    for number, part in enumerate(report.subqueries if len(report.subqueries) > 1 else (), 1):
        say(f"part {number}: {part}")
    for place, line in enumerate(_places(report), 1):
        say(f"{place:3}  {line}")
    if doubtful := doubt(report.tools):
        say(doubtful)


def _trained_model(given: str | None, *, asks: bool) -> Path | None:
    """The folder of a trained model; ``None`` where ``given`` is the name of one that is asked."""
    if not given or (asks and not Path(given).is_dir()):
        return None
    return Path(given)


def _places(report: SearchReport) -> Iterator[str]:
    """What one request finds, a line a place; the parts of a score are what adds up to it."""
    from toolscope_core.retrieval.retriever import PARTS

    tools = report.catalog.by_id
    for tool in report.tools:
        step = "" if tool.subquery is None else f"  part {tool.subquery + 1}"
        shares = zip(PARTS, tool.parts, strict=True)
        parts = "  ".join(
            f"{name} {part:.2f}" for name, part in shares if part or name in PARTS[:2]
        )
        of = f"  {tools[tool.tool_id].server}" if tools[tool.tool_id].server else ""
        yield f"{tool.score:.3f}  {parts}{step}  {tools[tool.tool_id].name}{of}"
    for server in report.servers:
        part = "" if server.subquery is None else f"  part {server.subquery + 1}"
        by = "its own text" if server.tool_id is None else tools[server.tool_id].name
        made = "  (no description of its own)" if server.server in report.made_up else ""
        yield f"{server.score:.3f}{part}  {server.server}  by {by}{made}"


@app.command()
@errors_as_sentences
def evaluate(
    catalogs: Catalogs,
    queries: Annotated[
        Path, typer.Option(help="JSONL or CSV with `id`, `query` and `gold` or `gold_servers`.")
    ],
    bundle: Annotated[
        Path | None,
        typer.Option(help="Folder that merge wrote, or Export's zip: the metrics after it too."),
    ] = None,
    cutoffs: Annotated[
        str, typer.Option("--at", help="The k of the metrics, with commas.")
    ] = "1,5,10",
    least: Annotated[
        list[str] | None,
        typer.Option("--min-recall", help="Such as 5=.9: exit with 1 if recall@5 is less than .9."),
    ] = None,
    skip_unknown: Annotated[
        bool, typer.Option(help="Leave out queries whose answers the catalog does not have.")
    ] = False,
    select: Annotated[
        Selector | None,
        typer.Option(
            help="Measure correct selections (CSR) too: the best tool of each sub-query, or what a "
            "model takes of the k best."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="With --bundle: JSONL of pairs with `left`, `right` and `label` (merge or keep); "
            "how many merges are right and wrong."
        ),
    ] = None,
    alpha: Alpha = DEFAULT.alpha,
    rerank: Rerank = DEFAULT.rerank,
    decomposition: Decompose = Decomposition.rules,
    splits: Splits = None,
    servers: Servers = False,
    corpus: CorpusOption = Corpus.both,
    variants: VariantsFile = None,
    embedder: EmbedderName = None,
    usage: Usage = None,
    model: ModelFolder = None,
    base_url: BaseUrl = None,
    budget_calls: BudgetCalls = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything, as JSON.")] = False,
) -> None:
    """Measure how well queries find their tools or servers, before and after a merge."""
    from toolscope_core.cli.asking import AskRequest
    from toolscope_core.cli.commands.evaluate_command import EvaluationOptions, evaluate_files
    from toolscope_core.cli.commands.search_command import SearchOptions

    wanted = _least_recalls(least or [])
    ks = sorted({*_cutoffs(cutoffs), *wanted})
    asks = decomposition in ASKING or select == Selector.model
    learned = _trained_model(model, asks=asks)
    searched = SearchOptions(
        k=max(ks),
        decomposition=decomposition.value,
        config=RetrievalConfig(alpha=alpha, rerank=rerank, corpus=corpus.value),
        embedder=embedder,
        servers=servers,
        splits=splits,
        variants=variants,
        ask=AskRequest(base_url, None if learned else model, budget_calls=budget_calls),
        learned=learned,
        usage=usage,
    )
    options = EvaluationOptions(
        searched, tuple(ks), bundle, skip_unknown, select.value if select else None, labels
    )
    report = evaluate_files(catalogs, queries, options, read_environment(), progress())
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1))
    else:
        _tell_evaluation(report)
    fail_for(report.recall_below(wanted))


def _tell_evaluation(report: EvaluationReport) -> None:
    left = more(report.unjudged, "without gold answers, left out")
    left += more(report.skipped, "of answers that are not there, left out")
    left += more(report.whole, "without steps, searched whole")
    say(f"{quantity(report.queries, 'query')}{left}; {quantity(report.tools, 'tool')}")
    if report.augmented:
        strange = more(report.unknown_variants, "of no tool here")
        say(f"{quantity(report.augmented, 'tool')} with a document variant{strange}")
    if report.from_tools < 1.0:
        say(f"places that a tool led to: {report.from_tools:.1%}; the others a server's own text")
    if report.tools_after is not None:
        say(f"after the merge: {quantity(report.tools_after, 'tool')}")
    after = {row.name: row for row in report.rows_after}
    for row in report.rows:
        line = f"{row.name:13} {_interval(row.interval)}"
        if row.name in after:
            line += f"  after {_interval(after[row.name].interval)}  p {report.p[row.name]:.3f}"
        say(line)
    if report.comparison is not None:
        _tell_comparison(report.comparison)
    if report.labelled is not None:
        wrong = ", ".join(f"{one.left} + {one.right}" for one in report.labelled.wrong[:5])
        say(
            f"labelled pairs merged: {report.labelled.right:,} right, "
            f"{len(report.labelled.wrong):,} wrong{f' ({wrong})' if wrong else ''}; "
            f"{report.labelled.missed:,} left apart that may be merged"
        )
    say("[95 % bootstrap intervals over queries; p-values paired, corrected by Holm]")


def _tell_comparison(comparison: Comparison) -> None:
    before, after = comparison.before, comparison.after
    say(f"tokens of all tools: {before.tokens:,}, after {after.tokens:,}")
    if before.coverage.calls:
        say(
            f"gold calls that run: {before.coverage.runnable:,} of {before.coverage.calls:,}, "
            f"after {after.coverage.runnable:,} (TCCR {before.coverage.tccr:.3f}, "
            f"{after.coverage.tccr:.3f}; UCC {before.coverage.ucc:.3f}, {after.coverage.ucc:.3f})"
        )
    won, lost = comparison.count("won"), comparison.count("lost")
    say(f"queries won {won:,}, lost {lost:,}, unchanged {comparison.count('unchanged'):,}")


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
