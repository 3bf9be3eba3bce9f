"""The way through a new version: what changed, which decisions wait, what is new."""

import json
from dataclasses import replace

from tests.pages.screen import figures, open_page, words
from tests.ui.services.small_workspace import MAIL, SUM, TOOLS, add_analysed, by_name, catalog, on
from ui.catalog import usage_panel
from ui.shared.services import review

CHANGED = replace(MAIL, description="Send a mail to a person now.")
NEXT = (CHANGED, *TOOLS[1:], on("gamma", SUM))
NEW = catalog(*NEXT)


def links(app):
    return {link.proto.label: link.proto.query_string for link in app.get("page_link")}


def next_version(work, *, analysed=True):
    """Two accepted merges, one of which waits in version 2, which brings one proposal."""
    for name in ("send_mail", "get_weather"):
        review.decide(work.snapshot(1), "accept", by_name(work, 1, name), "ann")
    return add_analysed(work, "Desk", *NEXT) if analysed else work.catalogs.add("Desk", NEW)


def test_the_guide_leads_from_what_changed_to_what_waits_to_what_is_new(monkeypatch, work):
    assert "1. What changed" not in words(open_page(monkeypatch, work)), "of the first version"
    next_version(work)
    app = open_page(monkeypatch, work)
    text = words(app)
    steps = ("**1. What changed**", "**2. Decisions**", "**3. New proposals**", "has 9 tools")
    assert [text.index(step) for step in steps] == sorted(text.index(step) for step in steps)
    assert figures(text, "1 changed")[:3] == [1, 1, 1] and "none breaking" in text
    assert figures(text, "Still valid") == figures(text, "not be applied") == [1, 1]
    assert figures(text, "1 proposal with") == [1, 1], "new, and from before"
    labels = "\n".join(expander.label for expander in app.expander)
    assert figures(labels, "Changes since") == figures(labels, "on hold") == [1]
    assert links(app)["Look again (1)"] == "show=Look+again"
    assert links(app)["New proposals (1)"] == "show=New+proposals"
    assert links(app)["Look again"].startswith("cluster=")
    marked = "".join(element.proto.body for element in app.get("html"))
    assert "<ins" in marked and "now" in marked


def test_a_merge_that_lost_a_tool_is_listed_as_gone(monkeypatch, work):
    merged = by_name(work, 1, "get_weather")
    review.decide(work.snapshot(1), "accept", merged, "ann")
    add_analysed(work, "Desk", *(tool for tool in TOOLS if tool.id != merged.members[0]))
    app = open_page(monkeypatch, work)
    assert figures(words(app), "that are gone") == [0, 1], "hold, are gone"
    assert [one.label[-3:] for one in app.expander if "gone" in one.label] == ["(1)"]
    assert "decision 1, Accepted" in words(app)


def test_the_links_narrow_the_queue_to_their_part(monkeypatch, work):
    next_version(work)
    app = open_page(monkeypatch, work, "review", show="Look again")
    names = next(table.value["name"] for table in app.dataframe if "name" in table.value)
    assert names.tolist() == ["send_mail"]
    assert "needs another review" in words(app)
    assert "1 of 1 shown" in words(app)
    assert app.get("progress")[0].proto.text.endswith(", 1 new")
    app = open_page(monkeypatch, work, "review", show="New proposals")
    assert "1 of 1 shown" in words(app) and "**add\\_numbers**" in words(app)


def bad_log(original):
    """Calls of a tool: right long ago, failed or refused in days to come."""
    call = {"tool": "send_mail", "original": original, "outcome": "ok", "at": "2020-01-01T00:00Z"}
    failed = {**call, "outcome": "error", "at": "2999-01-01T00:00:00Z"}
    refused = {**failed, "original": "", "outcome": "refused"}
    return "\n".join(map(json.dumps, [*[call] * 9, *[failed, refused] * 6])).encode()


def test_a_merge_that_went_bad_is_looked_at_before_what_changed(monkeypatch, work):
    record = next_version(work)
    merged = by_name(work, record.id, "get_weather")
    log = bad_log(merged.members[0])
    usage_panel.add(work.snapshot(record.id), log, "calls.jsonl")
    app = open_page(monkeypatch, work, part="Usage")
    assert "show=Look+again" in links(app)["Look again: 1 merge went bad"]
    app = open_page(monkeypatch, work, "review", show="Look again")
    assert [*app.dataframe[0].value["name"]] == ["get_weather", "send_mail"]
    assert ", 1 went bad" in app.get("progress")[0].proto.text
    assert "Went bad" in app.error[0].value and "failed" in app.error[0].value
    assert not [one for one in app.button if (one.key or "").startswith("accept_" + merged.id)]
    next(one for one in app.button if (one.key or "").startswith("take_back_")).click().run()
    assert [*app.dataframe[0].value["name"]] == ["send_mail"]
    assert by_name(work, record.id, "get_weather").state == "proposed"


def test_before_the_analysis_the_guide_says_what_is_known(monkeypatch, work):
    next_version(work, analysed=False)
    app = open_page(monkeypatch, work)
    assert figures(words(app), "Still valid") == [1, 1]
    assert "known when" in words(app)
    assert "Open the tool" in links(app)
    assert app.button(key="analyse")


def test_any_earlier_version_can_be_compared(monkeypatch, work):
    next_version(work)
    third = add_analysed(work, "Desk", CHANGED, *TOOLS[1:-1])
    app = open_page(monkeypatch, work)
    assert figures(words(app), "breaking")[-2:] == [2, 2]
    app.selectbox(key=f"since_{third.id}").select(1).run()
    assert figures(words(app), "breaking")[-3:] == [1, 1, 1]
