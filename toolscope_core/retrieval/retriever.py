"""Ranks tools (ToolScopeRetriever) or servers (Tool-to-Agent retrieval, arXiv 2511.01854, algorithm
1).

Each place says what its score consists of.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.minilm import MiniLmEmbedder
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Embedder, PairScorer, Progress, Vectors, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import SubstituteTool, Tool
from toolscope_core.retrieval import assembly
from toolscope_core.retrieval.assembly import NamedRows, ToolRequest, assembled, brought_by
from toolscope_core.retrieval.documents import (
    SearchDocument,
    server_document,
    server_profiles,
    tool_document,
)
from toolscope_core.retrieval.fitting import Fit, fit_of, fit_weights, signals
from toolscope_core.retrieval.index_files import Scores, SparseIndex
from toolscope_core.retrieval.rerankers import LateInteraction
from toolscope_core.retrieval.searching import DocumentSearch, TextScores
from toolscope_core.wording.tool_text import tool_text

SCORE_PARTS = ("dense", "sparse", "rerank", "learned")


@dataclass(frozen=True, slots=True)
class RankedTool:
    """A place in a ranking, decided by ``score`` in [0, 1].

    A tool whose name is the whole request has score 1 and comes first. ``parts`` are the shares of
    the dense score, the sparse score, the reranker and a learned model. They sum to the score,
    except under *top1*, where they belong to the text that found the tool. ``subquery`` is that
    text's number from 0, ``None`` for the request itself; ``dense`` is its cosine and ``sparse``
    its BM25 score.
    """

    tool_id: str
    score: float
    dense: float
    sparse: float
    parts: tuple[float, float, float, float]
    subquery: int | None = None

    @property
    def by(self) -> str:
        """The part with the largest share."""
        return max(zip(self.parts, SCORE_PARTS, strict=True), key=lambda one: one[0])[1]


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The best tools for a request, and how certain it is that any of them serves the request.

    ``fit`` is ``None`` if this cannot be estimated: the request has no text or is in a script that
    the encoder cannot read, the encoder is not the one for which the fit was trained, or there are
    no token vectors.
    """

    places: tuple[RankedTool, ...]
    fit: Fit | None

    @property
    def is_none(self) -> bool:
        """Whether to say that no tool does this; the places are then the nearest tools."""
        return self.fit is not None and self.fit.is_none


@dataclass(frozen=True, slots=True)
class _Rows:
    """The searched rows: the ``tools`` whose texts are read, and each one's owner by position."""

    tools: tuple[Tool, ...]
    owners: NDArray[np.intp]

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> "_Rows":
        """One row for each tool.

        A merged tool has a row for each member, so that none of their words is lost, and its own
        row if that adds words.
        """
        rows = [(row, at) for at, tool in enumerate(tools) for row in searched_as(tool)]
        return cls(tuple(row for row, _ in rows), np.array([at for _, at in rows], dtype=np.intp))

    @property
    def surplus(self) -> int:
        """The number of rows minus the number of tools."""
        return len(self.owners) - 1 - int(self.owners[-1]) if len(self.owners) else 0

    def maxima(self, scores: Scores) -> Scores:
        """For each tool the highest score of its rows, float32 of shape (tools,)."""
        highest = np.full(len(self.owners) - self.surplus, -np.inf, np.float32)
        np.maximum.at(highest, self.owners, scores)
        return highest

    def best(self, order: Sequence[int], k: int) -> list[int]:
        """The first row of each tool, for the first k tools."""
        first = {self.owners[row]: row for row in reversed(order)}
        return [row for row in order if first[self.owners[row]] == row][:k]


def searched_as(tool: Tool) -> tuple[Tool, ...]:
    """The tools whose texts lead to a tool.

    They are the tools it replaces, and itself if its name or description has a word that they lack.
    """
    if not isinstance(tool, SubstituteTool):
        return (tool,)
    members = tuple(_by_id(tool.members))
    words = {word for one in members for word in tool_document(one).full.casefold().split()}
    return members if words.issuperset(tool_text(tool).casefold().split()) else (*members, tool)


class Retriever(DocumentSearch):
    """The tools of a catalog, ready for search; by default with the bundled encoder and the user's
    cache.

    Raises the errors of ``DocumentSearch``.

    Example: ``Retriever(catalog.tools).search("book a train to Lyon", k=3)``
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        embedder: Embedder | None = None,
        cache: VectorCache | None = None,
        config: RetrievalConfig | None = None,
        scorer: PairScorer | None = None,
        progress: Progress = silent,
    ) -> None:
        self._tools = _by_id(tools)
        self._rows = _Rows.of(self._tools)
        super().__init__(
            _documents(self._rows.tools),
            embedder or MiniLmEmbedder(),
            cache or VectorCache(read_environment().cache_dir),
            config or RetrievalConfig(),
            scorer,
            progress,
        )
        self._by_name = assembly.NamedRows(tool.name for tool in self._rows.tools)
        self._learned: assembly.LearnedRanking | None = None
        self._learned_scorer: assembly.LearnedScorer | None = None

    def over(self, tools: Iterable[Tool]) -> "Retriever":
        """The search over other tools, with an index that is not stored on disk."""
        own = _by_id(tools)
        rows = _Rows.of(own)
        other = self.over_documents(_documents(rows.tools))
        other._tools, other._rows = own, rows
        other._by_name = assembly.NamedRows(tool.name for tool in rows.tools)
        other._learned_scorer = self._learned.over(rows.tools) if self._learned else None
        return other

    def with_learned(self, model: assembly.LearnedRanking | None) -> "Retriever":
        """The search with a model's learned scores besides the texts; ``None`` for texts alone.

        Raises ``ConfigError`` for a model trained with another embedder.
        """
        if model is not None and model.embedder != self._embedder.name:
            raise ConfigError(
                f"the model was trained on vectors of {model.embedder}, but the search uses "
                f"{self._embedder.name}; search with that embedder, or train the model again"
            )
        other = copy(self)
        other._learned = model
        other._learned_scorer = model.over(self._rows.tools) if model else None
        return other

    @property
    def ids(self) -> tuple[str, ...]:
        """The tools' ids, sorted."""
        return tuple(tool.id for tool in self._tools)

    def search(self, request: assembly.ToolRequest | str, k: int = 10) -> tuple[RankedTool, ...]:
        """The k best tools, ties by id; fewer if there are fewer, none for
        a request without text.
        """
        request = assembly.ToolRequest(request) if isinstance(request, str) else request
        return self.search_each([request], k)[0]

    def search_each(
        self, requests: Sequence[assembly.ToolRequest], k: int = 10, progress: Progress = silent
    ) -> tuple[tuple[RankedTool, ...], ...]:
        """Like ``search`` for each request; the vectors of many texts are cached.

        Reports ``Step("search", …)`` in requests.
        """
        return self.each(requests, k, self._ranking, progress)

    def answer(self, request: assembly.ToolRequest | str, k: int = 10) -> SearchAnswer:
        """The result of ``search``, and whether any tool fits at all."""
        request = assembly.ToolRequest(request) if isinstance(request, str) else request
        return self.answers([request], k)[0]

    def answers(
        self, requests: Sequence[assembly.ToolRequest], k: int = 10, progress: Progress = silent
    ) -> tuple[SearchAnswer, ...]:
        """Like ``answer`` for each request."""

        def answer(
            request: assembly.ToolRequest, by_text: Sequence[TextScores], k: int
        ) -> tuple[SearchAnswer]:
            return (SearchAnswer(self._ranking(request, by_text, k), self._fit(request, by_text)),)

        ranked = self.each(requests, k, answer, progress)
        return tuple(one[0] if one else SearchAnswer((), None) for one in ranked)

    def signals_each(
        self, requests: Sequence[assembly.ToolRequest]
    ) -> tuple[tuple[float, ...] | None, ...]:
        """For each request, the signals from which its ``fit`` is computed.

        ``None`` if the request has no text or is in a script that the encoder cannot read, or if
        there are no token vectors.
        """

        def own(
            request: assembly.ToolRequest, by_text: Sequence[TextScores], k: int
        ) -> tuple[tuple[float, ...] | None]:
            return (self._signals(request, by_text),)

        return tuple(one[0] if one else None for one in self.each(requests, 1, own))

    def _fit(self, request: assembly.ToolRequest, by_text: Sequence[TextScores]) -> Fit | None:
        is_known = self._embedder.name == fit_weights()["embedder"]
        own = self._signals(request, by_text) if is_known else None
        return None if own is None else fit_of(own)

    def _signals(
        self, request: assembly.ToolRequest, by_text: Sequence[TextScores]
    ) -> tuple[float, ...] | None:
        late = self._reranker
        if not isinstance(late, LateInteraction) or not self._is_read(request.text):
            return None
        return signals(request.text, by_text[0], self._rows.tools, late)

    def _ranking(
        self, request: assembly.ToolRequest, by_text: Sequence[TextScores], k: int
    ) -> tuple[RankedTool, ...]:
        scores, most = [one.scores for one in by_text], k + self._rows.surplus
        order, final = assembly.assembled(request, scores, most, self.config)
        share = self._share(request)
        if share is not None:
            final = share.scores(final.clip(0.0))
            order = assembly.best_first(final, most)
        order, final = self._by_name.first(request.text, order, final)
        order = self._rows.best(order, k)
        places = (self._place(request, row, float(final[row]), by_text) for row in order)
        if share is None:
            return tuple(places)
        return tuple(map(_with_share, places, order, [share] * len(order)))

    def text_scores(self, requests: Sequence[assembly.ToolRequest]) -> tuple[Scores, ...]:
        """For each request, the text scores of all tools in the order of ``ids``.

        Learned scores are not included; 0 for a request without text.
        """
        nothing = np.zeros(len(self.ids), dtype=np.float32)

        def all_scores(
            request: assembly.ToolRequest, by_text: Sequence[TextScores], k: int
        ) -> tuple[Scores, ...]:
            _, final = assembly.assembled(request, [one.scores for one in by_text], k, self.config)
            return (self._rows.maxima(final.clip(0.0)),)

        ranked = self.each(requests, 1, all_scores)
        return tuple(one[0] if one else nothing for one in ranked)

    @property
    def vectors(self) -> Vectors:
        """float32 of shape (n, d), in the order of ``ids``; the mean of its
        rows for a merged tool.
        """
        rows, owners = super().vectors, self._rows.owners
        means = np.zeros((len(self.ids), rows.shape[1]), dtype=np.float32)
        np.add.at(means, owners, rows / np.bincount(owners)[owners][:, None])
        return means

    def base_scores(self, texts: Sequence[str]) -> list[tuple[Scores, Scores]]:
        """For each text, the dense and sparse scores of all tools before reranking."""
        maxima = self._rows.maxima
        return [(maxima(dense), maxima(sparse)) for dense, sparse in super().base_scores(texts)]

    def _share(self, request: assembly.ToolRequest) -> assembly.LearnedShare | None:
        if self._learned_scorer is None:
            return None
        return self._learned_scorer.share(request, self.vectors_of(request.texts))

    def _place(
        self, request: assembly.ToolRequest, row: int, score: float, by_text: Sequence[TextScores]
    ) -> RankedTool:
        shares = assembly.text_shares(request, [one.scores for one in by_text], row, self.config)
        at = max(shares)
        dense, sparse, reranked = (
            sum(share * float(by_text[text].parts[part][row]) for text, share in shares.items())
            for part in range(3)
        )
        return RankedTool(
            tool_id=self._tools[self._rows.owners[row]].id,
            score=score,
            dense=float(by_text[at].dense[row]),
            sparse=float(by_text[at].sparse[row]),
            parts=(dense, sparse, reranked, 0.0),
            subquery=at - 1 if at else None,
        )


def ranked_by_words(tools: Iterable[Tool], text: str, k: int = 10) -> tuple[RankedTool, ...]:
    """The k best tools by BM25 alone among those that share a word with the text.

    It answers at once while vectors are being computed.
    """
    ordered = _by_id(tools)
    documents = _documents(ordered)
    sparse = SparseIndex.of([one.full for one in documents]).scores(text)
    shares = assembly.min_max(sparse)
    by_name = assembly.NamedRows(tool.name for tool in ordered)
    order, shares = by_name.first(text, assembly.best_first(sparse, k), shares)
    return tuple(
        RankedTool(
            tool_id=documents[row].id,
            score=float(shares[row]),
            dense=0.0,
            sparse=float(sparse[row]),
            parts=(0.0, float(shares[row]), 0.0, 0.0),
        )
        for row in order
        if sparse[row] > 0
    )


def _with_share(place: RankedTool, row: int, share: assembly.LearnedShare) -> RankedTool:
    own, learned = float(share.own[row]), float(share.learned[row])
    dense, sparse, reranked, _ = place.parts
    return replace(place, parts=(own * dense, own * sparse, own * reranked, learned))


def _by_id(tools: Iterable[Tool]) -> list[Tool]:
    return sorted(tools, key=lambda one: one.id)


def _documents(tools: Iterable[Tool]) -> list[SearchDocument]:
    return list(map(tool_document, tools))


@dataclass(frozen=True, slots=True)
class RankedServer:
    """A place in a ranking of servers, decided by ``score`` in [0, 1].

    A server whose name is the whole request has score 1 and comes first. ``tool_id`` is the tool
    through which it was found, ``None`` if it was found by its own text. ``subquery`` is the number
    of the sub-query from 0, ``None`` for the request itself.
    """

    server: str
    score: float
    tool_id: str | None
    subquery: int | None = None


def place_id(place: RankedTool | RankedServer) -> str:
    """The id of the tool, or the name of the server, at a place."""
    return place.tool_id if isinstance(place, RankedTool) else place.server


class ServerRetriever:
    """The servers of a catalog with their tools in one index; tools without a server are ignored.

    A server's score for a text is that of its best document, as in algorithm 1 with all documents
    instead of the first N. With both corpora, a share of its own score is added. Raises the errors
    of ``DocumentSearch``.
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
        self._by_name = NamedRows(profile.name for profile in self.profiles)
        self._tools = len(documents)
        """The first documents are tools, the others servers."""
        if self.config.corpus != "tools":
            for row, profile in enumerate(self.profiles):
                documents.append(server_document(profile, (tools[one] for one in profile.tools)))
                owners.append(row)
        self._owners = np.array(owners, dtype=np.intp)
        self._search = DocumentSearch(documents, embedder, cache, self.config, scorer, progress)

    def search(self, request: ToolRequest, k: int = 5) -> tuple[RankedServer, ...]:
        """The k best servers, ties by name; fewer if there are fewer, none for a request without
        text.
        """
        return self.search_each([request], k)[0]

    def search_each(
        self, requests: Sequence[ToolRequest], k: int = 5, progress: Progress = silent
    ) -> tuple[tuple[RankedServer, ...], ...]:
        """Like ``search`` for each request. Reports ``Step("search", …)`` in requests."""
        return self._search.each(requests, k, self._ranking, progress)

    def _ranking(
        self, request: ToolRequest, by_text: Sequence[TextScores], k: int
    ) -> tuple[RankedServer, ...]:
        scores = [self._by_server(one.scores) for one in by_text]
        order, final = assembled(request, scores, k, self.config)
        order, final = self._by_name.first(request.text, order, final)
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
        """The scores of the servers, float32 of shape (servers,), from those of the documents."""
        best = np.zeros(len(self.profiles), dtype=np.float32)
        np.maximum.at(best, self._owners, scores)
        if self.config.corpus != "both":
            return best
        weight = np.float32(self.config.server_weight)
        blended = (best + weight * scores[self._tools :]) / (1 + weight)
        return blended.astype(np.float32)

    def _best_tool(self, scores: Scores, server: int) -> str | None:
        """The tool with the highest score among a server's documents, if it is a tool."""
        rows = np.flatnonzero(self._owners == server)
        row = int(rows[np.argmax(scores[rows])])
        return self._search.documents[row].id if row < self._tools else None
