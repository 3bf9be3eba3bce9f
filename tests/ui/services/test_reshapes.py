"""Proposals cut anew: what is shown before is what comes after, and one undo takes it back."""

import pytest

from tests.ui.services.small_workspace import by_name
from toolscope_core.model.errors import DecisionError, StaleDecisionError
from toolscope_core.model.pair import tool_key
from ui.shared.services import reshapes, review, toolsets
from ui.shared.tools.tool_drawer import tool_view


def test_the_drawer_tells_the_decisions_on_a_tool_and_on_no_other(work, catalog_id):
    weather = by_name(work, catalog_id, "get_weather")
    made = review.decide(work.snapshot(catalog_id), "accept", weather, "ann")
    for tool_id, decisions in (("beta/get_weather", (made,)), ("beta/send_mail", ())):
        assert tool_view(work.snapshot(catalog_id), tool_key(tool_id)).decisions == decisions
    review.undo(work.snapshot(catalog_id), "ann", made.seq)
    assert tool_view(work.snapshot(catalog_id), tool_key("beta/get_weather")).decisions == ()


def test_too_many_tools_at_once_are_refused_with_the_reason(work, catalog_id, monkeypatch):
    now, three = (
        work.snapshot(catalog_id),
        ("alpha/list_files", "alpha/send_mail", "beta/add_numbers"),
    )
    for most in ("MOST_ON_A_CARD", "MOST_APART"):
        monkeypatch.setattr(toolsets, most, 2)
    for does, words in ((toolsets.send_to_review, "3 tools"), (toolsets.never_merge, "3 pairs")):
        with pytest.raises(DecisionError, match=words):
            does(now, three, toolsets.version(now, three), "ann")
    assert work.snapshot(catalog_id).log == ()


def test_the_proposal_as_it_is_cannot_be_recorded(work, catalog_id):
    mail = by_name(work, catalog_id, "send_mail")
    seen = reshapes.preview(work.snapshot(catalog_id), mail, dict.fromkeys(mail.members, 1), "ann")
    assert seen.decision is None and seen.clusters[0].members == mail.members
    with pytest.raises(DecisionError, match="move a tool first"):
        reshapes.record(work.snapshot(catalog_id), seen)


def test_what_people_decided_before_is_told(work, catalog_id):
    weather = by_name(work, catalog_id, "get_weather")
    review.decide(work.snapshot(catalog_id), "accept", weather, "bob")
    mail = by_name(work, catalog_id, "send_mail")
    parts = {**dict.fromkeys(mail.members, 1), "alpha/get_weather": 1, "beta/get_weather": 2}
    seen = reshapes.preview(work.snapshot(catalog_id), mail, parts, "ann")
    assert "contradicts decision 1" in seen.refusal
    together = {**parts, "beta/get_weather": 1}
    assert reshapes.preview(work.snapshot(catalog_id), mail, together, "ann").otherwise == (1,)


def test_somebody_else_was_faster(work, catalog_id):
    mail = by_name(work, catalog_id, "send_mail")
    parts = {member: number for number, member in enumerate(mail.members)}
    seen = reshapes.preview(work.snapshot(catalog_id), mail, parts, "ann")
    chosen = {"canonical": "gamma/send_mail"}
    review.decide(work.snapshot(catalog_id), "canonical", mail, "bob", chosen)
    with pytest.raises(StaleDecisionError):
        reshapes.record(work.snapshot(catalog_id), seen)


def test_the_nearest_cluster_comes_first_and_accepted_ones_never(work, catalog_id):
    mail = by_name(work, catalog_id, "send_mail")
    others = reshapes.joinable(work.snapshot(catalog_id), mail)
    assert {one.document.name for one in others} == {"get_weather", "list_files"}
    review.decide(work.snapshot(catalog_id), "accept", others[0], "bob")
    assert [one.id for one in reshapes.joinable(work.snapshot(catalog_id), mail)] == [others[1].id]


def test_a_link_leads_to_the_cluster_that_holds_most_of_the_tools(work, catalog_id):
    ids = ["beta/add_numbers", "alpha/get_weather"]
    assert reshapes.home(work.snapshot(catalog_id), ids).document.name == "get_weather"
    assert reshapes.home(work.snapshot(catalog_id), ["beta/add_numbers"]) is not None, "the nearest"
