"""Metrics by hand, at the edges, and beside scikit-learn and ranx."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.evaluation.metrics import RANKING_METRICS as METRICS
from toolscope_core.evaluation.metrics import gains

IDS = "abcdefgh"
RANKINGS = st.permutations(IDS)
GOLD = st.sets(st.sampled_from(IDS), min_size=1)
CUTOFFS = st.integers(1, 10)


def value(name, ranking, gold, k):
    return METRICS[name](list(ranking), [{one} for one in gold], k)


def test_every_metric_of_one_ranking_by_hand():
    by_hand = {
        "recall": 2 / 3,
        "precision": 2 / 4,
        "f1": 4 / 7,
        "ndcg": (1 / math.log2(3) + 1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / math.log2(4)),
        "map": (1 / 2 + 2 / 4) / 3,
        "mrr": 1 / 2,
        "hit": 1.0,
    }
    assert {name: value(name, "xbyc", "abc", 4) for name in METRICS} == pytest.approx(by_hand)
    assert all(value(name, "xyz", "abc", 3) == 0.0 for name in METRICS)
    assert all(value(name, "cab", "abc", 3) == pytest.approx(1.0) for name in METRICS)


def test_of_two_alternatives_the_first_counts():
    gold = [{"a", "b"}, {"c"}]
    assert gains(["b", "a", "c"], gold, 3) == (1, 0, 1)
    assert METRICS["recall"](["b", "x"], gold, 2) == 0.5
    assert METRICS["recall"](["b", "a"], gold, 2) == 0.5
    assert METRICS["precision"](["b", "a"], gold, 2) == 0.5
    assert METRICS["ndcg"](["a", "c"], gold, 2) == 1.0


def test_one_id_may_serve_two_needs_and_needs_count_once():
    assert METRICS["recall"](["a"], [{"a", "b"}, {"a", "c"}], 1) == 1.0
    assert METRICS["recall"](["a"], [{"a"}, {"a"}], 1) == 1.0


def test_an_id_that_comes_again_counts_for_nothing_and_takes_its_place():
    assert value("precision", "aa", "a", 2) == 0.5
    assert value("map", "aab", "ab", 3) == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize("name", METRICS)
def test_more_places_than_tools_and_no_ranking(name):
    assert value(name, "", "a", 5) == 0.0
    assert value(name, "ab", "a", 50) > 0.0
    assert value("precision", "ab", "a", 50) == 1 / 50


@pytest.mark.parametrize("gold", [[], [set()]])
@pytest.mark.parametrize("name", ["recall", "f1", "ndcg", "map"])
def test_without_gold_there_is_no_metric(name, gold):
    with pytest.raises(ValueError, match="without gold"):
        METRICS[name](["a"], gold, 1)


def test_without_alternatives_they_are_those_of_ranx():
    rows = json.loads(Path(__file__).with_name("metrics_of_ranx.json").read_text("utf-8"))["rows"]
    for row in rows:
        gold = [{one} for one in row["gold"]]
        ours = {name: metric(row["ranking"], gold, row["k"]) for name, metric in METRICS.items()}
        assert ours == pytest.approx({name: row[name] for name in METRICS}), row
    assert len(rows) == 30


@given(RANKINGS, GOLD, CUTOFFS)
def test_all_are_shares_and_agree_with_each_other(ranking, gold, k):
    of = {name: value(name, ranking, gold, k) for name in METRICS}
    assert all(0.0 <= one <= 1.0 + 1e-12 for one in of.values())
    assert of["recall"] * len(gold) == pytest.approx(of["precision"] * k)
    assert (of["hit"] == 1.0) == (of["mrr"] > 0.0) == (of["recall"] > 0.0)
    assert value("recall", ranking, gold, k) <= value("recall", ranking, gold, k + 1)
