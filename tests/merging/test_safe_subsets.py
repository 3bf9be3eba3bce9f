"""Which tools of a larger group are offered by themselves."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolscope_core.merging.grouping import with_safe_subsets
from toolscope_core.model.cluster import Group


def subsets(group, clean, pair_probabilities=None, auto_at=0.8):
    def is_clean(members):
        return all(pair in clean for pair in combinations(members, 2))

    def weakest(members):
        return min((pair_probabilities or {}).get(pair, 0.9) for pair in combinations(members, 2))

    return with_safe_subsets([group], is_clean, weakest, auto_at)


ABC = Group(("a", "b", "c"), 0.85, intransitive=True)


def test_the_clean_ones_are_offered_by_themselves():
    (subset,) = subsets(ABC, {("a", "b")})
    assert subset == Group(("a", "b"), 0.9, split=True)


def test_what_the_subsets_leave_is_a_group_if_it_is_two_or_more():
    parts = subsets(Group(tuple("abcd"), 0.85), {("a", "b")})
    assert [group.members for group in parts] == [("a", "b"), ("c", "d")]
    assert all(group.split for group in parts)


@pytest.mark.parametrize(
    "group",
    [
        Group(("a", "b", "c"), 0.85, decided=True),
        Group(("a", "b", "c"), 0.85, put_forward=True),
        Group(("a", "b"), 0.85),
        Group(tuple("abcdefghijklm"), 0.85),
    ],
    ids=["decided", "asked for", "a pair", "too large"],
)
def test_some_groups_stay(group):
    assert subsets(group, {("a", "b")} if len(group.members) > 2 else set()) == (group,)


def test_a_clean_group_and_one_without_a_subset_stay():
    assert subsets(ABC, set(combinations("abc", 2))) == (ABC,)
    assert subsets(ABC, set()) == (ABC,)


def test_a_subset_needs_pairs_that_may_be_accepted_unseen():
    assert subsets(ABC, {("a", "b")}, {("a", "b"): 0.79}) == (ABC,)
    assert subsets(ABC, {("a", "b")}, {("a", "b"): 0.8})[0].weakest_edge == 0.8


@given(st.sets(st.sampled_from(list(combinations("abcdef", 2)))))
def test_subsets_divide_a_group_and_any_two_inside_are_clean(clean):
    whole = Group(tuple("abcdef"), 0.85)
    parts = subsets(whole, clean)
    members = [member for group in parts for member in group.members]
    assert len(members) == len(set(members))
    assert set(members) <= set(whole.members)
    if parts != (whole,):
        inside = [set(combinations(group.members, 2)) <= clean for group in parts]
        assert sum(not one for one in inside) <= 1
        assert any(inside)
