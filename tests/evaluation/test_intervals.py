"""Intervals and p-values beside scipy, and by hand."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from toolscope_core.evaluation.intervals import (
    discordant_p,
    effect_text,
    holm,
    interval,
    one_sided_p,
    paired_p,
    rate_text,
)

RNG = np.random.default_rng(3)
VALUES = RNG.random(300).round(1)


def test_an_interval_is_the_percentile_bootstrap():
    ours = interval(VALUES)
    theirs = bootstrap((VALUES,), np.mean, method="percentile", rng=np.random.default_rng(1))
    assert ours.mean == pytest.approx(VALUES.mean())
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.004)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.004)
    assert interval(VALUES) == ours


def test_equal_values_have_no_width_and_none_no_interval():
    assert interval([0.5] * 7) == interval([0.5]) and interval([0.5]).low == 0.5
    with pytest.raises(ValueError, match="no query"):
        interval([])


def test_a_difference_in_every_query_is_sure_and_none_is_none():
    assert paired_p(VALUES, VALUES + 0.1) == pytest.approx(1 / 2001)
    assert paired_p(VALUES, VALUES) == 1.0
    assert paired_p([], []) == 1.0


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.6, 0.9]) == (1.0, 1.0)
    assert holm([]) == ()


def test_a_one_sided_p_knows_which_way_it_goes():
    before, after = [0.0] * 8 + [1.0] * 2, [1.0] * 10
    up, down = one_sided_p(before, after), one_sided_p(after, before)
    assert up < 0.01 and down > 0.99
    assert paired_p(before, after) == pytest.approx(2 * up, abs=0.01)
    assert one_sided_p(before, before) == 1.0


def test_wins_and_losses_by_hand():
    assert discordant_p(6, 0) == pytest.approx(2 / 2**6)
    assert discordant_p(1, 3) == pytest.approx(2 * (1 + 4) / 2**4)
    assert discordant_p(0, 0) == 1.0


def test_a_rate_says_its_interval_and_n_and_few_queries_say_so():
    assert rate_text(8, 10) == "0.800 [0.490, 0.943] (n = 10)"
    assert rate_text(0, 0) == "no rate (n = 0)"
    assert effect_text(2, 1, 1) == "not enough queries to tell (n = 3)"
    assert effect_text(5, 0, 1) == "not enough queries to tell (n = 5)", "p is .0625 at best"
    of_twelve = effect_text(6, 0, 12)
    assert "1.000 [0.610, 1.000] (n = 6)" in of_twelve and "McNemar p 0.031" in of_twelve
    assert "0.375 after Holm over 12 " in of_twelve
    assert "1.000 after Holm over 99 " in effect_text(6, 0, 99)
