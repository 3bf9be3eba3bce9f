"""Profiles on one store: saved, changed by two people, made from requests, looked through."""

import pytest

from tests.ui.services.small_workspace import Functions
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from toolscope_core.model.profile import Profile, ToolRule
from toolscope_core.profiles.intent_cover import with_choice
from ui.profiles import profile_edits

MAIL, SUM = "alpha/send_mail", "beta/add_numbers"


@pytest.fixture
def desk(own):
    work, catalog_id = own

    def saved(profile, *ids, is_in=True, reviewer="ann"):
        changed = with_choice(work.snapshot(catalog_id).plan, profile, ids, is_in)
        profile_edits.save(work.snapshot(catalog_id), changed, reviewer)
        return profile_edits.tools_by_profile(work.snapshot(catalog_id))[profile.name]

    return work, catalog_id, Functions(work, profile_edits), saved


def test_of_two_people_the_second_has_to_look_again(desk):
    _, _, _, saved = desk
    first = saved(Profile("desk"), MAIL)
    saved(first.profile, SUM, reviewer="bob")
    with pytest.raises(StaleDecisionError, match="somebody else"):
        saved(first.profile, MAIL, is_in=False)
    with pytest.raises(StaleDecisionError, match="another name"):
        saved(Profile("desk"), MAIL)
    with pytest.raises(DecisionError, match="lower-case"):
        saved(Profile("My desk"), MAIL)


def test_a_tool_that_rules_take_in_is_kept_out_by_hand_and_forgotten_where_none_does(desk):
    *_, saved = desk
    ruled = saved(Profile("desk", include=ToolRule(servers=("beta",))), MAIL)
    assert ruled.ways[SUM] == "rule"
    out = saved(ruled.profile, SUM, MAIL, is_in=False)
    assert {MAIL, SUM}.isdisjoint(out.ids)
    ways = {one: tool.origin for one, tool in out.profile.tools.items()}
    assert ways[SUM] == "kept out" and MAIL not in ways
    assert SUM in saved(out.profile, SUM).ids


def test_tools_that_are_alike_in_a_profile_are_named(desk):
    _, catalog_id, edits, saved = desk
    chosen = saved(Profile("desk"), "alpha/send_mail", "beta/send_mail", SUM)
    (pair,) = edits.report(catalog_id, chosen)[0].confusions
    assert (pair.pair.left, pair.pair.right) == ("alpha/send_mail", "beta/send_mail")
    (conflict,) = chosen.conflicts
    assert set(conflict.tools) == {"alpha", "beta"}
    assert Query("", "x") in edits.queries(catalog_id, ["x"])
