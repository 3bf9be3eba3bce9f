"""Trains a model from queries: first without each fold, to choose its weights, and then on all
queries.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.embedding.vector_cache import VectorCache, embed_cached, text_key
from toolscope_core.evaluation.intervals import Interval
from toolscope_core.evaluation.metrics import metric_rows
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.configuration import FirstStageName, LearningMethod
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Embedder, Progress, Vectors, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Augmentation, JsonObject, Tool
from toolscope_core.retrieval.assembly import best_first
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.tool2vec import learned_model
from toolscope_core.tool2vec.linear_head import LinearHead, UsageVectors, fitted_head
from toolscope_core.tool2vec.refiner_network import (
    FoldView,
    checked_refiner,
    finished_refiner,
    refined_rows,
    with_refined,
)
from toolscope_core.tool2vec.training_queries import FOLDS, TrainingQueries, training_queries
from toolscope_core.tool2vec.tuned_classifier import rule_request, tuned_classifier, with_tuned

_CUTOFFS = (3, 5, 7, 10)
_SHOWN = ("recall", "ndcg")
BY_TEXT, BLENDED = "text", "blend"


@dataclass(frozen=True, slots=True)
class HeldOutFigures:
    """The results on ``queries`` held-out queries, first by way of ranking, then by metric.

    The ways are the tools' texts alone, each learned score alone, and the *blend*. The weights of
    the blend were chosen on the other folds.
    """

    queries: int
    metrics: Mapping[str, Mapping[str, Interval]]


def held_out_figures(
    queries: Sequence[learned_model.HeldOutQuery], names: Sequence[str], ids: Sequence[str]
) -> HeldOutFigures:
    """The figures for these queries, of which at least one is needed."""
    most = max(_CUTOFFS)
    rankings = {BY_TEXT: [[ids[at] for at in best_first(one.by_text, most)] for one in queries]}
    for name in names:
        rankings[name] = [[ids[at] for at in best_first(q.learned[name], most)] for q in queries]
    rankings[BLENDED] = _blended_rankings(queries, names, ids)
    golds = [one.gold for one in queries]
    metrics = {
        way: {
            row.name: row.interval
            for row in metric_rows(golds, own, _CUTOFFS)
            if row.metric in _SHOWN
        }
        for way, own in rankings.items()
    }
    return HeldOutFigures(len(queries), metrics)


def _blended_rankings(
    queries: Sequence[learned_model.HeldOutQuery], names: Sequence[str], ids: Sequence[str]
) -> list[list[str]]:
    """The ranking for each query by a blend whose weights were chosen without the query's fold."""
    folds = [one.fold for one in queries]
    if len(set(folds)) == 1:  # a single fold is divided
        folds = [at % 2 for at in range(len(queries))]
    by_fold: dict[int, learned_model.Blend] = {}
    for fold in sorted(set(folds)):
        others = [one for one, own in zip(queries, folds, strict=True) if own != fold]
        by_fold[fold] = learned_model.chosen_blend(others, names, ids)
    return [
        learned_model.ranked(one, by_fold[fold], ids, max(_CUTOFFS))
        for one, fold in zip(queries, folds, strict=True)
    ]


_METHODS: tuple[LearningMethod, ...] = ("tool2vec", "mlc", "refiner")
MOST_CHECKED = 600
"""The most recorded queries that are searched to choose the weights; more would take minutes."""

_Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LearnConfig:
    """How a model is trained.

    ``method`` is the last stage; each stage needs the stages before it. ``candidates`` is the
    number of candidates that a refiner scores jointly. ``encoder`` names the model, by name or
    folder, that is tuned for the classifier; empty for none. ``first`` selects the refiner's
    candidates. With ``described`` the refiner reads the vectors of the tools' texts instead of the
    Tool2Vec vectors (table A.1). ``refiner_encoder`` names the refiner's model; empty for the first
    layers of the default model.
    """

    method: LearningMethod = "refiner"
    candidates: int = 32
    encoder: str = ""
    described: bool = False
    first: FirstStageName = "mlc"
    refiner_encoder: str = ""
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)

    def __post_init__(self) -> None:
        if self.method not in _METHODS:
            raise ConfigError(f"`method` is {self.method!r:.40}; use one of {', '.join(_METHODS)}")
        if self.candidates < 2:
            raise ConfigError(f"the number of candidates is {self.candidates}; use at least 2")
        if self.first != "mlc" and (self.method != "refiner" or self.encoder):
            raise ConfigError(
                f"candidates by {self.first} need a refiner; use the method `refiner`, without an "
                "encoder"
            )

    @property
    def stages(self) -> list[str]:
        """The names of the first stage's scores."""
        if self.first == learned_model.DESCRIPTION:
            return [learned_model.DESCRIPTION]
        is_alone = self.method == "tool2vec" or self.first == learned_model.TOOL2VEC
        return [learned_model.TOOL2VEC] if is_alone else [learned_model.TOOL2VEC, learned_model.MLC]


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """The training data.

    ``tools`` are in the order of their ids. ``vectors`` are the vectors of the queries' texts.
    ``own`` are the vectors of the tools' texts, float32 of shape (m, d).
    """

    tools: tuple[Tool, ...]
    queries: TrainingQueries
    vectors: Vectors
    own: Vectors
    retriever: Retriever

    def without(self, fold: int) -> "Lessons":
        """The training data from the other folds."""
        keep = self.queries.folds != fold
        return replace(self, queries=self.queries.part(keep), vectors=self.vectors[keep])


@dataclass(frozen=True, slots=True, eq=False)
class FirstStage:
    """The Tool2Vec vectors, and the classifier if the method has one.

    ``own`` are the vectors of the tools' texts, if these vectors select candidates.
    """

    usage: UsageVectors
    centres: Vectors
    head: LinearHead | None
    own: Vectors | None = None

    def scores(self, vectors: Vectors) -> dict[str, _Floats]:
        """See ``stage_scores``."""
        if self.own is not None:
            return learned_model.stage_scores(self.own, None, vectors, learned_model.DESCRIPTION)
        return learned_model.stage_scores(self.centres, self.head, vectors)


def trained_model(
    tools: Iterable[Tool],
    queries: Iterable[Query],
    variants: Mapping[str, Augmentation],
    config: LearnConfig,
    trainer: "Trainer",
) -> learned_model.LearnedModel:
    """The model trained on these queries and the questions of ``variants``.

    Raises ``ConfigError`` if too few queries name a tool, ``ModelError`` as the embedder does.
    """
    lessons = trainer.lessons(tools, queries, variants, config)
    training_set = lessons.queries
    stages = [fitted_stage(lessons.without(one), config, trainer.progress) for one in range(FOLDS)]
    views = trainer.views(lessons, stages, config)
    held_out = trainer.held_out(lessons, views)
    names, tuned, refiner = config.stages, None, None
    blend = learned_model.chosen_blend(held_out, names, training_set.ids)
    on_top: list[str] = []
    if config.encoder and config.method != "tool2vec":
        tuned = tuned_classifier(
            training_set, stages[0].centres, config.encoder, trainer.cache.folder, trainer.progress
        )
        held_out, views = with_tuned(held_out, views, training_set.texts, tuned)
        on_top.append(learned_model.TUNED)
    if config.method == "refiner":
        all_views = list(views.values())
        refiner = checked_refiner(
            training_set, all_views, config.candidates, config.refiner_encoder, trainer.progress
        )
        held_out = with_refined(held_out, views, training_set.texts, refiner, config.candidates)
        finished_refiner(refiner, training_set, all_views, config.candidates, trainer.progress)
        on_top.append(learned_model.REFINER)
    if on_top:
        blend = learned_model.chosen_blend(held_out, on_top, training_set.ids, blend)
    names = [*names, *on_top]
    stage = fitted_stage(lessons, config, trainer.progress)
    return learned_model.LearnedModel(
        method=config.method,
        embedder=trainer.embedder.name,
        fingerprints=tuple(tool.fingerprint for tool in lessons.tools),
        usage=stage.usage,
        centres=stage.centres,
        evidence=training_set.evidence,
        blend=blend,
        head=stage.head,
        tuned=tuned,
        refiner=refiner,
        candidates=config.candidates,
        described=lessons.own if config.described or stage.own is not None else None,
        first=config.first,
        reads_described=config.described,
        variants=variants,
        about=_about(lessons, config, held_out_figures(held_out, names, training_set.ids)),
    )


def fitted_stage(lessons: Lessons, config: LearnConfig, progress: Progress) -> FirstStage:
    """The first stage trained on this data."""
    usage = UsageVectors.of(lessons.queries, lessons.vectors)
    centres = usage.vectors(lessons.own)
    head = None
    if learned_model.MLC in config.stages:
        head = fitted_head(lessons.queries, lessons.vectors, centres, progress=progress)
    own = lessons.own if learned_model.DESCRIPTION in config.stages else None
    return FirstStage(usage, centres, head, own)


@dataclass(frozen=True, slots=True, eq=False)
class Trainer:
    """What training works with: an embedder, the cache of vectors, and the report of progress."""

    embedder: Embedder
    cache: VectorCache
    progress: Progress = silent

    def lessons(
        self,
        tools: Iterable[Tool],
        queries: Iterable[Query],
        variants: Mapping[str, Augmentation],
        config: LearnConfig,
    ) -> Lessons:
        """The training data."""
        own = sorted(with_variants(tools, variants), key=lambda one: one.id)
        training_set = training_queries(queries, variants, [tool.id for tool in own])
        retriever = Retriever(
            own, self.embedder, self.cache, config.retrieval, progress=self.progress
        )
        retriever.encode_documents(self.progress)
        vectors = embed_cached(training_set.texts, self.embedder, self.cache, self.progress)
        return Lessons(tuple(own), training_set, vectors, retriever.vectors, retriever)

    def views(
        self, lessons: Lessons, stages: Sequence[FirstStage], config: LearnConfig
    ) -> dict[int, FoldView]:
        """What models trained without each text's fold say about the text, by row.

        Recorded queries are covered, and some questions too if a refiner learns from them.
        """
        queries = lessons.queries
        rows = np.flatnonzero(queries.recorded)
        if config.method == "refiner":
            rows = refined_rows(queries)
        requests = {int(row): rule_request(queries.texts[row]) for row in rows}
        texts = dict.fromkeys(text for one in requests.values() for text in one.texts)
        vectors = embed_cached(tuple(texts), self.embedder, self.cache, self.progress)
        vector_of = dict(zip(texts, vectors, strict=True))
        views = {}
        for row, request in requests.items():
            stage = stages[queries.folds[row]]
            own = np.stack([vector_of[text] for text in request.texts])
            learned = stage.scores(own)
            views[row] = FoldView(row, lessons.own if config.described else stage.centres, learned)
        return views

    def held_out(
        self, lessons: Lessons, views: Mapping[int, FoldView]
    ) -> list[learned_model.HeldOutQuery]:
        """At most ``MOST_CHECKED`` recorded queries with scores by models trained without them."""
        queries = lessons.queries
        rows = np.flatnonzero(queries.recorded)[:MOST_CHECKED]
        by_text = lessons.retriever.text_scores([rule_request(queries.texts[row]) for row in rows])
        parts = [lessons.without(fold).queries for fold in range(FOLDS)]
        tools_by_fold = [_seen_tools(part) for part in parts]
        return [
            learned_model.HeldOutQuery(
                int(row),
                queries.golds[row],
                scores,
                views[int(row)].learned,
                parts[fold].evidence,
                any(tools_by_fold[fold].isdisjoint(need) for need in queries.golds[row]),
                fold,
            )
            for row, fold, scores in zip(rows, queries.folds[rows].tolist(), by_text, strict=True)
        ]


def _seen_tools(queries: TrainingQueries) -> frozenset[str]:
    """The tools that serve recorded queries."""
    rows = queries.tool[queries.recorded[queries.at]]
    return frozenset(queries.ids[row] for row in rows.tolist())


def _about(lessons: Lessons, config: LearnConfig, figures: HeldOutFigures) -> JsonObject:
    queries = lessons.queries
    recorded = (queries.texts[row] for row in np.flatnonzero(queries.recorded))
    return {
        "method": config.method,
        "queries": int(queries.recorded.sum()),
        "questions": int((~queries.recorded).sum()),
        "tools": len(lessons.tools),
        "tools_with_queries": int((queries.counts > 0).sum()),
        "data": queries.version,
        "texts": [text_key(text).hex()[:16] for text in recorded],
        "held_out": asdict(figures),
    }
