"""Findability: the share of a tool's own requests for which a search returns it early.

If clients defer tools to a search, a tool that is not returned cannot be called.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import CLIENT_SEARCHES, SearchableTools
from toolscope_core.wording.tool_text import source_text, tool_name_words
from toolscope_core.wording.words import sentences

FIRST = 5
"""The places that count as found: clients return 3 to 10 tools."""
_STANDING_BEFORE = 3
OWN_SEARCH = "own"
COMPARED: tuple[str, ...] = (*CLIENT_SEARCHES, OWN_SEARCH)
"""The searches whose findability is compared: those of clients, and our own."""

RequestSource = Literal["queries", "questions", "own words"]


@dataclass(frozen=True, slots=True)
class OwnRequests:
    """The requests of one tool, and their source."""

    texts: tuple[str, ...]
    source: RequestSource


@dataclass(frozen=True, slots=True)
class Findability:
    """How often a tool is among the first results of its own ``requests`` (``hits``).

    ``before`` are the tools most often above it when it was not, with counts.
    """

    tool_id: str
    requests: int
    hits: int
    source: RequestSource
    before: tuple[tuple[str, int], ...] = ()

    @property
    def share(self) -> float:
        """In [0, 1]."""
        return self.hits / self.requests


def own_requests(tools: Iterable[Tool], queries: Iterable[Query] = ()) -> dict[str, OwnRequests]:
    """The searches for each tool, by tool id.

    They are the ``queries`` that need it alone, or else its written questions, or else its name in
    words and the first sentence of its description. A tool without words has none.
    """
    recorded: dict[str, list[str]] = {}
    for query in queries:
        if len(query.gold) == 1:
            for tool_id in query.gold[0]:
                recorded.setdefault(tool_id, []).append(query.text)
    own = {tool.id: _requests_of(tool, recorded.get(tool.id, [])) for tool in tools}
    return {tool_id: requests for tool_id, requests in own.items() if requests.texts}


def findability(
    search: SearchableTools,
    requests: Mapping[str, OwnRequests],
    first: int = FIRST,
    progress: Progress = silent,
) -> tuple[Findability, ...]:
    """The findability of each tool with requests, worst first, then by id."""
    texts = list(dict.fromkeys(text for one in requests.values() for text in one.texts))
    ranked = search.search_each([ToolRequest(text) for text in texts], first, progress)
    rankings = {
        text: [place.tool_id for place in places]
        for text, places in zip(texts, ranked, strict=True)
    }
    rows = (_findability(tool_id, own, rankings) for tool_id, own in requests.items())
    return tuple(sorted(rows, key=lambda row: (row.share, row.tool_id)))


def compared_search(name: str) -> RetrievalConfig:
    """The settings of one search in ``COMPARED``."""
    client = next((one for one in CLIENT_SEARCHES if one == name), None)
    return RetrievalConfig(client=client)


def mean_share(rows: Sequence[Findability]) -> float:
    """The mean share over tools, in [0, 1]; 1 without tools."""
    return sum(row.share for row in rows) / len(rows) if rows else 1.0


def _requests_of(tool: Tool, recorded: Sequence[str]) -> OwnRequests:
    if recorded:
        return OwnRequests(tuple(dict.fromkeys(recorded)), "queries")
    if tool.augmentation is not None and tool.augmentation.questions:
        return OwnRequests(tool.augmentation.questions, "questions")
    first_sentence = next(iter(sentences(source_text(tool))), "")
    texts = (" ".join(tool_name_words(tool)), first_sentence)
    return OwnRequests(tuple(dict.fromkeys(filter(None, texts))), "own words")


def _findability(
    tool_id: str, own: OwnRequests, rankings: Mapping[str, Sequence[str]]
) -> Findability:
    missed = [rankings[text] for text in own.texts if tool_id not in rankings[text]]
    before = Counter(one for ranking in missed for one in ranking)
    most = sorted(before.items(), key=lambda item: (-item[1], item[0]))[:_STANDING_BEFORE]
    hits = len(own.texts) - len(missed)
    return Findability(tool_id, len(own.texts), hits, own.source, tuple(most))
