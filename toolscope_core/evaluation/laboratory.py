"""A catalog with the queries that are asked of it, for experiments from files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from toolscope_core.catalog.document_variants import read_variants, with_variants
from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.catalog.tokens import Costs
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.comparison import Trial, request_of
from toolscope_core.evaluation.measured_toolsets import ToolsetRanker
from toolscope_core.evaluation.query_sets import (
    Query,
    read_queries,
    synthetic_queries,
    with_gold_among,
    with_ids,
)
from toolscope_core.llm.embedding import embedder_of, scorer_of
from toolscope_core.merging.analysing import Analysis, analyse
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, Split
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.client_search import SearchSetup


@dataclass(frozen=True, slots=True)
class ExperimentOptions:
    """What an experiment asks: the queries of a file, or those made from the descriptions;
    ``skip_unknown`` leaves queries out whose gold answers the catalog does not have; ``variants``
    is a file of document variants.
    """

    queries: Path | None = None
    split: Split = "rules"
    skip_unknown: bool = False
    embedder: str | None = None
    variants: Path | None = None


class Laboratory:
    """A catalog with the queries that are asked of it."""

    def __init__(
        self, paths: Sequence[Path], options: ExperimentOptions, settings: Settings
    ) -> None:
        catalog = read_isolated(load_paths(paths))
        self.variants = read_variants(options.variants, catalog).by_id if options.variants else {}
        tools = with_variants(catalog.tools, self.variants)
        self.catalog: Catalog = replace(catalog, tools=tools)
        self.options = options
        self._settings = settings
        self._costs = Costs()
        self.cache = VectorCache(settings.cache_dir)

    @cached_property
    def embedder(self) -> Embedder:
        """What embeds tools and requests."""
        return embedder_of(self._settings, self.options.embedder)

    def trial(self, cutoffs: Sequence[int]) -> Trial:
        """Raises ``ConfigError`` where gold answers are not in the catalog, or no query has any."""
        queries: Sequence[Query] = synthetic_queries(self.catalog)
        if self.options.queries is not None:
            read = with_ids(read_queries(self.options.queries), self.catalog.tools)
            queries = [one for one in read if one.gold]
            queries = with_gold_among(queries, self.catalog.by_id, self.options.skip_unknown)
        return Trial.of(self.catalog, queries, request_of(self.options.split), cutoffs)

    def analysis(self, threshold: float | None, progress: Progress = silent) -> Analysis:
        """The catalog analysed from a least cosine on, ``None`` for that of the embedder."""
        config = AnalysisConfig(threshold=threshold)
        return analyse(self.catalog, config, self.embedder, self.cache, progress)

    def ranker(self, config: RetrievalConfig) -> ToolsetRanker:
        """What searches with a configuration, whose cross-encoder is loaded by its name."""
        return ToolsetRanker(SearchSetup(self.embedder, self.cache, config, scorer_of(config)))

    def tokens(self, tool: Tool) -> int:
        """Those of a definition."""
        return self._costs.of(tool, PROMPT_SHAPES[0])
