"""Whether tools are found for what they are for."""

from toolscope_core.evaluation.findability import (
    Findability,
    OwnRequests,
    findability,
    mean_share,
    own_requests,
)
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.retrieval.retriever import ranked_by_words

SEND = Tool("a/send", "send_mail", "Send a mail. It may take a minute.")
POST = Tool("b/post", "post_mail", "Send a mail. Any mail.")
READ = Tool(
    "c/read", "read", "Read.", augmentation=Augmentation("", ("read me a mail", "what came in"))
)
MUTE = Tool("d", "?", "")


class ByWords:
    """A search by words alone."""

    def __init__(self, *tools):
        self.tools = tools

    def search_each(self, requests, k=10, progress=None):
        return tuple(ranked_by_words(self.tools, one.text, k) for one in requests)


def test_requests_are_recorded_ones_else_written_ones_else_the_tools_own_words():
    need = frozenset({"a/send"})
    queries = [
        Query("1", "tell Eva", gold=(need,)),
        Query("2", "tell Eva, then read", gold=(need, frozenset({"c/read"}))),
        Query("3", "tell Eva", gold=(need,)),
    ]
    assert own_requests([SEND, POST, READ, MUTE], queries) == {
        "a/send": OwnRequests(("tell Eva",), "queries"),
        "b/post": OwnRequests(("post mail", "Send a mail."), "own words"),
        "c/read": OwnRequests(("read me a mail", "what came in"), "questions"),
    }


def test_a_tool_is_found_for_a_share_of_its_requests_and_the_others_stand_before_it(monkeypatch):
    monkeypatch.setattr("toolscope_core.evaluation.findability.FIRST", 1)
    requests = own_requests([SEND, POST, READ])
    rows = findability(ByWords(SEND, POST, READ), requests)
    assert rows == (
        Findability("b/post", 2, 1, "own words", (("a/send", 1),)),
        Findability("a/send", 2, 2, "own words"),
        Findability("c/read", 2, 2, "questions"),
    )
    assert mean_share(rows) == 5 / 6
    assert mean_share(()) == 1.0
