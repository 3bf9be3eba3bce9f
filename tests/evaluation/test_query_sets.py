"""Query sets: what is read, what is refused, and what becomes of gold answers after a merge."""

import json

import pytest

from toolscope_core.errors import ConfigError
from toolscope_core.evaluation.query_sets import (
    Query,
    read_queries,
    relabelled,
    with_known_gold,
)


def written(tmp_path, *rows):
    file = tmp_path / "q.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    return file


def gold(*needs):
    return tuple(frozenset(need) for need in needs)


def test_queries_are_read_in_order(tmp_path):
    file = written(
        tmp_path,
        {"id": "b", "query": "Do it", "gold": ["t", "u", "t"], "steps": ["one", "two"]},
        {"id": 7, "query": "Do more", "gold": [["t", "u"], "w"]},
        {"query": "Nothing"},
        {"id": "one", "query": "x", "gold": "t"},
    )
    assert read_queries(file) == (
        Query("b", "Do it", gold("t", "u"), ("one", "two")),
        Query("7", "Do more", gold("tu", "w")),
        Query("", "Nothing"),
        Query("one", "x", gold("t")),
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "a"}, "line 1: `query` is None"),
        ({"id": True, "query": "x"}, "`id` is True"),
        ({"query": "x", "gold": [1]}, "`gold` holds 1; give tool ids"),
        ({"query": "x", "gold": {"a": 1}}, "`gold` holds"),
        ({"query": "x", "steps": "do"}, "`steps` is 'do'"),
    ],
)
def test_a_row_that_is_no_query_is_named(tmp_path, row, message):
    with pytest.raises(ConfigError, match=message):
        read_queries(written(tmp_path, row))


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="has no queries"):
        read_queries(written(tmp_path))


QUERIES = (Query("1", "x", gold("a")), Query("2", "y", gold("bc", "a")), Query("3", "z"))


def test_unknown_gold_is_listed_or_left_out():
    with pytest.raises(ConfigError, match="does not have: b, c; give the catalog"):
        with_known_gold(QUERIES, {"a"})
    assert [one.id for one in with_known_gold(QUERIES, {"a"}, skip=True)] == ["1", "3"]
    assert with_known_gold(QUERIES, {"a", "b", "c"}) == QUERIES
    many = (Query("1", "x", gold(*"abcdefgh")),)
    with pytest.raises(ConfigError, match="a, b, c, d, e and 3 more"):
        with_known_gold(many, set())


def test_gold_is_relabelled_and_what_is_left_out_stays_unserved():
    phi = {"a": "m", "b": "m", "c": None, "d": None}
    assert relabelled([Query("1", "x", gold("a", "bc", "d", "e"))], phi) == (
        Query("1", "x", gold("m", "m", "d", "e")),
    )
