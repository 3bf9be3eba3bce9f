"""A store that cannot be reached for a moment is one sentence, wherever it is met."""

from tests.pages.screen import open_page, words
from tests.ui.services import small_workspace
from toolscope_core.model.errors import StoreError
from toolscope_core.store.jobs import start_job
from ui.shared.services import review
from ui.shared.services.analyses import JOB_KIND

LOST = "the connection to the server was lost"


def away(*_, **__):
    raise StoreError(f"the store postgresql://db/x cannot be used: {LOST}")


def test_on_a_page(monkeypatch, work):
    monkeypatch.setattr(work, "newest", away)
    (error,) = open_page(monkeypatch, work).error
    assert LOST in error.value


def test_in_a_decision(monkeypatch, work, through_the_app):
    app = open_page(monkeypatch, work, "review")
    monkeypatch.setattr(review, "decide", away)
    start = f"accept_{small_workspace.by_name(work, 1, 'send_mail').id}"
    next(one for one in app.button if (one.key or "").startswith(start)).click().run()
    assert LOST in words(app)


def test_while_a_job_runs(monkeypatch, work, through_the_app):
    record = work.catalogs.add("New", small_workspace.catalog(small_workspace.MAIL))
    start_job(work.store, "x", record.id, JOB_KIND)
    monkeypatch.setattr(work.analyses, "watch", away)
    app = open_page(monkeypatch, work, "review", catalog=record.name)
    assert LOST in words(app)
