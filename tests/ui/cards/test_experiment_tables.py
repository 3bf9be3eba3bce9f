"""Tables of an experiment's result."""

from toolscope_core.evaluation.comparison import ComparedQuery, Comparison, NamedFigures
from toolscope_core.merging.model_verdicts import DocumentationGrade
from ui.evaluation.experiment_tables import band_rows

FIGURES = NamedFigures(
    name="original", version="v", tools=3, tokens=60, tokens_sent=20.0, calls=0, tccr=None,
    ucc=None, metrics={},
)  # fmt: skip


def _query(number, gold, before, after):
    return ComparedQuery(id=str(number), query="", gold=gold, outcome="same", ndcg_before=1,
                         ndcg_after=1, places_before=before, places_after=after)  # fmt: skip


def test_recall_is_told_by_how_well_the_answers_are_documented():
    queries = (
        _query(1, (("a", "b"), ("c",)), (1, None), (2, 3)),
        _query(2, (("c",),), (4,), (None,)),
        _query(3, (("ungraded",),), (1,), (1,)),
    )
    result = Comparison(before=FIGURES, after=FIGURES, changes={}, p={}, joined=(), queries=queries)
    low, high = band_rows(
        result, {"a": DocumentationGrade(2), "b": DocumentationGrade(5), "c": DocumentationGrade(1)}
    )
    assert (high.band, len(high.hits)) == ("High", 1), "the better alternative"
    assert (low.band, len(low.hits)) == ("Low", 2)
    assert low.recall(0).startswith("0.500") and low.recall(1).startswith("0.500")
    assert high.recall(0).startswith("1.000")
    assert band_rows(result, {}) == []
