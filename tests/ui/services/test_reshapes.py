"""Proposals cut anew: what is shown before is what comes after, and one undo takes it back."""

import pytest

from tests.ui.services.small_workspace import by_name
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from ui.shared.cards.reshaping import groups_of
from ui.shared.services.reshapes import APART


def members(work, catalog_id):
    return {cluster.members for cluster in work.review.plan(catalog_id).clusters}


def test_what_is_shown_is_what_comes_and_undo_is_the_start(own):
    work, i = own
    before, mail = members(work, i), by_name(work, i, "send_mail")
    parts = {"alpha/send_mail": 1, "beta/send_mail": 1, "gamma/send_mail": APART}
    seen = work.reshapes.preview(i, mail, parts, "ann")
    assert members(work, i) == before and work.review.log(i) == ()
    assert [c.members for c in seen.clusters] == [("alpha/send_mail", "beta/send_mail")]
    assert seen.alone == ("gamma/send_mail",) and seen.otherwise == ()
    decision = work.reshapes.record(i, seen)
    assert decision.at and decision.detail["relation"] == mail.relation
    assert seen.clusters[0].members in members(work, i)
    work.review.undo(i, "ann")
    assert members(work, i) == before


def test_the_proposal_as_it_is_cannot_be_recorded(own):
    work, i = own
    mail = by_name(work, i, "send_mail")
    seen = work.reshapes.preview(i, mail, dict.fromkeys(mail.members, 1), "ann")
    assert seen.decision is None and seen.clusters[0].members == mail.members
    with pytest.raises(DecisionError, match="move a tool first"):
        work.reshapes.record(i, seen)


def test_another_relation_is_shown_as_it_comes(own):
    work, i = own
    mail = by_name(work, i, "send_mail")
    seen = work.reshapes.preview_as(i, mail, "parametric", "ann")
    assert work.review.log(i) == ()
    work.review.decide(i, "accept", mail, "ann", {"relation": "parametric"})
    (after,) = [one for one in work.review.plan(i).clusters if one.members == mail.members]
    assert (seen.clusters[0].kind, seen.clusters[0].document) == (after.kind, after.document)
    assert seen.clusters[0].relation == after.relation == "parametric" != mail.relation


def test_a_tool_leaves_its_cluster_and_takes_nobody_along(own):
    work, i = own
    mail = by_name(work, i, "send_mail")
    parts = work.reshapes.with_tool(i, dict.fromkeys(mail.members, 1), "beta/get_weather")
    assert parts["beta/get_weather"] == 1 and parts["alpha/get_weather"] == 2
    work.reshapes.record(i, work.reshapes.preview(i, mail, parts, "ann"))
    assert tuple(sorted((*mail.members, "beta/get_weather"))) in members(work, i)
    assert not any("alpha/get_weather" in cluster for cluster in members(work, i))


def test_a_lone_tool_is_added_and_a_cluster_joined(own):
    work, i = own
    files, mail = by_name(work, i, "list_files"), by_name(work, i, "send_mail")
    parts = work.reshapes.with_tool(i, dict.fromkeys(files.members, 1), "beta/add_numbers")
    assert set(parts.values()) == {1}
    parts = work.reshapes.with_cluster(i, parts, mail.id)
    assert {parts[one] for one in mail.members} == {2}
    joined = dict.fromkeys(parts, 1)
    seen = work.reshapes.preview(i, files, joined, "ann")
    assert seen.decision.action == "propose"
    work.reshapes.record(i, seen)
    (grown,) = [c for c in work.review.plan(i).clusters if len(c.members) == 6]
    assert grown.state == "proposed" and grown.put_forward


def test_what_people_decided_before_is_told(own):
    work, i = own
    weather = by_name(work, i, "get_weather")
    work.review.decide(i, "accept", weather, "bob")
    mail = by_name(work, i, "send_mail")
    parts = {**dict.fromkeys(mail.members, 1), "alpha/get_weather": 1, "beta/get_weather": 2}
    seen = work.reshapes.preview(i, mail, parts, "ann")
    assert "contradicts decision 1" in seen.refusal
    together = {**parts, "beta/get_weather": 1}
    assert work.reshapes.preview(i, mail, together, "ann").otherwise == (1,)


def test_somebody_else_was_faster(own):
    work, i = own
    mail = by_name(work, i, "send_mail")
    seen = work.reshapes.preview(i, mail, {m: n for n, m in enumerate(mail.members)}, "ann")
    work.review.decide(i, "canonical", mail, "bob", {"canonical": "gamma/send_mail"})
    with pytest.raises(StaleDecisionError):
        work.reshapes.record(i, seen)


def test_the_nearest_cluster_comes_first_and_accepted_ones_never(own):
    work, i = own
    mail = by_name(work, i, "send_mail")
    others = work.reshapes.joinable(i, mail)
    assert {one.document.name for one in others} == {"get_weather", "list_files"}
    work.review.decide(i, "accept", others[0], "bob")
    assert [one.id for one in work.reshapes.joinable(i, mail)] == [others[1].id]


def test_a_link_leads_to_the_cluster_that_holds_most_of_the_tools(own):
    work, i = own
    ids = ["beta/add_numbers", "alpha/get_weather"]
    assert work.reshapes.home(i, ids).document.name == "get_weather"
    assert work.reshapes.home(i, ["beta/add_numbers"]) is not None, "the nearest"


def test_groups_come_in_the_order_of_their_numbers_and_those_apart_last():
    assert groups_of({"b": 2, "a": 2, "z": 1, "c": APART}) == [["z"], ["a", "b"], ["c"]]


def test_decided_clusters_are_listed_with_what_settled_them(own):
    work, i = own
    mail, weather = by_name(work, i, "send_mail"), by_name(work, i, "get_weather")
    work.review.decide(i, "accept", mail, "ann")
    work.review.decide(i, "reject", weather, "bob")
    (accepted,) = work.settled.clusters(i, "accepted")
    assert accepted.cluster.members == mail.members and accepted.decision.reviewer == "ann"
    (rejected,) = work.settled.clusters(i, "rejected")
    assert rejected.cluster.members == weather.members
    assert (rejected.cluster.state, rejected.decision.reviewer) == ("rejected", "bob")
    assert rejected.cluster.document.name == "get_weather"


def test_a_flag_stands_on_its_tools_changes_no_version_and_is_undone(own):
    work, i = own
    mail = by_name(work, i, "send_mail")
    work.toolsets.flag(i, mail.members[:1], "ann", "ask the owner")
    assert by_name(work, i, "send_mail").version == mail.version
    (flag,) = work.settled.flags_on(i, mail)
    assert flag.detail == {"note": "ask the owner"}
    with pytest.raises(DecisionError, match="write one"):
        work.toolsets.flag(i, mail.members, "ann", " ")
    work.review.undo(i, "ann")
    assert work.settled.flags_on(i, mail) == ()


def test_what_is_kept_for_review_no_policy_takes(own):
    from toolscope_core.model.configuration import PlanConfig

    work, i = own
    mail = by_name(work, i, "send_mail")
    work.review.decide(i, "propose", mail, "ann")
    plan = work.review.plan(i, PlanConfig(accept="all", routers=True))
    states = {cluster.document.name: cluster.state for cluster in plan.clusters}
    assert states["send_mail"] == "proposed" and states["get_weather"] == "accepted"
