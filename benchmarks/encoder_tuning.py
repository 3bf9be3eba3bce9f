"""What tuning the encoder gives: by triplets (§5.1) and for the classifier (§4.2) of Moon et al.

    python -m benchmarks.encoder_tuning [set …] [--only triplets]

Half of a set's development queries (A, as in ``usage_quality``) is learned from, the other half (B)
is asked. First the embedder as it is and as it was tuned on A: dense alone, by the text of the
tools and by Tool2Vec, and the whole search with it (BM25, reranking). Then the classifier on the
embedder as it is, the one whose encoder was tuned, and all together as it searches. Times are wall
clock, with everything else of the cache warm.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.measuring import (
    catalog_file,
    parser_of,
    print_machine,
    print_reference,
    read_named,
    user_cache,
)
from benchmarks.searching import dev_queries, recorded_variants, retriever_of
from benchmarks.usage_quality import (
    CUTOFFS,
    SETS,
    each_alone,
    found,
    halves,
    line,
    weights_text,
)
from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.cli.learn_commands import tune_files
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.encoders import SentenceEmbedder
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.packaged_model import DEFAULT_MODEL
from toolscope_core.embedding.tool_text import tool_text
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.files.json_lines import write_rows
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.protocols import Embedder
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.tool2vec.tool2vec import UsageVectors
from toolscope_core.tool2vec.training import LearnOptions, Trainer, trained_model
from toolscope_core.tool2vec.training_queries import training_queries


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--only", choices=("triplets", "classifier"))
    given = parser.parse_args()
    print_machine()
    print_reference()
    print(f"recall at {CUTOFFS}, interval @5, nDCG at {CUTOFFS[:3]}")
    for name in given.sets:
        catalog = read_named(name)
        training, held_out = halves(dev_queries(name))
        print(
            f"{name}: {len(catalog.tools):,} tools, {len(training)} learned, {len(held_out)} asked"
        )
        if given.only != "classifier":
            by_triplets(name, catalog, training, held_out)
        if given.only != "triplets":
            for_the_classifier(name, catalog, training, held_out)


def by_triplets(
    name: str, catalog: Catalog, training: Sequence[Query], held_out: Sequence[Query]
) -> None:
    """The embedder as it is, and as it was tuned on the queries that are learned from."""
    print_rankings("as it is", catalog, training, held_out, MiniLmEmbedder())
    with tempfile.TemporaryDirectory() as place:
        queries, folder = Path(place) / "taught.jsonl", Path(place) / "tuned"
        write_rows(
            queries,
            (
                {"id": query.id, "query": query.text, "gold": list(map(sorted, query.gold))}
                for query in training
            ),
        )
        start = time.perf_counter()
        number = tune_files([catalog_file(name)], queries, folder)
        print(f"  tuned by {number} triplets in {time.perf_counter() - start:.0f} s")
        print_rankings("tuned", catalog, training, held_out, SentenceEmbedder(str(folder)))


def print_rankings(
    name: str,
    catalog: Catalog,
    training: Sequence[Query],
    held_out: Sequence[Query],
    embedder: Embedder,
) -> None:
    """Rankings by cosine alone, with the tools' texts and with the means of their queries; then
    those of the search.
    """
    tools, cache = catalog.tools, user_cache()
    ids = [tool.id for tool in tools]
    queries = training_queries(training, {}, ids)
    own = embed_cached([tool_text(tool) for tool in tools], embedder, cache)
    usage = UsageVectors.of(queries, embed_cached(queries.texts, embedder, cache)).vectors(own)
    requests = embed_cached([query.text for query in held_out], embedder, cache)
    for kind, vectors in (("text", own), ("Tool2Vec", usage)):
        best = np.argsort(-(requests @ vectors.T), axis=1, kind="stable")[:, : max(CUTOFFS)]
        rankings = [[ids[at] for at in row] for row in best.tolist()]
        print(line(f"{kind}, {name}", held_out, rankings), flush=True)
    whole = found(Retriever(tools, embedder, cache), held_out, None)
    print(line(f"the whole search, {name}", held_out, whole), flush=True)


def for_the_classifier(
    name: str, catalog: Catalog, training: Sequence[Query], held_out: Sequence[Query]
) -> None:
    """The linear classifier, the one with a tuned encoder, and the search with both."""
    variants = recorded_variants(name, catalog)
    retriever = retriever_of(with_variants(catalog.tools, variants))
    retriever.encode([query.text for query in held_out])
    trainer = Trainer(MiniLmEmbedder(), user_cache())
    options = LearnOptions(method="mlc", encoder=DEFAULT_MODEL)
    start = time.perf_counter()
    model = trained_model(catalog.tools, training, variants, options, trainer)
    took = time.perf_counter() - start
    questions = sum(len(one.questions) for one in variants.values())
    print(
        f"  classifier, encoder tuned on {len(training)} queries and {questions:,} questions in "
        f"{took:.0f} s, {weights_text(model)}"
    )
    for score, own in each_alone(model):
        print(line(f"{score} alone", held_out, found(retriever, held_out, own)), flush=True)
    print(line("all together", held_out, found(retriever, held_out, model)), flush=True)


if __name__ == "__main__":
    main()
