"""Query sets of a catalog: previewed, kept over versions, and read again."""

import json

import pytest

from tests.ui.services.small_workspace import MAIL, catalog
from toolscope_core.model.errors import ConfigError
from ui.shared.services import loaded_queries

ROWS = [
    {"id": "a", "query": "Mail Ann", "gold": ["alpha/send_mail"], "steps": ["Send a mail"]},
    {"id": "b", "query": "Rain?", "gold_servers": ["alpha", "nowhere"]},
    {"id": "c", "query": "Mail Ann", "gold": ["gone/tool"]},
    {"id": "d", "query": "No answer"},
]
LINES = "\n".join([*map(json.dumps, ROWS), "no json"]).encode()


def test_a_set_that_is_too_large_is_refused(work, catalog_id, monkeypatch):
    monkeypatch.setattr("ui.shared.services.loaded_queries.MOST_BYTES", 10)
    with pytest.raises(ConfigError, match=r"11 bytes.* at most 10"):
        loaded_queries.add(work.snapshot(catalog_id), b"x" * 11, "q.jsonl")


def test_the_example_comes_with_queries_that_its_tools_answer(work):
    record = work.add_example()
    (view,) = loaded_queries.sets(work.snapshot(record.id))
    assert view.unknown == () and view.content.problems == ()
    assert view.judged == len(view.content.queries) > 20
    loaded_queries.delete(work.snapshot(record.id), view.name)
    assert work.add_example() == record
    assert loaded_queries.sets(work.snapshot(record.id)) == (), "it stays as it was"


def test_sets_are_kept_for_all_versions_and_deleted(work, catalog_id):
    loaded_queries.add(work.snapshot(catalog_id), LINES, "q.jsonl")
    loaded_queries.add(work.snapshot(catalog_id), b"query\nRain?", "a.csv")
    newer = work.catalogs.add("Desk", catalog(MAIL)).id
    assert newer != catalog_id
    assert [view.name for view in loaded_queries.sets(work.snapshot(newer))] == ["a.csv", "q.jsonl"]
    texts = loaded_queries.texts(work.snapshot(newer))
    assert texts[:2] == (("a.csv", "Rain?"), ("q.jsonl", "Mail Ann"))
    rain = loaded_queries.of_text(work.snapshot(newer), " Rain? ")
    assert rain.id == "b", "one with answers before others"
    assert loaded_queries.of_text(work.snapshot(newer), "Mail Ann").id == "a"
    assert loaded_queries.of_text(work.snapshot(newer), "No answer").gold == ()
    for name in ("a.csv", "q.jsonl"):
        loaded_queries.delete(work.snapshot(newer), name)
    assert loaded_queries.sets(work.snapshot(catalog_id)) == ()
