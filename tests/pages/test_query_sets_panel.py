"""Catalog → Query sets: uploaded with problems by line, kept, deleted."""

import re

import pytest

from tests.ui.services.small_workspace import MAIL, WEATHER, on
from ui.shared import page_frame
from ui.shared.services import findable_tools, loaded_queries

LINES = b"""{"id": "a", "query": "send a mail", "gold": ["alpha/send_mail"]}
{"id": "b", "query": "say *this*", "gold": ["gone/<b>tool</b>"], "steps": ["one"]}
{"query": 5}
"""


NAMES = b"""{"query": "send a mail", "gold": ["send_mail"]}
{"query": "rain?", "gold": ["get_weather", "alpha/get_wether"]}
"""


@pytest.fixture
def page(open_app):
    return open_app(MAIL, WEATHER, on("beta", WEATHER)).open("catalog", part="Query sets")


def upload(page, name, content):
    kind = "text/csv" if name.endswith(".csv") else "application/octet-stream"
    page.at.file_uploader(key="queries_0").upload(name, content, kind).run()
    return page


def test_a_set_is_previewed_added_and_deleted(page):
    upload(page, "q.jsonl", LINES)
    for count in ("2 queries, 2 with answers", "1 with steps", "1 line cannot be read"):
        assert count in page.text
    (problems,) = page.tables("reason")
    assert list(problems["line"]) == [3]
    assert any("gone/\\<b\\>tool" in warning.value for warning in page.at.warning)
    assert loaded_queries.sets(page.now) == ()
    page.press("add_queries_")
    (view,) = loaded_queries.sets(page.now)
    assert view.name == "q.jsonl"
    assert r"**q\.jsonl**: 2 queries" in page.text
    page.press("delete_queries_")
    assert loaded_queries.sets(page.now) == ()


def test_names_are_matched_or_asked_back_before_anything_is_measured(page):
    upload(page, "q.jsonl", NAMES)
    asked = re.findall(r"(\S+) \(did you mean ([^?]+)\?", page.text.replace("\\", ""))
    near = {name: ids.split(" or ") for name, ids in asked}
    assert near["get_weather"] == ["alpha/get_weather", "beta/get_weather"]
    assert near["alpha/get_wether"][0] == "alpha/get_weather"
    assert len(near) == 2, "send_mail is matched"
    assert page.at.dataframe[0].value["answers"].iloc[0] == "alpha/send_mail"
    page.press("add_queries_")
    page.open("evaluation", set="q.jsonl")
    assert "did you mean alpha" in page.text
    assert page.button("measure")


def test_a_file_that_is_no_query_set_is_refused_in_words(page):
    upload(page, "q.csv", b"id,text\n1,x")
    assert "id, text" in page.text
    assert not page.widgets("button", "add_q")


def test_what_cannot_be_found_is_shown_for_each_search(page):
    findable_tools.run(page_frame.workspace().snapshot(page.catalog_id))
    page.open("catalog", part="Cannot be found")
    assert "Codex" in list(page.at.dataframe[0].value["search"])
    assert "This search finds every tool" in page.text
