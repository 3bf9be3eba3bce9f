"""Tool-to-Agent retrieval (arXiv 2511.01854, algorithm 1): a request in, a ranking of servers out.

Tools and servers are searched together; each tool leads to its server.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.protocols import Embedder, PairScorer, Progress, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.retrieval.assembly import NamedRows, ToolRequest, assembled, brought_by
from toolscope_core.retrieval.documents import (
    SearchDocument,
    server_document,
    server_profiles,
    tool_document,
)
from toolscope_core.retrieval.searching import DocumentSearch, TextScores
from toolscope_core.retrieval.sparse import Scores


@dataclass(frozen=True, slots=True)
class RankedServer:
    """A place in a ranking of servers. ``score`` in [0, 1] decides it, and is 1 for a server whose
    name is the whole request, which stands first; ``tool_id`` is the tool that
    led to it, ``None`` where the server's own text did: for the sub-query ``subquery``, counted
    from 0, ``None`` for the request itself.
    """

    server: str
    score: float
    tool_id: str | None
    subquery: int | None = None


class ServerRetriever:
    """The servers of a catalog with their tools in one index; tools without a server lead nowhere.

    A server's score for a text is that of its best document, as in algorithm 1 with all documents
    in place of the first N; with both corpora a share of the server's own is added to it. Raises
    as ``DocumentSearch`` does.
    """

    def __init__(
        self,
        catalog: Catalog,
        embedder: Embedder,
        cache: VectorCache,
        config: RetrievalConfig | None = None,
        scorer: PairScorer | None = None,
        progress: Progress = silent,
    ) -> None:
        config = config or RetrievalConfig()
        self.config = replace(config, rerank="none") if config.rerank == "auto" else config
        self.profiles = server_profiles(catalog)
        tools, owners = catalog.by_id, []
        documents: list[SearchDocument] = []
        for row, profile in enumerate(self.profiles):
            own = [tools[tool_id] for tool_id in profile.tools]
            if self.config.corpus != "servers":
                documents += [tool_document(tool, with_server=False) for tool in own]
                owners += [row] * len(own)
        self._named = NamedRows(profile.name for profile in self.profiles)
        self._tools = len(documents)
        """The first documents are tools, the others servers."""
        if self.config.corpus != "tools":
            for row, profile in enumerate(self.profiles):
                documents.append(server_document(profile, (tools[one] for one in profile.tools)))
                owners.append(row)
        self._owners = np.array(owners, dtype=np.intp)
        self._search = DocumentSearch(documents, embedder, cache, self.config, scorer, progress)

    def search(self, request: ToolRequest, k: int = 5) -> tuple[RankedServer, ...]:
        """The k best servers, equal scores in the order of names; fewer where there are fewer, none
        for a request without text.
        """
        return self.search_each([request], k)[0]

    def search_each(
        self, requests: Sequence[ToolRequest], k: int = 5, progress: Progress = silent
    ) -> tuple[tuple[RankedServer, ...], ...]:
        """As ``search`` for each request. Reports ``Step("search", …)`` in requests."""
        return self._search.each(requests, k, self._ranking, progress)

    def _ranking(
        self, request: ToolRequest, by_text: Sequence[TextScores], k: int
    ) -> tuple[RankedServer, ...]:
        scores = [self._by_server(one.scores) for one in by_text]
        order, final = assembled(request, scores, k, self.config)
        order, final = self._named.first(request.text, order, final)
        places = []
        for row in order:
            at = brought_by(scores, row)
            places.append(
                RankedServer(
                    server=self.profiles[row].name,
                    score=float(final[row]),
                    tool_id=self._best_tool(by_text[at].scores, row),
                    subquery=at - 1 if len(by_text) > 1 else None,
                )
            )
        return tuple(places)

    def _by_server(self, scores: Scores) -> Scores:
        """float32 of shape (servers,) from the scores of the documents."""
        best = np.zeros(len(self.profiles), dtype=np.float32)
        np.maximum.at(best, self._owners, scores)
        if self.config.corpus != "both":
            return best
        weight = np.float32(self.config.server_weight)
        blended = (best + weight * scores[self._tools :]) / (1 + weight)
        return blended.astype(np.float32)

    def _best_tool(self, scores: Scores, server: int) -> str | None:
        """The id of the tool that scores highest of a server's documents, if a tool does."""
        rows = np.flatnonzero(self._owners == server)
        row = int(rows[np.argmax(scores[rows])])
        return self._search.documents[row].id if row < self._tools else None
