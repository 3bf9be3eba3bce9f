"""Query sets: what is read, what is refused, and what becomes of gold answers after a merge."""

import json

import pytest

from toolscope_core.evaluation.query_sets import (
    Query,
    QuerySet,
    queries_of,
    read_queries,
    relabelled,
    with_gold_among,
    with_ids,
)
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import Tool


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
        Query("b", "Do it", gold("t", "u"), steps=("one", "two")),
        Query("7", "Do more", gold("tu", "w")),
        Query("3", "Nothing"),
        Query("one", "x", gold("t")),
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no queries"),
        ([{"id": "a"}], "line 1: `query` is None"),
        ([{"id": True, "query": "x"}], "`id` is True"),
        ([{"query": "x", "gold": [1]}], "`gold` contains 1"),
        ([{"query": "x", "gold": {"a": 1}}], "`gold` contains"),
        ([{"query": "x", "steps": "do"}], "`steps` is 'do'"),
    ],
)
def test_a_row_that_is_no_query_is_named(tmp_path, rows, message):
    with pytest.raises(ConfigError, match=message):
        read_queries(written(tmp_path, *rows))


QUERIES = (Query("1", "x", gold("a")), Query("2", "y", gold("bc", "a")), Query("3", "z"))


def test_unknown_gold_is_listed_or_left_out():
    with pytest.raises(ConfigError, match=": b, c;"):
        with_gold_among(QUERIES, {"a"})
    assert [one.id for one in with_gold_among(QUERIES, {"a"}, skip=True)] == ["1", "3"]
    assert with_gold_among(QUERIES, {"a", "b", "c"}) == QUERIES
    many = (Query("1", "x", gold(*"abcdefgh")),)
    with pytest.raises(ConfigError, match="a, b, c, d, e and 3 more"):
        with_gold_among(many, set())


def test_a_name_that_one_tool_has_is_its_id_and_of_others_it_is_said_which_may_be_meant():
    ids = ("hub/get", "hub/merge", "lab/merge", "get")
    tools = [Tool(one, one.rpartition("/")[2]) for one in ids[:3]]
    query = Query("1", "x", gold(["get", "merge"], ["lab/merge"]), allowed=frozenset({"get"}))
    (named,) = with_ids([query], tools)
    assert named.gold == gold(["hub/get", "merge"], ["lab/merge"])
    assert named.allowed == {"hub/get"}
    with pytest.raises(ConfigError, match=r"merge .*hub/.* lab/"):
        with_gold_among([named], [tool.id for tool in tools])
    with pytest.raises(ConfigError, match=r"hub/gett \(.* hub/get\?"):
        with_gold_among([Query("1", "x", gold(["hub/gett"]))], ids)


def test_gold_is_relabelled_and_what_is_left_out_stays_unserved():
    phi = {"a": "m", "b": "m", "c": None, "d": None}
    assert relabelled([Query("1", "x", gold("a", "bc", "d", "e"))], phi) == (
        Query("1", "x", gold("m", "m", "d", "e")),
    )


def test_csv_with_lists_as_json_or_with_semicolons():
    text = (
        "query,id,gold,gold_servers,steps,other\n"
        'Do it,a,t; u,,"[""one, two"", ""three""]",x\n'
        '"Do\nmore",,"[[""t"", ""u""], ""w""]",S,\n'
    )
    assert queries_of(text.encode(), "Q.CSV") == QuerySet(
        (
            Query("a", "Do it", gold("t", "u"), steps=("one, two", "three")),
            Query("2", "Do\nmore", gold("tu", "w"), servers=gold("S")),
        )
    )
    assert queries_of(b"query,gold\nx,[t\n", "q.csv").queries == (Query("1", "x", gold(("[t",))),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "q.csv .*empty"),
        (b"text,gold\nx,y\n", "q.csv .*text, gold;"),
        (b"\xff\xfequery", "q.csv cannot be read: .*UTF-8"),
    ],
)
def test_csv_that_has_no_queries_is_refused(content, message):
    with pytest.raises(ConfigError, match=message):
        queries_of(content, "q.csv")


def test_problems_are_by_line_and_the_other_rows_are_read():
    content = b'{"query": "x"}\n\nnothing\n{"query": 1}\n[1]\n{"query": "y", "gold": [1]}'
    queries = queries_of(content, "q.jsonl")
    assert [one.text for one in queries.queries] == ["x"]
    assert [one.line for one in queries.problems] == [3, 4, 5, 6]
    assert "not JSON" in queries.problems[0].reason
    assert queries.problems[1].reason.startswith("`query` is 1;")


def test_tools_by_name_have_the_servers_at_their_place():
    row = {"query": "x", "gold_tools": ["t", "u"], "gold_servers": [["A", "B"], "C"]}
    (query,) = queries_of(json.dumps(row).encode(), "q.jsonl").queries
    assert query.gold == (frozenset({"A/t", "B/t"}), frozenset({"C/u"}))
    assert query.servers == (frozenset("AB"), frozenset("C"))
    wrong = {**row, "gold_tools": ["t"]}
    (problem,) = queries_of(json.dumps(wrong).encode(), "q.jsonl").problems
    assert "`gold_tools` is ['t'];" in problem.reason


def test_servers_that_answer_are_those_of_the_tools_unless_the_set_says_others():
    owners = {"t": "A", "u": "B", "w": ""}
    assert Query("1", "x", gold("tu", "w", "u")).server_gold(owners) == gold("AB", "B")
    assert Query("1", "x", gold("t"), servers=gold("Z")).server_gold(owners) == gold("Z")
