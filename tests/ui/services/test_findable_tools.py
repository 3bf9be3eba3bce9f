"""Which tools each client's search finds, before a merge and after it."""

import pytest

from tests.ui.services.small_workspace import by_name
from toolscope_core.evaluation.findability import COMPARED, OWN_SEARCH
from ui.shared.services.findable_tools import FindableTools
from ui.shared.services.loaded_queries import LoadedQueries

QUERY = b'{"id": "a", "query": "what is it like outside", "gold": ["beta/get_weather"]}'


@pytest.fixture(scope="module")
def measured(shared):
    work, catalog_id = shared
    findable = work.service(FindableTools)
    assert findable.rows(catalog_id) is None
    work.service(LoadedQueries).add(catalog_id, QUERY, "q.jsonl")
    findable.run(catalog_id)
    return findable, catalog_id


def test_there_is_a_row_for_each_search_with_what_it_never_finds(measured):
    findable, catalog_id = measured
    rows = {row.search: row for row in findable.rows(catalog_id)}
    assert len(rows) == len(COMPARED)
    assert (rows["Codex"].approximate, rows["Codex"].never) == (False, 1)
    assert 0 < rows["Codex"].share < 1
    (missed,) = findable.tools(catalog_id, "codex")
    assert (missed.tool_id, missed.share, missed.requests) == (
        "beta/get_weather",
        "0 of 1",
        "queries",
    )
    assert missed.tool_id in {one.tool_id for one in findable.tools(catalog_id, OWN_SEARCH)}


def test_another_decision_or_query_set_makes_it_anew(measured, shared):
    findable, catalog_id = measured
    work, _ = shared
    work.review.decide(catalog_id, "accept", by_name(work, catalog_id, "send_mail"), "ann")
    assert findable.rows(catalog_id) is None
    before = findable.shares(catalog_id, "codex")
    assert before["beta/get_weather"] == 0, "the tools as they are stay measured"
    findable.run(catalog_id)
    assert findable.rows(catalog_id) and findable.shares(catalog_id, "codex") is not None
    assert set(findable.shares_after(catalog_id, "codex")) < set(before)
    work.service(LoadedQueries).delete(catalog_id, "q.jsonl")
    assert findable.rows(catalog_id) is None
