"""The command that shows the results of a request: tools, or servers that have them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from toolscope_core.cli.options import HERE, SAVED, AskRequest, EngineChoice
from toolscope_core.cli.searcher import (
    ALL_TOOLS,
    DEFAULT_SEARCH,
    SearchedTools,
    Searcher,
    SearchKnobs,
    SearchOptions,
    catalogs_and_request,
    searched_catalog,
)
from toolscope_core.cli.terminal import command, more, progress, say, say_error
from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.files.json_lines import write_rows
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.protocols import Engine, Progress, Step
from toolscope_core.retrieval.fitting import NO_TOOL
from toolscope_core.retrieval.retriever import (
    SCORE_PARTS,
    RankedServer,
    RankedTool,
    SearchAnswer,
    ranked_by_words,
)

_ENCODING = ("embed", "tokens")
"""The stages in which texts are encoded."""
NoneSaidBy = Literal["search", "model"]
NOTICED = 300
"""The number of texts whose encoding takes long enough to notice: about two seconds."""


@command
def search(
    catalogs: Annotated[
        list[str],
        typer.Argument(
            metavar="CATALOGS... REQUEST",
            help="Catalog files, folders or bundles, then the request (not with --queries).",
        ),
    ],
    queries: Annotated[
        Path | None, typer.Option(help="JSONL or CSV with `id` and `query`: one ranking for each.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSONL file for the rankings; with --queries.")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--top", help="Number of tools to return.")] = 10,
    none_by: Annotated[
        NoneSaidBy,
        typer.Option(
            help="Who decides in uncertain cases whether any tool does what is asked: the search, "
            "or a model that is shown the nearest tools."
        ),
    ] = "search",
    knobs: SearchKnobs = DEFAULT_SEARCH,
    searched: SearchedTools = ALL_TOOLS,
    ask: AskRequest = SAVED,
    on: EngineChoice = HERE,
) -> None:
    """Show which tools an agent would get for a request, best first.

    Example: toolscope search tools.json "Translate this letter"
    """
    options = SearchOptions(k, searched, knobs, ask, none_by == "model")
    files, request = [Path(one) for one in catalogs], ""
    if queries is None:
        files, request = catalogs_and_request(catalogs)
    elif out is None:
        raise ConfigError("--queries needs --out; name the file for the rankings")
    with on.start() as engine:
        catalog, _ = searched_catalog(on.read(files, engine, progress()), options)
        if queries is None:
            _answer(catalog, request, options, engine)
        elif out is not None:
            _write_rankings(catalog, queries, out, options, engine)


def _answer(catalog: Catalog, request: str, options: SearchOptions, engine: Engine) -> None:
    """Print the parts of one request and its results, one line per place."""
    if options.searched.splits is not None or options.searched.decomposition == "steps":
        raise ConfigError("recorded steps need a file of queries; add --queries")
    words_first = _words_first(request, catalog, options.k) if not options.servers else progress()
    searcher = Searcher(catalog, options, words_first, engine=engine)
    (tool_request,) = searcher.requests([Query("", request)])
    none_fits = False
    if options.servers:
        retriever = searcher.servers()
        made_up = {profile.name for profile in retriever.profiles if profile.is_made_up}
        (servers,) = retriever.search_each([tool_request], options.k, words_first)
        lines = [_server_line(server, catalog, server.server in made_up) for server in servers]
    else:
        (answer,) = searcher.tools.answers([tool_request], options.k, words_first)
        none_fits = _none_fits(request, answer, catalog, options)
        lines = [_tool_line(tool, catalog) for tool in answer.places]
    parts = tool_request.subqueries
    for number, part in enumerate(parts if len(parts) > 1 else (), 1):
        say(f"part {number}: {part}")
    if none_fits:
        say(NO_TOOL)
    for place, line in enumerate(lines, 1):
        say(f"{place:3}  {line}")


def _none_fits(
    request: str, answer: SearchAnswer, catalog: Catalog, options: SearchOptions
) -> bool:
    """Whether no tool fits the request.

    If a model is asked, raises the errors of commands that ask a model.
    """
    if not (options.asks and answer.fit and answer.fit.is_uncertain):
        return answer.is_none
    nearest = [catalog.by_id[place.tool_id] for place in answer.places]
    # only a search that asks a model needs these imports
    from toolscope_core.cli.asking import asking
    from toolscope_core.evaluation.selection import none_by_model

    with asking(options.model_request) as (_, model):
        by_model = none_by_model(request, nearest, model)
    return answer.is_none if by_model is None else by_model


def _words_first(request: str, catalog: Catalog, k: int) -> Progress:
    """Progress that first shows BM25 results on standard error if many tools have to be encoded."""
    show, announced = progress(), False

    def step(one: Step) -> None:
        nonlocal announced
        if one.stage in _ENCODING and one.total - one.done >= NOTICED and not announced:
            announced = True
            _tell_words_alone(request, catalog, k)
        show(one)

    return step


def _tell_words_alone(request: str, catalog: Catalog, k: int) -> None:
    say_error(
        "Building the index of these tools (only needed once). Meanwhile, the best by words "
        "alone (BM25):"
    )
    for place, tool in enumerate(ranked_by_words(catalog.tools, request, k), 1):
        say_error(f"{place:3}  {_tool_line(tool, catalog)}")


def _write_rankings(
    catalog: Catalog, queries: Path, out: Path, options: SearchOptions, engine: Engine
) -> None:
    """Write the ranking for each query of a set as JSONL, in the order of the queries."""
    query_set = read_queries(queries)
    rankings = Searcher(catalog, options, progress(), engine=engine).rankings(query_set)
    rows = zip(query_set, rankings.requests, rankings.names, rankings.scores, strict=True)
    write_rows(
        out,
        (
            {
                "id": query.id,
                "ranking": list(names),
                "scores": [round(score, 6) for score in scores],
                "subqueries": list(request.subqueries),
            }
            for query, request, names, scores in rows
        ),
    )
    unsplit = more(rankings.whole, "without steps, searched whole")
    say(f"{quantity(len(query_set), 'query')}{unsplit}; rankings: {out}")


def _tool_line(tool: RankedTool, catalog: Catalog) -> str:
    """A line for a tool, with the parts that add up to its score."""
    definition = catalog.by_id[tool.tool_id]
    shares = zip(SCORE_PARTS, tool.parts, strict=True)
    parts = "  ".join(
        f"{name} {part:.2f}" for name, part in shares if part or name in SCORE_PARTS[:2]
    )
    server = f"  {definition.server}" if definition.server else ""
    return f"{tool.score:.3f}  {parts}{_step(tool)}  {definition.name}{server}"


def _server_line(server: RankedServer, catalog: Catalog, made_up: bool) -> str:
    """A line for a server, with the tool through which it was found.

    ``made_up`` says that the description of the server consists of the names of its tools.
    """
    by = "its own text" if server.tool_id is None else catalog.by_id[server.tool_id].name
    note = "  (no description of its own)" if made_up else ""
    return f"{server.score:.3f}{_step(server)}  {server.server}  by {by}{note}"


def _step(place: RankedTool | RankedServer) -> str:
    return "" if place.subquery is None else f"  part {place.subquery + 1}"
