"""The options of search commands, and a catalog that is searched with them for tools or servers."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from toolscope_core.catalog.document_variants import LoadedVariants, read_variants, with_variants
from toolscope_core.cli.options import SAVED, AskRequest, EmbedderName, VariantsFile
from toolscope_core.embedding.vector_cache import embed_cached
from toolscope_core.evaluation.bench import Bench
from toolscope_core.evaluation.measured_toolsets import ToolsetRanker, variants_of
from toolscope_core.evaluation.metrics import Gold, MetricRow
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.files.folders import MODEL_PROGRAM, why_not_ours
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import LOCAL, Engine, Progress, TaskCost, silent
from toolscope_core.model.search_configuration import (
    Assembly,
    ClientName,
    Corpus,
    PaperName,
    RetrievalConfig,
    named_search,
    usual_split,
)
from toolscope_core.model.tool import digest
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools
from toolscope_core.retrieval.decomposition import decompose, recorded_splits, splits_of_model
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.retrieval.fitting import Fit
from toolscope_core.retrieval.retriever import RankedServer, RankedTool, ServerRetriever, place_id
from toolscope_core.retrieval.searching import BY_TOKENS, compares_most
from toolscope_core.tool2vec.learned_model import LearnedModel
from toolscope_core.tool2vec.model_folder import read_model, write_model
from toolscope_core.tool2vec.training import LearnConfig, Trainer, trained_model

USAGE_MODELS = "learned"
"""The folder in the cache for models that a search trained itself."""

Decomposition = Literal["none", "rules", "steps", "dummy", "context"]
"""The methods that split a request into sub-queries."""
ASKING_SPLITS: tuple[Decomposition, ...] = ("dummy", "context")
"""The methods of splitting that ask a model."""
ToolsTakenBy = Literal["best", "model"]
"""The methods that choose tools from those that were found."""
Decompose = Annotated[
    Decomposition | None,
    typer.Option(
        "--decompose",
        help="Split requests by rules (the default), by the steps given with them, or by a model: "
        "dummy shows it the request, context the nearest tools too.",
    ),
]
Splits = Annotated[
    Path | None,
    typer.Option(
        help="JSONL with `id` and the recorded steps, or dummy or context split, of each request."
    ),
]
ModelFolder = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="DIR",
        help="Folder of a trained model (learn --out). With --decompose dummy or context any "
        "other text is the name of the model to ask; default: TOOLSCOPE_MODEL.",
    ),
]
MergedBundle = Annotated[
    Path | None,
    typer.Option(
        help="Folder that merge wrote, or the zip from the Export page; its toolset is measured as "
        "well."
    ),
]
SkipUnknown = Annotated[
    bool, typer.Option(help="Leave out queries whose answers are not in the catalog.")
]
Usage = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="JSONL or CSV with `query` and `gold`, or a log or trace as `usage` reads it: tools "
        "are also found by the mean vector of the requests that needed them (Tool2Vec).",
    ),
]
WorkerOption = Annotated[
    ToolsTakenBy, typer.Option(help="Who chooses tools: the best of each ranking, or a model.")
]
Iterative = Annotated[
    bool,
    typer.Option(
        "--iterative/--once",
        help="Search each job in several phrasings and show a model more tools until it chooses "
        "one, or search each job once as it is.",
    ),
]
Filtered = Annotated[
    bool,
    typer.Option("--filter", help="Leave out tools that the request as a whole does not need."),
]
Servers = Annotated[bool, typer.Option("--servers", help="Find servers instead of tools.")]
SearchedTexts = Annotated[
    Corpus, typer.Option(help="What --servers searches: the texts of tools, of servers, or both.")
]


@dataclass(frozen=True, slots=True)
class SearchKnobs:
    """The settings of ranking; each field is an option.

    ``None`` means the value of the named paper, or else the default.
    """

    as_in_paper: Annotated[
        PaperName | None,
        typer.Option(
            help="Search as a paper does: toolscope (cosine, a cross-encoder, eq. 5), rps (cosine "
            "to each part), tool2vec (cosine; with --usage or --model only what was learned; "
            "not split), tool-to-agent (algorithm 1). toolscope and tool-to-agent split requests "
            "by their steps, or not at all. Other options change single settings."
        ),
    ] = None
    client: Annotated[
        ClientName | None,
        typer.Option(
            "--as",
            help="Rank as the search of a client with deferred tools does. Of the other options, "
            "only the steps of --decompose then apply; each step is searched separately.",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(help="Weight of the dense score, 0 to 1; the rest is BM25's. Default: 0.6."),
    ] = None
    rerank: Annotated[
        str | None,
        typer.Option(
            metavar="<auto|none|late|MODEL>",
            help="Score the best again: token by token (late), or with a sentence-transformers "
            "CrossEncoder. The default, auto, is late for tools and none for servers.",
        ),
    ] = None
    candidates: Annotated[
        int | None, typer.Option(help="How many of the best are scored again; default: 50.")
    ] = None
    rerank_weight: Annotated[
        float | None,
        typer.Option(
            help="Weight of the reranker's score (the search's own has 1); inf "
            "uses it alone. Default: 0.7."
        ),
    ] = None
    assembly: Annotated[
        Assembly | None,
        typer.Option(
            help="How the rankings of a request's parts are combined: blend, the default, or "
            "top1, which puts the best of each part first and the others after, min-max "
            "normalised (ToolScope, eq. 5)."
        ),
    ] = None
    subquery_weight: Annotated[
        float | None,
        typer.Option(
            help="Blend: weight of parts split by rules (the whole request has 1); default: 0.5."
        ),
    ] = None
    step_weight: Annotated[
        float | None,
        typer.Option(help="Blend: weight of other parts; inf uses these alone. Default: 1.5."),
    ] = None
    server_weight: Annotated[
        float | None,
        typer.Option(
            help="In a search for servers: weight of a server's own text (its best tool has 1); "
            "default: 0.5."
        ),
    ] = None

    def config(self, corpus: Corpus = "both") -> RetrievalConfig:
        """The search configuration. Raises ``ConfigError`` for invalid values."""
        base = named_search(self.as_in_paper or "")
        values = {"dense_weight" if key == "alpha" else key: v for key, v in asdict(self).items()}
        del values["as_in_paper"]
        own: dict[str, Any] = {key: one for key, one in values.items() if one is not None}
        return replace(base, corpus=corpus, **own)


@dataclass(frozen=True, slots=True)
class SearchedTools:
    """The texts that are searched and the means of searching; each field is an option."""

    decomposition: Decompose = None
    splits: Splits = None
    servers: Servers = False
    corpus: SearchedTexts = "both"
    variants: VariantsFile = None
    embedder: EmbedderName = None
    usage: Usage = None
    model: ModelFolder = None


DEFAULT_SEARCH, ALL_TOOLS = SearchKnobs(), SearchedTools()
"""The default options."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a catalog is searched for the ``k`` best results, with the options of a command.

    ``asks`` says whether a model is asked for anything except splits.
    """

    k: int = 10
    searched: SearchedTools = ALL_TOOLS
    knobs: SearchKnobs = DEFAULT_SEARCH
    ask: AskRequest = SAVED
    asks: bool = False

    def __post_init__(self) -> None:
        is_learned = self.learned is not None or self.searched.usage is not None
        if self.learned is not None and self.searched.usage is not None:
            raise ConfigError("--model (a trained model) and --usage were both given; use only one")
        if self.servers and is_learned:
            raise ConfigError("a trained model ranks tools, not servers; leave out --servers")
        if self.servers and self.knobs.client:
            raise ConfigError("clients search for tools, not servers; leave out --servers or --as")
        if self.k < 1:
            raise ConfigError(f"k is {self.k}; use at least 1")
        if self.searched.splits is not None and self.split in ("none", "rules"):
            raise ConfigError(
                f"--splits does not work with --decompose {self.split}; use --decompose "
                "steps, dummy or context, to match the file"
            )

    @property
    def servers(self) -> bool:
        return self.searched.servers

    @property
    def config(self) -> RetrievalConfig:
        """The search configuration. Raises ``ConfigError`` for invalid values."""
        return self.knobs.config(self.searched.corpus)

    @property
    def split(self) -> Decomposition:
        """How requests are split: as requested, or as in the named paper. Tool2Vec does not
        split requests.
        """
        paper = self.knobs.as_in_paper
        return "none" if paper == "tool2vec" else self.searched.decomposition or usual_split(paper)

    @property
    def learned(self) -> Path | None:
        """The folder of a trained model; ``None`` if the option is missing or names a model to
        ask.
        """
        model = self.searched.model
        asks = self.asks or self.searched.decomposition in ASKING_SPLITS
        return Path(model) if model and not (asks and not Path(model).is_dir()) else None

    @property
    def model_request(self) -> AskRequest:
        """The choice of the model to ask, and how to ask it."""
        return replace(
            self.ask, model=None if self.learned else self.searched.model or self.ask.model
        )


@dataclass(frozen=True, slots=True)
class QueryRankings:
    """For each query in order: the request that was searched for, and the names and scores of the
    results.

    The names are tool ids or server names. ``from_tools`` is the share of results that were found
    through a tool. If tools were searched, ``fits`` says for each query whether any tool serves it.
    """

    requests: tuple[ToolRequest, ...]
    names: tuple[tuple[str, ...], ...]
    scores: tuple[tuple[float, ...], ...]
    from_tools: float = 1.0
    fits: tuple[Fit | None, ...] = ()

    @property
    def whole(self) -> int:
        """The number of requests without steps, although steps were requested."""
        return sum(not one.by_rule and not one.subqueries for one in self.requests)


def searched_catalog(catalog: Catalog, options: SearchOptions) -> tuple[Catalog, LoadedVariants]:
    """The catalog with document variants from a file or a trained model, and these variants.

    Raises the errors of the functions that read them.
    """
    variants = LoadedVariants({})
    if options.searched.variants is not None:
        variants = read_variants(options.searched.variants, catalog)
    elif options.learned is not None:
        variants = LoadedVariants(read_model(options.learned).variants_of(catalog.tools))
    return replace(catalog, tools=with_variants(catalog.tools, variants.by_id)), variants


class Searcher:
    """Searches a catalog with the given options.

    Queries name the catalog's tools, or tools of ``former``, the catalog from which it was merged.
    The texts of the catalog are encoded on the workers of ``engine``.
    """

    def __init__(
        self,
        catalog: Catalog,
        options: SearchOptions,
        progress: Progress = silent,
        former: Catalog | None = None,
        engine: Engine = LOCAL,
    ) -> None:
        self.bench = Bench.of(catalog, options.searched.embedder)
        self.options, self._engine = options, engine
        self.progress, self._former = progress, former or catalog
        self.costs: tuple[TaskCost, ...] = ()
        """The cost of the models that split or planned requests."""

    @cached_property
    def tools(self) -> SearchableTools:
        """A search for tools."""
        self._encode()
        search = self.bench.search(self.options.config, self._model())
        return search.open(self.bench.catalog.tools, self.progress)

    @cached_property
    def ranker(self) -> ToolsetRanker:
        """A search for ranking tools of several toolsets for many requests."""
        return self.bench.ranker(self.options.config, self._model())

    def _encode(self, in_full: bool = False) -> None:
        """If the engine is not the local one, let it encode the short texts of the index, or all
        of them, into the cache.
        """
        config, servers, bench = self.options.config, self.options.servers, self.bench
        if self._engine is LOCAL or config.client:
            return
        documents = [tool_document(tool, not servers) for tool in bench.catalog.tools]
        own = [one.texts if in_full else {one.short} for one in documents]
        embed_cached(
            *(sorted(frozenset[str]().union(*own)), bench.embedder, bench.cache, self.progress),
            keep_tokens=not servers and config.rerank in BY_TOKENS,
            engine=self._engine,
        )

    def _model(self) -> LearnedModel | None:
        model = self._trained()
        return model.alone() if model and self.options.knobs.as_in_paper == "tool2vec" else model

    def _trained(self) -> LearnedModel | None:
        if self.options.learned is not None:
            return read_model(self.options.learned)
        if self.options.searched.usage is None:
            return None
        from toolscope_core.cli.usage_command import recorded_requests  # loads the readers of logs

        bench = replace(self.bench, catalog=self._former)
        queries = recorded_requests(self.options.searched.usage, self._former.tools)
        return usage_model(bench, queries, self.options.config, self.progress)

    def servers(self) -> ServerRetriever:
        """A search for servers. Raises ``ConfigError`` if no tool has a server."""
        self._encode()
        retriever = self.bench.server_search(self.options.config, self.progress)
        if not retriever.profiles:
            raise ConfigError("no tool of the catalog has a server; search without --servers")
        return retriever

    def rankings(self, queries: Sequence[Query]) -> QueryRankings:
        """The results for each query."""
        if compares_most(len(queries), len(self.bench.catalog.tools), self.options.config):
            self._encode(in_full=True)
        requests, k = tuple(self.requests(queries)), self.options.k
        fits: tuple[Fit | None, ...] = ()
        ranked: Sequence[Sequence[RankedTool | RankedServer]]
        if self.options.servers:
            ranked = self.servers().search_each(requests, k, self.progress)
        else:
            answers = self.tools.answers(requests, k, self.progress)
            ranked, fits = [one.places for one in answers], tuple(one.fit for one in answers)
        places = [place for ranking in ranked for place in ranking]
        by_tools = sum(place.tool_id is not None for place in places) / max(1, len(places))
        return QueryRankings(
            requests,
            tuple(tuple(map(place_id, ranking)) for ranking in ranked),
            tuple(tuple(place.score for place in ranking) for ranking in ranked),
            by_tools if self.options.servers else 1.0,
            fits,
        )

    def selection_rates(
        self,
        rankings: QueryRankings,
        golds: Sequence[Gold],
        cutoffs: Sequence[int],
        by: ToolsTakenBy,
    ) -> tuple[MetricRow, ...]:
        """The share of requests for which exactly the needed tools are chosen from the first k.

        The tools are the *best* ones for each job, or are chosen by a *model*. Raises the errors of
        commands that ask a model.
        """
        from toolscope_core.evaluation import selection  # loads the prompts

        tools, requests = self.bench.catalog.tools, rankings.requests
        if by == "best":
            by_job = selection.job_rankings(tools, requests, self.ranker, self.progress)
            return selection.offline_rates(requests, by_job, rankings.names, golds, cutoffs)
        # only a search that asks a model needs this import
        from toolscope_core.cli.asking import asking

        with asking(self.options.model_request) as (_, model):
            choice = partial(selection.selected_by_model, tools, requests, model)
            return selection.selection_rates(choice, rankings.names, golds, cutoffs)

    def requests(self, queries: Sequence[Query]) -> list[ToolRequest]:
        """The request to search for, for each query.

        If a model is asked, raises the errors of commands that ask a model.
        """
        texts = [one.text for one in queries]
        splits = self._splits(queries, texts)
        by_rule = self.options.split in ("none", "rules")
        return [ToolRequest(*one, by_rule) for one in zip(texts, splits, strict=True)]

    def _splits(self, queries: Sequence[Query], texts: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """The sub-queries of each query; empty for a query that is searched whole."""
        kind = self.options.split
        if kind == "none":
            return [()] * len(texts)
        if kind == "rules":
            return [decompose(text) for text in texts]
        if self.options.searched.splits is not None:
            recorded = recorded_splits(self.options.searched.splits, kind)
            return [recorded.get(one.id, ()) for one in queries]
        if kind == "steps":
            return [one.steps for one in queries]
        # only a search that asks a model needs this import
        from toolscope_core.cli.asking import asking

        with asking(self.options.model_request) as (_, model):
            in_view = self.bench.in_view(texts, kind, self.options.knobs.as_in_paper, self.progress)
            splits = splits_of_model(texts, in_view, kind, model)
            self.costs += model.costs
            return splits


def usage_model(
    bench: Bench, queries: Sequence[Query], config: RetrievalConfig, progress: Progress
) -> LearnedModel:
    """A Tool2Vec model of a catalog, trained on queries.

    The model is read from the cache if it was trained on the same data before. The tools of the
    catalog may have variants.
    """
    tools, variants = bench.catalog.tools, variants_of(bench.catalog)
    query_rows = sorted((one.text, sorted(sorted(need) for need in one.gold)) for one in queries)
    fingerprints = sorted(tool.fingerprint for tool in tools)
    key = digest(
        fingerprints, query_rows, repr(sorted(variants.items())), bench.embedder.name, repr(config)
    )
    folder = bench.cache.folder / USAGE_MODELS / key
    if folder.is_dir():
        with suppress(ConfigError):  # a damaged model is trained again
            return read_model(folder)
    learn_config = LearnConfig("tool2vec", retrieval=config)
    trainer = Trainer(bench.embedder, bench.cache, progress)
    model = trained_model(tools, queries, variants, learn_config, trainer)
    if not why_not_ours(folder, MODEL_PROGRAM):
        write_model(model, folder)
    return model


def catalogs_and_request(words: Sequence[str]) -> tuple[list[Path], str]:
    """The catalog files, and the request that follows them.

    Raises ``ConfigError`` if either is missing.
    """
    *files, request = words
    if not files:
        raise ConfigError(
            f"only {request[:60]!r} was given; name a catalog, then the quoted request"
        )
    if not request.strip():
        raise ConfigError("the request is empty; describe what you would ask an agent to do")
    return list(map(Path, files)), request
