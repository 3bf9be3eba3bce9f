"""The smallest sets of tools for requests, worked out by hand, and against all other sets."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles.shelf import DELETE, GET, MAIL, READ, chosen, plan_of, saved, shelf
from tests.support.catalogs import example_catalog
from tests.support.properties import examples
from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import Costs
from toolscope_core.decisions.constraints import profiles
from toolscope_core.decisions.decision_lines import read_decisions
from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.confusions import Mismatch
from toolscope_core.evaluation.measured_toolsets import ToolsetRanker
from toolscope_core.evaluation.query_sets import Query, example_profiles, example_requests
from toolscope_core.merging.clusters import apply_clusters
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.profiles.intent_cover import Intent, intents_of, not_asked_for, smallest_cover
from toolscope_core.profiles.profile_effect import Misses, effect_lines, misses_of
from toolscope_core.profiles.profile_tools import profile_tools
from toolscope_core.retrieval.client_search import SearchSetup
from toolscope_core.retrieval.retriever import Retriever


def no_search():
    raise AssertionError("what has answers is not searched")


def intents(*needs):
    return tuple(
        Intent(f"intent {row}", tuple(frozenset(need) for need in own))
        for row, own in enumerate(needs)
    )


def test_a_tool_that_serves_more_for_its_tokens_comes_first():
    all_intents = intents(["ab"], ["ac"], ["ad"], [""])
    cover = smallest_cover(all_intents, {"a": 20, "b": 10, "c": 10, "d": 10})
    assert [(one.tool_id, one.intents) for one in cover.additions] == [("a", 3)]
    assert cover.ids == ("a",)
    assert [one.is_served_by(cover.ids) for one in all_intents] == [True, True, True, False]
    assert not_asked_for(all_intents, "abcde") == ("e",)
    assert all_intents[1].tools_of("abc") == ("a", "c")


def test_what_later_tools_make_superfluous_is_not_kept():
    all_intents = intents(["ab"], ["ac"], ["b"], ["c"])
    cover = smallest_cover(all_intents, {"a": 1, "b": 4, "c": 4})
    assert cover.ids == ("b", "c")
    assert [one.intents for one in cover.additions] == [2, 4]


def test_a_budget_is_kept_and_what_does_not_fit_is_named():
    all_intents = intents(["a"], ["b"], ["b", "c"])
    cover = smallest_cover(all_intents, {"a": 10, "b": 10, "c": 90}, budget=50)
    assert (cover.ids, cover.too_large) == (("b", "a"), ("c",))
    assert [one.intents for one in cover.additions] == [1, 2]
    assert smallest_cover((), {"a": 1}).ids == ()


@pytest.mark.parametrize(("price", "ids"), [(12, ("b2", "b1")), (40, ("a1", "b2"))])
def test_one_server_serves_where_two_would_hardly_be_cheaper(price, ids):
    all_intents, tokens = intents([("a1", "b1")], [("b2",)]), {"a1": 10, "b1": price, "b2": 10}
    servers = {one: one[0] for one in tokens}
    assert smallest_cover(all_intents, tokens, None, servers).ids == ids
    assert smallest_cover(all_intents, tokens, 21, servers).ids == ("a1", "b2")


NEEDS = st.lists(st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=2), max_size=4)


@examples(40)
@given(needs=NEEDS, prices=st.lists(st.integers(1, 9), min_size=5, max_size=5))
def test_every_need_that_a_tool_serves_is_served_and_no_tool_is_idle(needs, prices):
    all_intents, tokens = intents(*needs), dict(zip("abcde", prices, strict=True))
    ids = smallest_cover(all_intents, tokens).ids
    served = [need for one in all_intents for need in one.needs if need]
    assert all(not need.isdisjoint(ids) for need in served)
    for fewer in combinations(ids, len(ids) - 1) if ids else ():
        assert not all(not need.isdisjoint(fewer) for need in served)


@pytest.fixture(scope="module")
def setup(tmp_path_factory):
    cache = VectorCache(tmp_path_factory.mktemp("cover"))
    return SearchSetup(MiniLmEmbedder(), cache, RetrievalConfig())


def test_a_search_names_the_tools_of_each_job_and_what_perhaps_none_does(setup):
    plan = plan_of(shelf(), (READ, GET), state="proposed")
    retriever = Retriever([item.tool for item in plan.tools], setup.embedder, setup.cache)
    texts = ("Read a file and send a mail", "Qzx vvk")
    requests = [Query("", text) for text in texts]
    both, nothing = intents_of(requests, plan, lambda: retriever, 1, one_is_enough=False)
    (loose, _) = intents_of(requests, plan, lambda: retriever, 2)
    assert both.needs == (frozenset({READ, GET}), frozenset({MAIL}))
    assert len(loose.needs) == 2 and MAIL in loose.needs[1] and len(loose.needs[1]) > 1
    assert (both.is_doubtful, nothing.is_doubtful) == (False, True)


def test_answers_name_needs_in_the_toolset_of_the_plan():
    plan = plan_of(shelf(), (READ, GET), omitted=(DELETE,))
    kept = plan.phi[READ]
    requests = [Query("q", "x", (frozenset({GET}), frozenset({DELETE})))]
    (query,) = intents_of(requests, plan, no_search)
    assert query.needs == (frozenset({kept}), frozenset())


def test_a_profile_is_measured_beside_the_whole_toolset(setup):
    catalog = shelf()
    plan = plan_of(catalog)
    queries = [
        Query("q1", "Send a mail", (frozenset({MAIL}),)),
        Query("q2", "Delete a file", (frozenset({DELETE}),)),
    ]
    selection = chosen(plan, saved(catalog, ids=(READ, MAIL)))
    first, last = effect_lines(plan, selection, queries, ToolsetRanker(setup), Costs())
    assert re.match(r"recall@1: .* 1\.000 \[1\.000, 1\.000\], .* 0\.500 \[0\.000, 1\.0", first)
    assert "difference -0.500" in first
    assert "2 requests" in last
    assert effect_lines(plan, selection, [Query("q", "x")], ToolsetRanker(setup), Costs()) == []


class Ranked:
    """A ``Ranker`` of rankings that are given by text."""

    def __init__(self, **rankings):
        self.by_text = rankings

    def rankings(self, tools, requests, k):
        own = {tool.id for tool in tools}
        return tuple([one for one in self.by_text[asked.text] if one in own] for asked in requests)


def test_tools_of_a_profile_that_stand_before_those_asked_for_are_counted():
    catalog = shelf()
    plan = plan_of(catalog)
    selection = chosen(plan, saved(catalog, ids=(READ, MAIL, GET)))
    wants = {"a": READ, "b": READ, "c": MAIL, "d": DELETE}
    queries = [Query(text, text, (frozenset({one}),)) for text, one in wants.items()]
    ranker = Ranked(a=[MAIL, READ], b=[DELETE, MAIL, READ], c=[MAIL, READ], d=[READ])
    misses = misses_of(plan, selection, [*queries, Query("e", "e")], ranker)
    assert misses.texts == {Mismatch(READ, MAIL): ("a", "b")}
    assert misses.requests == 3, "nothing of it is asked for by d and e"
    assert ": 0.667 [" in misses.in_words
    assert misses_of(plan, selection, [Query("e", "e")], ranker) == Misses()


def test_the_profiles_of_the_example_are_the_smallest_for_their_requests():
    """The file is made by ``profile --accept none``; a change of the example makes it anew."""
    catalog = example_catalog()
    plan, costs = apply_clusters(catalog, (), gateway=False), Costs()
    tokens = {tool.id: costs.of(tool, PROMPT_FORMATS[0]) for tool in catalog.tools}
    standing = profiles(catalog, read_decisions(catalog, example_profiles()))
    assert set(standing) == {"travel-desk", "note-taker"}
    for profile in standing.values():
        requests = [one for one in example_requests() if one.text in profile.intents]
        assert len(requests) == len(profile.intents) == 6
        cover = smallest_cover(intents_of(requests, plan, no_search), tokens)
        assert set(cover.ids) == profile_tools(plan, profile).ids
        assert cover.additions[-1].intents == 6
