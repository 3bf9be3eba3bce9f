"""How often a page asks the store: on a server each transaction is a round trip."""

from collections import Counter

import pytest

from tests.pages.screen import open_page
from tests.ui.services.small_workspace import by_name
from toolscope_core.store.engine import Store
from ui import PAGES

MOST_IN_A_REDRAW, MOST_IN_A_VISIT = 8, 12


@pytest.fixture
def reads(monkeypatch):
    """How many transactions have read the store."""
    counted, read = Counter(), Store.read

    def counting(store):
        counted["all"] += 1
        return read(store)

    monkeypatch.setattr(Store, "read", counting)
    return counted


def test_a_decision_redraws_the_page_with_few_looks_at_the_store(open_app, reads):
    page = open_app().open("review")
    mails = by_name(page.work, 1, "send_mail").id
    reads.clear()
    page.press(f"accept_{mails}")
    seen = reads["all"]
    assert len(page.now.log) == 1
    assert seen <= MOST_IN_A_REDRAW


@pytest.mark.parametrize("page", PAGES)
def test_a_first_visit_looks_a_dozen_times_at_most(monkeypatch, work, reads, page):
    open_page(monkeypatch, work, page)
    assert reads["all"] <= MOST_IN_A_VISIT
