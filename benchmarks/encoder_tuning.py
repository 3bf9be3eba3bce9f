"""What tuning the encoder gives: by triplets (§5.1) and for the classifier (§4.2) of Moon et al.

    TOOLSCOPE_DATA=../shared/data python -m benchmarks.encoder_tuning [set …] [--only triplets]

Half of a set's development queries (A, as in ``usage_quality``) is learned from, the other half (B)
is asked. First the embedder as it is and as it was tuned on A: dense alone, by the text of the
tools and by Tool2Vec, and the whole search with it (BM25, reranking). Then the classifier on the
embedder as it is, the one whose encoder was tuned, and all together as it searches. Times are wall
clock, with everything else of the cache warm.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.explore_speed import reference
from benchmarks.usage_quality import ALONE, CUTOFFS, SETS, found, halves, line
from toolscope_core.catalog.document_variants import read_variants, with_variants
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.cli.learn_commands import tune_files
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.packaged_model import DEFAULT_MODEL
from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.files.json_lines import write_rows
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import Settings, read_environment
from toolscope_core.model.protocols import Embedder
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.tool2vec.blend import Blend
from toolscope_core.tool2vec.tool2vec import UsageVectors
from toolscope_core.tool2vec.training import LearnOptions, Trainer, trained_model
from toolscope_core.tool2vec.training_queries import training_queries


def rankings_of(
    name: str,
    tools: Sequence[Tool],
    taught: Sequence[Query],
    asked: Sequence[Query],
    embedder: Embedder,
    cache: VectorCache,
) -> None:
    """Rankings by cosine alone, with the tools' texts and with the means of their queries; then
    those of the search.
    """
    ids = [tool.id for tool in tools]
    queries = training_queries(taught, {}, ids)
    own = embed_cached([tool_text(tool) for tool in tools], embedder, cache)
    usage = UsageVectors.of(queries, embed_cached(queries.texts, embedder, cache)).vectors(own)
    requests = embed_cached([query.text for query in asked], embedder, cache)
    for kind, vectors in (("text", own), ("Tool2Vec", usage)):
        best = np.argsort(-(requests @ vectors.T), axis=1, kind="stable")[:, : max(CUTOFFS)]
        rankings = [[ids[at] for at in row] for row in best.tolist()]
        print(line(f"{kind}, {name}", asked, rankings), flush=True)
    whole = found(Retriever(tools, embedder, cache), asked, None)
    print(line(f"the whole search, {name}", asked, whole), flush=True)


def by_triplets(
    folder: Path,
    tools: Sequence[Tool],
    taught: Sequence[Query],
    asked: Sequence[Query],
    settings: Settings,
) -> None:
    """The embedder as it is, and as it was tuned on the queries that are learned from."""
    cache = VectorCache(settings.cache_dir)
    rankings_of("as it is", tools, taught, asked, embedder_of(settings), cache)
    with tempfile.TemporaryDirectory() as place:
        queries = Path(place) / "taught.jsonl"
        write_rows(queries, map(row_of, taught))
        start = time.perf_counter()
        number = tune_files([folder / "tools.jsonl"], queries, Path(place) / "tuned")
        took = time.perf_counter() - start
        print(f"  tuned by {number} triplets in {took:.0f} s")
        tuned = SentenceEmbedder(str(Path(place) / "tuned"))
        rankings_of("tuned", tools, taught, asked, tuned, cache)


def row_of(query: Query) -> JsonObject:
    return {"id": query.id, "query": query.text, "gold": [sorted(need) for need in query.gold]}


def for_the_classifier(
    folder: Path,
    catalog: Catalog,
    taught: Sequence[Query],
    asked: Sequence[Query],
    settings: Settings,
) -> None:
    """The linear classifier, the one with a tuned encoder, and the search with both."""
    file = folder / "augmented.jsonl"
    variants = read_variants(file, catalog).by_id if file.exists() else {}
    embedder, cache = embedder_of(settings), VectorCache(settings.cache_dir)
    tools = with_variants(catalog.tools, variants)
    retriever = Retriever(tools, embedder, cache)
    retriever.encode([query.text for query in asked])
    start = time.perf_counter()
    options = LearnOptions(method="mlc", encoder=DEFAULT_MODEL)
    model = trained_model(catalog.tools, taught, variants, options, Trainer(embedder, cache))
    took = time.perf_counter() - start
    weights = {key: round(one, 2) for key, one in model.blend.weights.items()}
    questions = sum(len(one.questions) for one in variants.values())
    print(
        f"  classifier, encoder tuned on {len(taught)} queries and {questions:,} questions in "
        f"{took:.0f} s, weights {weights}"
    )
    for name in model.blend.weights:
        alone = {one: ALONE * (one == name) for one in model.blend.weights}
        own = replace(model, blend=Blend(alone, 0.0))
        print(line(f"{name} alone", asked, found(retriever, asked, own)), flush=True)
    print(line("all together", asked, found(retriever, asked, model)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--only", choices=("triplets", "classifier"))
    given, settings = parser.parse_args(), read_environment()
    print(f"{platform.platform()}, {platform.processor() or platform.machine()}")
    reference()
    print(f"recall at {CUTOFFS}, interval @5, nDCG at {CUTOFFS[:3]}")
    for name in given.sets:
        folder = Path(settings.data_dir) / name
        catalog = read_isolated(load_paths([folder / "tools.jsonl"]))
        taught, asked = halves(read_queries(folder / "queries.dev.jsonl"))
        print(f"{name}: {len(catalog.tools):,} tools, {len(taught)} learned, {len(asked)} asked")
        if given.only != "classifier":
            by_triplets(folder, catalog.tools, taught, asked, settings)
        if given.only != "triplets":
            for_the_classifier(folder, catalog, taught, asked, settings)


if __name__ == "__main__":
    main()
