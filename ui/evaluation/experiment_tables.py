"""The result of an experiment as tables: rows of plain values, in the order they are shown."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_args

from toolscope_core.evaluation.intervals import interval
from toolscope_core.evaluation.metrics import METRIC_NAMES, SWEPT_METRICS
from toolscope_core.merging.model_verdicts import Band, Grade
from toolscope_core.model.numbers import interval_text, quantity
from toolscope_core.model.plan import Experiment
from toolscope_core.model.tool import JsonObject

SIGNIFICANT = 0.05
IN_WORDS = {
    "recall": "of the tools that a query needs, the share that is found",
    "precision": "of the tools that are found, the share that is needed",
    "f1": "recall and precision in one figure (their harmonic mean)",
    "exact": "the share of queries of which exactly what is needed is called",
    "nDCG": "how high the needed tools stand, 1 if all are on top",
    "MAP": "how few others stand above the needed tools, 1 if none does",
    "hit": "the share of queries that find at least one tool they need",
    "CSR": "the share of queries for which exactly what is needed is taken of the tools that are "
    "found, each part of the request taking the best by its own search",
    "best of each part": "the same of all tools, each part searched alone",
    "TCCR": "the share of gold calls, calls known to be right, that still run",
    "UCC": "the same, each tool with a set of argument names counted once",
}
"""What each measure says."""
ABLATED = ("recall@1", "recall@5", "recall@10", "csr@5", "csr@10")


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure of both toolsets as texts; ``better`` is true where the second is the better one
    and more than chance, false where it is the worse, ``None`` else.
    """

    name: str
    before: str
    after: str
    change: str
    p: str = ""
    better: bool | None = None


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query on both toolsets; ``moved`` says which of its answers stand at another place."""

    id: str
    text: str
    outcome: str
    moved: str
    change: float


def figure_rows(result: JsonObject) -> list[FigureRow]:
    """Size, tokens, gold calls and the metrics of both toolsets."""
    before, after = result["before"], result["after"]
    rows = [
        _count("tools", before, after, "tools"),
        _count("tokens of all tools", before, after, "tokens"),
        _count("tokens of 10 tools found (mean)", before, after, "tokens_sent"),
    ]
    if count := len(result["joined"]):
        share = f"{count / len(result['queries']):.1%}"
        name = "queries that need two tools which are one now"
        rows.append(FigureRow(name, "0", f"{count:,}", share, better=False))
    if result["never"]:
        broken = len(result["forbidden"])
        name = f"merged against {quantity(result['never'], 'never-merge rule')}"
        change, better = (f"{broken:+,}", False) if broken else ("0", None)
        rows.append(FigureRow(name, "0", f"{broken:,}", change, better=better))
    if before["calls"]:
        for name, key in (("gold calls that run (TCCR)", "tccr"), ("capabilities (UCC)", "ucc")):
            old, new = before[key], after[key]
            better = None if new == old else new > old
            rows.append(FigureRow(name, f"{old:.3f}", f"{new:.3f}", _signed(new - old), "", better))
    for name, earlier in before["metrics"].items():
        metric, _, k = name.partition("@")
        if metric in METRIC_NAMES and not (metric == "map" and k == "1"):
            moved, p = result["changes"][name], result["p"].get(name, 1.0)
            old, new = (interval_text(**one) for one in (earlier, after["metrics"][name]))
            better = moved["mean"] > 0 if moved["mean"] and p < SIGNIFICANT else None
            p_text = "" if p == 1.0 else f"{p:.3f}"
            label = f"{METRIC_NAMES[metric]}@{k}"
            rows.append(FigureRow(label, old, new, _difference(moved), p_text, better))
    return rows


def in_words(names: Iterable[str]) -> str:
    """What the measures say that stand in these names, in Markdown."""
    text = " ".join(names)
    parts = [f"**{name}**: {what}" for name, what in IN_WORDS.items() if name in text]
    at = ["**@10**: among the first ten."] if "@10" in text else []
    return " ".join(
        [f"{'; '.join(parts)}.", *at, "In brackets the 95 % interval over the queries."]
    )


def query_rows(result: JsonObject, outcome: str = "") -> list[QueryRow]:
    """The queries, or those of one outcome; the greatest change first."""
    rows = [
        QueryRow(
            row["id"],
            row["query"],
            row["outcome"],
            _moved(row),
            round(row["ndcg_after"] - row["ndcg_before"], 4),
        )
        for row in result["queries"]
        if outcome in ("", row["outcome"])
    ]
    return sorted(rows, key=lambda row: (-abs(row.change), row.id))


def outcomes(result: JsonObject) -> Mapping[str, int]:
    """How many queries won, lost and are unchanged."""
    counts = Counter(row["outcome"] for row in result["queries"])
    return {outcome: counts[outcome] for outcome in ("won", "lost", "unchanged")}


def stress_rows(result: JsonObject) -> list[dict[str, Any]]:
    """A row for each toolset, kind of noise and level."""
    return [
        {
            "toolset": name,
            "noise": point["noise"],
            "distractors": point["distractors"],
            **{key: interval_text(**point[key]) for key in ("precision", "recall", "f1")},
            "p (recall)": "" if point["p_recall"] == 1.0 else f"{point['p_recall']:.3f}",
            "p (not split)": f"{point['gain']['p']:.3f}" if "gain" in point else "",
        }
        for name, points in result["toolsets"].items()
        for point in points
    ]


def sweep_rows(result: JsonObject) -> list[dict[str, Any]]:
    """A row for each value."""
    return [
        {
            "value": point["value"],
            "k": point["k"],
            "tools": point["tools"],
            "smaller by": f"{point['reduction']:.1%}",
            **{METRIC_NAMES[one]: interval_text(**point["metrics"][one]) for one in SWEPT_METRICS},
            **({"TCCR": point["tccr"], "UCC": point["ucc"]} if point["calls"] else {}),
            "tokens sent": round(point["tokens_sent"]),
        }
        for point in result.get("points", ())
    ]


def band_rows(result: JsonObject, grades: Mapping[str, Grade]) -> list[dict[str, Any]]:
    """How often an answer is among the first ten by how well it is documented (ToolScope, figure
    5), as far as a model graded it; of alternatives the best documented counts.
    """
    places: dict[str, list[tuple[bool, bool]]] = {band: [] for band in get_args(Band)}
    for row in result["queries"]:
        for need, old, new in zip(
            row["gold"], row["places_before"], row["places_after"], strict=True
        ):
            graded = [grades[one] for one in need if one in grades]
            if graded:
                best = max(graded, key=lambda grade: grade.score)
                places[best.band].append((old is not None, new is not None))
    return [
        {
            "documentation": band,
            "answers": len(pairs),
            "recall before": interval_text(**asdict(interval([float(old) for old, _ in pairs]))),
            "recall after": interval_text(**asdict(interval([float(new) for _, new in pairs]))),
        }
        for band, pairs in places.items()
        if pairs
    ]


def ablation_rows(result: JsonObject) -> list[dict[str, Any]]:
    """A row for each combination of parts."""
    return [
        {
            "reranker": "on" if row["reranker"] else "",
            "merger": row["merger"],
            "correction": "on" if row["correction"] else "",
            "tools": row["tools"],
            "smaller by": f"{row['reduction']:.1%}",
            **{
                METRIC_NAMES[name.partition("@")[0]] + f"@{name.partition('@')[2]}": interval_text(
                    **one
                )
                for name, one in row["metrics"].items()
                if name in ABLATED
            },
            **({"TCCR": round(row["tccr"], 3)} if row["calls"] else {}),
        }
        for row in result["rows"]
    ]


def plan_rows(result: JsonObject) -> list[dict[str, Any]]:
    """A row for each toolset."""
    return [
        {
            "toolset": row["toolset"],
            **{name: interval_text(**row[name]) for name in ("recall", "precision", "f1", "exact")},
            "rankings": round(row["searches"], 1),
            "tools called": round(row["tools_called"], 1),
            "tools shown": round(row["tools_shown"], 1),
            "tokens shown": round(row["tokens_shown"]),
        }
        for row in result["plans"]
    ]


def _count(name: str, before: JsonObject, after: JsonObject, key: str) -> FigureRow:
    old, new = before[key], after[key]
    share = f" ({(new - old) / old:+.1%})" if old and new != old else ""
    return FigureRow(name, f"{old:,.0f}", f"{new:,.0f}", f"{new - old:+,.0f}{share}")


def _difference(one: Mapping[str, float]) -> str:
    if not (one["mean"] or one["low"] or one["high"]):
        return "0"
    return f"{one['mean']:+.3f} [{one['low']:+.3f}, {one['high']:+.3f}]"


def _signed(change: float) -> str:
    return f"{change:+.3f}" if round(change, 3) else "0"


def _moved(row: JsonObject) -> str:
    """The answers that stand at another place, each with both places."""
    moves = zip(row["gold"], row["places_before"], row["places_after"], strict=True)
    return "; ".join(
        f"{_place(old)} → {_place(new)} {need[0]}{' or another' if len(need) > 1 else ''}"
        for need, old, new in moves
        if old != new
    )


def _place(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def compared_rows(one: Experiment, other: Experiment) -> list[dict[str, Any]]:
    """The figures that two experiments have in common, a row each."""
    first, second = _figures(one), _figures(other)
    names = f"experiment {one.number}", f"experiment {other.number}"
    return [
        {
            "figure": name,
            names[0]: round(first[name], 4),
            names[1]: round(second[name], 4),
            "change": round(second[name] - first[name], 4),
        }
        for name in first
        if name in second
    ]


def _figures(experiment: Experiment) -> dict[str, float]:
    """The single figures of an experiment by what they are called."""
    result = experiment.result or {}
    figures: dict[str, float] = {}
    for side in ("before", "after"):
        measured = result.get(side, {})
        figures |= {f"{side}: {key}": measured[key] for key in ("tools", "tokens") if measured}
        metrics = measured.get("metrics", {})
        figures |= {f"{side}: {name}": row["mean"] for name, row in metrics.items()}
    for name, points in result.get("toolsets", {}).items():
        for point in points:
            what = f"{name}, {point['noise']} {point['distractors']}: recall"
            figures[what] = point["recall"]["mean"]
    for agent in result.get("sides", ()):
        figures |= {f"{agent['name']}: {key}": agent[key]["mean"] for key in ("correct", "served")}
        figures |= {f"{agent['name']}: {key}": agent[key] for key in ("calls", "tokens_in")}
    for point in result.get("points", ()):
        figures[f"{point['value']}: recall"] = point["metrics"]["recall"]["mean"]
        figures[f"{point['value']}: tools"] = point["tools"]
    return figures
