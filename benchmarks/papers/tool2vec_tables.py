"""The tables and figures of Tool2Vec, on held-out queries.

The paper is Efficient and Scalable Estimation of Tool Representations in Vector Space. Half of a
set's development queries (A) is used to train and to choose the weights; the other half (B) is
measured. The paper's figures are for ToolBench I3, with E5-base, DeBERTa and thousands of queries.
Here, there are MiniLM, a few hundred queries and, for UltraTool, six questions per tool that a
language model wrote without having seen a query. *Hidden* tools are those without a query in A.
What is learned about others must not push them down.
"""

import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.papers.paper_sets import PaperSet, PaperTable, intervals, needed_by, share, spread
from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.embedding.vector_cache import embed_cached
from toolscope_core.evaluation.comparison import request_of
from toolscope_core.evaluation.metrics import MetricRow, metric_rows
from toolscope_core.evaluation.query_sets import Query, synthetic_queries
from toolscope_core.model.protocols import Embedder, Vectors
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Augmentation, JsonObject
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.tool2vec.learned_model import Blend, LearnedModel
from toolscope_core.tool2vec.linear_head import UsageVectors
from toolscope_core.tool2vec.training import LearnConfig, Trainer, trained_model
from toolscope_core.tool2vec.training_queries import training_queries
from toolscope_core.tool2vec.tuned_embedder import tuned_files
from toolscope_core.wording.tool_text import tool_text

SETS = ("ultratool", "seal-tools")
USAGE_SETS = (*SETS, "bfcl", "livemcpbench")
CUTOFFS = (3, 5, 7, 10)
CANDIDATES = (8, 16, 32, 64, 128)
ALONE = 1e6
"""The weight of a learned score that ranks alone. The text then has weight 1 beside it."""
PAPER = {
    "text": "ToolBench retriever .541 .639 .737",
    "tool2vec alone": ".752 .849 .866",
    "mlc alone": ".814 .863 .883",
    "refiner alone": "on MLC .798 .869 .890",
}
FAILED = {"tool2vec alone": "9.04 ± 37.88 %", "refiner alone": "on Tool2Vec 3.55 ± 6.54 %"}
"""Table B.1, NumpyBank."""


def halves(queries: Sequence[Query]) -> tuple[list[Query], list[Query]]:
    """The halves A and B, which are drawn only once."""
    order = np.random.default_rng(2409).permutation(len(queries))
    middle = len(queries) // 2
    return [queries[at] for at in order[:middle]], [queries[at] for at in order[middle:]]


def search_rankings(
    retriever: Retriever, queries: Sequence[Query], model: LearnedModel | None
) -> list[list[str]]:
    requests = list(map(request_of("rules"), queries))
    rankings = retriever.with_learned(model).search_each(requests, max(CUTOFFS))
    return [[place.tool_id for place in places] for places in rankings]


def each_alone(model: LearnedModel) -> Iterator[tuple[str, LearnedModel]]:
    """For each score of the model, its name and the model with only that score."""
    for name in model.blend.weights:
        weights = {one: ALONE * (one == name) for one in model.blend.weights}
        yield name, replace(model, blend=Blend(weights, 0.0))


def figures_of(queries: Sequence[Query], rankings: Sequence[Sequence[str]]) -> JsonObject:
    """Recall and nDCG."""
    rows = metric_rows([one.gold for one in queries], rankings, CUTOFFS)
    return intervals(row for row in rows if row.metric in ("recall", "ndcg"))


@cache
def learned(one: PaperSet, config: LearnConfig) -> tuple[LearnedModel, float]:
    """The model trained on half A, and how many seconds the training took."""
    start = time.perf_counter()
    trainer = Trainer(one.bench.embedder, one.bench.cache)
    taught, _ = halves(one.queries)
    model = trained_model(one.tools, taught, one.variants(), config, trainer)
    return model, time.perf_counter() - start


def retriever_of(one: PaperSet) -> Retriever:
    return one.retriever(with_variants(one.tools, one.variants()), RetrievalConfig())


def searches(one: PaperSet) -> dict[str, LearnedModel | None]:
    """The text alone, each score alone, and the full search."""
    model, _ = learned(one, LearnConfig())
    alone = {f"{name} alone": own for name, own in each_alone(model)}
    return {"text": None, **alone, "all together": model}


def learning(one: PaperSet) -> Iterator[JsonObject]:
    """Tables 1, 2 and A.4."""
    retriever, (training, tests) = retriever_of(one), halves(one.queries)
    trained_tools = frozenset(name for query in training for need in query.gold for name in need)
    hidden = [query for query in tests if not all(need & trained_tools for need in query.gold)]
    for name, model in searches(one).items():
        figures = figures_of(tests, search_rankings(retriever, tests, model))
        yield {"search": name, **figures, "paper recall": PAPER.get(name)}
        if hidden and name in ("text", "all together"):
            figures = figures_of(hidden, search_rankings(retriever, hidden, model))
            yield {"search": f"{name}, {len(hidden)} queries of hidden tools", **figures}


def refiners(one: PaperSet) -> Iterator[JsonObject]:
    """Tables A.1 and A.2: what the refiner reads, what selects its candidates, and how many there
    are.
    """
    retriever, (_, tests) = retriever_of(one), halves(one.queries)
    configs = [LearnConfig(candidates=count) for count in CANDIDATES]
    for config in (*configs, LearnConfig(described=True), LearnConfig(first="tool2vec")):
        model, seconds = learned(one, config)
        refiner = dict(each_alone(model))["refiner"]
        yield {
            "candidates": f"{config.candidates} by {config.first}",
            "reads": "descriptions" if config.described else "Tool2Vec",
            **figures_of(tests, search_rankings(retriever, tests, refiner)),
            "seconds": round(seconds, 1),
        }


def failures(one: PaperSet) -> Iterator[JsonObject]:
    """Table B.1: for each tool, the share of queries that need it but do not find it among the
    first five.

    Figure B.1: the number of words in queries that miss a tool, and in the others.
    """
    retriever, (_, tests) = retriever_of(one), halves(one.queries)
    for name, model in searches(one).items():
        needs, missed = Counter[str](), Counter[str]()
        lengths: tuple[list[int], list[int]] = ([], [])
        for query, ids in zip(tests, search_rankings(retriever, tests, model), strict=True):
            missed_needs = [need for need in query.gold if need.isdisjoint(ids[:5])]
            needs.update(tool for need in query.gold for tool in need)
            missed.update(tool for need in missed_needs for tool in need)
            lengths[bool(missed_needs)].append(len(query.text.split()))
        yield {
            "search": name,
            "missed, by tool, %": spread([100 * missed[tool] / needs[tool] for tool in needs]),
            "words where all is found": spread(lengths[0]),
            "words where something is missed": spread(lengths[1]),
            "paper": FAILED.get(name),
        }


def tool_vectors(
    one: PaperSet, embedder: Embedder, variants: Mapping[str, Augmentation]
) -> tuple[Vectors, Vectors]:
    """The vectors of the tools' texts, and the vectors of the queries in half A that the tools
    serve.
    """
    taught, _ = halves(one.queries)
    cache = one.bench.cache
    queries = training_queries(taught, variants, [tool.id for tool in one.tools])
    own = embed_cached(list(map(tool_text, one.tools)), embedder, cache)
    return own, UsageVectors.of(queries, embed_cached(queries.texts, embedder, cache)).vectors(own)


def similarities(one: PaperSet) -> Iterator[JsonObject]:
    """Figure 3, right: the cosine of queries with needed tools and with other tools.

    It is computed with the tools' descriptions, and with their Tool2Vec vectors.
    """
    _, held_out = halves(one.queries)
    embedder, cache = one.bench.embedder, one.bench.cache
    own, usage = tool_vectors(one, embedder, one.variants())
    requests = embed_cached([query.text for query in held_out], embedder, cache)
    is_needed = needed_by(held_out, [tool.id for tool in one.tools])
    for name, vectors in (("descriptions", own), ("Tool2Vec", usage)):
        cosines = requests @ vectors.T
        yield {
            "tools by": name,
            "with needed tools": spread(cosines[is_needed]),
            "with others": spread(cosines[~is_needed]),
        }


def by_triplets(one: PaperSet) -> Iterator[JsonObject]:
    """The original embedder, and the one tuned on half A without variants.

    They are compared by the cosine with the tools' texts, by the cosine with their Tool2Vec
    vectors, and in the whole search.
    """
    taught, _ = halves(one.queries)
    yield from rankings_by("as it is", one, one.bench.embedder)
    with tempfile.TemporaryDirectory() as place:
        tuned = tuned_files(one.tools, taught, {}, one.bench.cache)
        tuned.write(Path(place) / "tuned")
        embedder = SentenceEmbedder(str(Path(place) / "tuned"))
        yield from rankings_by(f"tuned on {tuned.triplets} triplets", one, embedder)


def rankings_by(name: str, one: PaperSet, embedder: Embedder) -> Iterator[JsonObject]:
    _, held_out = halves(one.queries)
    ids, cache = [tool.id for tool in one.tools], one.bench.cache
    requests = embed_cached([query.text for query in held_out], embedder, cache)
    for kind, vectors in zip(("text", "Tool2Vec"), tool_vectors(one, embedder, {}), strict=True):
        best = np.argsort(-(requests @ vectors.T), axis=1, kind="stable")[:, : max(CUTOFFS)]
        rankings = [[ids[at] for at in row] for row in best.tolist()]
        yield {"embedder": name, "search": kind, **figures_of(held_out, rankings)}
    rankings = search_rankings(Retriever(one.tools, embedder, cache), held_out, None)
    yield {"embedder": name, "search": "whole", **figures_of(held_out, rankings)}


def for_the_classifier(one: PaperSet) -> Iterator[JsonObject]:
    """The linear classifier, the classifier with a tuned encoder, and the search with both."""
    retriever, (_, held_out) = retriever_of(one), halves(one.queries)
    model, _ = learned(one, LearnConfig(method="mlc", encoder=DEFAULT_MODEL))
    for name, own in (*each_alone(model), ("all together", model)):
        yield {"search": name, **figures_of(held_out, search_rankings(retriever, held_out, own))}


def usage_first(one: PaperSet) -> Iterator[JsonObject]:
    """What a search learns from requests, with the paired gain over the text alone.

    It learns from nothing (only the text), from half A, or from requests made of the tools' own
    words, without any recorded request.
    """
    retriever, (taught, tests) = one.retriever(one.tools, RetrievalConfig()), halves(one.queries)
    lessons: Mapping[str, Sequence[Query]] = {
        "text": (),
        "usage": taught,
        "tools' own words": synthetic_queries(one.bench.catalog),
    }
    golds, trainer = [query.gold for query in tests], Trainer(one.bench.embedder, one.bench.cache)
    before: Mapping[str, MetricRow] = {}
    for name, queries in lessons.items():
        config = LearnConfig("tool2vec")
        model = trained_model(one.tools, queries, {}, config, trainer) if queries else None
        rankings = search_rankings(retriever, tests, model)
        rows = {row.name: row for row in metric_rows(golds, rankings, (5, 10))}
        recall = {key: rows[key] for key in ("recall@5", "recall@10")}
        before = before or recall
        gains = {
            f"{key} gained": share(np.subtract(row.values, before[key].values).tolist())
            for key, row in recall.items()
        }
        weight = model.blend.weights if model else None
        learned_from = {"requests": len(tests), "learned from": len(queries), "weight": weight}
        yield {"search": name, **learned_from, **intervals(recall.values()), **gains}


TABLES: Mapping[str, PaperTable] = {
    "t2v-1": PaperTable("learned search; tables 2, A.3 and A.4", SETS, 8, learning),
    "t2v-usage": PaperTable("requests and own words as usage", USAGE_SETS, 5, usage_first),
    "t2v-a": PaperTable("refiners; tables A.1 and A.2", SETS, 110, refiners),
    "t2v-b": PaperTable("failures by tool and length; table and figure B.1", SETS, 8, failures),
    "t2v-5.1": PaperTable("embedder tuned on triplets", SETS, 60, by_triplets),
    "t2v-4.2": PaperTable("classifier with a tuned encoder", SETS, 60, for_the_classifier),
    "t2v-figure-3": PaperTable("cosine of queries and tools", SETS, 1, similarities),
}
