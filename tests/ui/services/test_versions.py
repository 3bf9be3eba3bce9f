import re
from dataclasses import replace

from tests.ui.services import small_workspace
from tests.ui.services.small_workspace import FILES, MAIL, SUM, TOOLS, by_name, catalog, on
from toolscope_core.decisions.constraints import edits
from toolscope_core.decisions.decision_lines import decisions_in
from ui.history import histories
from ui.shared.services import review, toolsets, versions

CHANGED = replace(MAIL, description="Send a mail to a person now.")
NEXT = (CHANGED, *TOOLS[1:-1])


def first(work):
    return work.catalogs.newest()[0].id


def test_an_accepted_merge_keeps_what_it_kept_when_a_tool_changes(work):
    shown = by_name(work, 1, "send_mail")
    other = next(one for one in shown.members if one != shown.canonical)
    review.decide(work.snapshot(1), "accept", replace(shown, canonical=other), "ann")
    assert by_name(work, 1, "send_mail").canonical == other
    record = next_version(work, *NEXT)
    waiting = by_name(work, record.id, "send_mail")
    assert (waiting.state, waiting.canonical) == ("stale", other)


def test_a_later_choice_that_is_suspended_does_not_bring_back_the_one_before(work):
    shown = by_name(work, 1, "send_mail")
    one, other = [member for member in shown.members if member != shown.canonical]
    review.decide(work.snapshot(1), "accept", replace(shown, canonical=one), "ann")
    choice = {"canonical": other}
    review.decide(work.snapshot(1), "canonical", by_name(work, 1, "send_mail"), "ann", choice)
    record = next_version(work, *NEXT)
    standing = edits(work.snapshot(record.id).catalog, work.snapshot(record.id).log)
    assert frozenset(shown.members) not in standing


def reworded(text):
    return replace(MAIL, description=text)


def next_version(work, *tools):
    return small_workspace.add_analysed(work, "Desk", *tools)


def test_decisions_hold_wait_or_are_about_tools_that_are_gone(work):
    for name in ("send_mail", "get_weather"):
        review.decide(work.snapshot(1), "accept", by_name(work, 1, name), "ann")
    toolsets.leave_out(work.snapshot(1), [SUM.id], "ann", "nobody adds up")
    toolsets.flag(work.snapshot(1), [FILES.id], "ann", "is this right?")
    before = versions.carried_decisions(work.snapshot(first(work)))
    assert [one.seq for one in before.hold] == [1, 2, 3]
    ahead = versions.standing_ahead(work.snapshot(1), "Desk", catalog(*NEXT))
    standing = versions.carried_decisions(work.snapshot(next_version(work, *NEXT).id))
    assert standing == ahead
    assert versions.standing_ahead(work.snapshot(1), "Other", catalog()) is None
    parts = (standing.hold, standing.wait, standing.gone)
    assert [[one.seq for one in part] for part in parts] == [[2], [1], [3]]


def test_what_changed_since_a_decision_is_told_from_the_version_it_was_made_on(work):
    decision = review.decide(work.snapshot(1), "accept", by_name(work, 1, "send_mail"), "ann")
    next_version(work, reworded("Send a letter."), *TOOLS[1:])
    schema = {**MAIL.schema, "properties": {**MAIL.schema["properties"], "urgent": {}}}
    last = replace(reworded("Send a letter now."), schema=schema)
    record = next_version(work, last, *TOOLS[1:])
    (tool,) = versions.since_decision(work.snapshot(record.id), decision)
    assert tool.tool_id == MAIL.id
    assert [(row.field, row.new) for row in tool.rows] == [
        ("description", "Send a letter now."),
        ("schema/properties/urgent", "{}"),
    ]
    (text,) = tool.reworded
    assert (text.old, text.new) == (MAIL.description, "Send a letter now.")
    (card,) = review.queue_part(work.snapshot(record.id), "again")
    assert versions.waiting_on(work.snapshot(record.id), card) == (decision,)
    unknown = replace(decision, fingerprints=("x", *decision.fingerprints[1:]))
    (tool,) = versions.since_decision(work.snapshot(record.id), unknown)
    assert tool.rows is None


def test_only_what_a_version_brings_is_a_new_proposal(work):
    assert review.queue_part(work.snapshot(first(work)), "new") == ()
    review.decide(work.snapshot(1), "accept", by_name(work, 1, "send_mail"), "ann")
    record = next_version(work, *TOOLS, on("gamma", SUM), on("delta", MAIL))
    assert review.queue_part(work.snapshot(record.id), "again") == ()
    new = {one.canonical: one for one in review.queue_part(work.snapshot(record.id), "new")}
    assert {one.document.name for one in new.values()} == {"add_numbers", "send_mail"}
    (mail,) = [one for one in new.values() if one.document.name == "send_mail"]
    assert (mail.state, mail.newcomers) == ("accepted", ("delta/send_mail",))
    waiting = {one.document.name for one in review.queue(work.snapshot(record.id))}
    assert waiting - {"add_numbers", "send_mail"} == {"get_weather", "list_files"}, "from before"
    again = next_version(work, reworded("Send it."), *TOOLS[1:], on("gamma", SUM))
    assert {one.document.name for one in review.queue_part(work.snapshot(again.id), "new")} == set()
    assert {one.state for one in review.queue_part(work.snapshot(again.id), "again")} == {"stale"}


POSTED = replace(MAIL, id="alpha/mail_send", name="mail_send")
RENAMED = (POSTED, *TOOLS[1:])


def test_a_decision_follows_a_tool_through_two_renames_and_back(work):
    made = review.decide(work.snapshot(1), "accept", by_name(work, 1, "send_mail"), "ann")
    parted = replace(POSTED, id="alpha/mail_sending", name="mail_sending")
    for now in (POSTED, parted):
        record = work.catalogs.add("Desk", catalog(now, *TOOLS[1:]))
        (waiting,) = versions.carried_decisions(work.snapshot(record.id)).wait
        assert waiting.ids == (now.id, *made.ids[1:]) and waiting.fingerprints == made.fingerprints
    record = work.catalogs.add("Desk", catalog())
    standing = versions.carried_decisions(work.snapshot(record.id))
    assert standing.hold == (made,), "it is called as before"
    assert work.snapshot(1).log == (made,), "an earlier version has its own names"


def test_a_decision_on_a_tool_that_took_the_old_name_stays_with_it(work):
    toolsets.leave_out(work.snapshot(1), [MAIL.id], "ann", "old")
    next_version(work, *RENAMED)
    newer = replace(MAIL, description="Reserve a seat on a train.", schema=SUM.schema)
    record = next_version(work, newer, *RENAMED)
    toolsets.leave_out(work.snapshot(record.id), [newer.id], "bob", "new")
    standing = versions.carried_decisions(work.snapshot(record.id))
    assert [one.ids for one in standing.wait] == [(POSTED.id,)]
    assert [one.ids for one in standing.hold] == [(newer.id,)]


def test_a_decisions_file_follows_a_renamed_tool_too(work):
    review.decide(work.snapshot(1), "accept", by_name(work, 1, "send_mail"), "ann")
    toolsets.leave_out(work.snapshot(1), [SUM.id], "ann", "nobody adds up")
    file = histories.file(work.snapshot(1))
    twin = on("delta", MAIL)
    new = catalog(*RENAMED[:-1], twin)
    ids = [one.ids for one in decisions_in(new, file, "decisions.jsonl")]
    assert ids == [(POSTED.id, "beta/send_mail", "gamma/send_mail"), (SUM.id,)]
    plain = re.sub(rb',"tools":\{.*\}\}\n', b"}\n", file)
    assert plain != file
    assert decisions_in(new, plain, "")[0].ids[0] == MAIL.id, "nothing tells it"
    damaged = re.sub(rb'"parameters":\[[^]]*\]', b'"parameters":5', file)
    assert decisions_in(new, damaged, "") == decisions_in(new, plain, "")
    other = work.catalogs.add("Renamed", new)
    seen = histories.preview_import(work.snapshot(other.id), file, "decisions.jsonl")
    assert [(row.outcome, row.why) for row in seen.rows] == [
        ("suspended", f"{POSTED.id} changed"),
        ("of another catalog", ""),
    ]


def test_a_line_of_a_decisions_file_ends_nowhere_else(work):
    strange = "old\u2028\x85\ud800"
    toolsets.leave_out(work.snapshot(1), [SUM.id], "ann", strange)
    file = histories.file(work.snapshot(1))
    assert len(file.decode().splitlines()) == 1
    (decision,) = decisions_in(catalog(), file, "")
    assert decision.detail["reason"] == strange
