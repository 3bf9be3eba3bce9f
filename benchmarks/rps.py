"""Retrieval–Plan–Select on UltraTool: document variants, their control, splits, the bound.

    python -m benchmarks.rps

The variants and the splits are recorded answers of a language model (``augmented.jsonl``,
``plans.dev.jsonl``); it saw no query when it wrote the variants. Beside the paper's figures
(tables 5, 7 and 9, figure 4), which are of 2,032 tools, gte-Qwen2-1.5B-instruct, 1,000 queries and
its 100 hardest; ours are MiniLM, 1,323 tools and the development queries. *Control* pads each tool
with random words to the length of its variant; *synonyms* and *from arguments* are variants made
without a model, which are off because they do not help.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.measuring import analysis_of, print_machine, read_named
from benchmarks.searching import (
    DEFAULT,
    judged_queries,
    planned_queries,
    rankings_of,
    recorded_variants,
    requests_of,
    retriever_of,
    split_ways,
)
from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.tool_text import split_name
from toolscope_core.evaluation.comparison import Trial
from toolscope_core.evaluation.intervals import paired_p
from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.reports import MetricRow, metric_rows
from toolscope_core.evaluation.stress import WHOLE_K, set_metrics, stress_test
from toolscope_core.judging.wordnet import tables
from toolscope_core.judging.words import base_forms
from toolscope_core.merging.pipeline import plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig, RetrievalConfig
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.rps.control import noise_matched
from toolscope_core.rps.planner import WORKER_K, PlanOptions, offline_planner
from toolscope_core.rps.telling_apart import (
    COLLIDE,
    answers_of,
    effect_of,
    offline_descriptions,
    sibling_pairs,
)

SET = "ultratool"
DENSE = RetrievalConfig(dense_weight=1.0, rerank="none")
PLAIN = RetrievalConfig(rerank="none")
SHOWN = ("recall@5", "recall@10", "ndcg@5", "ndcg@10")
PAPER = {
    "vanilla": "paper .184 / .288 / .160 / .199",
    "augmented": "paper .281 / .403 / .241 / .289",
}
LEVELS = (0, 10, 30, 50)
NOISY = {
    "not split": "paper 1.000  0.857  0.632  0.597",
    "dummy": "paper 1.000  0.848  0.732  0.699",
    "context": "paper 1.000  0.859  0.763  0.743",
    "context, augmented": "paper 1.000  0.863  0.784  0.752",
}
DIFFICULT = 4
"""Gold tools of a difficult query, at least (paper, §4.2)."""
MOST_SYNONYMS = 3


Variants = Mapping[str, Sequence[Tool]]
"""By the name of a document variant the tools with it."""
Ways = Mapping[str, Sequence[ToolRequest]]
"""By the name of a way to split them the requests."""


def main() -> None:
    print_machine()
    catalog, queries = read_named(SET), judged_queries(SET)
    tools = variants_of(catalog)
    print(f"{SET}: {len(catalog.tools):,} tools, {len(queries):,} queries")
    table_5(queries, tools)
    print("figure 4: pairs of tools with a cosine of so much (paper: -41.9 % at .9, more below .8)")
    for name, own in tools.items():
        print(f"  {name:22} {collisions(retriever_of(own, DENSE))}", flush=True)
    print("siblings told apart by their own words in front (no model)")
    told_apart(catalog, queries)
    planned = planned_queries(SET)
    difficult = [query for query in planned if len(query.gold) >= DIFFICULT]
    for title, some in (
        ("queries with recorded splits", planned),
        (f"difficult ones, {DIFFICULT} gold tools and more", difficult),
    ):
        ways = split_ways(SET, some)
        print(f"table 7, {len(some)} {title}: recall among {LEVELS} closest distractors")
        table_7(catalog, some, ways, tools)
        print(
            "tables 9 to 11, offline: precision, recall, F1 of what is called; of all candidates; "
            "searches and tools shown a request"
        )
        print("  paper (GPT-4o-mini), all queries: RAG only, 10: recall .340, F1 .362;")
        print("  context, 5: .494, .329; with variants .392, .353; the 100 hardest: .247 to .557")
        called_tools(catalog, some, ways, tools)
        print(f"the whole retriever, the same {len(some)}: {' / '.join(SHOWN)}")
        for name in ("vanilla", "augmented"):
            print_lines(some, ((f"{name}, {way}", tools[name], ways[way]) for way in ways), DEFAULT)


def variants_of(catalog: Catalog) -> Variants:
    written = recorded_variants(SET, catalog)
    ways: dict[str, Mapping[str, Augmentation]] = {
        "vanilla": {},
        "augmented": written,
        "control": noise_matched(catalog, written),
        "synonyms": {one.id: with_synonyms(one) for one in catalog.tools},
        "from arguments": {one.id: from_arguments(one) for one in catalog.tools},
    }
    return {name: with_variants(catalog.tools, own) for name, own in ways.items()}


def with_synonyms(tool: Tool) -> Augmentation:
    """The description and WordNet's synonyms of the words of the name."""
    groups: dict[int, list[str]] = {}
    for word, numbers in tables().synonyms.items():
        for number in numbers:
            groups.setdefault(number, []).append(word)
    synonyms: list[str] = []
    for word in split_name(tool.name):
        forms = base_forms(word)
        near = [w for f in forms for n in tables().synonyms.get(f, ()) for w in groups[n]]
        synonyms += [one for one in dict.fromkeys(near) if one != word][:MOST_SYNONYMS]
    return Augmentation(f"{tool.description} {' '.join(synonyms)}")


def from_arguments(tool: Tool) -> Augmentation:
    """The description, and the name with each argument in place of questions."""
    name = " ".join(split_name(tool.name))
    arguments = [" ".join(split_name(one.name)) for one in tool.parameters[:4]]
    return Augmentation(tool.description, (name, *(f"{name} by {one}" for one in arguments)))


def collisions(retriever: Retriever) -> str:
    """How many pairs have a cosine of so much."""
    vectors = retriever.vectors / np.linalg.norm(retriever.vectors, axis=1, keepdims=True)
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    counts = (f"{int((cosines >= at).sum()):6,} at {at:g}" for at in (0.7, 0.8, 0.85, 0.9))
    return "  ".join(counts)


def print_lines(
    queries: Sequence[Query],
    searches: Iterator[tuple[str, Sequence[Tool], Sequence[ToolRequest]]],
    config: RetrievalConfig,
) -> None:
    """The metrics of each search, by its name, tools and requests, beside the first."""
    base: MetricRow | None = None
    golds = [query.gold for query in queries]
    for name, tools, requests in searches:
        rankings = rankings_of(retriever_of(tools, config), requests, 10)
        rows = {row.name: row for row in metric_rows(golds, rankings, (1, 5, 10))}
        at_10 = rows["recall@10"]
        base = base or at_10
        figures = "  ".join(f"{rows[key].interval.mean:.3f}" for key in SHOWN)
        low, high = at_10.interval.low, at_10.interval.high
        print(
            f"  {name:22} {figures}   @10 [{low:.3f}, {high:.3f}]  "
            f"p {paired_p(base.values, at_10.values):.4f}  {PAPER.get(name, '')}",
            flush=True,
        )


def table_5(queries: Sequence[Query], tools: Variants) -> None:
    for title, config, requests in (
        ("dense alone, not split", DENSE, requests_of(queries, "none")),
        ("the whole retriever", DEFAULT, requests_of(queries, "rules")),
    ):
        print(f"table 5, {title}: {' / '.join(SHOWN)}; p of recall@10 against vanilla")
        print_lines(queries, ((name, own, requests) for name, own in tools.items()), config)


def table_7(catalog: Catalog, queries: Sequence[Query], ways: Ways, tools: Variants) -> None:
    """Recall among the closest distractors, and F1 among the most of them."""
    for name, variant, way in (
        ("not split", "vanilla", "not split"),
        ("dummy", "vanilla", "dummy"),
        ("context", "vanilla", "context"),
        ("context, augmented", "augmented", "context"),
        ("context, control", "control", "context"),
    ):
        toolset = Toolset(name, tuple(tools[variant]))
        trial = Trial(catalog, tuple(queries), tuple(ways[way]), (1, 5, 10))
        test = stress_test(toolset, retriever_of(toolset.tools, PLAIN), trial)
        points = {one.distractors: one for one in test if one.noise == "closest"}
        recalls = "  ".join(f"{points[at].recall.mean:.3f}" for at in LEVELS)
        low, high = points[50].recall.low, points[50].recall.high
        print(
            f"  {name:22} {recalls}  [{low:.3f}, {high:.3f}]  F1 {points[50].f1.mean:.3f}"
            f"   {NOISY.get(name, '')}",
            flush=True,
        )


def called_tools(catalog: Catalog, queries: Sequence[Query], ways: Ways, tools: Variants) -> None:
    """Tools that the plans of the requests call, offline, as sets over all steps; what is searched
    for a request (table 11).
    """
    golds = [query.gold for query in queries]
    once, iterative = PlanOptions(iterative=False), PlanOptions()
    filtered = PlanOptions(is_filtered=True)
    steps = {"once": once, "iterative": iterative, "iterative, filter": filtered}
    for name in ("vanilla", "augmented"):
        searched = replace(catalog, tools=tuple(tools[name]))
        retriever = retriever_of(searched.tools)
        for way, requests in ways.items():
            is_split = way != "not split"
            k = WORKER_K if is_split else WHOLE_K
            for title, options in (steps if is_split else {"once": once}).items():
                plans = offline_planner(searched, retriever, k, options).plans(requests)
                everything = [
                    {one.tool.id for step in plan.steps for one in step.candidates}
                    for plan in plans
                ]
                called = [set(plan.tool_ids) for plan in plans]
                searches = np.mean([plan.searches for plan in plans])
                shown = np.mean([plan.tools_shown for plan in plans])
                print(
                    f"  {f'{name}, {way}, {title}':46} {sets(called, golds)}   "
                    f"{sets(everything, golds)}   {searches:4.1f}  {shown:4.1f}",
                    flush=True,
                )


def sets(found: Sequence[set[str]], golds: Sequence[Gold]) -> str:
    """The mean precision, recall and F1 of sets of tools."""
    rows = [set_metrics(own, gold) for own, gold in zip(found, golds, strict=True)]
    return "  ".join(f"{np.mean(column):.3f}" for column in zip(*rows, strict=True))


def told_apart(catalog: Catalog, queries: Sequence[Query]) -> None:
    """Siblings that collide, with their distinguishing words in front (no model)."""
    analysis, embedder = analysis_of(catalog), MiniLmEmbedder()
    plan = plan_merge(analysis, (), PlanConfig())
    for least in (COLLIDE, 0.7):
        effects = []
        for one in sibling_pairs(analysis, plan, (), least):
            left, right = (catalog.by_id[i] for i in (one.pair.left, one.pair.right))
            asked = answers_of(one.pair, queries)
            written = offline_descriptions(catalog, one)
            effects.append(effect_of((left, right), written, asked, embedder.encode))
        before, after = (np.array([getattr(e, w) for e in effects]) for w in ("before", "after"))
        margins = np.array([(q.before, q.after) for e in effects for q in e.queries])
        nearer, margin = (margins > 0).mean(axis=0), margins.mean(axis=0)
        print(
            f"  {len(effects)} pairs at {least} or closer: mean cosine {before.mean():.3f} -> "
            f"{after.mean():.3f}, {(after >= least).mean():.0%} still so close; {len(margins)} "
            f"requests of one of them nearer to it {nearer[0]:.3f} -> {nearer[1]:.3f}, by "
            f"{margin[0]:.3f} -> {margin[1]:.3f}"
        )


if __name__ == "__main__":
    main()
