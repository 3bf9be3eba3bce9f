"""Logs added to a catalog: kept as counts, with consent their requests too."""

import json

from tests.ui.services.small_workspace import MAIL, by_name, open_workspace
from ui.catalog import usage_panel
from ui.shared.services import review, usage_evidence


def log(*rows):
    return "\n".join(map(json.dumps, rows)).encode()


def called(original, at, outcome="ok"):
    return {"tool": "send_mail", "original": original, "at": at, "outcome": outcome}


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
