"""A catalog searched as the options of a command say: for tools, or the servers that have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from toolscope_core.catalog.document_variants import LoadedVariants, read_variants, with_variants
from toolscope_core.cli.options import SAVED, AskRequest
from toolscope_core.cli.search_options import (
    ASKING,
    SearchedTools,
    SearchKnobs,
    Selection,
    trained_model,
)
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.measured_toolsets import ToolsetRanker
from toolscope_core.evaluation.metrics import Gold, MetricRow
from toolscope_core.evaluation.query_sets import Query, read_queries, relabelled, with_ids
from toolscope_core.files.folders import MODEL_PROGRAM, why_not_ours
from toolscope_core.llm.embedding import encoder_and_cache, scorer_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import LOCAL, Embedder, Engine, Progress, Spent, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool, digest
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools, SearchSetup
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.documents import tool_document
from toolscope_core.retrieval.index_files import encode_documents
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.retrieval.searching import BY_TOKENS
from toolscope_core.retrieval.servers import ServerRetriever
from toolscope_core.tool2vec.learned_model import LearnedModel
from toolscope_core.tool2vec.model_folder import read_model, write_model

if TYPE_CHECKING:
    from toolscope_core.rps.planner import PlanOptions
    from toolscope_core.rps.workers import RequestPlan

USAGE_MODELS = "learned"
"""The folder of the cache with models that a search made for itself."""


@dataclass(frozen=True, slots=True)
class SearchOptions(SearchedTools):
    """How a catalog is searched: the ``k`` best tools, or ``servers``.

    ``decomposition`` says what splits a request: nothing, *rules*, the *steps* of its query, or a
    model that sees the request alone (*dummy*) or the nearest tools too (*context*); of the last
    two the answers are in the file ``splits`` where it is given, else the model of ``ask`` gives
    them. ``variants`` is a file of document variants; ``learned`` the folder of a trained model, or
    ``usage`` a file of queries whose vectors stand for the tools beside their text, or in its place
    where they stand ``learned_alone``.
    """

    k: int = 10
    config: RetrievalConfig = field(default_factory=RetrievalConfig)
    ask: AskRequest = SAVED
    learned: Path | None = None
    learned_alone: bool = False

    def __post_init__(self) -> None:
        if self.learned is not None and self.usage is not None:
            raise ConfigError("a trained model and --usage were both given; give one of them")
        if self.servers and (self.learned is not None or self.usage is not None):
            raise ConfigError("what is learned ranks tools; leave out --servers")
        if self.servers and self.config.client:
            raise ConfigError("clients search tools; leave out --servers or --as")
        if self.k < 1:
            raise ConfigError(f"k is {self.k}; give at least 1")
        if self.splits is not None and self.decomposition in ("none", "rules"):
            raise ConfigError(
                f"--splits was given with --decompose {self.decomposition}; give --decompose "
                "steps, dummy or context, whichever the file has"
            )


def search_options(
    k: int, searched: SearchedTools, knobs: SearchKnobs, ask: AskRequest, asks: bool = False
) -> SearchOptions:
    """How a catalog is searched by the options of a command, which ``asks`` a model or may not."""
    asks = asks or searched.decomposition in ASKING
    learned = trained_model(searched.model, asks=asks)
    given = {one.name: getattr(searched, one.name) for one in fields(searched)}
    given["decomposition"] = knobs.split(searched.decomposition)
    return SearchOptions(
        **given,
        k=k,
        config=knobs.config(searched.corpus),
        ask=replace(ask, model=None if learned else searched.model),
        learned=learned,
        learned_alone=knobs.as_in_paper == "tool2vec",
    )


@dataclass(frozen=True, slots=True)
class QueryRankings:
    """For each query, in their order, what was asked and the names and scores of what it finds:
    tool ids, or names of servers. ``from_tools`` is the share of places that a tool led to.
    """

    requests: tuple[ToolRequest, ...]
    names: tuple[tuple[str, ...], ...]
    scores: tuple[tuple[float, ...], ...]
    from_tools: float = 1.0

    @property
    def whole(self) -> int:
        """Requests for which no steps were given, though steps were asked for."""
        return sum(not one.by_rule and not one.subqueries for one in self.requests)


@dataclass(frozen=True, slots=True)
class SearchedCatalog:
    """A catalog whose tools carry their document variants, where a file has some."""

    catalog: Catalog
    variants: LoadedVariants


def searched_catalog(catalog: Catalog, options: SearchOptions) -> SearchedCatalog:
    """The catalog with the variants of a file, or with those that a trained model was trained with.
    Raises as their readers do.
    """
    if options.variants is not None:
        variants = read_variants(options.variants, catalog)
    elif options.learned is not None:
        variants = LoadedVariants(read_model(options.learned).variants_of(catalog.tools))
    else:
        variants = LoadedVariants({})
    tools = with_variants(catalog.tools, variants.by_id)
    return SearchedCatalog(replace(catalog, tools=tools), variants)


class Searcher:
    """A catalog searched as the options say; ``phi`` leads to it from the ids that queries name,
    which are those of the catalog ``former``. Its texts are encoded on the workers of ``engine``.
    """

    def __init__(
        self,
        catalog: Catalog,
        options: SearchOptions,
        progress: Progress = silent,
        phi: Mapping[str, str | None] | None = None,
        former: Catalog | None = None,
        engine: Engine = LOCAL,
    ) -> None:
        self._catalog, self._options = catalog, options
        self._engine = engine
        self._progress, self._phi, self._former = progress, phi, former
        self._embedder, self._cache = encoder_and_cache(options.embedder)
        self._scorer = scorer_of(options.config)
        self.spent: tuple[Spent, ...] = ()
        """What models that split or planned requests took."""

    @cached_property
    def tools(self) -> SearchableTools:
        """The search for tools."""
        self._encode()
        return self._setup(self._model()).open(self._catalog.tools, self._progress)

    @cached_property
    def ranker(self) -> ToolsetRanker:
        """The same search for many requests on several toolsets."""
        return ToolsetRanker(self._setup(self._model()))

    def _encode(self) -> None:
        """Have what the index needs in the cache, where other workers make it."""
        config, servers = self._options.config, self._options.servers
        if self._engine is LOCAL or config.client:
            return
        documents = [tool_document(tool, not servers) for tool in self._catalog.tools]
        encode_documents(
            *(documents, self._embedder, self._cache, self._engine, self._progress),
            keep_tokens=not servers and config.rerank in BY_TOKENS,
        )

    def _setup(self, learned: LearnedModel | None) -> SearchSetup:
        config, servers = self._options.config, self._catalog.servers
        return SearchSetup(self._embedder, self._cache, config, self._scorer, learned, servers)

    def _model(self) -> LearnedModel | None:
        model = self._trained()
        return model.alone() if model and self._options.learned_alone else model

    def _trained(self) -> LearnedModel | None:
        if self._options.learned is not None:
            model = read_model(self._options.learned)
            if self._former is None or self._phi is None:
                return model
            return model.after_merge(self._former.tools, self._phi, self._catalog.tools)
        if self._options.usage is None:
            return None
        named = (self._former or self._catalog).tools
        queries = with_ids(read_queries(self._options.usage), named)
        return _usage_model(
            self._catalog,
            relabelled(queries, self._phi) if self._phi else queries,
            self._options.config,
            self._embedder,
            self._cache,
            self._progress,
        )

    def servers(self) -> ServerRetriever:
        """The search for servers. Raises ``ConfigError`` where no tool has one."""
        self._encode()
        config = self._options.config
        retriever = ServerRetriever(
            self._catalog, self._embedder, self._cache, config, self._scorer, self._progress
        )
        if not retriever.profiles:
            raise ConfigError("no tool of the catalog has a server; search without --servers")
        return retriever

    def rankings(self, queries: Sequence[Query]) -> QueryRankings:
        """What each query finds."""
        requests, k = tuple(self.requests(queries)), self._options.k
        if self._options.servers:
            servers = self.servers().search_each(requests, k, self._progress)
            places = [place for ranking in servers for place in ranking]
            return QueryRankings(
                requests,
                tuple(tuple(place.server for place in ranking) for ranking in servers),
                tuple(tuple(place.score for place in ranking) for ranking in servers),
                sum(place.tool_id is not None for place in places) / max(1, len(places)),
            )
        tools = self.tools.search_each(requests, k, self._progress)
        return QueryRankings(
            requests,
            tuple(tuple(place.tool_id for place in ranking) for ranking in tools),
            tuple(tuple(place.score for place in ranking) for ranking in tools),
        )

    def selection_rates(
        self, rankings: QueryRankings, golds: Sequence[Gold], cutoffs: Sequence[int], by: Selection
    ) -> tuple[MetricRow, ...]:
        """How often exactly what is needed is taken of the k first tools of these rankings: the
        *best* for each job, or what a *model* takes. Raises as the model's commands do.
        """
        from toolscope_core.cli.asking import asking
        from toolscope_core.evaluation.selection import (
            job_rankings,
            offline_rates,
            selected_by_model,
            selection_rates,
        )

        tools, requests = self._catalog.tools, rankings.requests
        if by == "best":
            by_job = job_rankings(tools, requests, self.ranker, self._progress)
            return offline_rates(requests, by_job, rankings.names, golds, cutoffs)
        with asking(self._options.ask) as (_, model):
            choice = partial(selected_by_model, tools, requests, model)
            return selection_rates(choice, rankings.names, golds, cutoffs)

    def plans(
        self, requests: Sequence[ToolRequest], options: PlanOptions
    ) -> tuple[RequestPlan, ...]:
        """A plan for each request, of whose jobs each has the k best tools. Raises as the model's
        commands do where the worker is a model.
        """
        from toolscope_core.cli.asking import asking
        from toolscope_core.rps.planner import model_planner, offline_planner

        retriever, k = self.tools, self._options.k
        if options.worker == "best":
            planner = offline_planner(self._catalog, retriever, k, options)
            return planner.plans(requests, self._progress)
        with asking(self._options.ask) as (_, asker):
            planner = model_planner(self._catalog, retriever, k, options, asker)
            plans = planner.plans(requests, self._progress)
            self.spent += asker.spent
            return plans

    def requests(self, queries: Sequence[Query]) -> list[ToolRequest]:
        """What is searched for each query. Raises as the model's commands do where one is asked."""
        texts = [one.text for one in queries]
        splits = self._splits(queries, texts)
        by_rule = self._options.decomposition in ("none", "rules")
        return [ToolRequest(*one, by_rule) for one in zip(texts, splits, strict=True)]

    def _splits(self, queries: Sequence[Query], texts: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """The sub-queries of each query, none where it is searched whole."""
        kind = self._options.decomposition
        if kind == "none":
            return [()] * len(texts)
        if kind == "rules":
            return [decompose(text) for text in texts]
        from toolscope_core.cli.asking import asking
        from toolscope_core.retrieval.decomposition import recorded_splits, splits_of_model

        if self._options.splits is not None:
            recorded = recorded_splits(self._options.splits, kind)
            return [recorded.get(one.id, ()) for one in queries]
        if kind == "steps":
            return [one.steps for one in queries]
        with asking(self._options.ask) as (_, model):
            in_view = self._nearest(texts) if kind == "context" else [()] * len(texts)
            splits = splits_of_model(texts, in_view, kind, model)
            self.spent += model.spent
            return splits

    def _nearest(self, texts: Sequence[str]) -> list[tuple[Tool, ...]]:
        """The tools that a model sees beside each request: the nearest by the hybrid score."""
        from toolscope_core.retrieval.decomposition import IN_VIEW

        tools = self._catalog.by_id
        plain = Retriever(tools.values(), self._embedder, self._cache, progress=self._progress)
        requests = [ToolRequest(text) for text in texts]
        rankings = plain.search_each(requests, IN_VIEW, self._progress)
        return [tuple(tools[one.tool_id] for one in ranking) for ranking in rankings]


def _usage_model(
    catalog: Catalog,
    queries: Sequence[Query],
    config: RetrievalConfig,
    embedder: Embedder,
    cache: VectorCache,
    progress: Progress,
) -> LearnedModel:
    """The Tool2Vec model of a catalog, whose tools may carry variants, from queries; that of the
    cache folder if it was trained from the same.
    """
    variants = {tool.id: tool.augmentation for tool in catalog.tools if tool.augmentation}
    query_rows = sorted((one.text, sorted(sorted(need) for need in one.gold)) for one in queries)
    fingerprints = sorted(tool.fingerprint for tool in catalog.tools)
    key = digest(
        fingerprints, query_rows, repr(sorted(variants.items())), embedder.name, repr(config)
    )
    folder = cache.folder / USAGE_MODELS / key
    if folder.is_dir():
        try:
            return read_model(folder)
        except ConfigError:
            pass  # damaged: it is trained again
    from toolscope_core.tool2vec.training import LearnOptions, Trainer, trained_model

    options = LearnOptions("tool2vec", retrieval=config)
    trainer = Trainer(embedder, cache, progress)
    model = trained_model(catalog.tools, queries, variants, options, trainer)
    if not why_not_ours(folder, MODEL_PROGRAM):
        write_model(model, folder)
    return model
