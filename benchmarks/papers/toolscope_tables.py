"""The tables and figures of ToolScope: selection, merging and search on its three benchmarks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import silhouette_score

from benchmarks.papers.paper_sets import BARE, DENSE, SPARSE, PaperSet, PaperTable, figures, share
from toolscope_core.evaluation.comparison import (
    GoldCall,
    gold_calls,
    mapped_arguments,
    measurement_of,
)
from toolscope_core.evaluation.measured_toolsets import Ranker, Rankings, Toolset, as_it_is, of_plan
from toolscope_core.evaluation.selection import is_correct, job_rankings, jobs_of, selected_by_model
from toolscope_core.evaluation.sweeps import FixedSettings, ablation_rows, setting_points
from toolscope_core.llm.answer_file import AnswerFile, FileLedger
from toolscope_core.llm.model_requests import ModelRequests
from toolscope_core.llm.request_workers import Item
from toolscope_core.llm.run_configuration import model_without_key
from toolscope_core.merging.analysing import plan_merge, plan_of, proposed
from toolscope_core.model.configuration import Endpoint, Knob, PlanConfig
from toolscope_core.model.protocols import Answer, Progress, Task, silent
from toolscope_core.model.search_configuration import PAPER_SEARCHES, RetrievalConfig
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.documents import tool_document

THREE = ("bfcl", "ultratool", "seal-tools")
SMALLER = {"bfcl": 0.140, "ultratool": 0.253, "seal-tools": 0.021}
CALLS = {
    "bfcl": (0.82, 0.83, 0.82),
    "ultratool": (0.91, 0.80, 0.864),
    "seal-tools": (0.95, 0.96, 0.958),
}
"""The paper's TCCR and UCC in table 9, and those in §4.2 for what occurs at most three times."""
CSR_AT = {"bfcl": 5, "ultratool": 30, "seal-tools": 30}
CSR = {
    "bfcl": (0.888, 0.938, 0.888, 0.938),
    "ultratool": (0.673, 0.743, 0.622, 0.752),
    "seal-tools": (0.694, 0.918, 0.912, 0.931),
}
"""The paper's table 3: with nothing on, with the corrected merger, with the reranker, and with
both.
"""
BM25, TFIDF, DENSE_ONLY = "BM25", "TF-IDF", "dense"
UNCORRECTED, MERGED = "merged, not corrected", "merged, all parts"
CSR_BY_K: Mapping[str, Mapping[str, Mapping[int, float]]] = {
    "bfcl": {
        BM25: {1: 0.695, 5: 0.850, 10: 0.875, 15: 0.870},
        DENSE_ONLY: {1: 0.780, 5: 0.888, 10: 0.900, 15: 0.915},
        UNCORRECTED: {1: 0.878, 5: 0.912, 10: 0.915, 15: 0.915},
        MERGED: {1: 0.860, 5: 0.938, 10: 0.935, 15: 0.940},
    },
    "ultratool": {
        BM25: {20: 0.333, 30: 0.366},
        DENSE_ONLY: {20: 0.647, 30: 0.673},
        UNCORRECTED: {20: 0.691, 30: 0.723},
        MERGED: {20: 0.702, 30: 0.752},
    },
    "seal-tools": {
        BM25: {5: 0.544, 10: 0.593, 15: 0.646, 20: 0.666, 25: 0.702, 30: 0.727},
        DENSE_ONLY: {5: 0.548, 10: 0.603, 15: 0.631, 20: 0.657, 25: 0.676, 30: 0.694},
        UNCORRECTED: {5: 0.875, 10: 0.896, 15: 0.905, 20: 0.908, 25: 0.902, 30: 0.908},
        MERGED: {5: 0.890, 10: 0.921, 15: 0.924, 20: 0.929, 25: 0.931, 30: 0.931},
    },
}
"""The paper's tables 2 and 4, with GPT-4o."""
RECALL: Mapping[str, Mapping[str, Mapping[int, float]]] = {
    "bfcl": {
        BM25: {1: 0.693, 5: 0.913, 10: 0.945},
        DENSE_ONLY: {1: 0.818, 5: 0.973, 10: 0.985},
        MERGED: {1: 0.880, 5: 0.973, 10: 0.985},
    },
    "seal-tools": {
        BM25: {5: 0.490, 10: 0.540},
        DENSE_ONLY: {5: 0.589, 10: 0.649},
        MERGED: {5: 0.884, 10: 0.935},
        "DPR, as published": {5: 0.480, 10: 0.680},
        "ToolShed, as published": {5: 0.876, 10: 0.965},
    },
}
"""The paper's table 5."""
TOKENS = {
    "bfcl": (5, 32_563, 469),
    "ultratool": (30, 136_352, 2_076),
    "seal-tools": (5, 292_107, 317),
}
GROUPS = (5, 10, 20, 40)
RARE = 3
ALL_MERGES = PlanConfig(accept="all", gateway=True)
AS_IN_PAPER = replace(PAPER_SEARCHES["toolscope"], rerank="late")
"""The paper's own search (α 1, 50 reranked, eq. 5). Its cross-encoder, ms-marco-MiniLM-L6-v2, is
not on the machine on which the printed figures were made, so late interaction is used instead.
"""
THRESHOLDS = "CSR is within .005 from .77 to .82, highest at .82, and falls above .86"
DENSE_WEIGHTS = "recall rises with α and is highest at 1"
"""What the paper says about figures 4 and 7, which have no numbers."""


class TfidfRanker:
    """Ranks tools by the cosine of TF-IDF vectors, made from the texts that BM25 reads. Each job is
    ranked separately.
    """

    def rankings(
        self,
        tools: Sequence[Tool],
        requests: Sequence[ToolRequest],
        k: int,
        progress: Progress = silent,
    ) -> Rankings:
        own = sorted(tools, key=lambda one: one.id)
        model = TfidfVectorizer().fit([tool_document(one).full for one in own])
        documents = model.transform([tool_document(one).full for one in own])
        rankings = []
        for request in requests:
            scores = (model.transform(request.texts) @ documents.T).toarray().max(axis=0)
            rankings.append(tuple(own[row].id for row in np.argsort(-scores, kind="stable")[:k]))
        return tuple(rankings)


def searches(one: PaperSet) -> Iterator[tuple[str, Toolset, Ranker]]:
    """The baselines on the original tools, our search on the original tools, and our search on the
    merged tools.
    """
    bench, plain = one.bench, as_it_is(one.bench.catalog)
    yield TFIDF, plain, TfidfRanker()
    for title, config in (
        (BM25, SPARSE),
        (DENSE_ONLY, DENSE),
        ("ours, no reranker", BARE),
        ("ours, top-1 assembly (eq. 5)", RetrievalConfig(assembly="top1")),
        ("as in the paper", AS_IN_PAPER),
        ("ours", RetrievalConfig()),
    ):
        yield title, plain, bench.ranker(config)
    analysis = bench.analysis()
    undivided = plan_of(
        analysis, proposed(analysis, (), divide=False), replace(ALL_MERGES, correct=False)
    )
    yield UNCORRECTED, of_plan(undivided, "not corrected"), bench.ranker(RetrievalConfig())
    merged = of_plan(plan_merge(analysis, (), ALL_MERGES), "merged")
    yield "merged, no reranker", merged, bench.ranker(BARE)
    yield "merged, as in the paper", merged, bench.ranker(AS_IN_PAPER)
    yield MERGED, merged, bench.ranker(RetrievalConfig())


def by_cut_off(one: PaperSet) -> Iterator[JsonObject]:
    """Table 4 and figure 6: CSR for each k, with and without the reranker. Table 5: recall for each
    k.
    """
    papers, recalls = CSR_BY_K.get(one.name, {}), RECALL.get(one.name, {})
    cutoffs = sorted({1, 5, 10, 30, *papers.get(MERGED, ())})
    trial = one.trial(cutoffs)
    for title, toolset, ranker in searches(one):
        own = measurement_of(toolset, trial, ranker, one.bench.tokens)
        for k in cutoffs:
            yield {
                "search": title,
                "k": k,
                **figures(own, (f"csr@{k}", f"recall@{k}")),
                "paper CSR": papers.get(title, {}).get(k),
                "paper recall": recalls.get(title, {}).get(k),
            }
    for title, published in recalls.items():
        if title.endswith("published"):
            yield from ({"search": title, "k": k, "paper recall": v} for k, v in published.items())


class RecordedAnswers(ModelRequests):
    """Answers from a file. ``is_whole`` says whether each of the last questions had an answer."""

    is_whole = False

    def __call__(self, task: Task[Item], items: Sequence[Item]) -> list[Answer | None]:
        answers = super().__call__(task, items)
        self.is_whole = None not in answers
        return answers


def by_recorded_model(one: PaperSet) -> Iterator[JsonObject]:
    """Table 2, with recorded choices of a language model (not GPT-4o) that saw only the prompts.

    For UltraTool, these are the requests with recorded splits, and nothing is merged. If the list
    for a request has changed since, the request counts neither in CSR nor in the oracle. The
    *oracle* takes every needed tool that is there: in the list, or among the five best for each
    step.
    """
    ledger = FileLedger(AnswerFile(SELECTIONS, is_required=True), None)
    asker = RecordedAnswers(model_without_key(RECORDED), ledger, None)
    k, bench, splits = CSR_AT[one.name], one.bench, one.split_trials()
    trial = replace(splits.get("context", one.trial((k,))), cutoffs=(k,))
    ranker = bench.ranker(RetrievalConfig())
    merged = of_plan(plan_merge(bench.analysis(), (), ALL_MERGES), MERGED)
    for toolset in (as_it_is(bench.catalog), merged)[: 1 if "context" in splits else 2]:
        own = measurement_of(toolset, trial, ranker, bench.tokens)
        by_job = job_rankings(toolset.tools, trial.requests, ranker)
        (by_rule,) = (row.values for row in own.rows if row.name == f"csr@{k}")
        rows = []
        for request, ids, gold, rule in zip(
            trial.requests, own.rankings, own.golds, by_rule, strict=True
        ):
            (choice,) = selected_by_model(toolset.tools, [request], asker, [ids[:k]])
            near = {one for job in jobs_of(request) for one in by_job[job][:5]}
            if asker.is_whole:
                oracles = (
                    all(not tools.isdisjoint(n) for n in gold) for tools in ({*ids[:k]}, near)
                )
                rows.append((is_correct(choice, gold), rule, *oracles))
        titles = (f"csr@{k}", "by rule", "oracle", "oracle of steps")
        columns = zip(*rows, strict=True) if rows else ()
        yield {
            "search": toolset.name,
            "k": k,
            "requests answered": f"{len(rows)} of {len(trial.requests)}",
            **dict(zip(titles, map(share, columns), strict=False)),
            "paper CSR, GPT-4o": CSR[one.name][3 if toolset is merged else 2],
        }


def ablation(one: PaperSet) -> Iterator[JsonObject]:
    """Table 3, and tables 6 and 9."""
    name, bench = one.name, one.bench
    k, tools = CSR_AT.get(name, 30), len(one.tools)
    trial = one.trial((k,))
    fixed = FixedSettings(trial, (), bench.tokens)
    calls = gold_calls(trial.queries, trial.catalog)
    for row in ablation_rows(bench.analysis(), fixed, bench.ranker):
        is_paper = row.merger == "none" or (row.merger == "gateway" and row.correction)
        place = 2 * row.reranker + row.correction
        yield {
            "parts": f"{'rerank ' * row.reranker}{row.merger}{' corrected' * row.correction}",
            **figures(row.measurement, (f"csr@{k}",)),
            "paper CSR": CSR[name][place] if is_paper and name in CSR else None,
            "smaller by": round(1 - len(row.measurement.toolset.tools) / tools, 4),
            "paper smaller by": SMALLER.get(name) if row.merger == "gateway" else None,
            "TCCR": row.measurement.coverage.tccr,
            "UCC": row.measurement.coverage.ucc,
            "by name, TCCR, UCC, rare": by_name(calls, row.measurement.toolset),
            "paper TCCR, UCC, rare": CALLS.get(name) if row.merger == "gateway" else None,
        }


def by_name(calls: Sequence[GoldCall], toolset: Toolset) -> list[float | None]:
    """TCCR and UCC as the paper defines them (K.1), and UCC for tools called at most ``RARE``
    times.

    A call counts if some tool declares all of its arguments, by name, after α.
    """
    declared = [{one.name for one in tool.parameters} for tool in toolset.tools]
    times = Counter((call.tool, tuple(sorted(call.arguments))) for call in calls)
    results: dict[tuple[str, tuple[str, ...]], bool] = {}
    for call in calls:
        arguments, _ = mapped_arguments(call, toolset.arguments.get(call.tool))
        capability = call.tool, tuple(sorted(call.arguments))
        results[capability] = any(set(arguments) <= names for names in declared)
    rare = [results[one] for one, count in times.items() if count <= RARE]
    every = [results[one] for one in times.elements()]
    return [
        round(sum(own) / len(own), 4) if own else None for own in (every, [*results.values()], rare)
    ]


def tokens(one: PaperSet) -> Iterator[JsonObject]:
    """Table 8: the tokens of all tools, and of the k merged tools that are found for a request."""
    bench, (k, before, after) = one.bench, TOKENS.get(one.name, (5, 0, 0))
    every = sum(map(bench.tokens, one.tools))
    merged = of_plan(plan_merge(bench.analysis(), (), ALL_MERGES), "merged")
    own = measurement_of(merged, one.trial((k,)), bench.ranker(RetrievalConfig()), bench.tokens)
    yield {
        "k": k,
        "all": every,
        "found": round(own.token_means[k]),
        "less by": round(1 - own.token_means[k] / every, 4),
        "paper": [before, after, round(1 - after / before, 4)] if before else None,
    }


def swept(one: PaperSet, knob: Knob) -> Iterator[JsonObject]:
    """Figure 4: CSR for each least cosine of merges, including those that need a gateway. Figure 7:
    recall for each α.
    """
    bench, k = one.bench, CSR_AT.get(one.name, 10)
    fixed = FixedSettings(one.trial((k,)), (), bench.tokens, ALL_MERGES, BARE, k)
    points = setting_points(bench.analysis(), fixed, bench.ranker, knob)
    for point in points:
        yield {knob: point.value, **figures(point.measurement, (f"csr@{k}", f"recall@{k}"))}
    yield {"paper": THRESHOLDS if knob == "threshold" else DENSE_WEIGHTS}


def silhouettes(one: PaperSet) -> Iterator[JsonObject]:
    """Figures 8 to 10: silhouettes of k-means on the vectors of the tools. Lower means sparser."""
    plan = plan_merge(one.bench.analysis(), (), ALL_MERGES)
    toolsets = (one.tools, of_plan(plan, "merged").tools)
    plain, merged = (np.asarray(one.retriever(tools, DENSE).vectors) for tools in toolsets)
    for groups in GROUPS:
        if groups < min(len(plain), len(merged)):
            before, after = (
                silhouette_score(own, KMeans(groups, n_init=4, random_state=0).fit_predict(own))
                for own in (plain, merged)
            )
            yield {"clusters": groups, "before": round(before, 4), "merged": round(after, 4)}


SELECTIONS = Path(__file__).parents[1] / "data" / "selections.jsonl"
RECORDED = Endpoint("http://localhost", "a language model, not GPT-4o")
"""The model that made the choices. It answered the prompts of SELECTION_TASK on 2026-11-29 without
seeing a gold answer.
"""
TABLES: Mapping[str, PaperTable] = {
    "ts-selector": PaperTable(
        "CSR where recorded choices of a model select", ("bfcl", "ultratool"), 1, by_recorded_model
    ),
    "ts-3": PaperTable("CSR, parts on and off; tables 6 and 9", THREE, 4, ablation),
    "ts-4": PaperTable("CSR by k; figure 6, recall of table 5", THREE, 8, by_cut_off),
    "ts-8": PaperTable("tokens of all tools and of those found", THREE, 1, tokens),
    "ts-figure-4": PaperTable(
        "CSR by the threshold of merges", ("seal-tools",), 4, partial(swept, knob="threshold")
    ),
    "ts-figure-7": PaperTable("recall by α", ("seal-tools",), 2, partial(swept, knob="alpha")),
    "ts-figure-8": PaperTable("silhouettes; figures 9 and 10", THREE, 2, silhouettes),
}
