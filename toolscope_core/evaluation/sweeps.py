"""Varies one setting or leaves out parts while everything else is fixed."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Literal, TypeVar, get_args

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation import measured_toolsets
from toolscope_core.evaluation.comparison import Measurement, ToolsetFigures, Trial, measurement_of
from toolscope_core.llm.embedding import scorer_of
from toolscope_core.merging import analysing
from toolscope_core.merging.analysis import Analysis, own_thresholds
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, Knob, MergeThresholds, PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Embedder, Progress, Step, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.retrieval.client_search import SearchSetup

KS = (1, 2, 3, 5, 7, 10, 15, 20, 30)
DENSE_WEIGHTS = tuple(step / 10 for step in range(11))
CANDIDATES = (5, 10, 15, 20, 30, 40, 50)
THETAS, HIGHEST_THETA = 12, 0.95
Merger = Literal["none", "drop-in", "gateway"]
"""The kind of merges that are accepted."""
MERGERS: tuple[Merger, ...] = get_args(Merger)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepFigures(ToolsetFigures):
    """The figures for one value (a number or the name of an encoder) at the cut-off ``k``.

    ``reduction`` is the share of tools that the merge saves. ``recalls`` has the recall of each
    query.
    """

    value: int | float | str
    k: int
    configuration: JsonObject
    reduction: float
    recalls: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The measured points, in the order of the values."""

    points: tuple[SweepFigures, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationFigures(ToolsetFigures):
    """The parts that are active, and the figures of the toolset.

    The merger accepts all proposals of its kind. For *drop-in*, these are only proposals that
    switch tools off. For *gateway*, proposals with a newly written tool are accepted too, unless
    that tool is larger than its members (the paper rewrites every tool, whatever its size).
    Correction divides groups that do not belong together.
    """

    reranker: bool
    merger: Merger
    correction: bool
    reduction: float


@dataclass(frozen=True, slots=True)
class Ablation:
    """A row for each combination of parts."""

    rows: tuple[AblationFigures, ...]


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """A toolset that was measured with a search configuration, for one value of a setting."""

    value: float | str
    k: int
    config: RetrievalConfig
    measurement: Measurement

    def figures(self, catalog: Catalog) -> SweepFigures:
        """The figures at the cut-off ``k``, compared with the catalog."""
        at_k = {row.metric: row for row in self.measurement.rows if row.k == self.k}
        return SweepFigures.of(
            self.measurement,
            value=self.value,
            k=self.k,
            configuration=self.config.as_json(),
            tokens_sent=round(self.measurement.token_means[self.k], 3),
            reduction=_reduction(self.measurement, catalog),
            metrics={name: row.interval for name, row in at_k.items()},
            recalls=tuple(round(value, 6) for value in at_k["recall"].values),
        )


@dataclass(frozen=True, slots=True)
class AblationRow:
    """A toolset that was measured with some parts active; see ``AblationFigures``."""

    reranker: bool
    merger: Merger
    correction: bool
    measurement: Measurement

    def figures(self, catalog: Catalog) -> AblationFigures:
        """The figures of the row, compared with the catalog."""
        return AblationFigures.of(
            self.measurement,
            reranker=self.reranker,
            merger=self.merger,
            correction=self.correction,
            reduction=_reduction(self.measurement, catalog),
        )


@dataclass(frozen=True, slots=True)
class FixedSettings:
    """The settings that stay fixed while something is varied.

    They are the queries, the decisions, the rule by which proposals are accepted, the search
    configuration and the cut-off ``k``. ``tokens`` counts the tokens of a definition.
    """

    trial: Trial
    log: Sequence[Decision]
    tokens: Callable[[Tool], int]
    plan_config: PlanConfig = field(default_factory=partial(PlanConfig, accept="auto"))
    config: RetrievalConfig = field(default_factory=RetrievalConfig)
    k: int = 10


RankerOf = Callable[[RetrievalConfig], measured_toolsets.Ranker]
"""A function that makes a search from a configuration."""
_Value = TypeVar("_Value")


def values_of(knob: Knob, analysis: Analysis) -> tuple[float, ...]:
    """The values of a sweep in ascending order; empty for encoders, which have names."""
    if knob == "threshold":
        least = analysis.threshold
        step = max(HIGHEST_THETA - least, 0.0) / (THETAS - 1)
        return tuple(round(least + step * number, 4) for number in range(THETAS))
    return {"alpha": DENSE_WEIGHTS, "candidates": CANDIDATES, "k": KS}.get(knob, ())


def plan_at(
    analysis: Analysis, log: Sequence[Decision], similarity: float, config: PlanConfig
) -> MergePlan:
    """The merge plan in which pairs merge from the cosine ``similarity`` on."""
    thresholds = MergeThresholds(similarity, own_thresholds(analysis).same_job)
    return analysing.plan_of(
        analysis, analysing.proposed(analysis, log, thresholds=thresholds), config
    )


def setting_points(
    analysis: Analysis,
    settings: FixedSettings,
    ranker_of: RankerOf,
    knob: Knob,
    done: Collection[float | str] = (),
    progress: Progress = silent,
) -> Iterator[SweepPoint]:
    """A point for each value of a setting that is not in ``done``, given as soon as it is measured.

    For *threshold*, the merge's export is measured; for other settings, the toolset under the
    current decisions. Values with the same toolset and search are searched only once. Reports
    ``Step("sweep", …)`` in points. For encoders, see ``encoder_points``.
    """
    trial = replace(settings.trial, cutoffs=KS if knob == "k" else (settings.k,))
    proposals = analysing.proposed(analysis, settings.log)
    plan = analysing.plan_of(analysis, proposals, settings.plan_config)
    planned, ranker_of = (
        measured_toolsets.of_plan(plan, "as planned"),
        lru_cache(maxsize=1)(ranker_of),
    )
    last: SweepPoint | None = None
    for value in _not_done(values_of(knob, analysis), done, progress):
        config, toolset = _with_value(settings.config, knob, value), planned
        if knob == "threshold":
            plan = plan_at(analysis, settings.log, value, settings.plan_config)
            toolset = measured_toolsets.of_plan(plan, f"from {value:g}")
        if last and (last.config, last.measurement.toolset.version) == (config, toolset.version):
            figures = last.measurement
        else:
            figures = measurement_of(toolset, trial, ranker_of(config), settings.tokens)
        k = int(value) if knob == "k" else settings.k
        last = SweepPoint(value, k, config, replace(figures, toolset=toolset))
        yield last


def encoder_points(
    settings: FixedSettings,
    load: Callable[[str], Embedder],
    cache: VectorCache,
    names: Sequence[str],
    done: Collection[float | str] = (),
    progress: Progress = silent,
) -> Iterator[SweepPoint]:
    """A point for each encoder that is not in ``done``, given as soon as it is measured.

    The encoder analyses the catalog at its default threshold and searches the merged toolset.
    ``load`` returns an encoder by name. Reports ``Step("sweep", …)`` in encoders. Raises
    ``ModelError`` if an encoder cannot be loaded.
    """
    trial = replace(settings.trial, cutoffs=(settings.k,))
    for name in _not_done(names, done, progress):
        encoder = load(name)
        analysis = analysing.analyse(trial.catalog, AnalysisConfig(), encoder, cache)
        plan = analysing.plan_merge(analysis, settings.log, settings.plan_config)
        setup = SearchSetup(encoder, cache, settings.config, scorer_of(settings.config))
        figures = measurement_of(
            measured_toolsets.of_plan(plan, name),
            trial,
            measured_toolsets.ToolsetRanker(setup),
            settings.tokens,
        )
        yield SweepPoint(name, settings.k, settings.config, figures)


def ablation_rows(
    analysis: Analysis, settings: FixedSettings, ranker_of: RankerOf, progress: Progress = silent
) -> Iterator[AblationRow]:
    """The effect of each part of ToolScope: reranker × merger × correction (ToolScope, table 3).

    There are ten rows, because correction without a merger has nothing to correct. The reranker is
    the one that the settings' search uses, or the automatic one if the search uses none. Reports
    ``Step("sweep", …)`` in rows.
    """
    toolsets: dict[tuple[Merger, bool], measured_toolsets.Toolset] = {
        ("none", False): measured_toolsets.as_it_is(analysis.catalog)
    }
    for merger in MERGERS[1:]:
        for correct in (False, True):
            proposals = analysing.proposed(analysis, settings.log, divide=correct)
            config = PlanConfig(accept="all", gateway=merger == "gateway", correct=correct)
            plan = analysing.plan_of(analysis, proposals, config)
            toolsets[merger, correct] = measured_toolsets.of_plan(
                plan, f"{merger}{', corrected' * correct}"
            )
    parts = [(is_reranked, *own) for is_reranked in (False, True) for own in toolsets]
    rerank = "auto" if settings.config.rerank == "none" else settings.config.rerank
    ranker_of = lru_cache(maxsize=1)(ranker_of)
    for reranker, merger, correction in _not_done(parts, (), progress):
        ranker = ranker_of(replace(settings.config, rerank=rerank if reranker else "none"))
        toolset = toolsets[merger, correction]
        figures = measurement_of(toolset, settings.trial, ranker, settings.tokens)
        yield AblationRow(reranker, merger, correction, figures)


def _not_done(
    values: Sequence[_Value], done: Collection[object], progress: Progress
) -> Iterator[_Value]:
    """The values that are not in ``done``; progress is reported over all values."""
    for number, value in enumerate(values):
        progress(Step("sweep", number, len(values)))
        if value not in done:
            yield value
    progress(Step("sweep", len(values), len(values)))


def _with_value(config: RetrievalConfig, knob: Knob, value: float) -> RetrievalConfig:
    if knob == "alpha":
        return replace(config, dense_weight=value)
    return replace(config, candidates=int(value)) if knob == "candidates" else config


def _reduction(measurement: Measurement, catalog: Catalog) -> float:
    """The share of the catalog's tools that the merge saves."""
    return round(1 - len(measurement.toolset.tools) / len(catalog.tools), 6)
