"""Results of experiments as tables: rows, and the columns for display and export."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from toolscope_core.evaluation.comparison import Comparison, NamedFigures, ToolsetFigures
from toolscope_core.evaluation.intervals import Interval, interval
from toolscope_core.evaluation.metrics import METRICS, SWEPT_METRICS
from toolscope_core.evaluation.stress import StressPoint
from toolscope_core.evaluation.sweeps import AblationFigures, SweepFigures
from toolscope_core.merging.model_verdicts import Band, DocumentationGrade
from toolscope_core.model.numbers import quantity
from ui.evaluation.experiment_kinds import ToolsetPlans
from ui.shared.data_tables import Column, Columns

SIGNIFICANT = 0.05
IN_WORDS = {
    **{metric.title: metric.help for metric in METRICS.values()},
    "exact": "share of queries for which exactly the needed tools are called",
    "TCCR": "share of gold calls (calls known to be right) that still run",
    "UCC": "the same, but counting each tool and set of argument names once",
}
"""The explanation of each metric."""


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One figure for both toolsets, as text.

    ``better`` is true if the second toolset is significantly better, false if it is significantly
    worse, and otherwise ``None``.
    """

    name: str
    before: str
    after: str
    change: str
    p: str = ""
    better: bool | None = None


def figure_rows(result: Comparison) -> list[FigureRow]:
    """The size, tokens, gold calls and metrics of both toolsets."""
    before, after = result.before, result.after
    rows = [
        _count("tools", before.tools, after.tools),
        _count("tokens of all tools", before.tokens, after.tokens),
        _count("tokens of the 10 tools found (mean)", before.tokens_sent, after.tokens_sent),
    ]
    if count := len(result.joined):
        share = f"{count / len(result.queries):.1%}"
        name = "queries that need two tools that are now one"
        rows.append(FigureRow(name, "0", f"{count:,}", share, better=False))
    if result.never:
        broken = len(result.forbidden)
        name = f"merges that break {quantity(result.never, 'never-merge rule')}"
        change, better = (f"{broken:+,}", False) if broken else ("0", None)
        rows.append(FigureRow(name, "0", f"{broken:,}", change, better=better))
    shares = [
        ("gold calls that run (TCCR)", before.tccr, after.tccr),
        ("capabilities (UCC)", before.ucc, after.ucc),
    ]
    for name, old, new in shares:
        if old is not None and new is not None:
            change = f"{new - old:+.3f}" if round(new - old, 3) else "0"
            better = None if new == old else new > old
            rows.append(FigureRow(name, f"{old:.3f}", f"{new:.3f}", change, "", better))
    return [*rows, *_metric_rows(result, before, after)]


def _metric_rows(
    result: Comparison, before: NamedFigures, after: NamedFigures
) -> Iterable[FigureRow]:
    for name, old in before.metrics.items():
        metric, k = METRICS.get(name.partition("@")[0]), int(name.partition("@")[2])
        if metric and metric.is_shown and k >= metric.least_k:
            change, p = result.changes[name], result.p.get(name, 1.0)
            yield FigureRow(
                f"{metric.title}@{k}",
                old.text,
                after.metrics[name].text,
                _difference(change),
                "" if p == 1.0 else f"{p:.3f}",
                change.mean > 0 if change.mean and p < SIGNIFICANT else None,
            )


def in_words(names: Iterable[str]) -> str:
    """The explanations of the metrics with these names, in Markdown."""
    text = " ".join(names)
    parts = [f"**{name}**: {meaning}" for name, meaning in IN_WORDS.items() if name in text]
    at = ["**@10**: among the first ten results."] if "@10" in text else []
    return " ".join(
        [f"{'; '.join(parts)}.", *at, "In brackets: the 95 % interval over the queries."]
    )


@dataclass(frozen=True, slots=True)
class StressRow:
    """One noise level for one toolset."""

    toolset: str
    point: StressPoint


STRESS: Columns[StressRow] = [
    Column("toolset"),
    Column("noise", lambda row: row.point.noise),
    Column("distractors", lambda row: row.point.distractors),
    Column("precision", lambda row: row.point.precision.text),
    Column("recall", lambda row: row.point.recall.text),
    Column("f1", lambda row: row.point.f1.text),
    Column("p (recall)", lambda row: _p(row.point.p_recall)),
    Column("p (not split)", lambda row: f"{row.point.gain.p:.3f}" if row.point.gain else ""),
]


def sweep_columns(points: Sequence[SweepFigures]) -> Columns[SweepFigures]:
    """The columns of a sweep with these points. Gold calls have a column only if there are any."""
    has_calls = any(point.calls for point in points)
    return [
        Column("value"),
        Column("k"),
        Column("tools"),
        Column("smaller by", lambda row: f"{row.reduction:.1%}"),
        *_metric_columns((metric.name, metric.title) for metric in SWEPT_METRICS),
        Column("TCCR", lambda row: row.tccr, visible=has_calls),
        Column("UCC", lambda row: row.ucc, visible=has_calls),
        Column("tokens sent", lambda row: round(row.tokens_sent)),
    ]


def ablation_columns(rows: Sequence[AblationFigures]) -> Columns[AblationFigures]:
    """The columns of an ablation with these rows. Gold calls have a column only
    if there are any.
    """
    return [
        Column("reranker", lambda row: "on" if row.reranker else ""),
        Column("merger"),
        Column("correction", lambda row: "on" if row.correction else ""),
        Column("tools"),
        Column("smaller by", lambda row: f"{row.reduction:.1%}"),
        *_metric_columns(
            (f"{one.name}@{k}", f"{one.title}@{k}")
            for one in METRICS.values()
            for k in one.ablated_at
            if f"{one.name}@{k}" in rows[0].metrics
        ),
        Column(
            "TCCR",
            lambda row: None if row.tccr is None else round(row.tccr, 3),
            visible=any(row.calls for row in rows),
        ),
    ]


def _metric_columns(names: Iterable[tuple[str, str]]) -> list[Column[Any]]:
    """The columns for the named metrics, with the metrics' titles."""

    def text(name: str, row: ToolsetFigures) -> str:
        return row.metrics[name].text

    return [Column(title, partial(text, name)) for name, title in names]


PLANS: Columns[ToolsetPlans] = [
    Column("toolset"),
    Column("recall", lambda row: row.recall.text),
    Column("precision", lambda row: row.precision.text),
    Column("f1", lambda row: row.f1.text),
    Column("exact", lambda row: row.exact.text),
    Column("rankings", lambda row: round(row.searches, 1)),
    Column("tools called", lambda row: round(row.tools_called, 1)),
    Column("tools shown", lambda row: round(row.tools_shown, 1)),
    Column("tokens shown", lambda row: round(row.tokens_shown)),
]


@dataclass(frozen=True, slots=True)
class BandRow:
    """Answers with one documentation grade: whether each is among the first ten,
    before and after.
    """

    band: str
    hits: Sequence[tuple[bool, bool]]

    def recall(self, side: int) -> str:
        return interval([float(both[side]) for both in self.hits]).text


BAND_COLUMNS: Columns[BandRow] = [
    Column("documentation", lambda row: row.band),
    Column("answers", lambda row: len(row.hits)),
    Column("recall before", lambda row: row.recall(0)),
    Column("recall after", lambda row: row.recall(1)),
]


def band_rows(result: Comparison, grades: Mapping[str, DocumentationGrade]) -> list[BandRow]:
    """How often an answer is among the first ten, for each documentation grade (ToolScope, figure
    5).

    Only answers that a model has graded count. If several answers are alternatives, the one with
    the best documentation counts.
    """
    found_needs: dict[str, list[tuple[bool, bool]]] = {band: [] for band in get_args(Band)}
    for row in result.queries:
        for need, old, new in zip(row.gold, row.places_before, row.places_after, strict=True):
            graded = [grades[one] for one in need if one in grades]
            if graded:
                best = max(graded, key=lambda grade: grade.score)
                found_needs[best.band].append((old is not None, new is not None))
    return [BandRow(band, pairs) for band, pairs in found_needs.items() if pairs]


def _p(p: float) -> str:
    return "" if p == 1.0 else f"{p:.3f}"


def _count(name: str, old: float, new: float) -> FigureRow:
    share = f" ({(new - old) / old:+.1%})" if old and new != old else ""
    return FigureRow(name, f"{old:,.0f}", f"{new:,.0f}", f"{new - old:+,.0f}{share}")


def _difference(one: Interval) -> str:
    if not (one.mean or one.low or one.high):
        return "0"
    return f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
