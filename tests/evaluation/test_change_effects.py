"""One change of a toolset: which requests it touches, wins and loses."""

from dataclasses import replace

import pytest

from tests.evaluation.shelf import CATALOG, MERGED, QUERIES, TOOLS, KnownOrder, trial
from toolscope_core.evaluation.change_effects import (
    SearchedQueries,
    ToolsetChange,
    change_effect,
    compared_changes,
    merges_of,
)
from toolscope_core.evaluation.measured_toolsets import of_plan

SEARCH_IS_FIND = ToolsetChange(("find", "search"), (TOOLS["find"],))


@pytest.fixture
def ranker():
    return KnownOrder()


@pytest.fixture
def before(ranker):
    return SearchedQueries.of(trial(), ranker)


def test_a_merge_wins_the_requests_that_only_its_members_stood_in_the_way_of(before, ranker):
    effect = change_effect(before, SEARCH_IS_FIND, ranker)
    assert [one.text for one in effect.won] == ["look for it", "find it, then mail it"]
    assert effect.lost == () and (effect.touched, effect.right, effect.gain) == (4, 0, 2)
    assert effect.joined == 1, "one request needs both"


def test_a_request_that_was_right_and_is_not_is_lost(before, ranker):
    once = replace(before, rankings=(*before.rankings[:3], ("weather",)))
    effect = change_effect(once, ToolsetChange(("weather",), (TOOLS["weather"],)), ranker)
    assert effect.lost == QUERIES[3:4] and effect.won == ()
    assert (effect.right, effect.gain, effect.p) == (1, -1, 1.0)


def test_only_requests_that_meet_the_tools_are_searched_again(before, ranker):
    some = replace(before, rankings=tuple(ranking[:3] for ranking in before.rankings))
    ranker.asked.clear()
    effect = change_effect(some, ToolsetChange(("weather",), (TOOLS["weather"],)), ranker)
    assert ranker.asked == [["rain?"]] and effect.touched == 1


def test_a_tool_under_another_text_is_a_change_of_its_own():
    same = ToolsetChange(("mail",), (TOOLS["mail"],))
    assert same.applied_to(CATALOG.tools).phi == {}
    other = ToolsetChange(("mail",), (replace(TOOLS["mail"], description="Send."),))
    assert other.version != same.version == ToolsetChange(("mail",), (TOOLS["mail"],)).version


def test_every_merge_of_a_toolset_is_told_with_its_p_values(before, ranker):
    (merge,) = merges_of(of_plan(MERGED, "merged"))
    assert merge.version == SEARCH_IS_FIND.version and merge.replaced == SEARCH_IS_FIND.replaced
    bad = ToolsetChange(("weather",), (TOOLS["weather"],))
    once = replace(before, rankings=(*before.rankings[:3], ("weather",)))
    rows = compared_changes(once, [SEARCH_IS_FIND, bad], ranker)
    assert [row.tools for row in rows] == [("weather",), ("find", "search")]
    assert rows[1].won == ("1", "2") and (rows[1].p, rows[1].p_holm) == (0.5, 1.0)
    assert rows[1].rate.mean == 1.0 and 0.34 < rows[1].rate.low < 0.35
