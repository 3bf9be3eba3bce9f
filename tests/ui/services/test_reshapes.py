"""Proposals cut anew: what is shown before is what comes after, and one undo takes it back."""

import pytest

from tests.ui.services.small_workspace import by_name
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from ui.shared.services.reshapes import APART, groups_of


def members(work, catalog_id):
    return {cluster.members for cluster in work.review.plan(catalog_id).clusters}


def test_the_proposal_as_it_is_cannot_be_recorded(own):
    work, i = own
    mail = by_name(work, i, "send_mail")
    seen = work.reshapes.preview(i, mail, dict.fromkeys(mail.members, 1), "ann")
    assert seen.decision is None and seen.clusters[0].members == mail.members
    with pytest.raises(DecisionError, match="move a tool first"):
        work.reshapes.record(i, seen)


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


def test_a_flag_stands_on_its_tools_changes_no_version_and_is_undone(own):
    work, i = own
    mail = by_name(work, i, "send_mail")
    work.toolsets.flag(i, mail.members[:1], "ann", "ask the owner")
    assert by_name(work, i, "send_mail").version == mail.version
    (flag,) = work.settled.flags_on(i, mail)
    assert flag.detail == {"note": "ask the owner"}
    with pytest.raises(DecisionError, match="write one"):
        work.toolsets.flag(i, mail.members, "ann", " ")
    work.review.undo(i, "ann", work.review.standing(i)[0].seq)
    assert work.settled.flags_on(i, mail) == ()
