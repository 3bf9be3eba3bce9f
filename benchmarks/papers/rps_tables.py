"""The tables and figures of Retrieval–Plan–Select, on UltraTool.

The paper uses 2,032 tools, gte-Qwen2-1.5B-instruct, and 1,000 queries with the 100 hardest of them.
The variants and splits used here are recorded answers of a language model. It saw no query when it
wrote the variants. In *control*, each tool is padded with random words to the length of its
variant.
"""

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from benchmarks.papers import paper_sets
from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.evaluation.intervals import paired_p, rate_text
from toolscope_core.evaluation.measured_toolsets import Toolset
from toolscope_core.evaluation.metrics import metric_rows
from toolscope_core.evaluation.stress import split_gains, stress_test
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.rps.planner import PlannerConfig, offline_planner, plan_figures
from toolscope_core.rps.rewrites import (
    RewriteEffect,
    TellingEffect,
    answers_of,
    best_rewrites,
    effects_of,
    offline_rewrites,
)
from toolscope_core.rps.telling_apart import COLLIDE, sibling_pairs
from toolscope_core.rps.variant_writing import noise_matched

VARIANTS = {
    "vanilla": "recall .184 .288, nDCG .160 .199",
    "augmented": "recall .281 .403, nDCG .241 .289",
}
"""The paper's table 5, at 5 and 10."""
LEVELS = (0, 10, 30, 50)
RANDOM = (1.0, 0.992, 0.934, 0.890)
CLOSEST = {
    "not split": (1.0, 0.857, 0.632, 0.597),
    "dummy": (1.0, 0.848, 0.732, 0.699),
    "context": (1.0, 0.859, 0.763, 0.743),
    "context, augmented": (1.0, 0.863, 0.784, 0.752),
}
"""The paper's recall in tables 6 and 7."""
RANDOM_TAKEN = (0.674, 0.645, 0.598, 0.586)
CLOSEST_TAKEN = {
    "not split": (0.635, 0.407, 0.347, 0.323),
    "dummy": (0.665, 0.449, 0.388, 0.347),
    "context": (0.799, 0.557, 0.474, 0.448),
    "context, augmented": (0.773, 0.555, 0.463, 0.432),
}
"""The paper's recall in tables 6 and 8."""
AT_ONCE, IN_ROUNDS = PlannerConfig(iterative=False), PlannerConfig()
FILTERED = PlannerConfig(is_filtered=True)
PLANS: Mapping[tuple[str, str, int, PlannerConfig], str] = {
    ("not split", "vanilla", 5, AT_ONCE): "hardest .251 / .298",
    ("not split", "vanilla", 10, AT_ONCE): "hardest .247 / .277, all .340 / .362",
    ("context", "vanilla", 5, AT_ONCE): "hardest .435 / .336, all .494 / .329",
    ("context", "vanilla", 10, AT_ONCE): "hardest .465 / .353",
    ("context", "augmented", 5, AT_ONCE): "all .392 / .353",
    ("context", "augmented", 5, IN_ROUNDS): "hardest .557 / .325",
    ("context", "augmented", 5, FILTERED): "hardest .424 / .396",
    ("gold steps", "augmented", 5, IN_ROUNDS): "hardest .640 / .359",
    ("gold steps", "augmented", 5, FILTERED): "hardest .492 / .465",
    ("dummy", "vanilla", 5, AT_ONCE): "",
    ("by rule", "vanilla", 5, AT_ONCE): "",
    ("context", "vanilla", 5, IN_ROUNDS): "",
    ("context", "vanilla", 5, FILTERED): "",
}
"""The paper's recall and F1 in tables 9 and 10, keyed by split, documents, K and way.

In rounds, the paper's K grows from 5 to 15, with several phrasings and a fallback. Without a model,
there is one round with two phrasings. The paper's row with K 5 and at most three loops (.231

.246) is not made here, because our rounds always widen.
"""


def toolsets(one: paper_sets.PaperSet) -> dict[str, Sequence[Tool]]:
    """The tools, keyed by the name of their document variant."""
    texts = one.variants()
    ways = {"vanilla": {}, "augmented": texts}
    if texts:
        ways["control"] = noise_matched(one.bench.catalog, texts)
    return {name: with_variants(one.tools, own) for name, own in ways.items()}


def references(one: paper_sets.PaperSet) -> Iterator[JsonObject]:
    """Figure 3: how many tools the queries need."""
    for tools, queries in sorted(Counter(len(query.gold) for query in one.queries).items()):
        yield {"tools needed": tools, "queries": queries}


def variants(one: paper_sets.PaperSet) -> Iterator[JsonObject]:
    """Table 5: search with each variant. Recall@10 has a p-value against vanilla. Further rows do
    the same for each split.
    """
    unsplit, splits = one.trial((1,)), one.split_trials()
    searches = {
        "dense, not split": (paper_sets.DENSE, unsplit.split_by("none")),
        "whole retriever": (RetrievalConfig(), unsplit),
        **{f"queries with splits, {way}": (RetrievalConfig(), own) for way, own in splits.items()},
    }
    tools = toolsets(one)
    for title, (config, trial) in searches.items():
        golds = [query.gold for query in trial.queries]
        base: tuple[float, ...] = ()
        for name, documents in tools.items():
            result_lists = one.retriever(documents, config).search_each(trial.requests, 10)
            rankings = [[place.tool_id for place in places] for places in result_lists]
            rows = {row.name: row for row in metric_rows(golds, rankings, (5, 10))}
            base = base or rows["recall@10"].values
            yield {
                "search": title,
                "documents": name,
                **paper_sets.intervals(
                    row for row in rows.values() if row.metric in ("recall", "ndcg")
                ),
                "p": round(paired_p(base, rows["recall@10"].values), 4),
                "paper": VARIANTS.get(name) if config is paper_sets.DENSE else None,
            }


def similarities(one: paper_sets.PaperSet) -> Iterator[JsonObject]:
    """Figure 4: the pairs of tools at or above each cosine (paper: 41.9 % fewer at .9, more below
    .8).

    Figures A1 and A2: the cosine of queries with needed tools and with others, and between tools.
    """
    texts = [query.text for query in one.queries]
    for name, tools in toolsets(one).items():
        retriever = one.retriever(tools, paper_sets.DENSE)
        vectors = retriever.vectors / np.linalg.norm(retriever.vectors, axis=1, keepdims=True)
        cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
        dense = np.array([scores for scores, _ in retriever.base_scores(texts)])
        is_needed = paper_sets.needed_by(one.queries, retriever.ids)
        yield {
            "documents": name,
            **{f"pairs from {at:g}": int((cosines >= at).sum()) for at in (0.7, 0.8, 0.85, 0.9)},
            "tool-tool": paper_sets.spread(cosines),
            "query-needed tool": paper_sets.spread(dense[is_needed]),
            "query-other tool": paper_sets.spread(dense[~is_needed]),
        }


def noise(one: paper_sets.PaperSet, *, selects: bool) -> Iterator[JsonObject]:
    """Tables 6 and 7: what is found among distractors.

    With ``selects``, tables 6 and 8: the best tool for each job, from the whole pool.
    """
    trials, tools = one.split_trials(), toolsets(one)
    papers = CLOSEST_TAKEN if selects else CLOSEST
    tests = {name: (trial, "vanilla") for name, trial in trials.items()}
    if "context" in trials and "control" in tools:
        tests |= {f"context, {own}": (trials["context"], own) for own in ("augmented", "control")}
    alone = None
    for name, (trial, documents) in tests.items():
        toolset = Toolset(name, tuple(tools[documents]))
        retriever, best = one.retriever(toolset.tools, paper_sets.DENSE), 1 if selects else None
        points = stress_test(toolset, retriever, trial, best=best)
        alone = alone or points
        for point, gain in zip(points, split_gains(points, alone), strict=True):
            is_close = point.noise == "closest"
            if point.distractors not in LEVELS or not (is_close or name == "not split"):
                continue
            paper = papers.get(name) if is_close else RANDOM_TAKEN if selects else RANDOM
            yield {
                "split": name,
                "noise": f"{point.noise} {point.distractors}",
                "recall": paper_sets.ends(point.recall),
                "F1": round(point.f1.mean, 3),
                "p no loss": round(point.p_loss, 4),
                "p against not split": [round(gain.p_one_sided, 4), round(gain.p, 4)],
                "paper recall": paper[LEVELS.index(point.distractors)] if paper else None,
            }


def plans(one: paper_sets.PaperSet) -> Iterator[JsonObject]:
    """Tables 9 and 10: the tools called in plans, with the ranking as the worker.

    Table 11: the cost of a request.
    """
    ways = {AT_ONCE: "at once", IN_ROUNDS: "K 5 to 15", FILTERED: "K 5 to 15, filtered"}
    tools, trials = toolsets(one), one.split_trials()
    search = cache(lambda documents: one.retriever(tools[documents], RetrievalConfig()))
    for (split, documents, k, config), paper in PLANS.items():
        if split not in trials:
            continue
        catalog, retriever = (
            replace(one.bench.catalog, tools=tuple(tools[documents])),
            search(documents),
        )
        planner = offline_planner(catalog, retriever, k, config)
        golds = [query.gold for query in trials[split].queries]
        own = plan_figures(planner.plans(trials[split].requests), golds, one.bench.tokens)
        yield {
            "plans": f"{split}, {documents}, K {k}, {ways[config]}",
            **{each: paper_sets.ends(getattr(own, each)) for each in ("precision", "recall", "f1")},
            "rankings": round(own.searches, 2),
            "tools shown": round(own.tools_shown, 2),
            "paper recall / F1": paper or None,
        }


def siblings(one: paper_sets.PaperSet) -> Iterator[JsonObject]:
    """Siblings that collide, with each way of telling them apart.

    This is not a table of the paper, which describes all tools anew. The requests are divided into
    three parts. A rewrite is chosen on one part and admitted on another; *nearer* and *rewrites*
    are measured on the third.
    """
    catalog: Catalog = one.bench.catalog
    analysis = one.bench.analysis()
    plan = plan_merge(analysis, (), PlanConfig())
    for threshold in (COLLIDE, 0.7):
        seen: dict[str, list[tuple[RewriteEffect, TellingEffect]]] = {}
        pairs = sibling_pairs(analysis, plan, (), threshold)
        for own in pairs:
            tools = (catalog.by_id[own.pair.left], catalog.by_id[own.pair.right])
            answers = answers_of(own.pair, one.queries)
            earlier = [answer for answer in answers if not _is_kept_back(answer[0])]
            kept_back = [answer for answer in answers if _is_kept_back(answer[0])]
            rewrites = offline_rewrites(tools, own.words)
            for best in best_rewrites(tools, rewrites, earlier, one.embed):
                new = [best.rewrite.descriptions]
                (effect,) = effects_of(tools, new, kept_back, one.embed)
                seen.setdefault(best.rewrite.way, []).append((best, effect))
        for way, measured in seen.items():
            for group, rows in (
                ("all", measured),
                ("admitted", [r for r in measured if r[0].wins]),
            ):
                effects = [effect for _, effect in rows if effect.queries]
                requests = sum(len(effect.queries) for effect in effects)
                rights = [effect.right for effect in effects]
                yield {
                    "pairs from": threshold,
                    "pairs": len(pairs),
                    "way": way,
                    "of": group,
                    "rewrites": len(rows),
                    **{
                        f"cosine {side}": paper_sets.spread(
                            [getattr(effect, side) for _, effect in rows]
                        )
                        for side in ("before", "after")
                    },
                    **{
                        f"nearer {side}": rate_text(sum(right[at] for right in rights), requests)
                        for at, side in enumerate(("before", "after"))
                    },
                    "rewrites won, even, lost": [
                        sum(int(np.sign(after - before)) == sign for before, after in rights)
                        for sign in (1, 0, -1)
                    ],
                }


def _is_kept_back(request: str) -> bool:
    """Whether the request is in the held-out third, which depends on its text."""
    return zlib.adler32(request.encode()) % 3 == 0


ULTRATOOL = ("ultratool",)
TABLES: Mapping[str, paper_sets.PaperTable] = {
    "rps-5": paper_sets.PaperTable("search by document variant", ULTRATOOL, 3, variants),
    "rps-7": paper_sets.PaperTable(
        "recall among distractors; table 6", ULTRATOOL, 2, partial(noise, selects=False)
    ),
    "rps-8": paper_sets.PaperTable(
        "selection among distractors; table 6", ULTRATOOL, 2, partial(noise, selects=True)
    ),
    "rps-10": paper_sets.PaperTable("plans; tables 9 and 11", ULTRATOOL, 4, plans),
    "rps-figure-3": paper_sets.PaperTable("tools that queries need", ULTRATOOL, 1, references),
    "rps-figure-4": paper_sets.PaperTable(
        "tools and queries nearer or farther by variants; figures A1, A2",
        ULTRATOOL,
        1,
        similarities,
    ),
    "rps-siblings": paper_sets.PaperTable(
        "siblings described apart", (*ULTRATOOL, "livemcpbench"), 4, siblings
    ),
}
