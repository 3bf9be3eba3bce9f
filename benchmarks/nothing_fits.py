"""Whether a search can tell that no tool in a toolset serves a request.

    python -m benchmarks.nothing_fits [--requests N] [--write]

Each request is asked twice: once of all tools, and once of a toolset without the tools that the
request needs and without those that the labels, or a merge, call the same job. In *near*, all other
tools stay, including siblings. In *far*, the rest of their server, field or domain is removed too,
and so is every tool that shares a noun with their names. A few requests share a toolset (20 in
*near*; 5 in *far*, with those of one field together), and the tools of all of them are removed at
once. ETOM has its own requests that no tool serves.

The weights come from a logistic regression that never saw the set on which it is measured: each set
is left out in turn. All sets count the same, and as many requests are served as not. The benchmark
prints the AUROC and the share of unserved requests that are refused at the point where 5 % of the
served ones are refused, with 95 % intervals (bootstrap over requests). ``--write`` fits all sets
and writes the weights that a search uses.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks import measuring
from benchmarks.etom import etom_equal_sets, etom_requests
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.evaluation.query_sets import Query, judged_queries, read_queries
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.fitting import FIT_WEIGHTS, SIGNALS
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.wording.reading import read_tool

SETS = ("ultratool", "seal-tools", "livemcpbench", "toolsense", "etom")
SERVED, NEAR, FAR, OWN = "served", "near", "far", "its own"
TOGETHER = {NEAR: 20, FAR: 5}
REFUSED, UNCERTAIN = 0.05, 0.25
"""Shares of the served requests."""
STRENGTH = 0.1
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RequestSet:
    """The requests of a catalog.

    Nothing serves those in ``unserved``. ``kinds`` says for each tool id what the tool belongs to
    (server, field, domain, nouns in its name). ``same_job`` has the tools that do the same job.
    """

    catalog: Catalog
    queries: Sequence[Query]
    unserved: Sequence[Query]
    kinds: Mapping[str, frozenset[str]]
    same_job: Mapping[str, frozenset[str]]

    @classmethod
    def read(cls, name: str, most: int) -> "RequestSet":
        catalog = measuring.read_named(name)
        plan = plan_merge(
            measuring.analysis_of(catalog), (), PlanConfig(accept="all", gateway=True)
        )
        equal = [list(item.members) for item in plan.tools]
        domains: dict[str, set[str]] = defaultdict(set)
        if name == "etom":
            queries, unserved = etom_requests(catalog, (1, 2)), etom_requests(catalog, (5,))
            equal += etom_equal_sets(catalog)
        else:
            file, unserved = measuring.data_folder(name) / "queries.dev.jsonl", []
            queries = list(judged_queries(read_queries(file), catalog.tools, skip_unknown=True))
            named = {
                str(row["id"]): str(row.get("domain", "")) for row in measuring.json_rows(file)
            }
            for query in queries:
                for one in frozenset().union(*query.gold) if named[query.id] else ():
                    domains[one].add(f"domain {named[query.id]}")
            for folder in ("pairs", "relations"):
                pairs = measuring.data_folder(folder) / f"{name}.jsonl"
                equal += [
                    [row["left"], row["right"]]
                    for row in (measuring.json_rows(pairs) if pairs.exists() else ())
                    if row["relation"] in ("duplicate", "subsumes")
                ]
        same_job: dict[str, frozenset[str]] = defaultdict(frozenset)
        for ids in equal:
            for one in ids:
                same_job[one] |= frozenset(ids)
        kinds = {tool.id: _kinds_of(tool) | domains[tool.id] for tool in catalog.tools}
        chosen = np.sort(np.random.default_rng(0).permutation(len(queries))[:most])
        return cls(catalog, [queries[at] for at in chosen], unserved, kinds, same_job)

    def near(self, query: Query) -> frozenset[str]:
        """The tools that serve a request."""
        needed = frozenset[str]().union(*query.gold)
        return needed.union(*(self.same_job[one] for one in needed))

    def far(self, query: Query) -> frozenset[str]:
        """The tools that serve a request, and all tools of the same kinds."""
        kinds = frozenset[str]().union(*(self.kinds[one] for need in query.gold for one in need))
        return self.near(query).union(one for one, own in self.kinds.items() if own & kinds)

    def toolsets(self, side: str) -> Iterator[tuple[Sequence[Query], list[Tool]]]:
        """Requests, with the toolset that lacks what they need.

        In *far*, requests of one kind share a toolset. In *near*, they are spread over the
        toolsets, because siblings must stay.
        """
        of, size = (self.near if side == NEAR else self.far), TOGETHER[side]
        alike = sorted(self.queries, key=lambda one: (sorted(self.kinds[min(one.gold[0])]), one.id))
        parts = -(-len(alike) // size)
        for at in range(parts):
            own = alike[at::parts] if side == NEAR else alike[at * size : (at + 1) * size]
            gone = frozenset[str]().union(*map(of, own))
            yield own, [tool for tool in self.catalog.tools if tool.id not in gone]


def _kinds_of(tool: Tool) -> set[str]:
    home = tool.server or tool.raw.get("field")
    return {*read_tool(tool).nouns, *([f"of {home}"] if home else ())}


def signal_rows(name: str, most: int) -> dict[str, Values]:
    """For each side, a row of signals for each request."""
    own = RequestSet.read(name, most)
    whole = Retriever(own.catalog.tools, MiniLmEmbedder())
    rows = {SERVED: _signals(whole, own.queries)}
    for side in (NEAR, FAR):
        parts = [_signals(whole.over(tools), some) for some, tools in own.toolsets(side)]
        rows[side] = np.concatenate(parts)
    if own.unserved:
        rows[OWN] = _signals(whole, own.unserved)
    return rows


def _signals(retriever: Retriever, queries: Sequence[Query]) -> Values:
    rows = retriever.signals_each([ToolRequest(query.text) for query in queries])
    return np.array([row for row in rows if row is not None])


def fitted(sets: Sequence[Mapping[str, Values]]) -> tuple[float, Values]:
    """The intercept and the weights of the signals, fitted on sets that all count the same."""
    values, is_served, weights = [], [], []
    for rows in sets:
        for side, own in rows.items():
            share = 1.0 if side == SERVED else 1.0 / (len(rows) - 1)
            values.append(own)
            is_served += [side == SERVED] * len(own)
            weights += [100 * share / len(own)] * len(own)
    every = np.concatenate(values)
    mean, deviation = every.mean(axis=0), every.std(axis=0)
    model = LogisticRegression(C=STRENGTH).fit(
        (every - mean) / deviation, is_served, sample_weight=weights
    )
    own_weights = model.coef_[0] / deviation
    return float(model.intercept_[0] - own_weights @ mean), own_weights


def figures(served: Values, unserved: Values) -> str:
    """The AUROC, and the share of unserved requests refused at the point where 5 % of the served
    ones are.
    """

    def both(rows: NDArray[np.int64]) -> tuple[float, float]:
        ours = served[rows[rows < len(served)]]
        others = unserved[rows[rows >= len(served)] - len(served)]
        labels = [True] * len(ours) + [False] * len(others)
        auroc = roc_auc_score(labels, np.concatenate([ours, others]))
        return float(auroc), float((others < np.quantile(ours, REFUSED)).mean())

    size = len(served) + len(unserved)
    auroc, refused = both(np.arange(size))
    (low, refused_low), (high, refused_high) = measuring.bootstrap_ends(both, size)
    return (
        f"AUROC {auroc:.3f} [{low:.3f}, {high:.3f}]  refused {refused:.3f} "
        f"[{refused_low:.3f}, {refused_high:.3f}]"
    )


def write_weights(sets: Sequence[Mapping[str, Values]]) -> None:
    """Write the weights fitted on all sets, and the probabilities below which the shares
    ``REFUSED`` and ``UNCERTAIN`` of the served requests lie.
    """
    intercept, weights = fitted(sets)
    logits = np.concatenate([intercept + rows[SERVED] @ weights for rows in sets])
    shares = np.concatenate([np.full(len(rows[SERVED]), 1 / len(rows[SERVED])) for rows in sets])
    order = np.argsort(logits)
    below = np.cumsum(shares[order]) / len(sets)
    at = [float(logits[order][np.searchsorted(below, one)]) for one in (REFUSED, UNCERTAIN)]
    none_below, uncertain_below = (round(1 / (1 + np.exp(-one)), 4) for one in at)
    content = {
        "embedder": MiniLmEmbedder().name,
        "intercept": round(intercept, 4),
        "signals": {name: round(float(w), 4) for name, w in zip(SIGNALS, weights, strict=True)},
        "none_below": none_below,
        "uncertain_below": uncertain_below,
    }
    FIT_WEIGHTS.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def main() -> None:
    parser = measuring.parser_of(__doc__)
    measuring.add_catalogs(parser, SETS)
    parser.add_argument("--requests", type=int, default=200, help="of each set")
    parser.add_argument("--write", action="store_true", help="write the weights of all sets")
    options = parser.parse_args()
    measuring.print_machine()
    sets = {name: signal_rows(name, options.requests) for name in options.catalogs}
    for name, rows in sets.items():
        intercept, weights = fitted([own for other, own in sets.items() if other != name])
        logits = {side: intercept + own @ weights for side, own in rows.items()}
        for side in (NEAR, FAR, OWN):
            if side in logits:
                asked = f"{len(logits[SERVED])} and {len(logits[side])} requests"
                result = figures(logits[SERVED], logits[side])
                cosine = figures(rows[SERVED][:, 0], rows[side][:, 0])
                print(f"{name:13} {side:8} {asked}: {result}; by the cosine alone: {cosine}")
    if options.write:
        write_weights(list(sets.values()))


if __name__ == "__main__":
    main()
