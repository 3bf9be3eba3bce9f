"""What an experiment found, as JSON: what is kept, shown and exported."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from toolscope_core.evaluation.change_effects import PLACES, ComparedChange
from toolscope_core.evaluation.comparison import Comparison, Measured, Trial
from toolscope_core.evaluation.confusions import PairConfusion
from toolscope_core.evaluation.merge_effects import MergeEffect, forbidden_merges, joined_queries
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.stress import LEVELS, StressPoint, split_gains
from toolscope_core.evaluation.sweeps import AblationRow, SweepPoint
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import JsonObject


def comparison_result(
    comparison: Comparison,
    effects: Sequence[MergeEffect],
    confusions: Sequence[PairConfusion],
    never: Collection[Pair] = (),
    needing_none: Iterable[tuple[Query, Sequence[str]]] = (),
) -> JsonObject:
    """Both toolsets with their metrics, every query with what it finds before the merge, every
    merge that a query meets, the pairs that queries confuse before it, and what was merged though
    queries need both or people said *never*. ``needing_none`` are the queries that need no tool,
    with what they find.
    """
    queries = comparison.queries
    after = comparison.after.toolset
    joined = joined_queries([one.query for one in queries], after)
    return {
        "before": measured_result(comparison.before),
        "after": measured_result(comparison.after),
        "changes": {name: asdict(one) for name, one in comparison.changes.items()},
        "p": dict(comparison.p),
        "joined": [queries[place].query.id for place in joined],
        "forbidden": [[one.left, one.right] for one in forbidden_merges(after, never)],
        "never": len(never),
        "needing_none": [_found(query, ranking) for query, ranking in needing_none],
        "queries": [
            {
                **_found(one.query, ranking),
                "outcome": one.outcome,
                "ndcg_before": round(one.before, 6),
                "ndcg_after": round(one.after, 6),
                "places_before": list(one.places_before),
                "places_after": list(one.places_after),
            }
            for one, ranking in zip(queries, comparison.before.rankings, strict=True)
        ],
        "merges": [
            {
                "tool": one.tool,
                "members": list(one.members),
                "change": round(one.change, 6),
                "helped": one.helped,
                "hurt": one.hurt,
                "queries": [
                    {
                        "id": queries[effect.query].query.id,
                        "ndcg_without": round(effect.without, 6),
                        "ndcg_with": round(effect.with_it, 6),
                    }
                    for effect in one.queries
                ],
                "joins": [queries[place].query.id for place in one.joins],
            }
            for one in effects
        ],
        "confusions": [
            {
                "left": one.pair.left,
                "right": one.pair.right,
                "cost": round(one.cost, 6),
                "queries": [queries[place].query.id for place in one.queries],
            }
            for one in confusions
        ],
    }


def _found(query: Query, ranking: Sequence[str]) -> JsonObject:
    return {
        "id": query.id,
        "query": query.text,
        "gold": [sorted(need) for need in query.gold],
        "allowed": sorted(query.allowed),
        "found": list(ranking[:PLACES]),
    }


def searched_queries(result: JsonObject) -> tuple[tuple[Query, ...], tuple[Sequence[str], ...]]:
    """The queries of a comparison, those that need no tool last, and what each finds before the
    merge: none where it was measured before this was kept.
    """
    rows = [*result["queries"], *result.get("needing_none", ())]
    queries = (
        Query(
            row["id"],
            row["query"],
            tuple(map(frozenset, row["gold"])),
            allowed=frozenset(row["allowed"]),
            needs_none=not row["gold"],
        )
        for row in rows
        if "found" in row
    )
    return tuple(queries), tuple(row["found"] for row in rows if "found" in row)


def change_rows(changes: Sequence[ComparedChange]) -> list[JsonObject]:
    """Each change with the ids of the queries that it wins and loses; ``rate`` is that of wins."""
    return [
        {
            "tools": list(one.change.replaced),
            "queries": one.effect.touched,
            "right_before": one.effect.right,
            "won": [query.id for query in one.effect.won],
            "lost": [query.id for query in one.effect.lost],
            "joined": one.effect.joined,
            "p": one.effect.p,
            "p_holm": one.corrected_p,
            "rate": dict(zip(("mean", "low", "high"), one.effect.rate, strict=True)),
        }
        for one in changes
    ]


def measured_result(one: Measured) -> JsonObject:
    """The figures of one toolset; TCCR and UCC are ``None`` without gold calls."""
    return {
        "name": one.toolset.name,
        "version": one.toolset.version,
        "tools": len(one.toolset.tools),
        "tokens": one.tokens,
        "tokens_sent": round(one.sent[max(one.sent)], 3),
        "calls": one.coverage.calls,
        "tccr": one.coverage.tccr,
        "ucc": one.coverage.ucc,
        "metrics": {row.name: asdict(row.interval) for row in one.rows},
    }


def stress_result(
    trial: Trial, tests: Mapping[str, Sequence[StressPoint]], alone: Mapping[str, str] | None = None
) -> JsonObject:
    """By test the points, with recall and F1 of each query. ``alone`` has by the name of a test
    that of the same toolset where requests are not split; its gain stands beside it.
    """
    gains = {name: split_gains(tests[name], tests[base]) for name, base in (alone or {}).items()}
    return {
        "queries": [query.id for query in trial.queries],
        "levels": list(LEVELS),
        "toolsets": {
            name: [
                {
                    **asdict(one),
                    "recalls": _rounded(one.recalls),
                    "f1s": _rounded(one.f1s),
                    **({"gain": asdict(gains[name][at])} if name in gains else {}),
                }
                for at, one in enumerate(points)
            ]
            for name, points in tests.items()
        },
    }


def sweep_point(point: SweepPoint, tools: int) -> JsonObject:
    """The figures of one value; ``reduction`` is the share of ``tools`` that the merge saves."""
    figures = measured_result(point.measured)
    at_k = {
        name.partition("@")[0]: interval
        for name, interval in figures["metrics"].items()
        if name.endswith(f"@{point.k}")
    }
    return {
        "value": point.value,
        "k": point.k,
        "configuration": point.config.as_json(),
        **{key: value for key, value in figures.items() if key not in ("metrics", "name")},
        "tokens_sent": round(point.measured.sent[point.k], 3),
        "reduction": round(1 - figures["tools"] / tools, 6),
        "metrics": at_k,
        "recalls": _rounded(
            next(row for row in point.measured.rows if row.name == f"recall@{point.k}").values
        ),
    }


def ablation_row(row: AblationRow, tools: int) -> JsonObject:
    """The figures of one row; ``reduction`` is the share of ``tools`` that the merge saves."""
    figures = measured_result(row.measured)
    return {
        "reranker": row.reranker,
        "merger": row.merger,
        "correction": row.correction,
        **{key: value for key, value in figures.items() if key != "name"},
        "reduction": round(1 - figures["tools"] / tools, 6),
    }


def table_of(kind: str, result: JsonObject) -> list[dict[str, Any]]:
    """The rows of an experiment for a spreadsheet: a query, a level of noise, a
    value, or a query and toolset each.
    """
    if kind == "comparison":
        return [
            {
                **{key: value for key, value in row.items() if not isinstance(value, list)},
                "gold": " ".join("|".join(need) for need in row["gold"]),
                **{key: _listed(row[key]) for key in ("places_before", "places_after")},
            }
            for row in result["queries"]
        ]
    if kind == "stress":
        return [
            {"toolset": name, **_flat(point, ("recalls", "f1s"))}
            for name, points in result["toolsets"].items()
            for point in points
        ]
    if kind == "agent":
        return [
            {"query": one["query"], **_flat(side, ("called",)), "called": ", ".join(side["called"])}
            for one in result["requests"]
            for side in one["sides"]
        ]
    key = {"ablation": "rows", "plan": "plans"}.get(kind, "points")
    return [_flat(point, ("recalls", "configuration")) for point in result[key]]


def _flat(row: JsonObject, without: Sequence[str]) -> dict[str, Any]:
    """A row with objects in it as columns of their own."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key in without:
            continue
        if isinstance(value, Mapping):
            flat |= {f"{key}_{inner}": one for inner, one in _flat(value, ()).items()}
        else:
            flat[key] = value
    return flat


def _listed(places: Sequence[int | None]) -> str:
    return " ".join("-" if place is None else str(place) for place in places)


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 6) for value in values]
