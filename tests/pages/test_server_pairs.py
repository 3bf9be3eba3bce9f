"""Review → By server pair: a table of proposals between two servers, with buttons for all."""

from dataclasses import replace

import pytest

from tests.ui.services.small_workspace import MAIL, TEXT, WEATHER, on, say_one_account
from ui.shared.services import review

BOTH = tuple(on(server, one) for one in (MAIL, WEATHER) for server in ("alpha", "beta"))


@pytest.fixture
def page(open_app):
    return open_app(*BOTH).open("review")


@pytest.fixture
def of_one_account(open_app):
    tab = open_app(*BOTH)
    say_one_account(tab.work, tab.catalog_id)
    return tab.open("review")


def decisions(page):
    return set(page.tables("other says")[0]["proposal"])


def test_a_card_leads_to_the_table_and_a_row_back_to_its_card(page):
    assert "One of 2 proposals" in page.text
    page.press("together_")
    assert list(page.tables("other says")[0]["one"]) == list(page.tables("other says")[0]["other"])
    page.press("keep_alpha")
    assert decisions(page) == {"exact copy, keeps alpha"}
    assert "2 of 2 same-job proposals" in page.text
    assert "the tools are on 2 servers" in page.text
    assert "(all)" in page.text
    page.at.segmented_control(key="queue_view").set_value("One by one").run()
    assert page.at.subheader[0].value.replace("\\", "") in ("send_mail", "get_weather")


def test_the_filters_of_the_queue_narrow_the_table(page):
    page.press("together_").widget("text_input", "review_find").set_value("city").run()
    assert list(page.tables("other says")[0]["one"]) == ["get_weather"]
    page.widget("text_input", "review_find").set_value("no such").run()
    assert not page.tables("other says") and "None of the listed" in page.text


def test_all_are_accepted_with_one_undo(page):
    page.press("together_").press("accept_all_")
    assert review.progress(page.now).accepted == 2
    assert decisions(page) == {"accepted"}
    assert "Accepted\\: 2 merges" in page.text
    assert review.progress(page.now).waiting == 0
    page.press("undo_batch_")
    assert review.progress(page.now).accepted == 0
    assert len(page.tables("other says")[0]) == 2


def test_the_other_servers_tools_are_kept_before_anything_is_accepted(of_one_account):
    page = of_one_account
    page.press("together_").press("keep_beta")
    assert decisions(page) == {"exact copy, keeps beta"}
    assert review.progress(page.now).accepted == 0
    assert page.button("keep_beta").disabled
    page.press("undo_batch_")
    assert decisions(page) == {"exact copy, keeps alpha"}


def test_of_two_stores_both_are_kept_until_a_person_keeps_one_or_says_one_account(open_app):
    page = open_app(*BOTH).open("review")
    page.press("together_")
    assert decisions(page) == {"gateway tool"}
    assert "need a gateway:" in page.text
    page.press("keep_beta")
    assert decisions(page) == {"exact copy, keeps beta"}
    assert "need a gateway:" not in page.text
    page.press("undo_batch_")
    assert decisions(page) == {"gateway tool"}
    question = next(one for one in page.at.segmented_control if "same account" in one.label)
    question.set_value("one account").run()
    assert decisions(page) == {"exact copy, keeps alpha"}
    decision = page.now.log[-1]
    assert (decision.action, decision.detail) == ("account", {"account": "one account"})
    page.press("accept_all_")
    assert review.progress(page.now).accepted == 2


def test_on_a_card_one_store_can_be_kept(open_app):
    page = open_app(*BOTH).open("review")
    assert "forwards each call to" in page.text
    assert "data of its own" in page.text
    page.press("drop_in_")
    (decision,) = page.now.log
    assert (decision.action, decision.detail["kind"]) == ("canonical", "drop_in")
    assert "no longer see" in page.text
    assert "others switched off" in page.open("history").text


def test_the_one_that_can_take_all_calls_is_kept_whichever_gives_the_name(open_app):
    wide = {**MAIL.schema, "properties": {**MAIL.schema["properties"], "cc": TEXT}}
    page = open_app(MAIL, replace(on("beta", MAIL), schema=wide)).open("review")
    assert "on alpha or" in page.text
    page.press("drop_in_")
    assert page.now.log[0].detail["kind"] == "drop_in"
    assert "**send\\_mail** on beta and" in page.text


@pytest.mark.parametrize("choice", ["Can go together", "Can be switched off together"])
def test_a_bookmark_with_an_earlier_name_opens_the_same_servers(open_app, choice):
    page = open_app(*BOTH).open("catalog", part="Servers", servers_shown=choice)
    chosen = page.at.segmented_control(key="servers_shown").value
    assert chosen == "Can be switched off together"
