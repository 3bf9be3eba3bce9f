"""Which tools each client's search finds, before a merge and after it."""

import pytest

from tests.ui.services.small_workspace import Functions, accept_drop_in
from toolscope_core.evaluation.findability import COMPARED, OWN_SEARCH
from toolscope_core.model.tool import Augmentation
from ui.documents import siblings
from ui.shared.services import findable_tools, loaded_queries, reviewed_variants
from ui.shared.services.findable_tools import AS_THEY_ARE, DESCRIBED, MERGED, VARIANTS

QUERY = b'{"id": "a", "query": "what is it like outside", "gold": ["beta/get_weather"]}'


@pytest.fixture(scope="module")
def measured(shared):
    work, catalog_id = shared
    assert findable_tools.rows(work.snapshot(catalog_id)) is None
    loaded_queries.add(work.snapshot(catalog_id), QUERY, "q.jsonl")
    findable_tools.run(work.snapshot(catalog_id))
    return Functions(work, findable_tools), catalog_id


def test_there_is_a_row_for_each_search_with_what_it_never_finds(measured):
    findable, catalog_id = measured
    rows = {row.search: row for row in findable.rows(catalog_id)}
    assert len(rows) == len(COMPARED)
    assert not rows["Codex"].approximate
    assert rows["Codex"].never == {AS_THEY_ARE: 1, MERGED: 1}
    assert 0 < rows["Codex"].shares[AS_THEY_ARE] < 1
    (missed,) = findable.tools(catalog_id, "codex")
    assert (missed.tool_id, missed.share) == ("beta/get_weather", "0 of 1")
    assert missed.requests == "queries"
    assert missed.tool_id in {one.tool_id for one in findable.tools(catalog_id, OWN_SEARCH)}


def test_another_decision_or_query_set_makes_it_anew(measured, shared):
    findable, catalog_id = measured
    work, _ = shared
    accept_drop_in(work, catalog_id)
    assert findable.rows(catalog_id) is None
    before = findable.shares(catalog_id, "codex")
    assert before["beta/get_weather"] == 0, "the tools as they are stay measured"
    findable.run(catalog_id)
    assert findable.rows(catalog_id) and findable.shares(catalog_id, "codex") is not None
    assert set(findable.shares(catalog_id, "codex", MERGED)) < set(before)
    loaded_queries.delete(work.snapshot(catalog_id), "q.jsonl")
    assert findable.rows(catalog_id) is None


def test_variants_and_new_descriptions_are_sides_of_their_own(own):
    """Only ToolScope's search reads a variant; every search reads a description."""
    work, catalog_id = own
    loaded_queries.add(work.snapshot(catalog_id), QUERY, "q.jsonl")
    texts = {"beta/get_weather": Augmentation("What it is like outside.", ("rain",))}
    reviewed_variants.decide(work.snapshot(catalog_id), texts, "ann")
    siblings.save(work.snapshot(catalog_id), {"beta/get_weather": "What is it like outside"}, "ann")
    findable_tools.run(work.snapshot(catalog_id))
    rows = {row.search: row for row in findable_tools.rows(work.snapshot(catalog_id))}
    assert list(rows["Codex"].never) == [AS_THEY_ARE, VARIANTS, DESCRIBED, MERGED]
    assert list(rows["Codex"].never.values()) == [1, 1, 0, 0]
    assert list(rows["ToolScope"].never.values()) == [1, 0, 0, 0]
