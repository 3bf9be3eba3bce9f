"""Every page over a store of which somebody broke a row, or that cannot be reached for a moment."""

import sqlite3
from contextlib import closing

from tests.pages.screen import open_page, words
from tests.pages.test_addresses import PAGES
from tests.ui.services import small_workspace
from toolscope_core.model.errors import StoreError
from toolscope_core.store.jobs import start_job
from ui.shared.services import review
from ui.shared.services.analyses import JOB_KIND

LOST = "the connection to the server was lost"
REQUESTS = {"retrieval": {"q": "send a mail"}}


def test_a_broken_decision_is_told_on_every_page_of_its_catalog_only(
    through_the_app, monkeypatch, work
):
    small_workspace.add_analysed(work, "Other", small_workspace.MAIL, small_workspace.SUM)
    review.decide(work.snapshot(1), "accept", small_workspace.by_name(work, 1, "send_mail"), "ann")
    with closing(sqlite3.connect(work.store.place)) as connection, connection:
        connection.execute("UPDATE decision SET detail = '{\"cut'")
    for page in PAGES.keys() - {"settings"}:
        own, other = (
            words(open_page(monkeypatch, work, page, catalog=name, **REQUESTS.get(page, {})))
            for name in ("Desk", "Other")
        )
        assert "decision row" in own and "a backup" in own, page
        assert "decision row" not in other, page


def away(*_, **__):
    raise StoreError(f"the store postgresql://db/x cannot be used: {LOST}")


def test_a_store_that_is_away_is_one_sentence_on_a_page(monkeypatch, work):
    monkeypatch.setattr(work, "newest", away)
    (error,) = open_page(monkeypatch, work).error
    assert LOST in error.value


def test_a_store_that_is_away_is_one_sentence_in_a_decision(monkeypatch, work, through_the_app):
    app = open_page(monkeypatch, work, "review")
    monkeypatch.setattr(review, "decide", away)
    start = f"accept_{small_workspace.by_name(work, 1, 'send_mail').id}"
    next(one for one in app.button if (one.key or "").startswith(start)).click().run()
    assert LOST in words(app)


def test_a_store_that_is_away_is_one_sentence_while_a_job_runs(monkeypatch, work, through_the_app):
    record = work.catalogs.add("New", small_workspace.catalog(small_workspace.MAIL))
    start_job(work.store, "x", record.id, JOB_KIND)
    monkeypatch.setattr(work.analyses, "watch", away)
    app = open_page(monkeypatch, work, "review", catalog=record.name)
    assert LOST in words(app)
