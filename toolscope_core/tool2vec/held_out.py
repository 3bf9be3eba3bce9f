"""What models reach on queries that they were trained without."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.evaluation.intervals import Interval
from toolscope_core.evaluation.reports import metric_rows
from toolscope_core.model.tool import JsonObject
from toolscope_core.retrieval.fusion import best_first
from toolscope_core.tool2vec.blend import Blend, HeldOutQuery, chosen_blend, ranked

CUTOFFS = (3, 5, 7, 10)
SHOWN = ("recall", "ndcg")
BY_TEXT, BLENDED = "text", "blend"


@dataclass(frozen=True, slots=True)
class HeldOutFigures:
    """By the name of a way to rank, then of a metric, what it reaches on ``queries`` queries: the
    tools' text alone, each learned score alone, and the *blend*, whose weights were chosen on the
    queries of the other folds.
    """

    queries: int
    metrics: Mapping[str, Mapping[str, Interval]]

    def as_json(self) -> JsonObject:
        ways = {
            way: {name: [one.mean, one.low, one.high] for name, one in metrics.items()}
            for way, metrics in self.metrics.items()
        }
        return {"queries": self.queries, "metrics": ways}


def held_out_figures(
    queries: Sequence[HeldOutQuery], names: Sequence[str], ids: Sequence[str]
) -> HeldOutFigures:
    """The figures of these queries, of which there is at least one."""
    most = max(CUTOFFS)
    rankings = {BY_TEXT: [[ids[at] for at in best_first(one.by_text, most)] for one in queries]}
    for name in names:
        rankings[name] = [[ids[at] for at in best_first(q.learned[name], most)] for q in queries]
    rankings[BLENDED] = _blended(queries, names, ids)
    golds = [one.gold for one in queries]
    metrics = {
        way: {
            row.name: row.interval
            for row in metric_rows(golds, own, CUTOFFS)
            if row.metric in SHOWN
        }
        for way, own in rankings.items()
    }
    return HeldOutFigures(len(queries), metrics)


def figures_of_json(value: JsonObject) -> HeldOutFigures:
    """What ``as_json`` gave. Raises ``LookupError``, ``TypeError`` or ``ValueError`` for another
    form.
    """
    ways = {
        str(way): {str(name): Interval(*map(float, ends)) for name, ends in metrics.items()}
        for way, metrics in value["metrics"].items()
    }
    return HeldOutFigures(int(value["queries"]), ways)


def _blended(
    queries: Sequence[HeldOutQuery], names: Sequence[str], ids: Sequence[str]
) -> list[list[str]]:
    """The rankings of each query by a blend chosen without its fold."""
    folds = [one.fold for one in queries]
    if len(set(folds)) == 1:  # a single one is divided
        folds = [at % 2 for at in range(len(queries))]
    by_fold: dict[int, Blend] = {}
    for fold in sorted(set(folds)):
        others = [one for one, own in zip(queries, folds, strict=True) if own != fold]
        by_fold[fold] = chosen_blend(others, names, ids)
    return [
        ranked(one, by_fold[fold], ids, max(CUTOFFS))
        for one, fold in zip(queries, folds, strict=True)
    ]
