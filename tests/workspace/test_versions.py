from dataclasses import replace

import pytest

from tests.workspace.desk import FILES, MAIL, SUM, TOOLS, by_name, catalog, on
from toolscope_core.datamodel import Server
from toolscope_core.views.version_changes import one_line

CHANGED = replace(MAIL, description="Send a mail to a person now.")
NEXT = (CHANGED, *TOOLS[1:-1])


def first(work):
    return work.catalogs.newest()[0]


def test_a_first_version_has_none_before_it_and_a_new_name_changes_nothing(work):
    assert work.versions.earlier(first(work)) == ()
    assert work.versions.ahead("Other", catalog(SUM)) is None


def test_the_same_catalog_again_is_said_to_be_the_same(work):
    found = work.versions.ahead(" Desk ", catalog())
    assert found.same
    assert found.rows == found.doubts == ()
    noted = replace(SUM, raw={"title": "Sum"})
    found = work.versions.ahead("Desk", catalog(*TOOLS[:-1], noted))
    assert not found.same, "it would be stored"
    assert found.summary == "1 changed; none breaking"
    assert [(row.field, row.old, row.new) for row in found.rows] == [("title", "–", "Sum")]
    described = replace(catalog(), servers=(Server("s", "Sums."),))
    assert (
        work.versions.ahead("Desk", described).summary == "nothing that a caller sees has changed"
    )
    assert work.versions.ahead("Desk", catalog(SUM)).summary == "7 removed; 7 breaking"


def test_what_a_new_version_would_change_is_told_before_and_after(work):
    ahead = work.versions.ahead("Desk", catalog(*NEXT))
    assert ahead.summary == "1 removed, 1 changed; 1 breaking"
    assert [(row.change, row.field) for row in ahead.rows] == [
        ("removed", ""),
        ("changed", "description"),
    ]
    assert [(item.tool, item.new) for item in ahead.reworded] == [(MAIL.id, CHANGED.description)]
    record = work.catalogs.add("Desk", catalog(*NEXT))
    (earlier,) = work.versions.earlier(record)
    assert work.versions.since(record, earlier) == ahead


def test_an_accepted_merge_keeps_what_it_kept_when_a_tool_changes(work):
    i = first(work).id
    shown = by_name(work, i, "send_mail")
    other = next(one for one in shown.members if one != shown.canonical)
    work.review.decide(i, "accept", replace(shown, canonical=other), "ann")
    assert by_name(work, i, "send_mail").canonical == other
    record = work.catalogs.add("Desk", catalog(*NEXT))
    work.analyses.run(record.id)
    waiting = by_name(work, record.id, "send_mail")
    assert (waiting.state, waiting.canonical) == ("stale", other)


def test_decisions_on_changed_tools_are_named_before_and_after(work):
    i = first(work).id
    for name in ("send_mail", "get_weather"):
        work.review.decide(i, "accept", by_name(work, i, name), "ann")
    (told,) = work.versions.ahead("Desk", catalog(*NEXT)).doubts
    assert told.summary.startswith("accept by ann: alpha/send_mail, ")
    record = work.catalogs.add("Desk", catalog(*NEXT))
    (doubt,) = work.versions.since(record, *work.versions.earlier(record)).doubts
    assert doubt.cluster is None, "before the analysis"
    work.analyses.run(record.id)
    (doubt,) = work.versions.since(record, *work.versions.earlier(record)).doubts
    assert (doubt.seq, doubt.summary) == (told.seq, told.summary)
    assert work.review.cluster(record.id, doubt.cluster).state == "stale"
    again = work.versions.ahead("Desk", catalog(*NEXT, FILES))
    assert again.doubts == (), "it waits already"


def test_any_earlier_version_can_be_compared(work):
    work.catalogs.add("Desk", catalog(*NEXT))
    record = work.catalogs.add("Desk", catalog(*NEXT, SUM))
    assert [other.number for other in work.versions.earlier(record)] == [2, 1]
    told = [work.versions.since(record, other).summary for other in work.versions.earlier(record)]
    assert told == ["1 added; none breaking", "1 changed; none breaking"]


def reworded(text):
    return replace(MAIL, description=text)


def next_version(work, *tools):
    record = work.catalogs.add("Desk", catalog(*tools))
    work.analyses.run(record.id)
    return record


def test_decisions_hold_wait_or_are_about_tools_that_are_gone(work):
    i = first(work).id
    for name in ("send_mail", "get_weather"):
        work.review.decide(i, "accept", by_name(work, i, name), "ann")
    work.toolsets.leave_out(i, [SUM.id], "ann", "nobody adds up")
    work.toolsets.flag(i, [FILES.id], "ann", "is this right?")
    assert [one.seq for one in work.versions.standing(first(work)).hold] == [1, 2, 3]
    ahead = work.versions.standing_ahead("Desk", catalog(*NEXT))
    standing = work.versions.standing(next_version(work, *NEXT))
    assert standing == ahead and work.versions.standing_ahead("Other", catalog()) is None
    parts = (standing.hold, standing.wait, standing.gone)
    assert [[one.seq for one in part] for part in parts] == [[2], [1], [3]]


def test_what_changed_since_a_decision_is_told_from_the_version_it_was_made_on(work):
    i = first(work).id
    decision = work.review.decide(i, "accept", by_name(work, i, "send_mail"), "ann")
    next_version(work, reworded("Send a letter."), *TOOLS[1:])
    schema = {**MAIL.schema, "properties": {**MAIL.schema["properties"], "urgent": {}}}
    last = replace(reworded("Send a letter now."), schema=schema)
    record = next_version(work, last, *TOOLS[1:])
    (tool,) = work.versions.since_decision(record, decision)
    assert tool.tool_id == MAIL.id
    assert [(row.field, row.new) for row in tool.rows] == [
        ("description", "Send a letter now."),
        ("schema/properties/urgent", "{}"),
    ]
    assert [(text.old, text.new) for text in tool.reworded] == [
        (MAIL.description, "Send a letter now.")
    ]
    (card,) = work.versions.again(record)
    assert work.versions.waiting_on(record, card) == (decision,)
    unknown = replace(decision, members=("x", *decision.members[1:]))
    assert [one.rows for one in work.versions.since_decision(record, unknown)] == [None]


def test_only_what_a_version_brings_is_a_new_proposal(work):
    i = first(work).id
    assert work.versions.new_proposals(first(work)) == ()
    work.review.decide(i, "accept", by_name(work, i, "send_mail"), "ann")
    record = next_version(work, *TOOLS, on("gamma", SUM), on("delta", MAIL))
    assert work.versions.again(record) == ()
    new = {one.canonical: one for one in work.versions.new_proposals(record)}
    assert {one.document.name for one in new.values()} == {"add_numbers", "send_mail"}
    (mail,) = [one for one in new.values() if one.document.name == "send_mail"]
    assert (mail.state, mail.newcomers) == ("accepted", ("delta/send_mail",))
    waiting = {one.document.name for one in work.review.queue(record.id)}
    assert waiting - {"add_numbers", "send_mail"} == {"get_weather", "list_files"}, "from before"
    again = next_version(work, reworded("Send it."), *TOOLS[1:], on("gamma", SUM))
    assert {one.document.name for one in work.versions.new_proposals(again)} == set()
    assert {one.state for one in work.versions.again(again)} == {"stale"}


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("two\nlines", "two lines"),
        ({"a": 1}, '{"a":1}'),
        ("1", "1"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("x" * 200, "x" * 159 + "…"),
    ],
)
def test_values_are_shown_in_one_line(value, line):
    assert one_line(value) == line
