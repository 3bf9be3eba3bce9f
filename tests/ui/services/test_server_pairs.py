"""Proposals between the same two servers, decided together."""

from dataclasses import replace
from itertools import combinations

import pytest

from tests.support.scripted import judge_says
from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import FILES, MAIL, SUM, TEXT, WEATHER, by_name, on, tool
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.merging.group_syntheses import Stores
from toolscope_core.model.cluster import proposal_kind
from toolscope_core.model.configuration import PlanConfig
from ui.shared.services import review

BOTH = tuple(on(server, one) for one in (MAIL, WEATHER, FILES) for server in ("alpha", "beta"))
APART = (on("gamma", SUM), on("delta", SUM))
"""A proposal alone between its two servers."""


@pytest.fixture
def opened():
    work, catalog_id = small_workspace.open_workspace(*BOTH, *APART)
    return small_workspace.Functions(work, review), catalog_id, work


def only_pair(own, catalog_id):
    (pair,) = own.server_pairs(catalog_id)
    return pair


def decide(own, catalog_id, action, pair):
    return own.decide_each(catalog_id, "ann", [(action, one, {}) for one in pair.clusters])


def test_it_says_where_a_guard_asks_for_all_or_none():
    beside = replace(on("beta", FILES), id="beta/move_file", name="move_file",
                     description="Move a file to another folder.")  # fmt: skip
    stays = [
        replace(on("alpha", SUM), id=f"alpha/{name}", name=name, description=f"Will {name}.")
        for name in ("round_numbers", "sort_words")
    ]
    for tools, wanted, outside in ((BOTH, False, (0, 0)), ((*BOTH, beside, *stays), True, (2, 1))):
        work, i = small_workspace.open_workspace(*tools)
        own = small_workspace.Functions(work, review)
        for cluster, stays in only_pair(own, i).to_keep("alpha"):
            own.decide(i, "canonical", cluster, "ann", {"canonical": stays, "kind": "drop_in"})
        pair = only_pair(own, i)
        assert (pair.all_or_none, pair.outside) == (wanted, outside)
        work.close()


def test_what_somebody_decided_meanwhile_is_refused_and_the_rest_stands(opened):
    own, i, _ = opened
    pair = only_pair(own, i)
    own.decide(i, "keep_apart", pair.clusters[0], "bob")
    made, refused = decide(own, i, "accept", pair)
    assert len(made) == 2
    assert ["keep apart by bob" in str(error) for error in refused] == [True]


def test_families_and_cards_of_three_servers_lie_between_each_two_of_them(monkeypatch):
    """A family between fish and fowl, and one duplicate of three servers."""
    lists = [
        tool(server, f"list_{server}_nests", f"List the nests of {server}.", day=TEXT)
        for server in ("fish", "fowl")
    ]
    mails = [on(server, MAIL) for server in ("fish", "fowl", "goat")]
    jobs = {(a.id, b.id): 1.0 for a, b in combinations(mails, 2)}
    judge_says(monkeypatch, jobs, {(lists[0].id, lists[1].id): 0.8})
    work, i = small_workspace.open_workspace(*lists, *mails)
    (pair,) = review.server_pairs(work.snapshot(i))
    assert pair.servers == ("fish", "fowl")
    assert sorted(map(proposal_kind, pair.clusters)) == ["family", "gateway"]
    beyond = dict(zip(map(proposal_kind, pair.clusters), pair.beyond, strict=True))
    assert beyond == {"family": (), "gateway": ("goat",)}
    assert (pair.duplicates, pair.kept_on("fish"), pair.kept_on("fowl")) == (1, 0, 0), "all stay"
    assert [one.relation for one, _ in pair.to_keep("fowl")] == ["duplicate"]
    made, refused = decide(small_workspace.Functions(work, review), i, "accept", pair)
    assert (len(made), refused, review.progress(work.snapshot(i)).waiting) == (2, (), 0)


def test_an_accepted_drop_in_stays_one_when_a_server_begins_to_keep_things(opened, monkeypatch):
    own, i, work = opened
    sums = by_name(work, i, "add_numbers")
    own.decide(i, "accept", sums, "ann")
    monkeypatch.setattr(Stores, "are_apart", lambda self, members: True)
    again = plan_merge(
        work.snapshot(i).analysed.without_cache(), work.snapshot(i).log, PlanConfig()
    )
    assert [(one.members, one.kind) for one in again.applied] == [(sums.members, "drop_in")]
