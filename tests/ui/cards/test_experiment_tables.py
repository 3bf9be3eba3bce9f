"""Tables of an experiment's result."""

from toolscope_core.merging.model_verdicts import Grade
from toolscope_core.model.plan import Experiment
from ui.evaluation.experiment_tables import band_rows, compared_rows

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


def test_two_sweeps_of_encoders_are_compared_by_their_names():
    def sweep(number, recall):
        point = {"value": "small/encoder", "tools": 5, "metrics": {"recall": {"mean": recall}}}
        return Experiment(number, 1, "sweep", {}, "", 1.0, True, {"points": [point]})

    rows = compared_rows(sweep(1, 0.5), sweep(2, 0.75))
    assert [(row["figure"], row["change"]) for row in rows] == [
        ("small/encoder: recall", 0.25),
        ("small/encoder: tools", 0),
    ]
