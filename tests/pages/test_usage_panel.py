"""Catalog → Usage: a log previewed, added with and without requests, shown beside tools."""

import json

import pytest

from tests.ui.services.small_workspace import MAIL, WEATHER, on
from ui.catalog import usage_panel
from ui.shared.services import loaded_queries, usage_evidence

EVIL = "![x](http://evil.test/a) <b>"


def line(original, at, outcome="ok", tool="send_mail"):
    return {"tool": tool, "original": original, "at": at, "outcome": outcome}


ROWS = [
    line(MAIL.id, "2026-01-01T00:00:00Z"),
    line(MAIL.id, "2026-03-01T00:00:00Z", "failed"),
    line("", "2026-03-01T00:00:00Z", tool=EVIL),
    {"role": "user", "content": "Write to Ann"},
    {"role": "assistant", "tool_calls": [{"function": {"name": "mcp__alpha__send_mail"}}]},
]
LOG = "\n".join(map(json.dumps, ROWS)).encode()


@pytest.fixture
def page(open_app):
    return open_app(MAIL, on("beta", MAIL), WEATHER).open("catalog", part="Usage")


def upload(page, content, name="calls.jsonl"):
    page.at.file_uploader(key="usage_0").upload(name, content, "application/json").run()
    return page


def test_a_log_is_previewed_added_and_deleted(page):
    upload(page, LOG)
    for part in ("3 calls of 1 tool", "2026-01-01 to 2026-03-01", "1 call of tools"):
        assert part in page.text
    assert EVIL not in page.text
    assert usage_evidence.logs(page.now) == ()
    page.press("add_usage_")
    assert loaded_queries.sets(page.now) == ()
    assert "**2 tools unused for 30 days**" in page.text
    assert r"**calls\.jsonl**, added" in page.text
    page.press("delete_usage_")
    assert usage_evidence.logs(page.now) == ()


@pytest.mark.case(92)
def test_calls_of_another_log_count_once_and_what_was_not_read_is_said(page):
    upload(page, LOG).press("add_usage_")
    more = line(MAIL.id, "2026-03-02T00:00:00Z")
    again = "\n".join([*LOG.decode().split("\n")[:3], json.dumps(more), "7"]).encode()
    page.at.file_uploader(key="usage_1").upload("more.jsonl", again, "application/json").run()
    assert "1 record was not understood" in page.text
    assert "other logs here: 3 calls" in page.text
    page.press("add_usage_")
    assert usage_evidence.figures(page.now).calls == 4


def test_requests_are_kept_where_somebody_ticks_that(page):
    upload(page, LOG)
    page.at.checkbox(key="consent_0").check().run()
    page.press("add_usage_")
    (kept,) = loaded_queries.sets(page.now)
    assert [query.text for query in kept.content.queries] == ["Write to Ann"]


def test_a_file_that_is_no_log_is_refused_in_words(page):
    upload(page, b'{"a": 1}', "x.json")
    assert "no tool calls" in page.text
    assert not page.widgets("button", "add_usage")


def test_cards_say_how_often_each_copy_was_called(open_app):
    page = open_app(MAIL, on("beta", MAIL), WEATHER)
    usage_panel.add(page.now, LOG, "calls.jsonl")
    page.open("review")
    assert "Called 3 times, 1 failed, last on 2026-03-01" in page.text
    assert "Never called in the logs" in page.text
    assert "Most used first" in page.at.selectbox(key="by").options
