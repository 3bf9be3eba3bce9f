from itertools import combinations

import pytest

from tests.ui.services.small_workspace import by_name
from toolscope_core.decisions.constraints import constraints
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair
from ui.shared.services import review, toolsets

THREE = ("alpha/list_files", "alpha/send_mail", "beta/add_numbers")


def say(work, catalog_id, ids, reject=False):
    does = toolsets.never_merge if reject else toolsets.send_to_review
    return does(
        work.snapshot(catalog_id), ids, toolsets.version(work.snapshot(catalog_id), ids), "ann"
    )


def test_never_merge_keeps_every_pair_apart(work, catalog_id):
    mails = by_name(work, catalog_id, "send_mail").members
    decision = say(work, catalog_id, mails, reject=True)
    log = work.snapshot(catalog_id).log
    apart = constraints(work.snapshot(catalog_id).catalog, log).cannot
    assert apart == {Pair.of(*two) for two in combinations(mails, 2)}
    assert toolsets.card(work.snapshot(catalog_id), mails) is None
    with pytest.raises(DecisionError, match="decision 1"):
        say(work, catalog_id, mails)
    review.undo(work.snapshot(catalog_id), "ann", decision.seq)
    assert toolsets.card(work.snapshot(catalog_id), mails) is not None


def test_too_many_at_once_are_refused_with_the_reason(work, catalog_id, monkeypatch):
    monkeypatch.setattr(toolsets, "MOST_ON_A_CARD", 2)
    monkeypatch.setattr(toolsets, "MOST_APART", 2)
    with pytest.raises(DecisionError, match=r"3 tools; .* at most 2"):
        say(work, catalog_id, THREE)
    with pytest.raises(DecisionError, match=r"3 pairs .* at most 2"):
        say(work, catalog_id, THREE, reject=True)
    assert work.snapshot(catalog_id).log == ()
