"""What tuning the encoder gives, on the halves of ``tool2vec_tables``: by triplets (§5.1) and for
the classifier (§4.2) of Tool2Vec.
"""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from benchmarks.papers.paper_sets import PaperSet, PaperTable
from benchmarks.papers.tool2vec_tables import (
    CUTOFFS,
    SETS,
    each_alone,
    figures_of,
    found,
    halves,
    learned,
    retriever_of,
    tool_vectors,
)
from toolscope_core.cli.learn_commands import tune_files
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.embedding.vector_cache import embed_cached
from toolscope_core.files.json_lines import write_rows
from toolscope_core.model.protocols import Embedder
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.tool2vec.training import LearnOptions


def by_triplets(one: PaperSet) -> Iterator[JsonObject]:
    """The embedder as it is, and as it was tuned on half A, without variants: by the cosine to the
    tools' texts, to their Tool2Vec vectors, and in the whole search.
    """
    taught, _ = halves(one.queries)
    yield from rankings_by("as it is", one, one.bench.embedder)
    with tempfile.TemporaryDirectory() as place:
        queries, folder = Path(place) / "taught.jsonl", Path(place) / "tuned"
        rows = ((query.id, query.text, list(map(sorted, query.gold))) for query in taught)
        write_rows(queries, (dict(zip(("id", "query", "gold"), row, strict=True)) for row in rows))
        number = tune_files([one.path], queries, folder)
        embedder = SentenceEmbedder(str(folder))
        yield from rankings_by(f"tuned on {number} triplets", one, embedder)


def rankings_by(name: str, one: PaperSet, embedder: Embedder) -> Iterator[JsonObject]:
    _, held_out = halves(one.queries)
    ids, cache = [tool.id for tool in one.tools], one.bench.cache
    requests = embed_cached([query.text for query in held_out], embedder, cache)
    for kind, vectors in zip(("text", "Tool2Vec"), tool_vectors(one, embedder, {}), strict=True):
        best = np.argsort(-(requests @ vectors.T), axis=1, kind="stable")[:, : max(CUTOFFS)]
        rankings = [[ids[at] for at in row] for row in best.tolist()]
        yield {"embedder": name, "search": kind, **figures_of(held_out, rankings)}
    rankings = found(Retriever(one.tools, embedder, cache), held_out, None)
    yield {"embedder": name, "search": "whole", **figures_of(held_out, rankings)}


def for_the_classifier(one: PaperSet) -> Iterator[JsonObject]:
    """The linear classifier, the one with a tuned encoder, and the search with both."""
    retriever, (_, held_out) = retriever_of(one), halves(one.queries)
    model, _ = learned(one, LearnOptions(method="mlc", encoder=DEFAULT_MODEL))
    for name, own in (*each_alone(model), ("all together", model)):
        yield {"search": name, **figures_of(held_out, found(retriever, held_out, own))}


TABLES: Mapping[str, PaperTable] = {
    "t2v-5.1": PaperTable("embedder tuned on triplets", SETS, 60, by_triplets),
    "t2v-4.2": PaperTable("classifier with a tuned encoder", SETS, 60, for_the_classifier),
}
