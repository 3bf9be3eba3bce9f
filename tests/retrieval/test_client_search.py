"""Searches of clients that defer tools, and the place of a tool whose name is searched for."""

import math
from collections import Counter
from typing import get_args

import numpy as np
import pytest

from tests.support.fakes import WordEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.search_configuration import ClientName, RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import (
    SearchSetup,
    codex_terms,
    codex_text,
    definition_text,
    fastmcp_terms,
)


def tool(server, name, description, *arguments):
    schema = {"type": "object", "properties": {one: {"type": "string"} for one in arguments}}
    return Tool(f"{server}/{name}", name, description, server=server, schema=schema)


MAIL = tool("post", "send_mail", "Send a letter to a person.", "to", "body")
INBOX = tool("post", "list_mail", "List the letters of the inbox, newest first.", "limit")
RAIN = tool("sky", "get_forecast", "Tell tomorrow's weather in a city.", "city")
NOTE = tool("desk", "create_note", "Write a note, which anybody may read later.", "text")
TOOLS = (MAIL, INBOX, RAIN, NOTE)
SERVERS = (Server("post", "Everything about letters."), Server("sky", "The weather."))
CLIENTS = get_args(ClientName)


def codex_document(one):
    return codex_text(one, {server.name: server.description for server in SERVERS})


@pytest.fixture
def search(tmp_path):
    def opened(client, tools=TOOLS):
        config = RetrievalConfig(client=client, rerank="none")
        setup = SearchSetup(WordEmbedder(), VectorCache(tmp_path), config, servers=SERVERS)
        return setup.open(tools)

    return opened


def ids(places):
    return [place.tool_id for place in places]


@pytest.mark.parametrize("client", [one for one in CLIENTS if one != "openai-namespaces"])
def test_a_search_finds_what_a_tool_says_of_itself(search, client):
    for one in TOOLS:
        assert ids(search(client).search(one.description, 1)) == [one.id]


@pytest.mark.parametrize("client", CLIENTS)
def test_equal_requests_have_equal_answers_in_any_order(search, client):
    requests = [ToolRequest(one.description) for one in TOOLS]
    there = search(client).search_each(requests, 3)
    back = search(client, TOOLS[::-1]).search_each(requests[::-1], 3)
    assert list(map(ids, there)) == list(map(ids, back[::-1]))
    assert ids(search(client).search_each([ToolRequest(" "), requests[0]], 3)[1]) == ids(there[0])
    assert search(client, ()).search("letter") == search(client).search("letter", 0) == ()


@pytest.mark.parametrize("client", ["claude-bm25", "claude-regex", "codex", "fastmcp"])
def test_a_search_by_words_returns_nothing_for_other_words(search, client):
    assert search(client).search("photograph") == ()


def okapi(texts, terms, request, k1, b=0.75):
    """BM25 by its formula, from scratch."""
    documents = [terms(text) for text in texts]
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        counts, score = Counter(document), 0.0
        for term in terms(request):
            having = sum(term in other for other in documents)
            idf = math.log((len(documents) - having + 0.5) / (having + 0.5) + 1)
            norm = k1 * (1 - b + b * len(document) / mean)
            score += idf * counts[term] * (k1 + 1) / (counts[term] + norm)
        scores.append(score)
    return scores


@pytest.mark.parametrize("request_text", ["letters to a city", "write it", "send_mail limit"])
@pytest.mark.parametrize(
    ("client", "text", "terms", "k1"),
    [("fastmcp", definition_text, fastmcp_terms, 1.5), ("codex", codex_document, codex_terms, 1.2)],
)
def test_bm25_is_that_of_the_client_by_its_formula(search, client, text, terms, k1, request_text):
    scores = okapi([text(one) for one in TOOLS], terms, request_text, k1)
    expected = {one.id: score for one, score in zip(TOOLS, scores, strict=True) if score}
    places = search(client).search(request_text, 4)
    assert {one.tool_id: one.sparse * (k1 + 1) for one in places} == pytest.approx(expected)
    assert ids(places) == sorted(expected, key=lambda one: (-expected[one], one))


def test_codex_reads_no_words_inside_a_name(search):
    assert codex_terms("create_note makes notes") == ["create_not", "make", "note"]
    assert fastmcp_terms("create_note makes a note") == ["create", "note", "makes", "note"]
    names = "mcp__post__send_mail send_mail post"
    expected = f"{names} {MAIL.description} All mail. body to"
    assert codex_text(MAIL, {"post": "All mail."}) == expected


def test_a_namespace_is_chosen_before_its_tools(search):
    found = ids(search("openai-namespaces").search("the weather, by letter", 4))
    assert found[0] == RAIN.id
    assert abs(found.index(MAIL.id) - found.index(INBOX.id)) == 1


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_model_would_search_for_is_searched_one_by_one(search, client):
    """Steps that a rule cut are not what an agent types: then the request is searched whole."""
    steps = ("tomorrow's weather in a city", "write a note")
    request = ToolRequest("Everything about letters of the inbox", steps, by_rule=False)
    first, second = search(client).search(request, 2)
    assert {(one.tool_id, one.subquery) for one in (first, second)} == {(RAIN.id, 0), (NOTE.id, 1)}
    by_rule = search(client).search(ToolRequest("Everything about letters of the inbox", steps), 1)
    assert [(one.tool_id, one.subquery) for one in by_rule] == [(INBOX.id, None)]


def test_a_client_learns_nothing(search, tmp_path):
    config = RetrievalConfig(client="codex")
    setup = SearchSetup(WordEmbedder(), VectorCache(tmp_path), config, learned=object())
    with pytest.raises(ConfigError, match="codex"):
        setup.open(TOOLS)


@pytest.mark.parametrize("rerank", ["none", "cross"])
@pytest.mark.parametrize("request_text", ["get_forecast", "Get Forecast", "getForecast"])
def test_a_tool_stands_first_for_its_exact_name(tmp_path, rerank, request_text):
    long = tool("sky", "forecast", "Get forecast get forecast get forecast.")
    config = RetrievalConfig(rerank=rerank, rerank_weight=math.inf)
    setup = SearchSetup(WordEmbedder(), VectorCache(tmp_path), config, scorer=Backwards())
    for tools in ((long, RAIN, MAIL), (RAIN, MAIL, long)):
        places = setup.open(tools).search(request_text, 2)
        assert (places[0].tool_id, places[0].score) == (RAIN.id, 1.0)
        assert len(places) == 2
        assert setup.open([MAIL]).over(tools).search(request_text, 1) == places[:1]


class Backwards:
    """A reranker that puts what a name says last."""

    name = "backwards"

    def scores(self, text, others):
        return np.array([-len(one) for one in others], dtype=np.float32)
