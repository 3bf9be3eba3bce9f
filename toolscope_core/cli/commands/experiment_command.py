"""Experiments on catalog files: among distractors, and with one setting moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.tokens import Costs
from toolscope_core.cli.commands.evaluate_command import merged_toolset
from toolscope_core.cli.commands.search_command import searched_catalog
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.comparison import SPLIT_NAMES, Trial, request_of
from toolscope_core.evaluation.encoder_comparison import EncoderSweep
from toolscope_core.evaluation.measured_toolsets import as_it_is, augmented
from toolscope_core.evaluation.query_sets import Query, read_queries, with_gold_among
from toolscope_core.evaluation.ranking import ToolsetRanker
from toolscope_core.evaluation.results import stress_result, sweep_point
from toolscope_core.evaluation.stress import stress_test
from toolscope_core.evaluation.sweeps import SettingSweep
from toolscope_core.evaluation.synthetic import synthetic_queries
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.merging.pipeline import analyse
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import (
    AcceptPolicy,
    AnalysisConfig,
    Knob,
    RetrievalConfig,
    Split,
)
from toolscope_core.model.environment import Settings
from toolscope_core.model.protocols import Embedder, Progress, silent
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.retrieval.retriever import Retriever

K = 10
"""The cut-off of figures that have one."""


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
    config: RetrievalConfig = field(default_factory=RetrievalConfig)
    variants: Path | None = None


class Laboratory:
    """A catalog with the queries that are asked of it."""

    def __init__(
        self, paths: Sequence[Path], options: ExperimentOptions, settings: Settings
    ) -> None:
        searched_in = searched_catalog(paths, options.variants)
        self.catalog: Catalog = searched_in.catalog
        self.variants = searched_in.variants.by_id
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
            queries = [one for one in read_queries(self.options.queries) if one.gold]
            queries = with_gold_among(queries, self.catalog.by_id, self.options.skip_unknown)
        return Trial.of(self.catalog, queries, request_of(self.options.split), cutoffs)

    def ranker(self, config: RetrievalConfig) -> ToolsetRanker:
        """What searches with a configuration."""
        return ToolsetRanker(self.embedder, self.cache, config)

    def tokens(self, tool: Tool) -> int:
        """Those of a definition."""
        return self._costs.of(tool, PROMPT_SHAPES[0])


def stress_files(
    paths: Sequence[Path],
    options: ExperimentOptions,
    bundle: Path | None,
    settings: Settings,
    progress: Progress = silent,
) -> JsonObject:
    """A stress test of the catalog, and of a bundle's toolset where one is given; see
    ``experiments.results.stress_result``. Raises ``ConfigError`` as ``Laboratory`` does.
    """
    laboratory = Laboratory(paths, options, settings)
    trial = laboratory.trial((1,))
    toolsets = [as_it_is(laboratory.catalog)]
    if bundle:
        toolsets.append(augmented(merged_toolset(bundle, laboratory.catalog), laboratory.variants))
    config = replace(options.config, rerank="none")
    tests = {}
    for toolset in toolsets:
        retriever = Retriever(toolset.tools, laboratory.embedder, laboratory.cache, config)
        for split in dict.fromkeys(("none", options.split)):
            name = f"{toolset.name}, {SPLIT_NAMES[split]}"
            tests[name] = stress_test(toolset, retriever, trial.split_by(split), progress)
    return stress_result(trial, tests)


def sweep_files(
    paths: Sequence[Path],
    knob: Knob,
    accept: AcceptPolicy,
    options: ExperimentOptions,
    settings: Settings,
    progress: Progress = silent,
) -> JsonObject:
    """One setting moved over the merge of a catalog: ``points`` of ``experiments.results``. Raises
    ``ConfigError`` as ``Laboratory`` does.
    """
    laboratory = Laboratory(paths, options, settings)
    trial = laboratory.trial((1,))
    analysis = analyse(
        laboratory.catalog, AnalysisConfig(), laboratory.embedder, laboratory.cache, progress
    )
    sweep = SettingSweep(
        analysis, (), trial, laboratory.ranker, laboratory.tokens, accept, options.config
    )
    size = len(laboratory.catalog.tools)
    points = [sweep_point(point, size) for point in sweep.points(knob, progress=progress)]
    return {"knob": knob, "accept": accept, "queries": len(trial.queries), "points": points}


def encoder_files(
    paths: Sequence[Path],
    encoders: Sequence[str],
    accept: AcceptPolicy,
    options: ExperimentOptions,
    settings: Settings,
    progress: Progress = silent,
) -> JsonObject:
    """Each encoder in turn, for the merge (at the θ that is its default) and for the search: as
    ``sweep_files``, the name of the encoder as the value. Raises ``ModelError`` for one that cannot
    be loaded.
    """
    laboratory = Laboratory(paths, options, settings)
    trial = laboratory.trial((K,))
    sweep = EncoderSweep(
        trial,
        (),
        lambda name: embedder_of(settings, name),
        laboratory.cache,
        laboratory.tokens,
        accept,
        options.config,
        K,
    )
    size = len(laboratory.catalog.tools)
    points = [sweep_point(point, size) for point in sweep.points(encoders, progress=progress)]
    return {"knob": "encoder", "accept": accept, "queries": len(trial.queries), "points": points}
