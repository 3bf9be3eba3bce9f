"""Every page over a store of which somebody broke a row."""

import sqlite3
from contextlib import closing

from tests.pages.screen import open_page, words
from tests.pages.test_addresses import PAGES
from tests.ui.services import small_workspace
from ui.shared.services import review

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
        assert "decision row" in own and "put a backup" in own, page
        assert "decision row" not in other, page
