"""Retrieval–Plan–Select on UltraTool: document variants, their control, splits, the bound.

    TOOLSCOPE_DATA=../shared/data python -m benchmarks.rps

The variants and the splits are recorded answers of a language model (``augmented.jsonl``,
``plans.dev.jsonl``); it saw no query when it wrote the variants. Beside the paper's figures
(tables 5, 7 and 9, figure 4), which are of 2,032 tools, gte-Qwen2-1.5B-instruct, 1,000 queries and
its 100 hardest; ours are MiniLM, 1,323 tools and the development queries. *Control* pads each tool
with random words to the length of its variant; *synonyms* and *from arguments* are variants made
without a model, which are off because they do not help.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from toolscope_core.catalog.document_variants import read_variants, with_variants
from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import load_paths
from toolscope_core.embedding.tool_text import split_name
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.comparison import Trial, request_of
from toolscope_core.evaluation.intervals import paired_p
from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.evaluation.metrics import Gold
from toolscope_core.evaluation.query_sets import Query, read_queries
from toolscope_core.evaluation.reports import MetricRow, metric_rows
from toolscope_core.evaluation.stress import WHOLE_K, set_metrics, stress_test
from toolscope_core.files.json_lines import read_rows
from toolscope_core.judging.vocabulary import base_forms
from toolscope_core.judging.wordnet import tables
from toolscope_core.llm.embedders import embedder_of
from toolscope_core.merging.pipeline import analyse, plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig, PlanConfig, RetrievalConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.protocols import Embedder
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

DENSE = RetrievalConfig(dense_weight=1.0, rerank="none")
DEFAULT = RetrievalConfig()
SHOWN = ("recall@5", "recall@10", "ndcg@5", "ndcg@10")
PAPER = {
    "vanilla": "paper .184 / .288 / .160 / .199",
    "augmented": "paper .281 / .403 / .241 / .289",
}
LEVELS = (0, 10, 30, 50)
NOISY = {
    "RAG only": "paper 1.000  0.857  0.632  0.597",
    "dummy": "paper 1.000  0.848  0.732  0.699",
    "context": "paper 1.000  0.859  0.763  0.743",
    "context, augmented": "paper 1.000  0.863  0.784  0.752",
}
DIFFICULT = 4
"""Gold tools of a difficult query, at least (paper, §4.2)."""
MOST_SYNONYMS = 3


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


def measured(
    tools: Sequence[Tool],
    trial: Trial,
    config: RetrievalConfig,
    embedder: Embedder,
    cache: VectorCache,
) -> dict[str, MetricRow]:
    """The metrics of a trial, by name."""
    retriever = Retriever(tools, embedder, cache, config)
    places = retriever.search_each(trial.requests, 10)
    rankings = [[place.tool_id for place in ranking] for ranking in places]
    rows = metric_rows([one.gold for one in trial.queries], rankings, (1, 5, 10))
    return {row.name: row for row in rows}


def line(name: str, rows: Mapping[str, MetricRow], base: Mapping[str, MetricRow]) -> str:
    figures = "  ".join(f"{rows[key].interval.mean:.3f}" for key in SHOWN)
    low, high = rows["recall@10"].interval.low, rows["recall@10"].interval.high
    p = paired_p(base["recall@10"].values, rows["recall@10"].values)
    return f"  {name:22} {figures}   @10 [{low:.3f}, {high:.3f}]  p {p:.4f}"


def table_5(
    trial: Trial, tools: Mapping[str, Sequence[Tool]], embedder: Embedder, cache: VectorCache
) -> None:
    queries = replace(trial, requests=tuple(map(request_of("none"), trial.queries)))
    for title, config, asked in (
        ("dense alone, not split", DENSE, queries),
        ("the whole retriever", DEFAULT, trial),
    ):
        print(f"table 5, {title}: {' / '.join(SHOWN)}; p of recall@10 against vanilla")
        base = measured(tools["vanilla"], asked, config, embedder, cache)
        for name, own in tools.items():
            rows = measured(own, asked, config, embedder, cache)
            print(f"{line(name, rows, base)}  {PAPER.get(name, '')}", flush=True)


def split_requests(
    trial: Trial, plans: Mapping[str, Mapping[str, Sequence[str]]]
) -> dict[str, Trial]:
    """The trial split in each way, by its name."""
    ways = {"RAG only": trial.split_by("none"), "by rule": trial.split_by("rules")}
    for kind in ("dummy", "context"):
        requests = [
            ToolRequest(one.text, tuple(plans[one.id][kind]), by_rule=False)
            for one in trial.queries
        ]
        ways[kind] = replace(trial, requests=tuple(requests))
    return {**ways, "gold steps (bound)": trial.split_by("steps")}


def table_7(
    ways: Mapping[str, Trial],
    tools: Mapping[str, Sequence[Tool]],
    embedder: Embedder,
    cache: VectorCache,
) -> None:
    """Recall among the closest distractors, and F1 among the most of them."""
    for name, own, asked in (
        ("RAG only", "vanilla", ways["RAG only"]),
        ("dummy", "vanilla", ways["dummy"]),
        ("context", "vanilla", ways["context"]),
        ("context, augmented", "augmented", ways["context"]),
        ("context, control", "control", ways["context"]),
    ):
        toolset = Toolset(name, tuple(tools[own]))
        retriever = Retriever(toolset.tools, embedder, cache, RetrievalConfig(rerank="none"))
        points = {
            one.distractors: one
            for one in stress_test(toolset, retriever, asked).points
            if one.noise == "closest"
        }
        recalls = "  ".join(f"{points[at].recall.mean:.3f}" for at in LEVELS)
        low, high = points[50].recall.low, points[50].recall.high
        print(
            f"  {name:22} {recalls}  [{low:.3f}, {high:.3f}]  F1 {points[50].f1.mean:.3f}"
            f"   {NOISY.get(name, '')}",
            flush=True,
        )


def called_tools(
    catalog: Catalog,
    ways: Mapping[str, Trial],
    tools: Mapping[str, Sequence[Tool]],
    embedder: Embedder,
    cache: VectorCache,
) -> None:
    """Tools that the plans of the requests call, offline, as sets over all steps; what is searched
    for a request (table 11).
    """
    variants = {"once": PlanOptions(iterative=False), "iterative": PlanOptions()}
    variants["iterative, filter"] = PlanOptions(is_filtered=True)
    for name in ("vanilla", "augmented"):
        found = replace(catalog, tools=tuple(tools[name]))
        retriever = Retriever(found.tools, embedder, cache, DEFAULT)
        for way, trial in ways.items():
            k = WHOLE_K if way == "RAG only" else WORKER_K
            golds = [one.gold for one in trial.queries]
            for title, options in variants.items():
                if way == "RAG only" and options.iterative:
                    continue
                plans = offline_planner(found, retriever, k, options).plans(trial.requests)
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


def told_apart(
    catalog: Catalog, queries: Sequence[Query], embedder: Embedder, cache: VectorCache
) -> None:
    """Siblings that collide, with their distinguishing words in front (no model)."""
    analysis = analyse(catalog, AnalysisConfig(), embedder, cache)
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


def variants_of(catalog: Catalog, folder: Path) -> dict[str, Sequence[Tool]]:
    """By the name of a document variant the tools with it."""
    written = read_variants(folder / "augmented.jsonl", catalog).by_id
    ways: dict[str, Mapping[str, Augmentation]] = {
        "vanilla": {},
        "augmented": written,
        "control": noise_matched(catalog, written),
        "synonyms": {one.id: with_synonyms(one) for one in catalog.tools},
        "from arguments": {one.id: from_arguments(one) for one in catalog.tools},
    }
    return {name: with_variants(catalog.tools, own) for name, own in ways.items()}


def main() -> None:
    settings = read_environment()
    print(f"{platform.platform()}, {platform.processor() or platform.machine()}")
    folder = Path(settings.data_dir) / "ultratool"
    catalog = read_isolated(load_paths([folder / "tools.jsonl"]))
    embedder, cache = embedder_of(settings), VectorCache(settings.cache_dir)
    queries = read_queries(folder / "queries.dev.jsonl")
    trial = Trial.of(catalog, queries, request_of("rules"), (1, 5, 10))
    tools = variants_of(catalog, folder)
    print(f"ultratool: {len(catalog.tools):,} tools, {len(trial.queries):,} queries")
    table_5(trial, tools, embedder, cache)
    print("figure 4: pairs of tools with a cosine of so much (paper: -41.9 % at .9, more below .8)")
    for name, own in tools.items():
        print(f"  {name:22} {collisions(Retriever(own, embedder, cache, DENSE))}", flush=True)
    print("siblings told apart by their own words in front (no model)")
    told_apart(catalog, queries, embedder, cache)
    plans = {row["id"]: row for _, row in read_rows(folder / "plans.dev.jsonl")}
    planned = [one for one in trial.queries if one.id in plans]
    for title, some in (
        ("queries with recorded splits", planned),
        (
            f"difficult ones, {DIFFICULT} gold tools and more",
            [one for one in planned if len(one.gold) >= DIFFICULT],
        ),
    ):
        ways = split_requests(Trial.of(catalog, some, request_of("none"), (1, 5, 10)), plans)
        print(f"table 7, {len(some)} {title}: recall among {LEVELS} closest distractors")
        table_7(ways, tools, embedder, cache)
        print(
            "tables 9 to 11, offline: precision, recall, F1 of what is called; of all candidates; "
            "searches and tools shown a request"
        )
        print("  paper (GPT-4o-mini), all queries: RAG only, 10: recall .340, F1 .362;")
        print("  context, 5: .494, .329; with variants .392, .353; the 100 hardest: .247 to .557")
        called_tools(catalog, ways, tools, embedder, cache)
        print(f"the whole retriever, the same {len(some)}: {' / '.join(SHOWN)}")
        for name, own in tools.items():
            if name not in ("vanilla", "augmented"):
                continue
            base = measured(own, ways["RAG only"], DEFAULT, embedder, cache)
            for way, asked in ways.items():
                rows = measured(own, asked, DEFAULT, embedder, cache)
                print(line(f"{name}, {way}", rows, base), flush=True)


if __name__ == "__main__":
    main()
