"""Review → Try both: calls shown first, sent once each server is ticked, the verdict on the card."""

import json
import sys

import pytest

from tests.calls import planted_server
from tests.calls.test_sent_calls import SIDES, planted_catalog
from tests.cli.test_cli_compare import model_calls
from tests.support.model_server import ModelServer
from toolscope_core.calls import sent_calls
from toolscope_core.model.configuration import Endpoint
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.pair import Pair, pair_key
from ui.review import try_both_panel
from ui.shared import sign_in
from ui.shared.services import judging, live_servers

NAMES = ("get_price", "add", "get_issue")
asks_for_token = sign_in.asks_for_token


@pytest.fixture
def page(open_app, monkeypatch):
    monkeypatch.setattr(sign_in, "is_shared", lambda: False)
    monkeypatch.setattr(sign_in, "asks_for_token", lambda: False)
    tools = planted_catalog().by_id
    page = open_app(*(tools[f"{side}/{name}"] for name in NAMES for side in SIDES))
    return page.open("review", cluster=card(page, "get_price").id)


def card(page, name):
    (cluster,) = [one for one in page.now.plan.clusters if f"left/{name}" in one.members]
    return cluster


def configuration():
    entries = {
        side: {"command": sys.executable, "args": ["-I", "-S", planted_server.__file__, side]}
        for side in SIDES
    }
    return json.dumps({"mcpServers": entries})


def opened(page, name="get_price"):
    page.open("review", cluster=card(page, name).id)
    return page.expand(f"try_{card(page, name).id}")


def configured(page):
    page.widget("text_area", "servers_").set_value(configuration()).run()
    return page


def sent(page, name="get_price"):
    """Start the servers, and wait for the verdict."""
    page.press("try_both")
    (pair,) = sent_calls.merge_pairs(page.now.catalog, card(page, name))
    return page.after(page.now.job(try_both_panel.job_kind(pair)))


def test_nothing_is_sent_before_each_server_is_ticked(page):
    configured(opened(page))
    calls = page.widget("text_area", "calls_").value.splitlines()
    assert {"count": 3} in map(json.loads, calls)
    assert not page.tables("arguments", "written by")  # it would say nothing more
    assert page.button("try_both").disabled
    page.tick_servers("left")
    assert page.button("try_both").disabled
    page.tick_servers("right")
    assert not page.button("try_both").disabled
    assert page.now.log == ()


def test_the_verdict_is_on_the_card_speaks_against_it_and_names_each_call(page):
    sent(configured(opened(page)).tick_servers("left", "right"))
    (decision,) = page.now.log
    assert (decision.action, decision.detail["versions"]) == ("compare", ["1.2", "1.2"])
    assert "100 times" in page.text
    assert any("were compared" in one for one in card(page, "get_price").reasons)
    (rows,) = page.tables("arguments", "differences")
    assert len(rows) == decision.detail["calls"]
    assert all("price: " in one for one in rows["differences"])


def test_the_pair_on_the_overlap_page_has_the_same_rows(page):
    pair = pair_key(Pair.of("left/get_price", "right/get_price"))
    page.open("overlap", pair=pair)
    assert "calls" not in page.tables("same_job", "verdict")[0]
    page.at.segmented_control(key="pair_more").set_value("Calls").run()
    assert "No calls were sent" in page.text
    page.open("review", cluster=card(page, "get_price").id)
    sent(configured(opened(page)).tick_servers("left", "right"))
    (on_card,) = page.tables("arguments", "differences")
    verdict = page.now.log[0].detail["verdict"]
    page.open("overlap", pair=pair)
    (pairs,) = page.tables("same_job", "verdict")
    assert {*pairs["calls"].dropna()} == {"", verdict}
    page.at.segmented_control(key="pair_more").set_value("Calls").run()
    assert "100 times" in page.text
    (on_pair,) = page.tables("arguments", "differences")
    assert on_pair.equals(on_card)


def test_a_persons_calls_are_sent_and_no_others(page):
    configured(opened(page))
    page.widget("text_area", "calls_").set_value('{"count": 7}').run()
    page.widget("toggle", "try_further").set_value(False).run()
    sent(page.tick_servers("left", "right"))
    (decision,) = page.now.log
    assert {one["arguments"]["count"] for one in decision.detail["rows"]} == {7}


def test_what_cannot_be_read_is_said_and_offers_no_button(page):
    configured(opened(page)).widget("text_area", "calls_").set_value("{").run()
    assert "line 1" in page.at.error[0].value
    assert not page.widgets("button", "try_both")


def test_a_tool_that_does_not_say_that_it_only_reads_needs_a_tick(page, monkeypatch):
    monkeypatch.setattr(try_both_panel, "why_not_called", lambda tool: "nobody says so")
    configured(opened(page)).tick_servers("left", "right")
    assert page.button("try_both").disabled
    for box in page.widgets("checkbox", "reads_"):
        assert not box.value
        box.check().run()
    assert not page.button("try_both").disabled


def test_what_is_not_ticked_is_not_started(page):
    (pair,) = sent_calls.merge_pairs(page.now.catalog, card(page, "get_price"))
    servers = live_servers.configuration("mcp.json", configuration().encode())
    alone = live_servers.TickedServers((), servers, {"left": "left"})
    with pytest.raises(ConfigError, match="'right'"):
        try_both_panel.start(page.now, pair, alone, "ann", is_shared=False)
    both = live_servers.TickedServers((), servers, {"left": "left", "right": "right"})
    with pytest.raises(ConfigError, match="other machines"):
        try_both_panel.start(page.now, pair, both, "ann", is_shared=True)
    assert page.now.log == ()


def test_it_asks_for_the_token_of_this_start(page, monkeypatch):
    monkeypatch.setattr(sign_in, "asks_for_token", asks_for_token)
    opened(page)
    assert page.at.text_input(key="start_token")
    assert not page.widgets("button", "try_both")


@pytest.fixture
def endpoint(page):
    with ModelServer(model_calls('{"issue_id": "ENG-1"}', '{"id": 1}')) as running:
        page.work.endpoints.save(Endpoint(running.url, "m"))
        yield running


def authors(page):
    (rows,) = page.tables("arguments", "written by")
    return dict(zip(rows["arguments"], rows["written by"], strict=True))


def test_a_model_writes_calls_that_a_person_can_edit(page, endpoint):
    configured(opened(page, "get_issue"))
    page.widget("text_area", "calls_").set_value('{"issue_id":"mine"}').run()
    assert "Questions: **1** to **m**" in page.text
    assert not endpoint.received
    page.press("ask_calls")
    page.after(judging.job(page.now))
    assert len(endpoint.received) == 1
    assert authors(page) == {'{"issue_id":"mine"}': "you", '{"issue_id":"ENG-1"}': "m"}
    assert "1 call of the model did not fit" in page.text
    assert not page.widgets("button", "ask_calls")
    sent(page.tick_servers("left", "right"), "get_issue")
    (decision,) = page.now.log
    # the model's call counts as a guess, so its refusal by one server is no difference
    assert [one["arguments"]["issue_id"] for one in decision.detail["rows"]] == ["mine", "ENG-1"]
    assert decision.detail["differing"] == 0
    (rows,) = page.tables("arguments", "differences")
    assert rows["differences"][1].startswith("the first refused: no issue ENG-1")
    assert len(endpoint.received) == 1


def test_no_model_is_offered_for_what_the_schema_states(page, endpoint):
    opened(page)
    assert not page.widgets("button", "ask_calls")


def test_an_endpoint_that_fails_is_said(page, endpoint):
    endpoint.mode = "forbidden"
    opened(page, "get_issue").press("ask_calls")
    page.after(judging.job(page.now))
    assert "does not let this key" in page.at.warning[0].value
    assert page.button("ask_calls")
    assert page.widget("text_area", "calls_").value


def test_what_was_typed_and_ticked_stays_after_a_run(page):
    configured(opened(page)).tick_servers("left", "right")
    page.widget("text_area", "calls_").set_value('{"count": 7}').run()
    sent(page)
    assert page.widget("text_area", "servers_").value == configuration()
    assert page.widget("text_area", "calls_").value == '{"count": 7}'
    assert not page.button("try_both").disabled


def test_a_run_is_shown_once_on_a_page(page, endpoint):
    endpoint.delay = 2.0
    opened(page, "get_issue").at.session_state["ask"] = True
    page.press("ask_calls")
    assert len(page.widgets("button", "cancel_")) == 1
    assert "busy" in page.text
    page.after(judging.job(page.now))
