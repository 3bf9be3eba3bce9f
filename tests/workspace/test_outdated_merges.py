"""Accepted merges to look at again: found in a store of version 1, and every way out of the list."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.scripted import judge_says
from tests.workspace import town
from tests.workspace.desk import by_name
from toolscope_core.config import PlanConfig, read_environment
from toolscope_core.datamodel import Pair
from toolscope_core.decision_log import admit
from toolscope_core.decisions import decision_of_row
from toolscope_core.errors import DecisionError, StaleDecisionError
from toolscope_core.store import append_decision
from toolscope_core.workspace.workspace import Workspace

VERSION1 = Path(__file__).parents[1] / "data" / "version1"
TOWN = 2
DUPLICATES = {"fetch_recipe", "get_recipe", "fetch_water_temperature", "get_water_temperature"}
BANKS = [tool.id for tool in town.BANKS]
RECIPES = ["fetch_recipe", "get_recipe"]


@pytest.fixture(scope="module")
def analysed(tmp_path_factory, vector_cache):
    """The store of version 1, analysed again by the judge of today."""
    place = tmp_path_factory.mktemp("v1") / "store.db"
    shutil.copy(VERSION1 / "store.db", place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{place}")
        patch.setenv("TOOLSCOPE_CACHE_DIR", str(vector_cache))
        work = Workspace(read_environment())
        for record in work.catalogs.newest():
            if work.analyses.get(record.id) is None:
                work.analyses.wait(work.analyses.start(record.id))
        work.close()
    return place


@pytest.fixture
def version1(analysed, tmp_path, monkeypatch):
    shutil.copy(analysed, tmp_path / "old.db")
    monkeypatch.setenv("TOOLSCOPE_STORE_URL", f"sqlite:///{tmp_path / 'old.db'}")
    work = Workspace(read_environment())
    yield work
    work.close()


def members(items):
    return {item.cluster.members for item in items}


def accept_as_before(work, catalog_id, action, ids, detail=None):
    """A decision as the store of version 1 has them: without a relation."""
    catalog = work.catalogs.open(catalog_id)
    row = {"action": action, "ids": ids, "reviewer": "ann", "detail": detail or {}}
    decision = decision_of_row(catalog, row)
    return append_decision(work.store, catalog_id, lambda log: admit(log, decision))


# Version 1 -----------------------------------------------------------------------------------


def test_accepted_families_and_opposites_of_a_store_of_version_1_are_listed(version1):
    items = version1.review.look_again(TOWN)
    assert members(items) >= {
        ("get_peachstore_price", "get_pearstore_price"),
        ("login_elmwood_bank", "login_oakwood_bank"),
        ("pearstore_order_history", "plumstore_order_history"),
        ("get_february_rainfall", "get_january_rainfall"),
        ("countEvenDigits", "countOddDigits"),
        ("purchaseGameSkin", "sellGameSkin"),
    }
    listed = {member for pair in members(items) for member in pair}
    assert listed.isdisjoint(DUPLICATES | {"calculate_tip", "compute_tip"})
    why = {item.cluster.members: item.why for item in items}
    assert why["get_peachstore_price", "get_pearstore_price"] == (
        "The same operation for another provider: peachstore / pearstore.",
        "`get_pearstore_price` says pearstore where `get_peachstore_price` says peachstore.",
    )
    assert all(item.cluster.state == "accepted" for item in items)
    steps = [step.text for step in version1.overview.steps(TOWN)]
    assert f"{len(items)} accepted merges to look at again" in steps


def test_what_was_accepted_stays_until_somebody_acts(version1):
    expected = json.loads((VERSION1 / "expected.json").read_text("utf-8"))
    (then,) = [catalog for catalog in expected["catalogs"] if catalog["name"] == "Town"]
    phi = {row.old_id: row.new_id for row in version1.review.plan(TOWN).relabels}
    assert version1.review.look_again(TOWN)
    assert phi == then["phi"]


def test_copies_and_general_tools_of_the_example_are_not_listed(version1):
    for record in version1.catalogs.newest():
        if record.name != "Town":
            assert version1.review.look_again(record.id) == ()


# The ways out --------------------------------------------------------------------------------


@pytest.fixture
def own(monkeypatch):
    """The town, in which nobody decided anything yet."""
    work, catalog_id = town.open_town(monkeypatch)
    yield work, catalog_id
    work.close()


@pytest.fixture
def banks(own):
    """The three banks accepted as one, before decisions kept the relation."""
    work, i = own
    accept_as_before(work, i, "accept", BANKS)
    return work, i


def test_keep_merged_records_what_was_shown_and_leaves_the_list(banks):
    work, i = banks
    (item,) = work.review.look_again(i)
    assert item.doubtful == tuple(sorted(set(BANKS) - {item.cluster.canonical}))
    work.review.decide(i, "accept", item.cluster, "ann")
    assert work.review.look_again(i) == ()
    assert work.review.standing(i)[0].detail["relation"] == item.cluster.relation
    assert by_name(work, i, item.cluster.document.name).state == "accepted"
    work.review.undo(i, "ann")
    assert members(work.review.look_again(i)) == {tuple(BANKS)}, "and comes back"


def test_undo_gives_the_tools_back_to_the_judge(banks):
    work, i = banks
    (item,) = work.review.look_again(i)
    work.review.undo_all(i, "ben", item.seqs)
    assert work.review.look_again(i) == ()
    assert by_name(work, i, item.cluster.document.name).relation == "parametric"


def test_keep_apart_takes_the_doubtful_members_out_for_good(banks):
    work, i = banks
    (item,) = work.review.look_again(i)
    work.review.keep_apart(i, item, "ben")
    assert work.review.look_again(i) == ()
    assert [d.action for d in work.review.standing(i)] == ["drop"]
    kept = item.cluster.canonical
    plan = work.review.plan(i, PlanConfig(accept="all", routers=True))
    assert all(kept not in cluster.members for cluster in plan.clusters)


def test_two_kept_apart_are_listed_as_never_to_merge(own):
    work, i = own
    accept_as_before(work, i, "accept", BANKS[:2])
    (item,) = work.review.look_again(i)
    work.review.keep_apart(i, item, "ben")
    (decision,) = work.review.standing(i)
    assert (decision.action, decision.ids) == ("reject", tuple(BANKS[:2]))


def test_what_was_decided_beside_is_decided_again(own):
    work, i = own
    ids = [*BANKS[:2], *RECIPES]
    accept_as_before(work, i, "split", ids, {"groups": [BANKS[:2], RECIPES]})
    (item,) = work.review.look_again(i)
    work.review.keep_apart(i, item, "ben")
    (decision,) = work.review.standing(i)
    assert set(decision.parts) == {(BANKS[0],), (BANKS[1],), tuple(RECIPES)}
    assert by_name(work, i, "get_recipe").state == "accepted"


def test_a_member_that_was_dropped_before_stays_dropped(own):
    work, i = own
    accept_as_before(work, i, "drop", BANKS, {"drop": [BANKS[0]]})
    (item,) = work.review.look_again(i)
    work.review.keep_apart(i, item, "ben")
    (decision,) = work.review.standing(i)
    assert decision.action == "drop" and set(decision.parts[0]) == {BANKS[0], *item.doubtful}


def test_only_the_doubtful_members_leave(own, monkeypatch):
    work, i = own
    judge_says(monkeypatch, {(BANKS[0], BANKS[2]): 0.97}, {tuple(BANKS[1:]): 0.8})
    work.analyses.wait(work.analyses.start(i))
    accept_as_before(work, i, "accept", BANKS)
    (item,) = work.review.look_again(i)
    assert (item.cluster.canonical, item.doubtful) == (BANKS[2], (BANKS[1],))
    work.review.keep_apart(i, item, "ben")
    cluster = by_name(work, i, BANKS[2])
    assert (cluster.members, cluster.state) == ((BANKS[0], BANKS[2]), "accepted")
    assert work.review.look_again(i) == ()


def test_a_list_that_is_older_than_a_decision_is_refused(banks):
    work, i = banks
    (item,) = work.review.look_again(i)
    work.review.decide(i, "accept", item.cluster, "ann")
    with pytest.raises(StaleDecisionError, match="meanwhile"):
        work.review.keep_apart(i, item, "ben")


def test_nothing_is_taken_back_where_later_decisions_build_on_it(banks):
    work, i = banks
    cluster = by_name(work, i, work.review.look_again(i)[0].cluster.document.name)
    work.review.decide(i, "canonical", cluster, "ann", {"canonical": BANKS[0]})
    (item,) = work.review.look_again(i)
    with pytest.raises(DecisionError, match="canonical by ann"):
        work.review.keep_apart(i, item, "ben")
    assert [d.action for d in work.review.log(i)] == ["accept", "canonical"]


def test_a_pair_that_the_judge_is_unsure_of_is_not_listed(own, monkeypatch):
    work, i = own
    weights = work.analyses.get(i).judge.weights
    judge_says(monkeypatch, {tuple(BANKS[:2]): weights.unsure_at})
    work.analyses.wait(work.analyses.start(i))
    accept_as_before(work, i, "accept", BANKS[:2])
    assert work.review.look_again(i) == ()


def test_a_router_is_not_listed(banks):
    work, i = banks
    (item,) = work.review.look_again(i)
    draft = work.review.draft(i, item.cluster)
    other = replace(draft, document=replace(draft.document, name="positions"))
    work.review.edit(i, item.cluster, other, "ann")
    assert by_name(work, i, "positions").kind == "router"
    assert work.review.look_again(i) == ()
    assert work.pairs.view(i, Pair.of(*BANKS[:2])).card.state == "accepted"
