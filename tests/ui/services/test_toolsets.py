import pytest

from toolscope_core.model.errors import DecisionError
from ui.shared.services import toolsets

THREE = ("alpha/list_files", "alpha/send_mail", "beta/add_numbers")


def say(work, catalog_id, ids, reject=False):
    now = work.snapshot(catalog_id)
    does = toolsets.never_merge if reject else toolsets.send_to_review
    return does(now, ids, toolsets.version(now, ids), "ann")


def test_too_many_at_once_are_refused_with_the_reason(work, catalog_id, monkeypatch):
    monkeypatch.setattr(toolsets, "MOST_ON_A_CARD", 2)
    monkeypatch.setattr(toolsets, "MOST_APART", 2)
    with pytest.raises(DecisionError, match=r"3 tools; .* at most 2"):
        say(work, catalog_id, THREE)
    with pytest.raises(DecisionError, match=r"3 pairs .* at most 2"):
        say(work, catalog_id, THREE, reject=True)
    assert work.snapshot(catalog_id).log == ()
