"""The tables and figures of the papers that can be made here without a model, ours beside theirs.

    python -m benchmarks.papers [TABLE …] [--sets NAME …] [--json]
    python -m benchmarks.papers --list

``--list`` names every table with its data, the minutes that it takes, and of those that are missing
why. What differs in all of them: the judge of merges is offline and the encoder MiniLM, where the
papers ask GPT-4o and embed with gte; the queries are the development part of each benchmark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.measuring import catalog_file, data_folder, parser_of, print_machine
from toolscope_core.evaluation.call_coverage import GoldCall, gold_calls, mapped
from toolscope_core.evaluation.comparison import Measured, measured, request_of
from toolscope_core.evaluation.laboratory import ExperimentOptions, Laboratory
from toolscope_core.evaluation.measured_toolsets import Toolset, as_it_is
from toolscope_core.evaluation.reports import MetricRow, metric_rows
from toolscope_core.evaluation.stress import split_gains, stress_test
from toolscope_core.evaluation.sweeps import Standing, ablation_rows, setting_points
from toolscope_core.model.configuration import (
    PAPER_SEARCHES,
    Knob,
    PlanConfig,
    RetrievalConfig,
    Split,
)
from toolscope_core.model.environment import read_environment
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.retrieval.servers import ServerRetriever
from toolscope_core.rps.plan_figures import plan_figures
from toolscope_core.rps.planner import PlanOptions, offline_planner

THREE = ("bfcl", "ultratool", "seal-tools")
SMALLER = {"bfcl": 0.140, "ultratool": 0.253, "seal-tools": 0.021}
CALLS = {"bfcl": (0.82, 0.83), "ultratool": (0.91, 0.80), "seal-tools": (0.95, 0.96)}
CSR_AT = {"bfcl": 5, "ultratool": 30, "seal-tools": 30}
CSR = {
    "bfcl": (0.888, 0.938, 0.888, 0.938),
    "ultratool": (0.673, 0.743, 0.622, 0.752),
    "seal-tools": (0.694, 0.918, 0.912, 0.931),
}
"""Table 3: nothing on, the corrected merger, the reranker, both."""
CSR_BY_K = {
    "bfcl": {5: 0.938, 10: 0.935, 15: 0.940},
    "ultratool": {20: 0.702, 30: 0.752},
    "seal-tools": {5: 0.890, 10: 0.921, 15: 0.924, 30: 0.931},
}
"""Table 4, GPT-4o, all parts on."""
RECALL = {"bfcl": {1: 0.880, 5: 0.973, 10: 0.985}, "seal-tools": {5: 0.884, 10: 0.935}}
TOKENS = {
    "bfcl": (5, 32_563, 469),
    "ultratool": (30, 136_352, 2_076),
    "seal-tools": (5, 292_107, 317),
}
CLOSEST = (0.857, 0.632, 0.597)
"""Table 7 at 10, 30 and 50 of the closest, not split; its splits by a model are in
``benchmarks.rps``.
"""
MERGED = PlanConfig(accept="all", routers=True)
ALL_PARTS = RetrievalConfig()
BARE = RetrievalConfig(rerank="none")

Rows = Callable[[Laboratory, str], Iterator[JsonObject]]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table or figure: what it shows, on which sets, about how many minutes all of them take on
    two idle cores, and what makes its rows; ``missing`` says why nothing does.
    """

    what: str
    sets: tuple[str, ...] = THREE
    minutes: int = 1
    rows: Rows | None = None
    missing: str = ""


def ablation(laboratory: Laboratory, name: str) -> Iterator[JsonObject]:
    """Table 3, and 6 and 9 with it."""
    k, tools = CSR_AT.get(name, 30), len(laboratory.catalog.tools)
    trial = laboratory.trial((k,))
    standing = Standing(trial, (), laboratory.tokens)
    calls = gold_calls(trial.queries, trial.catalog)
    for row in ablation_rows(laboratory.analysis(None), standing, laboratory.ranker):
        is_paper = row.merger == "none" or (row.merger == "gateway" and row.correction)
        place = 2 * row.reranker + row.correction
        yield {
            "parts": f"{'rerank ' * row.reranker}{row.merger}{' corrected' * row.correction}",
            **figures(row.measured, (f"csr@{k}",)),
            "paper CSR": CSR[name][place] if is_paper and name in CSR else None,
            "smaller by": round(1 - len(row.measured.toolset.tools) / tools, 4),
            "paper smaller by": SMALLER.get(name) if row.merger == "gateway" else None,
            "TCCR": row.measured.coverage.tccr,
            "UCC": row.measured.coverage.ucc,
            "TCCR by name": by_name(calls, row.measured.toolset),
            "paper TCCR, UCC": CALLS.get(name) if row.merger == "gateway" else None,
        }


def by_cut_off(laboratory: Laboratory, name: str) -> Iterator[JsonObject]:
    """Table 4 and figure 6: CSR by k, with and without the reranker; table 5: recall by k."""
    paper, recalls = CSR_BY_K.get(name, {}), RECALL.get(name, {})
    cutoffs = sorted({1, 5, 10, 15, 20, 30, *paper})
    trial = laboratory.trial(cutoffs)
    for title, config in (("all parts", ALL_PARTS), ("no reranker", BARE)):
        ranker = laboratory.ranker(config)
        own = measured(as_it_is(laboratory.catalog), trial, ranker, laboratory.tokens)
        for k in cutoffs:
            yield {
                "search": title,
                "k": k,
                **figures(own, (f"csr@{k}", f"recall@{k}")),
                "paper CSR": paper.get(k),
                "paper recall": recalls.get(k),
            }


def tokens(laboratory: Laboratory, name: str) -> Iterator[JsonObject]:
    """Table 8: tokens of all tools, and of the k that a request finds."""
    k, before, after = TOKENS.get(name, (5, None, None))
    own = measured(
        as_it_is(laboratory.catalog), laboratory.trial((k,)), laboratory.ranker(BARE),
        laboratory.tokens,
    )  # fmt: skip
    yield {
        "k": k,
        "all": own.tokens,
        "found": round(own.sent[k]),
        "less by": round(1 - own.sent[k] / own.tokens, 4),
        "paper": None
        if before is None or after is None
        else [before, after, round(1 - after / before, 4)],
    }


def thresholds(laboratory: Laboratory, name: str) -> Iterator[JsonObject]:
    """Figure 4: CSR by the least cosine of merges, with those that need a gateway."""
    yield from swept(laboratory, name, "theta")


def alphas(laboratory: Laboratory, name: str) -> Iterator[JsonObject]:
    """Figure 7: recall by the weight of dense scores."""
    yield from swept(laboratory, name, "alpha")


def swept(laboratory: Laboratory, name: str, knob: Knob) -> Iterator[JsonObject]:
    k = CSR_AT.get(name, 10)
    standing = Standing(laboratory.trial((k,)), (), laboratory.tokens, MERGED, BARE, k)
    analysis = laboratory.analysis(None)
    for point in setting_points(analysis, standing, laboratory.ranker, knob):
        yield {knob: point.value, **figures(point.measured, (f"csr@{k}", f"recall@{k}"))}


def stress(laboratory: Laboratory, name: str) -> Iterator[JsonObject]:
    """RPS, tables 6 and 7: recall among distractors by cosine alone."""
    trial, toolset = laboratory.trial((1,)), as_it_is(laboratory.catalog)
    config = PAPER_SEARCHES["rps"]
    retriever = Retriever(toolset.tools, laboratory.embedder, laboratory.cache, config)
    alone = stress_test(toolset, retriever, trial.split_by("none"))
    splits: Sequence[Split] = ("none", "rules", "steps")
    for split in splits:
        points = alone
        if split != "none":
            points = stress_test(toolset, retriever, trial.split_by(split))
        paper = dict(zip((10, 30, 50), CLOSEST if split == "none" else (), strict=False))
        for point, gain in zip(points, split_gains(points, alone), strict=True):
            yield {
                "split": split,
                "noise": f"{point.noise} {point.distractors}",
                "recall": interval_of(point.recall),
                "F1": round(point.f1.mean, 3),
                "p no loss": round(point.p_loss, 4),
                "p against none": [round(gain.p_one_sided, 4), round(gain.p, 4)],
                "paper recall": paper.get(point.distractors) if point.noise == "closest" else None,
            }


def plans(laboratory: Laboratory, name: str) -> Iterator[JsonObject]:
    """RPS, tables 9 and 10, with the ranking as the worker."""
    queries = laboratory.trial((1,)).queries
    retriever = Retriever(laboratory.catalog.tools, laboratory.embedder, laboratory.cache, BARE)
    ways: Sequence[tuple[str, Split, int, bool]] = (
        ("not split, K 10", "none", 10, False),
        ("by rule, K 5", "rules", 5, False),
        ("reference plan, K 5, several phrasings", "steps", 5, True),
    )
    for title, split, k, is_iterative in ways:
        options = PlanOptions(iterative=is_iterative)
        planner = offline_planner(laboratory.catalog, retriever, k, options)
        made = planner.plans(list(map(request_of(split), queries)))
        own = plan_figures(made, [query.gold for query in queries], laboratory.tokens)
        yield {
            "configuration": title,
            **{one: interval_of(getattr(own, one)) for one in ("precision", "recall", "f1")},
            "rankings": round(own.searches, 2),
            "tools shown": round(own.tools_shown, 2),
        }


def servers(laboratory: Laboratory, name: str) -> Iterator[JsonObject]:
    """Tool-to-Agent, table 1: algorithm 1, and our search, by the steps of the queries."""
    owners = {tool.id: tool.owner for tool in laboratory.catalog.tools}
    queries = [one for one in laboratory.trial((1,)).queries if one.server_gold(owners)]
    requests = list(map(request_of("steps"), queries))
    golds = [query.server_gold(owners) for query in queries]
    for title, config, paper in (
        ("algorithm 1", PAPER_SEARCHES["tool-to-agent"], "recall .61 .77 .83, nDCG .61 .56 .46"),
        ("ours", RetrievalConfig(), None),
    ):
        retriever = ServerRetriever(
            laboratory.catalog, laboratory.embedder, laboratory.cache, config
        )
        found = [[one.server for one in places] for places in retriever.search_each(requests, 5)]
        rows = metric_rows(golds, found, (1, 3, 5))
        shown = [row for row in rows if row.metric in ("recall", "map", "ndcg")]
        yield {"search": title, **named(shown), "paper": paper}


def by_name(calls: Sequence[GoldCall], toolset: Toolset) -> float | None:
    """TCCR as the paper has it (K.1): some tool declares all arguments of the call, by name, after
    α.
    """
    if not calls:
        return None
    declared = [{one.name for one in tool.parameters} for tool in toolset.tools]
    kept = 0
    for call in calls:
        arguments, _ = mapped(call, toolset.arguments.get(call.tool))
        kept += any(set(arguments) <= names for names in declared)
    return kept / len(calls)


def figures(own: Measured, names: Sequence[str]) -> JsonObject:
    rows = [row for row in own.rows if row.name in names]
    return {"tools": len(own.toolset.tools), **named(rows)}


def named(rows: Iterable[MetricRow]) -> JsonObject:
    return {row.name: interval_of(row.interval) for row in rows}


def interval_of(interval: object) -> list[float]:
    return [round(float(getattr(interval, end)), 3) for end in ("mean", "low", "high")]


NO_MODEL = "needs a language model; there is none here"
TABLES: Mapping[str, PaperTable] = {
    "ts-2": PaperTable("CSR by language model", missing=NO_MODEL + ": evaluate --select model"),
    "ts-3": PaperTable("CSR, parts on and off; tables 6 and 9", minutes=4, rows=ablation),
    "ts-4": PaperTable("CSR by k; figure 6, recall of table 5", minutes=3, rows=by_cut_off),
    "ts-8": PaperTable("tokens of all tools and of those found", rows=tokens),
    "ts-10": PaperTable(
        "merges read by people", missing="48 clusters and their readers are not public"
    ),
    "ts-11": PaperTable("CSR by model of the merger", missing=NO_MODEL),
    "ts-12": PaperTable("answers of an agent", missing=NO_MODEL + ": run-agent"),
    "ts-figure-4": PaperTable("CSR by the threshold of merges", ("seal-tools",), 4, thresholds),
    "ts-figure-7": PaperTable("recall by α", ("seal-tools",), 2, alphas),
    "rps-3": PaperTable(
        "plans by encoder", missing="sweep --move encoder; no other encoder is here"
    ),
    "rps-5": PaperTable("variants", missing="with recorded variants: python -m benchmarks.rps"),
    "rps-7": PaperTable("recall among distractors; table 6", ("ultratool",), 2, stress),
    "rps-8": PaperTable("selection among distractors", missing=NO_MODEL),
    "rps-10": PaperTable("plans; table 9, 11", ("ultratool",), 2, plans),
    "t2v-1": PaperTable("learned search", missing="made by python -m benchmarks.usage_quality"),
    "t2v-5.1": PaperTable("tuned embedder", missing="made by python -m benchmarks.encoder_tuning"),
    "t2a-1": PaperTable("servers for a request", ("livemcpbench",), 1, servers),
    "t2a-2": PaperTable("the same by encoder", missing="no other encoder is here"),
}


def laboratory_of(name: str) -> Laboratory:
    options = ExperimentOptions(data_folder(name) / "queries.dev.jsonl", skip_unknown=True)
    return Laboratory([catalog_file(name)], options, read_environment())


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--sets", nargs="*", default=[])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    if unknown := set(given.tables) - TABLES.keys():
        parser.error(f"there is no table {min(unknown)!r}; give some of {', '.join(TABLES)}")
    if given.list:
        for name, table in TABLES.items():
            how = table.missing or f"{table.minutes} min, {', '.join(table.sets)}"
            print(f"{name:12} {table.what}: {how}")
        return
    if not given.json:
        print_machine()
    for name in given.tables or TABLES:
        print_table(name, TABLES[name], given.sets, as_json=given.json)


def print_table(name: str, table: PaperTable, sets: Sequence[str], *, as_json: bool) -> None:
    if table.rows is None:
        line = {"table": name, "missing": table.missing}
        print(json.dumps(line) if as_json else f"\n{name}, {table.what}: {table.missing}")
        return
    for one in [own for own in table.sets if not sets or own in sets]:
        if not as_json:
            print(f"\n{name}, {table.what}: {one}")
        for row in table.rows(laboratory_of(one), one):
            if as_json:
                print(json.dumps({"table": name, "set": one, **row}), flush=True)
            else:
                print(
                    "  "
                    + "  ".join(
                        f"{key} {value}" for key, value in row.items() if value is not None
                    ),
                    flush=True,
                )


if __name__ == "__main__":
    main()
