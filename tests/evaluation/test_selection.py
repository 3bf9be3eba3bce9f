"""Correct selections of the list that an agent is given, every rate worked out by hand."""

import pytest

from tests.evaluation.shelf import CATALOG, KnownOrder
from toolscope_core.evaluation.selection import (
    best_for_jobs,
    is_correct,
    job_rankings,
    offline_rates,
    selection_rates,
)
from toolscope_core.retrieval.assembly import ToolRequest

BOTH = ToolRequest("both", ("look for it", "find and search"))
RAIN = ToolRequest("rain?")
LISTS = (("search", "book", "mail"), ("weather", "find"))
GOLDS = ((frozenset({"search"}), frozenset({"mail"})), (frozenset({"weather"}),))


def test_each_job_is_searched_once_alone():
    ranker = KnownOrder()
    by_job = job_rankings(CATALOG.tools, [BOTH, RAIN, BOTH], ranker)
    assert ranker.asked == [["look for it", "find and search", "rain?"]]
    assert by_job["find and search"][:2] == ("mail", "find")


def test_a_job_takes_of_the_list_what_its_own_search_ranks_highest():
    by_job = job_rankings(CATALOG.tools, [BOTH, RAIN], KnownOrder())
    assert best_for_jobs([BOTH, RAIN], by_job, LISTS) == ({"search", "mail"}, {"find"})
    alone = best_for_jobs([BOTH, RAIN], by_job, [["search"], ["weather"]])
    assert alone == ({"search"}, {"weather"})
    assert best_for_jobs([BOTH], by_job, [["elsewhere"]]) == (frozenset(),), "beyond its own places"


def test_the_rate_depends_on_how_many_tools_are_shown():
    """Of one tool both jobs take *search*, and *weather* is alone; of three the jobs take what is
    needed, and *rain?* ranks *find* above *weather*.
    """
    by_job = job_rankings(CATALOG.tools, [BOTH, RAIN], KnownOrder())
    rows = offline_rates([BOTH, RAIN], by_job, LISTS, GOLDS, (3, 1))
    assert [(row.name, row.values) for row in rows] == [
        ("csr@1", (0.0, 1.0)),
        ("csr@3", (1.0, 0.0)),
        ("parts@1", (0.0, 0.0)),
    ]


def test_whoever_chooses_sees_the_first_k_of_the_one_list():
    shown = []

    def choice(lists):
        shown.append(lists)
        return [frozenset(one) for one in lists]

    rows = selection_rates(choice, LISTS, GOLDS, (2,))
    assert shown == [[("search", "book"), ("weather", "find")]]
    assert [(row.name, row.interval.mean) for row in rows] == [("csr@2", 0.0)]


@pytest.mark.parametrize(
    ("chosen", "right"),
    [("ac", True), ("bc", True), ("ab", False), ("a", False), ("abc", False), ("", False)],
)
def test_a_selection_is_correct_where_it_is_exactly_what_is_needed(chosen, right):
    gold = (frozenset("ab"), frozenset("c"), frozenset("c"))
    assert is_correct(frozenset(chosen), gold) is right


def test_needs_that_share_tools_are_given_one_each():
    assert is_correct(frozenset("ab"), (frozenset("ab"), frozenset("a")))
