"""A catalog prepared for experiments with searches, queries, stress tests and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from toolscope_core.catalog.document_variants import read_variants, with_variants
from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.tokens import Costs
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation import query_sets
from toolscope_core.evaluation.comparison import SPLIT_NAMES, Trial, request_of
from toolscope_core.evaluation.measured_toolsets import Toolset, ToolsetRanker
from toolscope_core.evaluation.selection import ListChooser
from toolscope_core.evaluation.stress import Stress, stress_of, stress_test
from toolscope_core.llm.embedding import encoder_and_cache, scorer_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, RequestSplit
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig, SearchName, named_search
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import LearnedRanking, ToolRequest
from toolscope_core.retrieval.client_search import SearchSetup
from toolscope_core.retrieval.decomposition import IN_VIEW
from toolscope_core.retrieval.retriever import Retriever, ServerRetriever

if TYPE_CHECKING:
    from toolscope_core.llm.tasks.selection_prompt import Splitter
    from toolscope_core.merging.analysis import Analysis

Chooser = Callable[[Toolset, Trial], AbstractContextManager[ListChooser | None]]
"""A function that gives a chooser of tools from a toolset's pools for the requests of a trial,
or ``None`` if the best tools are taken.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """A catalog with an encoder, a cache for vectors, and a function that counts a definition's
    tokens.
    """

    catalog: Catalog
    embedder: Embedder
    cache: VectorCache
    tokens: Callable[[Tool], int]

    @classmethod
    def of(cls, catalog: Catalog, embedder: str | None = None) -> Self:
        """A bench with the named encoder, or with the default encoder of the environment."""
        costs = Costs()
        return cls(
            catalog, *encoder_and_cache(embedder), lambda tool: costs.of(tool, PROMPT_FORMATS[0])
        )

    @classmethod
    def of_files(
        cls, paths: Sequence[Path], embedder: str | None = None, variants: Path | None = None
    ) -> Self:
        """A bench for the catalog in some files, with document variants from the file ``variants``.

        Raises the errors of the functions that read the files.
        """
        catalog = read_files(paths)
        if variants is not None:
            by_id = read_variants(variants, catalog).by_id
            catalog = replace(catalog, tools=with_variants(catalog.tools, by_id))
        return cls.of(catalog, embedder)

    def queries(
        self, file: Path | None, skip_unknown: bool = False
    ) -> tuple[query_sets.Query, ...]:
        """The queries with gold answers in a file; without a file, queries made from the
        descriptions.

        Raises ``ConfigError`` if gold answers are not in the catalog, unless ``skip_unknown``
        leaves out their queries.
        """
        if file is None:
            return query_sets.synthetic_queries(self.catalog)
        query_set = query_sets.read_queries(file)
        return query_sets.judged_queries(query_set, self.catalog.tools, skip_unknown)

    def trial(
        self,
        queries: Iterable[query_sets.Query],
        cutoffs: Sequence[int],
        split: RequestSplit = "rules",
    ) -> Trial:
        """A trial of these queries. Raises ``ConfigError`` if no query has a gold answer."""
        return Trial.of(self.catalog, queries, request_of(split), cutoffs)

    def analysis(self, threshold: float | None = None, progress: Progress = silent) -> Analysis:
        """The analysis of the catalog from a minimum cosine on; ``None`` uses the embedder's
        default.
        """
        config = AnalysisConfig(threshold=threshold)
        from toolscope_core.merging.analysing import analyse

        return analyse(self.catalog, config, self.embedder, self.cache, progress)

    def search(self, config: RetrievalConfig, learned: LearnedRanking | None = None) -> SearchSetup:
        """A search with this configuration; the cross-encoder is loaded by its name."""
        scorer, servers = scorer_of(config), self.catalog.servers
        return SearchSetup(self.embedder, self.cache, config, scorer, learned, servers)

    def ranker(
        self, config: RetrievalConfig, learned: LearnedRanking | None = None
    ) -> ToolsetRanker:
        """A search for ranking tools of several toolsets for many requests."""
        return ToolsetRanker(self.search(config, learned))

    def server_search(
        self, config: RetrievalConfig, progress: Progress = silent
    ) -> ServerRetriever:
        """A search for servers with this configuration."""
        scorer = scorer_of(config)
        return ServerRetriever(self.catalog, self.embedder, self.cache, config, scorer, progress)

    def in_view(
        self,
        texts: Sequence[str],
        splitter: Splitter,
        search: SearchName | None = None,
        progress: Progress = silent,
    ) -> list[tuple[Tool, ...]]:
        """For each text, the tools that a model sees while it splits the text.

        With *context*, these are the tools nearest by the hybrid score, or by cosine as in
        Retrieval–Plan–Select.
        """
        if splitter == "dummy":
            return [()] * len(texts)
        tools, config = self.catalog.by_id, named_search("rps" if search == "rps" else "")
        plain = Retriever(tools.values(), self.embedder, self.cache, config, progress=progress)
        rankings = plain.search_each([ToolRequest(text) for text in texts], IN_VIEW, progress)
        return [tuple(tools[one.tool_id] for one in ranking) for ranking in rankings]

    def stress(
        self,
        toolsets: Iterable[Toolset],
        trials: Mapping[str, Trial],
        config: RetrievalConfig,
        progress: Progress = silent,
        best: int | None = None,
        chooser: Chooser = lambda toolset, trial: nullcontext(),
    ) -> Stress:
        """The stress test of each toolset with each trial; trials are keyed by split (*none*
        included).

        ``best`` has the same meaning as in ``stress_test``.
        """
        tests, alone = {}, dict[str, str]()
        for toolset in toolsets:
            retriever = Retriever(toolset.tools, self.embedder, self.cache, config)
            for split, trial in trials.items():
                name, whole = (f"{toolset.name}, {SPLIT_NAMES[one]}" for one in (split, "none"))
                with chooser(toolset, trial) as choice:
                    tests[name] = stress_test(toolset, retriever, trial, progress, best, choice)
                if split != "none":
                    alone[name] = whole
        return stress_of(trials["none"], tests, alone)
