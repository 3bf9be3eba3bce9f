"""Many requests searched on several toolsets with one configuration."""

from collections.abc import Sequence
from typing import Protocol

from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools, SearchSetup

Rankings = tuple[tuple[str, ...], ...]
"""For each request tool ids, the best first."""


class Ranker(Protocol):
    """Ranks tools for requests."""

    def rankings(
        self,
        tools: Sequence[Tool],
        requests: Sequence[ToolRequest],
        k: int,
        progress: Progress = silent,
    ) -> Rankings:
        """The ids of the k best tools for each request."""


class ToolsetRanker:
    """A ``Ranker`` that searches. Only the index of the first toolset is kept on disk."""

    def __init__(self, setup: SearchSetup) -> None:
        self._setup = setup
        self._first: SearchableTools | None = None

    def rankings(
        self,
        tools: Sequence[Tool],
        requests: Sequence[ToolRequest],
        k: int,
        progress: Progress = silent,
    ) -> Rankings:
        """See ``Ranker``."""
        if self._first is None:
            retriever = self._first = self._setup.open(tools, progress)
        else:
            retriever = self._first.over(tools)
        ranked = retriever.search_each(requests, k, progress)
        return tuple(tuple(place.tool_id for place in places) for places in ranked)
