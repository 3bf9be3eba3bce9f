"""Logs added to a catalog: kept as counts, with consent their requests too."""

import json

from tests.ui.services.small_workspace import MAIL, by_name, on, open_workspace
from ui.catalog import usage_panel
from ui.shared.services import review, usage_evidence

BETA = on("beta", MAIL)


def log(*rows):
    return "\n".join(map(json.dumps, rows)).encode()


def called(original, at, outcome="ok"):
    return {"tool": "send_mail", "original": original, "at": at, "outcome": outcome}


def test_logs_are_added_once_and_forgotten():
    work, catalog = open_workspace()
    first = log(called(BETA.id, "2026-01-01T00:00:00Z"), called(BETA.id, "2026-03-01T00:00:00Z"))
    second = log(called(MAIL.id, "2026-02-27T00:00:00Z", "error"))
    for content, name in ((first, "one.jsonl"), (first, "one.jsonl"), (second, "two.jsonl")):
        usage_panel.add(work.snapshot(catalog), content, name)
    figures = usage_evidence.figures(work.snapshot(catalog))
    counts = {one: (use.calls, use.errors) for one, use in figures.by_id.items()}
    assert counts == {MAIL.id: (1, 1), BETA.id: (2, 0)}
    unused = usage_evidence.unused(work.snapshot(catalog))
    assert "gamma/send_mail" in unused and not {MAIL.id, BETA.id} & set(unused)
    assert figures.of(BETA.id).days == {"2026-01-01": (1, 0), "2026-03-01": (1, 0)}
    assert figures.of(MAIL.id).days == {"2026-02-27": (1, 1)}
    usage_evidence.delete(
        work.snapshot(catalog), usage_evidence.logs(work.snapshot(catalog))[0].key
    )
    assert usage_evidence.figures(work.snapshot(catalog)).calls == 1


def test_the_queue_may_begin_with_what_is_used_most():
    work, catalog = open_workspace()
    weather = by_name(work, catalog, "get_weather")
    calls = dict.fromkeys(weather.members, 5)
    assert review.queue(work.snapshot(catalog), by="used", calls=calls)[0] == weather
    assert review.queue(work.snapshot(catalog), by="used", calls={MAIL.id: 11})[0] != weather


def bad_log(mail):
    """Calls of the mail tools: right long ago, failed or refused in days to come."""
    early, late = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
    refused = called("", late, "refused")
    return log(*[called(mail, early)] * 9, *[called(mail, late, "error"), refused] * 6)


def test_a_merge_that_went_bad_is_known_until_it_is_taken_back():
    work, catalog = open_workspace()
    cluster = by_name(work, catalog, "send_mail")
    assert usage_evidence.after_merges(work.snapshot(catalog)) == {}
    usage_panel.add(work.snapshot(catalog), bad_log(MAIL.id), "log.jsonl")
    assert usage_evidence.went_bad(work.snapshot(catalog)) == ()
    decision = review.decide(work.snapshot(catalog), "accept", cluster, "ann")
    (bad,) = usage_evidence.went_bad(work.snapshot(catalog))
    assert bad.members == cluster.members
    assert usage_evidence.after_merges(work.snapshot(catalog))[bad.id].after == (12, 12)
    review.undo(work.snapshot(catalog), "ann", decision.seq)
    assert usage_evidence.went_bad(work.snapshot(catalog)) == ()
