"""Six tools before and after one merge, every figure worked out by hand."""

import math
from dataclasses import replace

import pytest

from tests.evaluation.shelf import CATALOG, MERGED, QUERIES, TOOLS, KnownOrder, trial
from toolscope_core.evaluation.change_effects import merge_effects
from toolscope_core.evaluation.comparison import (
    GoldCall,
    Trial,
    compared,
    coverage,
    gold_calls,
    measurement_of,
)
from toolscope_core.evaluation.measured_toolsets import Toolset, as_it_is, of_plan, of_version
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.errors import ConfigError
from toolscope_core.retrieval.assembly import ToolRequest

SECOND, THIRD = 1 / math.log2(3), 1 / 2
"""The discounts of the second and the third place."""


def measure(toolset, ranker=None):
    return measurement_of(toolset, trial(), ranker or KnownOrder(), lambda one: len(one.name))


@pytest.fixture
def both():
    return measure(as_it_is(CATALOG)), measure(of_plan(MERGED, "merged"))


def metric(result, name):
    return next(row.interval.mean for row in result.rows if row.name == name)


def test_the_figures_of_both_toolsets(both):
    before, after = both
    assert before.golds[0] == (frozenset({"search"}),)
    assert after.golds[0] == (frozenset({"find"}),)
    assert (metric(before, "recall@1"), metric(after, "recall@1")) == (0.125, 0.375)
    assert (metric(before, "recall@3"), metric(after, "recall@3")) == (0.75, 0.75)
    ideal = 1 + SECOND
    ndcg = (SECOND + (1 + THIRD) / ideal + (SECOND + THIRD) / ideal) / 4
    assert metric(before, "ndcg@3") == pytest.approx(ndcg)
    assert metric(after, "ndcg@3") == pytest.approx((1 + 1 + SECOND) / 4)
    assert (metric(before, "hit@3"), metric(after, "hit@3")) == (0.75, 0.75)
    assert metric(after, "map@3") == pytest.approx((1 + 1 + 1 / 2) / 4)
    assert (metric(before, "csr@3"), metric(after, "csr@3")) == (0.0, 0.25), "the first is right"
    assert (before.tokens, after.tokens) == (31, 25)
    assert (before.token_means[3], after.token_means[3]) == (14.0, 12.5)
    assert (before.token_means[1], after.token_means[1]) == (4.0, 4.0)


def test_what_became_of_each_query(both):
    result = compared(trial(), *both)
    assert [one.id for one in result.queries] == ["1", "2", "3", "4"]
    assert [one.outcome for one in result.queries] == ["won", "won", "lost", "unchanged"]
    assert [one.places_before for one in result.queries] == [(2,), (1, 3), (2, 3), (None,)]
    assert [one.places_after for one in result.queries] == [(1,), (1, 2), (2, 2), (None,)]
    assert (result.count("won"), result.count("lost")) == (2, 1)
    assert set(result.p) == set(result.before.metrics)
    gained = result.changes["recall@1"]
    assert gained.mean == 0.25 and 0.0 <= gained.low <= gained.mean <= gained.high <= 1.0
    assert all(0.0 < p <= 1.0 for p in result.p.values())


def test_a_merge_of_nothing_changes_nothing_to_the_bit():
    before = measure(as_it_is(CATALOG))
    same = measure(Toolset("the same", CATALOG.tools, {one: one for one in TOOLS}))
    assert same.rows == before.rows
    assert same.coverage == before.coverage
    result = compared(trial(), before, same)
    assert result.count("unchanged") == 4
    assert set(result.p.values()) == {1.0}


def test_what_a_merge_does_to_the_queries_it_touches(both):
    ranker = KnownOrder()
    (effect,) = merge_effects(MERGED, trial(), *both, ranker)
    assert effect.members == ("find", "search")
    assert [one.id for one in effect.queries] == ["1", "2", "3", "4"], "the last finds both in vain"
    assert (effect.helped, effect.hurt, effect.joins) == (2, 1, ("3",))
    ideal = 1 + SECOND
    gain = (1 - SECOND) + (1 - (1 + THIRD) / ideal) + (SECOND - (SECOND + THIRD) / ideal)
    assert effect.change == pytest.approx(gain)
    assert len(ranker.asked) == 1, "one search for each merge"


def test_a_merge_that_no_query_meets_is_not_looked_at(both):
    far = trial()
    far = replace(far, queries=far.queries[3:], requests=far.requests[3:])
    before, after = (
        replace(one, rankings=(("book", "mail"),), golds=one.golds[3:]) for one in both
    )
    ranker = KnownOrder()
    assert merge_effects(MERGED, far, before, after, ranker) == ()
    assert ranker.asked == []


def test_calls_count_where_they_validate_after_the_mapping(both):
    before, after = both
    for one in (before.coverage, after.coverage):
        assert (one.calls, one.runnable) == (3, 2), "7 is no address"
        assert (one.capabilities, one.supported) == (3, 2)
        assert one.tccr == one.ucc == pytest.approx(2 / 3)


def test_a_lost_argument_a_gone_tool_and_a_wrong_map_break_a_call():
    def refused(toolset):
        calls = gold_calls(QUERIES, CATALOG)
        return [at for at, call in enumerate(calls) if not coverage([call], toolset).runnable]

    merged = of_plan(MERGED, "merged")
    broken = ArgumentMap("search", "find", dropped={"text": "no place"})
    lost = replace(merged, arguments={**merged.arguments, "search": broken})
    assert refused(lost) == [0, 2]
    unmapped = replace(merged, arguments={})
    assert refused(unmapped) == [0, 2], "find has no text"
    gone = replace(merged, phi={**merged.phi, "find": None})
    assert refused(gone) == [1, 2]


def test_a_capability_needs_all_its_calls():
    mails = [GoldCall("mail", {"to": to}) for to in ("a", 7)]
    calls = [*mails, GoldCall("find", {"query": ""})]
    found = coverage(calls, as_it_is(CATALOG))
    assert (found.runnable, found.calls) == (2, 3)
    assert (found.supported, found.capabilities) == (1, 2)
    empty = coverage([], as_it_is(CATALOG))
    assert empty.tccr is None and empty.ucc is None


def test_calls_are_read_in_any_form_and_by_a_name_that_one_tool_has():
    ids = ("a/find", "b/find", "a/mail")
    twins = Catalog(tuple(replace(TOOLS[one[2:]], id=one) for one in ids))
    calls = (
        {"function": {"name": "mail", "arguments": '{"to": "x"}'}},
        {"name": "find", "input": {"query": "x"}},
        {"tool": "b/find", "arguments": {"query": "x"}},
        "nothing",
    )
    query = replace(QUERIES[0], calls=calls)
    mail, find = GoldCall("a/mail", {"to": "x"}), GoldCall("b/find", {"query": "x"})
    assert gold_calls([query], twins) == (mail, find)


def test_a_schema_that_nobody_can_read_takes_everything_and_asks_nobody():
    odd = ({"$ref": "http://127.0.0.1:9/x"}, {"pattern": "("}, {"title": "\ud800"})
    for schema in (None, *({"type": "object", **more} for more in odd)):
        toolset = Toolset("odd", (replace(TOOLS["find"], schema=schema),))
        assert coverage([GoldCall("find", {"q": "\ud800"})], toolset).runnable == 1


def test_another_version_has_what_it_has():
    older = Catalog((TOOLS["find"], TOOLS["mail"]))
    toolset = of_version(older, CATALOG, "version 1")
    assert toolset.phi == dict.fromkeys(["book", "cancel", "search", "weather"])
    result = measure(toolset)
    assert result.golds[0] == (frozenset({"search"}),), "asked for, and not there"
    assert metric(result, "recall@3") == pytest.approx((0 + 1 + 0.5 + 0) / 4)


def test_without_gold_answers_there_is_nothing_to_measure():
    with pytest.raises(ConfigError, match="gold answer"):
        Trial.of(CATALOG, QUERIES[4:], lambda one: ToolRequest(one.text), (1,))


def test_versions_of_toolsets_are_those_of_their_tools_and_maps():
    merged = of_plan(MERGED, "merged")
    assert merged.version == replace(merged, name="other").version
    assert merged.version != as_it_is(CATALOG).version
    assert merged.version != replace(merged, arguments={}).version
