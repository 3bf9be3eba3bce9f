"""What an embedder is tuned on: what serves a request beside what is mistaken for it."""

from dataclasses import replace

import numpy as np

from tests.support.fakes import WordEmbedder
from tests.tool2vec.lessons import QUERIES, TOOLS
from toolscope_core.tool2vec import tuned_embedder
from toolscope_core.tool2vec.linear_head import UsageVectors
from toolscope_core.tool2vec.training_queries import training_queries
from toolscope_core.tool2vec.tuned_embedder import triplets_of

IDS = sorted(tool.id for tool in TOOLS)
OWN = [f"text of {one}" for one in IDS]
SERVES = {query.text: next(iter(query.gold[0])) for query in QUERIES}


def made(queries):
    vectors = WordEmbedder().encode(queries.texts)
    centres = UsageVectors.of(queries, vectors).vectors(WordEmbedder().encode(OWN))
    return triplets_of(queries, vectors, centres, OWN)


def test_each_request_stands_beside_another_of_its_tool_and_one_of_a_tool_that_does_not_serve_it():
    rows = made(training_queries(QUERIES, {}, IDS))
    assert sorted(request for request, _, _ in rows) == sorted(SERVES)
    for request, serving, mistaken in rows:
        assert serving != request and SERVES[serving] == SERVES[request]
        assert SERVES.get(mistaken) != SERVES[request]
        assert mistaken in SERVES or mistaken == "text of unused_tool"


def test_the_text_of_a_tool_stands_for_it_where_it_has_no_other_request():
    alone = [query for query in QUERIES if "send_mail" not in query.id or query.id.endswith("one")]
    rows = made(training_queries(alone, {}, IDS))
    assert [row[1] for row in rows if row[0] == "tell boss late one"] == ["text of send_mail"]


def test_what_the_right_tool_serves_too_is_never_the_mistaken_text():
    """*forecast* serves every request of *book_flight* too, and a few more of its own."""
    shared = [
        replace(query, gold=(frozenset({"book_flight"}), frozenset({"forecast"})))
        if "book_flight" in query.id
        else query
        for query in QUERIES
    ]
    queries = training_queries(shared, {}, IDS)
    serves = {query.text: {one for need in query.gold for one in need} for query in shared}
    for request, _, mistaken in made(queries):
        assert serves[request].isdisjoint(serves.get(mistaken, ()))
    few = [query for query in shared if query.gold != (frozenset({"forecast"}),)]
    alone = [row for row in made(training_queries(few, {}, IDS)) if row[0].startswith("fly")]
    assert not {row[2] for row in alone} & {q.text for q in few if "book_flight" in q.id}


def test_recorded_requests_come_before_questions_and_there_is_an_end(monkeypatch):
    monkeypatch.setattr(tuned_embedder, "MOST_TRIPLETS", 10)
    queries = training_queries(QUERIES, {}, IDS)
    queries.recorded[:] = np.arange(len(queries.texts)) < 7
    rows = made(queries)
    assert len(rows) == 10
    assert {row[0] for row in rows[:7]} == set(queries.texts[:7])
