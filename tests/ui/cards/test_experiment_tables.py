"""Tables of an experiment's result."""

from toolscope_core.merging.model_verdicts import Grade
from ui.shared.queries.experiment_tables import band_rows

RESULT = {
    "queries": [
        {"gold": [["a", "b"], ["c"]], "places_before": [1, None], "places_after": [2, 3]},
        {"gold": [["c"]], "places_before": [4], "places_after": [None]},
        {"gold": [["ungraded"]], "places_before": [1], "places_after": [1]},
    ]
}


def test_recall_is_told_by_how_well_the_answers_are_documented():
    grades = {"a": Grade(2), "b": Grade(5), "c": Grade(1)}
    low, high = band_rows(RESULT, grades)
    assert (high["documentation"], high["answers"]) == ("High", 1), "the better alternative"
    assert (low["documentation"], low["answers"]) == ("Low", 2)
    assert low["recall before"].startswith("0.500") and low["recall after"].startswith("0.500")
    assert high["recall before"].startswith("1.000")
    assert band_rows(RESULT, {}) == []
