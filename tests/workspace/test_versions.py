from dataclasses import replace

import pytest

from tests.workspace.desk import FILES, MAIL, SUM, TOOLS, by_name, catalog
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
