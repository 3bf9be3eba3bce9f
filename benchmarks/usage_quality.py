"""Learning from queries: Tool2Vec, MLC and ToolRefiner on queries that were left out of training.

    python -m benchmarks.usage_quality [set …]

Half of a set's development queries (A) is learned from and chooses the weights; the other half (B)
is asked. Tables 1, A.1, A.2 and A.4 of Moon et al. (Efficient and Scalable Estimation of Tool
Representations in Vector Space) in form, with the paper's figures of ToolBench I3 beside them:
E5-base and DeBERTa, queries by the thousand; here MiniLM, a few hundred queries and, of UltraTool,
six questions a tool that a language model wrote without having seen a query. Table A.3 has one row,
MiniLM's: no other encoder comes with the program. *Hidden* tools are those that no query of A has:
what is learned of others must not push them down.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.measuring import clocked, print_machine, read_named, user_cache
from benchmarks.searching import (
    dev_queries,
    rankings_of,
    recorded_variants,
    requests_of,
    retriever_of,
)
from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.reports import metric_rows
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.tool2vec.blend import Blend
from toolscope_core.tool2vec.learned_model import LearnedModel
from toolscope_core.tool2vec.training import LearnOptions, Trainer, trained_model

SETS = ("ultratool", "seal-tools")
CUTOFFS = (3, 5, 7, 10)
CANDIDATES = (8, 16, 32, 64, 128)
ALONE = 1e6
"""The weight of a learned score beside 1 for the text where it ranks alone."""
PAPER = {
    "text": "paper, ToolBench retriever .541 / .639 / .737",
    "tool2vec alone": "paper .752 / .849 / .866",
    "mlc alone": "paper .814 / .863 / .883",
    "refiner alone": "paper, on MLC .798 / .869 / .890",
}


def halves(queries: Sequence[Query]) -> tuple[list[Query], list[Query]]:
    """A and B, drawn once."""
    order = np.random.default_rng(2409).permutation(len(queries))
    middle = len(queries) // 2
    return [queries[at] for at in order[:middle]], [queries[at] for at in order[middle:]]


def line(name: str, queries: Sequence[Query], rankings: Sequence[Sequence[str]]) -> str:
    rows = metric_rows([one.gold for one in queries], rankings, CUTOFFS)
    by_name = {row.name: row.interval for row in rows}
    recalls = " / ".join(f"{by_name[f'recall@{k}'].mean:.3f}" for k in CUTOFFS)
    ndcgs = " / ".join(f"{by_name[f'ndcg@{k}'].mean:.3f}" for k in CUTOFFS[:3])
    at5 = by_name["recall@5"]
    return f"  {name:34} {recalls}  [{at5.low:.3f}, {at5.high:.3f}]  nDCG {ndcgs}"


def found(
    retriever: Retriever, queries: Sequence[Query], model: LearnedModel | None
) -> list[list[str]]:
    requests = requests_of(queries, "rules")
    return rankings_of(retriever.with_learned(model), requests, max(CUTOFFS))


def each_alone(model: LearnedModel) -> Iterator[tuple[str, LearnedModel]]:
    """The model as it ranks by each of its scores alone, with the score's name."""
    for name in model.blend.weights:
        weights = {one: ALONE * (one == name) for one in model.blend.weights}
        yield name, replace(model, blend=Blend(weights, 0.0))


def weights_text(model: LearnedModel) -> str:
    return f"weights { {key: round(one, 2) for key, one in model.blend.weights.items()} }"


def table(
    retriever: Retriever, asked: Sequence[Query], model: LearnedModel, seen: frozenset[str]
) -> None:
    """Tables 1 and A.4: each score alone, then all together as it searches."""
    ways: dict[str, LearnedModel | None] = {"text": None}
    ways |= {f"{name} alone": alone for name, alone in each_alone(model)}
    ways["all together, as it searches"] = model
    hidden = [one for one in asked if not all(need & seen for need in one.gold)]
    for name, own in ways.items():
        print(line(name, asked, found(retriever, asked, own)), PAPER.get(name, ""), flush=True)
    print(f"  {len(hidden)} of {len(asked)} queries ask for a hidden tool:")
    for name in ("text", "all together, as it searches"):
        print(line(name, hidden, found(retriever, hidden, ways[name])), flush=True)


def times(retriever: Retriever, asked: Sequence[Query], model: LearnedModel) -> None:
    """What a query takes in the learned stages beyond its encoding."""
    requests = requests_of(asked[:200], "rules")
    retriever.encode([text for one in requests for text in one.texts])
    took = []
    for one in requests:
        vectors = retriever.vectors_of(one.texts)
        took.append(1000 * clocked(lambda one=one, v=vectors: model.learned(one, v)))
    median, p95 = np.quantile(took, [0.5, 0.95])
    print(f"  a query, both stages: median {median:.1f} ms, p95 {p95:.1f} ms")


def main() -> None:
    print_machine()
    trainer = Trainer(MiniLmEmbedder(), user_cache())
    for name in sys.argv[1:] or SETS:
        catalog = read_named(name)
        taught, asked = halves(dev_queries(name))
        variants = recorded_variants(name, catalog)
        retriever = retriever_of(with_variants(catalog.tools, variants))
        seen = frozenset(one for query in taught for need in query.gold for one in need)
        tools = len(catalog.tools)
        print(f"{name}: {tools:,} tools, {len(taught)} queries learned, {len(asked)} asked")
        default = LearnOptions()
        others = [LearnOptions(candidates=n) for n in CANDIDATES if n != default.candidates]
        for options in (default, LearnOptions(described=True), *others):
            start = time.perf_counter()
            model = trained_model(catalog.tools, taught, variants, options, trainer)
            took = time.perf_counter() - start
            title = f"{options.candidates} candidates, {'text' if options.described else 'usage'}"
            print(f"tables A.1 and A.2, {title}: trained in {took:.0f} s, {weights_text(model)}")
            refiner = dict(each_alone(model))["refiner"]
            print(line(title, asked, found(retriever, asked, refiner)), flush=True)
            if options == default:
                print(f"tables 1 and A.4: recall at {CUTOFFS}, interval @5, nDCG at {CUTOFFS[:3]}")
                table(retriever, asked, model, seen)
                times(retriever, asked, model)


if __name__ == "__main__":
    main()
