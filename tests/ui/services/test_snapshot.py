"""One moment of a catalog: who has it, when there is another, and what that keeps."""

import gc
import weakref

from tests.ui.services.small_workspace import by_name, catalog
from ui.shared.services import review
from ui.shared.services.workspace import Workspace


def test_everybody_has_the_same_until_somebody_changes_something(work, catalog_id):
    first = work.snapshot(catalog_id)
    assert work.snapshot(catalog_id) is first is work.newest("Desk")
    review.decide(first, "accept", by_name(work, catalog_id, "send_mail"), "ann")
    second = work.snapshot(catalog_id)
    assert (len(first.log), len(second.log)) == (0, 1), "what was drawn stays as it was"
    assert first.analysis is second.analysis and first.plan is not second.plan
    work.catalogs.choose_format("anthropic")
    third = work.snapshot(catalog_id)
    assert (second.format, third.format) == ("openai-chat", "anthropic")


def test_one_that_is_past_holds_no_plan(work, catalog_id):
    """Streamlit holds it for as long as a session lasts."""
    first = work.snapshot(catalog_id)
    plan = weakref.ref(first.plan)
    review.decide(first, "accept", by_name(work, catalog_id, "send_mail"), "ann")
    work.snapshot(catalog_id)
    gc.collect()
    assert plan() is None
    assert first.plan.clusters, "a button that was drawn with it still works"


def test_what_another_program_decided_is_there_at_the_next_look(work, catalog_id):
    other = Workspace(work.settings, work.embedder)
    other.analyses.run(catalog_id)
    before = other.snapshot(catalog_id)
    mails = by_name(work, catalog_id, "send_mail")
    review.decide(work.snapshot(catalog_id), "accept", mails, "ann")
    assert before is not other.snapshot(catalog_id)
    assert [one.reviewer for one in other.snapshot(catalog_id).log] == ["ann"]
    other.close()


def test_the_first_name_that_there_is_is_shown_else_the_first_of_all(work):
    work.catalogs.add("Attic", catalog())
    assert work.newest("gone", "Desk").record.name == "Desk"
    assert work.newest("gone").record.name == work.newest().record.name == "Attic"
    assert list(work.newest().newest) == ["Attic", "Desk"]
