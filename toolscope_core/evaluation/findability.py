"""Findability: the share of a tool's own requests for which a search returns the tool early.

If a client leaves tools to a search, a tool that the search does not return cannot be called.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import CLIENT_SEARCHES, SearchableTools
from toolscope_core.wording.tool_text import source_text, tool_name_words
from toolscope_core.wording.words import sentences

FIRST = 5
"""The number of first results in which a tool counts as found; clients return 3 to 10 tools."""
_STANDING_BEFORE = 3
OWN_SEARCH = "own"
COMPARED: tuple[str, ...] = (*CLIENT_SEARCHES, OWN_SEARCH)
"""The searches whose findability is compared: those of clients, and our own. ``named_search`` has
their settings.
"""

RequestSource = Literal["queries", "questions", "own words"]


@dataclass(frozen=True, slots=True)
class OwnRequests:
    """The requests for one tool, and where they come from."""

    texts: tuple[str, ...]
    source: RequestSource


@dataclass(frozen=True, slots=True)
class Findability:
    """How often a tool is among the first results for its own requests.

    ``hits`` is the number of these requests out of ``requests``. ``before`` are the tools that were
    most often above the tool when it was not among the first, with counts.
    """

    tool_id: str
    requests: int
    hits: int
    source: RequestSource
    before: tuple[tuple[str, int], ...] = ()

    @property
    def share(self) -> float:
        """The share of requests that find the tool, in [0, 1]."""
        return self.hits / self.requests


def own_requests(tools: Iterable[Tool], queries: Iterable[Query] = ()) -> dict[str, OwnRequests]:
    """The requests that search for each tool, by tool id.

    They are the ``queries`` that need only this tool; otherwise the questions written for it;
    otherwise its name in words and the first sentence of its description. A tool without words has
    no requests.
    """
    recorded: dict[str, list[str]] = {}
    for query in queries:
        if len(query.gold) == 1:
            for tool_id in query.gold[0]:
                recorded.setdefault(tool_id, []).append(query.text)
    own = {tool.id: _requests_of(tool, recorded.get(tool.id, [])) for tool in tools}
    return {tool_id: requests for tool_id, requests in own.items() if requests.texts}


def findability(
    search: SearchableTools, requests: Mapping[str, OwnRequests], progress: Progress = silent
) -> tuple[Findability, ...]:
    """The findability of each tool that has requests, the worst first, then by id."""
    texts = list(dict.fromkeys(text for one in requests.values() for text in one.texts))
    ranked = search.search_each([ToolRequest(text) for text in texts], FIRST, progress)
    rankings = {
        text: [place.tool_id for place in places]
        for text, places in zip(texts, ranked, strict=True)
    }
    rows = (_findability(tool_id, own, rankings) for tool_id, own in requests.items())
    return tuple(sorted(rows, key=lambda row: (row.share, row.tool_id)))


def mean_share(rows: Sequence[Findability]) -> float:
    """The mean share over all tools, in [0, 1]; 1 if there are no tools."""
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
