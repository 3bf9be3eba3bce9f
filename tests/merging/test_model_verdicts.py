from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.merging.model_verdicts import Audit, Bars, ModelVerdicts, disagreements
from toolscope_core.model.pair import Pair, Verdict

BARS = Bars(unsure_at=0.2, merge_at=0.85, auto_at=0.9, family_at=0.6)
AB, AC, BC = Pair("a", "b"), Pair("a", "c"), Pair("b", "c")


def verdict_of(outcome, same_job=0.95, pair=AB, similarity=0.8, family=0.0, serves="both"):
    served = serves if outcome == "merge" else "none"
    return Verdict(
        pair, similarity, same_job, outcome, ("So.",), "m at h", family=family, serves=served
    )


def fixed(family=0.9, pair=AB, similarity=0.8):
    """A family, by the model."""
    return verdict_of("family", 1.0 - family, pair, similarity, family)


def verdicts_from(*verdicts, **given):
    return ModelVerdicts("m at h", {verdict.pair: verdict for verdict in verdicts}, **given)


def at(probability):
    return lambda pairs: np.full(len(pairs), probability)


def test_the_models_merges_are_edges_and_its_keeps_are_none():
    model_verdicts = verdicts_from(
        verdict_of("merge"), verdict_of("keep", 0.1, AC), verdict_of("unanalysed", 0.5, BC)
    )
    assert model_verdicts.edges({AC: 0.99, BC: 0.99}, BARS) == {AB: 0.95}


@pytest.mark.parametrize(
    ("verdicts", "offline", "least", "edges"),
    [
        ([verdict_of("keep", 0.1)], {AC: 0.97}, 0.0, {AC: 0.97}),
        ([verdict_of("merge")], {}, 0.9, {}),
        ([verdict_of("merge", 0.55)], {}, 0.0, {AB: 0.85}),
        ([fixed(), verdict_of("merge", 0.95, AC)], {AB: 0.99, BC: 0.97}, 0.0, {AC: 0.95, BC: 0.97}),
    ],
    ids=["of a pair not asked about", "below theta", "of a hesitant merge", "beside a family"],
)
def test_the_edges_of_a_merge(verdicts, offline, least, edges):
    assert verdicts_from(*verdicts).edges(offline, BARS, least) == edges


def test_families_are_what_the_model_calls_so_and_offline_ones_of_pairs_not_asked():
    model_verdicts = verdicts_from(
        fixed(0.9, AB), verdict_of("merge", 0.95, AC), verdict_of("unanalysed", 0.5, BC)
    )
    offline = {AC: 0.99, BC: 0.99, Pair("a", "d"): 0.7}
    assert model_verdicts.families(offline, BARS) == {AB: 0.9, Pair("a", "d"): 0.7}


def test_a_hesitant_family_is_an_edge_at_the_bar_and_none_below_theta():
    assert verdicts_from(fixed(0.51)).families({}, BARS) == {AB: 0.6}
    assert verdicts_from(fixed()).families({}, BARS, least=0.9) == {}


def test_what_an_audit_puts_together_is_no_family_and_what_it_tells_apart_may_be():
    model_verdicts = verdicts_from(
        fixed(0.9, AB), fixed(0.9, BC), audits=(Audit(tuple("abc"), (("a",), ("b", "c"))),)
    )
    assert model_verdicts.family_probabilities([AB, AC, BC], at(0.7), BARS).tolist() == [
        0.9,
        0.7,
        0.0,
    ]
    assert model_verdicts.probabilities([AB, AC, BC], at(0.7), BARS).tolist() == [0.0, 0.0, 0.85]


@pytest.mark.parametrize("family", [False, True])
def test_what_an_audit_puts_together_is_an_edge_between_tools_that_are_connected(family):
    members, kind = ("a", "b", "c", "d"), fixed if family else verdict_of
    verdicts = [kind(*(() if family else ("merge",)), pair=pair) for pair in (AB, BC)]
    model_verdicts = verdicts_from(*verdicts, audits=(Audit(members, (members,), family=family),))
    edges = model_verdicts.families if family else model_verdicts.edges
    assert edges({}, BARS).keys() == {AB, BC, AC}, "nothing connects d"
    assert edges({}, BARS, least=0.9) == {}


def test_an_audit_of_a_family_is_heard_above_the_verdicts():
    model_verdicts = verdicts_from(
        fixed(0.9, AC), audits=(Audit(tuple("abc"), (("a", "b"), ("c",)), family=True),)
    )
    values = model_verdicts.family_probabilities([AB, AC], at(0.1), BARS).tolist()
    assert values == [BARS.family_at, 0.0]
    assert [model_verdicts.is_family(pair) for pair in (AB, AC)] == [True, False]
    assert model_verdicts.probabilities([AB], at(0.7), BARS).tolist() == [0.7]
    assert verdicts_from(fixed(0.9, AC)).is_family(AC)


@pytest.mark.parametrize(
    ("serves", "unfit"),
    [
        ({AB: "left"}, "b"),
        ({AB: "both"}, ""),
        ({AB: "none"}, "ab"),
        ({AB: "left", AC: "left", BC: "both"}, "bc"),
        ({AB: "left", BC: "left"}, "bc"),  # a serves c through b
        ({AB: "left", BC: "both"}, "bc"),  # c serves b, but not a, which somebody does
        ({AB: "left", AC: "none", BC: "left"}, "abc"),  # but what is said of a and c counts
        ({AB: "left", AC: None, BC: "right"}, "b"),  # nobody said whether a serves c, or c a
        ({}, ""),
    ],
)
def test_who_does_not_serve_the_others(serves, unfit):
    verdicts = [
        replace(verdict_of("merge", pair=pair), serves=side)
        if side
        else verdict_of("unanalysed", pair=pair)
        for pair, side in serves.items()
    ]
    members = "abc" if len(serves) > 1 else "ab"
    assert verdicts_from(*verdicts).unfit(members, {}, 0.7) == frozenset(unfit)


def test_a_copy_serves_what_its_first_serves():
    verdicts = verdicts_from(replace(verdict_of("merge", pair=AB), serves="left"))
    assert verdicts.unfit("abc", {"a": "a", "b": "b", "c": "a"}, 0.7) == {"b"}


def test_a_keep_or_a_family_serves_nobody_and_an_open_answer_says_nothing():
    assert verdicts_from(verdict_of("keep", 0.1)).unfit("ab", {}, 0.7) == frozenset("ab")
    assert verdicts_from(verdict_of("unsure", 0.5)).unfit("ab", {}, 0.7) == frozenset()


def test_a_hesitant_merge_serves_nobody():
    hesitant = verdicts_from(verdict_of("merge", 0.69))
    assert hesitant.unfit("ab", {}, 0.7) == frozenset("ab")
    assert hesitant.unfit("ab", {}, 0.69) == frozenset()


JOB, FAMILY = ModelVerdicts.probabilities, ModelVerdicts.family_probabilities


@pytest.mark.parametrize(
    ("kind", "verdict", "offline", "heard"),
    [
        (JOB, verdict_of("merge", 0.95), 0.1, 0.95),
        (JOB, fixed(0.9), 0.99, 0.1),
        (JOB, fixed(0.5), 0.99, 0.5),
        (JOB, verdict_of("merge", 0.6), 0.99, 0.85),
        (JOB, verdict_of("keep", 0.0), 0.99, 0.0),
        (JOB, verdict_of("unsure", 0.5), 0.99, 0.5),
        (JOB, verdict_of("unanalysed", 0.5), 0.99, 0.849),
        (JOB, verdict_of("unanalysed", 0.5), 0.3, 0.3),
        (FAMILY, fixed(0.95), 0.1, 0.95),
        (FAMILY, fixed(0.51), 0.99, 0.6),
        (FAMILY, verdict_of("merge", 0.95), 0.99, 0.0),
        (FAMILY, verdict_of("keep", 0.02, family=0.02), 0.99, 0.02),
        (FAMILY, verdict_of("unanalysed", 0.5), 0.99, 0.599),
        (FAMILY, verdict_of("unanalysed", 0.5), 0.3, 0.3),
    ],
)
def test_what_correction_hears_of_a_pair(kind, verdict, offline, heard):
    pair_probabilities = kind(verdicts_from(verdict), [AB, AC], at(offline), BARS)
    assert pair_probabilities.tolist() == pytest.approx([heard, offline])


def test_an_audit_is_heard_above_the_verdicts():
    model_verdicts = verdicts_from(
        verdict_of("merge", 1.0, AB),
        verdict_of("keep", 0.0, BC),
        audits=(Audit(tuple("abc"), (("a",), ("b", "c"))),),
    )
    assert model_verdicts.probabilities([AB, AC, BC], at(0.99), BARS).tolist() == [0.0, 0.0, 0.85]


def test_a_rejected_audit_is_not_heard():
    bare = verdicts_from(verdict_of("merge", 0.95))
    rejected = verdicts_from(
        verdict_of("merge", 0.95), audits=(Audit(("a", "b", "c"), (), "no partition"),)
    )
    pairs = [AB, AC, BC]
    assert np.array_equal(
        rejected.probabilities(pairs, at(0.5), BARS), bare.probabilities(pairs, at(0.5), BARS)
    )
    assert [audit.reason for audit in rejected.rejected] == ["no partition"]
    assert "no partition" in rejected.doubts("ab", at(0.99), BARS)[0]


@given(st.permutations(["a", "b", "c", "d"]), st.integers(0, 3))
def test_doubts_do_not_depend_on_the_order(order, cut):
    groups = tuple(g for g in (tuple(order[:cut]), tuple(order[cut:])) if g)
    model_verdicts = verdicts_from(
        verdict_of("merge"), audits=(Audit(tuple(sorted(order)), groups),)
    )
    assert set(model_verdicts.doubts(order, at(0.5), BARS)) == set(
        model_verdicts.doubts("abcd", at(0.5), BARS)
    )


@pytest.mark.parametrize(
    ("verdict", "offline", "doubt"),
    [
        ("merge", 0.95, None),
        ("merge", 0.5, None),
        ("merge", 0.494, "(0.49)"),
        ("merge", 0.1, "(0.10)"),
        ("family", 0.95, "“family”"),
        ("keep", 0.95, "“different jobs”"),
        ("unsure", 0.95, "“looks alike”"),
        ("unanalysed", 0.95, "no usable answer"),
        (None, 0.9, None),
        (None, 0.89, "neither"),
    ],
)
def test_auto_accept_needs_the_model_and_an_offline_judge_at_even_odds(verdict, offline, doubt):
    model_verdicts = verdicts_from(*([verdict_of(verdict)] if verdict else []))
    doubts = model_verdicts.doubts("ab", at(offline), BARS)
    assert (doubt is None and not doubts) or doubt in doubts[0]


@pytest.mark.parametrize(("serves", "safe"), [("both", 1), ("left", 1), ("right", 1), ("none", 0)])
def test_one_job_that_neither_can_do_for_the_other_is_for_a_person(serves, safe):
    doubts = verdicts_from(verdict_of("merge", serves=serves)).doubts("ab", at(0.95), BARS)
    assert (not doubts) == safe
    assert safe or "neither takes" in doubts[0]


def test_a_model_that_read_text_aimed_at_it_is_not_enough():
    model_verdicts = verdicts_from(verdict_of("merge"), suspicious_ids=frozenset("b"))
    assert "addresses the model" in model_verdicts.doubts("ab", at(0.5), BARS)[0]
    assert not model_verdicts.doubts("ab", at(0.95), BARS)


def test_every_pair_of_the_cluster_counts():
    model_verdicts = verdicts_from(verdict_of("merge"), verdict_of("merge", 0.9, BC))
    (doubt,) = model_verdicts.doubts("abc", at(0.5), BARS)
    assert doubt.endswith(": a and c")


def test_many_pairs_are_counted():
    (doubt,) = verdicts_from().doubts("abcd", at(0.5), BARS)
    assert doubt.endswith("and 3 more pairs")


def test_disagreements_come_widest_first_and_the_unanalysed_are_none():
    model_verdicts = verdicts_from(
        verdict_of("merge", 0.95), verdict_of("keep", 0.3, AC), verdict_of("unanalysed", 0.5, BC)
    )

    def offline(pairs):
        return [Verdict(pair, 0.8, 0.1, "keep") for pair in pairs]

    (disagreement,) = disagreements(model_verdicts, offline)
    assert (disagreement.pair, round(disagreement.gap, 2)) == (AB, 0.85)


def test_the_gap_of_a_family_is_as_wide_as_its_own_probability():
    model_verdicts = verdicts_from(fixed(0.95))
    (disagreement,) = disagreements(
        model_verdicts, lambda pairs: [Verdict(AB, 0.8, 0.1, "keep", family=0.2)]
    )
    assert disagreement.gap == pytest.approx(0.75)


def test_the_unanalysed_are_listed_with_the_reason():
    assert verdicts_from(verdict_of("unanalysed")).unanalysed == {AB: "So."}
