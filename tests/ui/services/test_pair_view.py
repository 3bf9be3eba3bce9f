import pytest

from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import MAIL, SUM, TEXT, by_name
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair
from ui.shared.pairs import pair_view
from ui.shared.pairs.pair_view import in_words, pair_key, parameter_lines
from ui.shared.services import review, toolsets

FAR = Pair.of("alpha/send_mail", "beta/add_numbers")
LONE = Pair.of("alpha/get_weather", "alpha/send_mail")


def say(work, catalog_id, pair, reject=False, who="ann"):
    version = pair_view.view(work.snapshot(catalog_id), pair).version
    does = toolsets.never_merge if reject else toolsets.send_to_review
    return does(work.snapshot(catalog_id), (pair.left, pair.right), version, who)


# Addresses -----------------------------------------------------------------------------------


def test_a_key_leads_back_to_its_pair_and_holds_no_text_of_the_catalog(work, catalog_id):
    assert pair_view.pair_of_key(work.snapshot(catalog_id), pair_key(FAR)) == FAR
    turned = "~".join(pair_key(FAR).split("~")[::-1])
    assert turned != pair_key(FAR)
    assert pair_view.pair_of_key(work.snapshot(catalog_id), turned) == FAR
    assert set(pair_key(FAR)) <= set("0123456789abcdef~")


@pytest.mark.parametrize("key", ["", "x", "a~b", "a~b~c", "~", "same"])
def test_a_key_of_no_pair_leads_nowhere(work, catalog_id, key):
    one = pair_key(FAR).split("~")[0]
    key = f"{one}~{one}" if key == "same" else key
    assert pair_view.pair_of_key(work.snapshot(catalog_id), key) is None


# What is shown -------------------------------------------------------------------------------


def test_parameters_stand_beside_each_other_and_differences_carry_a_sign():
    one = small_workspace.tool("s", "find", "Find it.", query=TEXT, limit={"type": "integer"})
    other = small_workspace.tool("s", "search", "Search it.", q=TEXT, page={"type": "integer"})
    aligned, left, right = parameter_lines(one, other)
    assert (aligned["one"], aligned["other"], aligned["other, type"]) == ("query", "≠ q", "string")
    assert aligned["note"] == "differ in name"
    assert (left["one"], left["other"], left["note"]) == ("limit", "", "only in the first")
    assert (right["one"], right["other"], right["note"]) == ("", "page", "only in the second")
    (same,) = parameter_lines(SUM, SUM)
    assert same["note"] == "the same"


def test_a_call_is_told_in_words_both_ways():
    one = small_workspace.tool("s", "find", "Find it.", query=TEXT, limit={"type": "integer"})
    other = small_workspace.tool("s", "search", "Search it.", q=TEXT)
    assert in_words(one, other)[0] == "q from query"
    assert in_words(one, other)[1].startswith("limit is lost")
    assert in_words(other, one) == ("query from q",)
    assert in_words(SUM, SUM) == ("numbers as it is",)


def test_results_and_annotations_are_compared():
    from dataclasses import replace

    one = replace(MAIL, annotations={"readOnlyHint": False}, returns={"type": "string"})
    other = replace(MAIL, annotations={"readOnlyHint": True}, returns={"type": "string"})
    assert list(pair_view.other_lines(one, other)) == [
        {"what": "returns", "one": '{"type":"string"}', "other": '{"type":"string"}'},
        {"what": "readOnlyHint", "one": "false", "other": "≠ true"},
    ]
    assert list(pair_view.other_lines(MAIL, MAIL)) == []


# What is said --------------------------------------------------------------------------------


def test_sent_to_review_a_pair_gets_a_card_that_nothing_accepts_by_itself(work, catalog_id):
    review.decide(
        work.snapshot(catalog_id), "keep_apart", by_name(work, catalog_id, "send_mail"), "ann"
    )
    decision = say(work, catalog_id, FAR)
    card = pair_view.view(work.snapshot(catalog_id), FAR).card
    assert card.members == (FAR.left, FAR.right)
    assert (card.state, card.put_forward, card.safe) == ("proposed", True, False)
    assert any("a person proposed" in reason for reason in card.reasons)
    for accept in ("auto", "all"):
        plan = work.snapshot(catalog_id).plan_under(PlanConfig(accept=accept))
        assert next(c for c in plan.clusters if c.id == card.id).state == "proposed"
    assert card.id in [c.id for c in review.queue(work.snapshot(catalog_id))]
    again = say(work, catalog_id, FAR)
    assert again.seq == decision.seq, "a double press"
    review.undo(work.snapshot(catalog_id), "ann", decision.seq)
    assert pair_view.view(work.snapshot(catalog_id), FAR).card is None


def test_an_accepted_merge_is_not_added_to_but_asked(work, catalog_id):
    review.decide(
        work.snapshot(catalog_id), "accept", by_name(work, catalog_id, "send_mail"), "ann"
    )
    say(work, catalog_id, FAR)
    card = pair_view.view(work.snapshot(catalog_id), FAR).card
    assert (card.state, card.newcomers) == ("accepted", ("beta/add_numbers",))
    assert len(card.members) == 3
    review.answer_newcomers(work.snapshot(catalog_id), card, "ann", welcome=True)
    assert len(pair_view.view(work.snapshot(catalog_id), FAR).card.members) == 4


def test_where_no_card_may_hold_both_it_is_refused(work, catalog_id):
    for name in ("send_mail", "get_weather"):
        review.decide(work.snapshot(catalog_id), "accept", by_name(work, catalog_id, name), "ann")
    with pytest.raises(DecisionError, match="on one card"):
        say(work, catalog_id, LONE)
    say(work, catalog_id, FAR, reject=True)
    with pytest.raises(DecisionError, match="decision 3"):
        say(work, catalog_id, FAR)
