"""Reproduces how clients search deferred tools, as far as it is public.

A client that defers tools shows its model no definition until a search returns it. A tool that the
search does not return does not exist for that model.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Protocol

import numpy as np

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.model.catalog import Server
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Embedder, PairScorer, Progress, Step, Vectors, silent
from toolscope_core.model.search_configuration import ClientName, RetrievalConfig
from toolscope_core.model.tool import Tool
from toolscope_core.retrieval.assembly import LearnedRanking, ToolRequest, best_first, min_max
from toolscope_core.retrieval.documents import RequestVectors
from toolscope_core.retrieval.index_files import Scores
from toolscope_core.retrieval.retriever import RankedTool, Retriever, SearchAnswer
from toolscope_core.wording.tool_text import encodable, split_text, tool_text
from toolscope_core.wording.words import stem

_WORDS = re.compile(r"[^\W_]{2,}")
_UNICODE_WORDS = re.compile(r"\w+(?:['’.]\w+)*")
_MODEL_WORDS = re.compile(r"[^\W_]{3,}")

_NONE: Mapping[str, str] = {}

Scoring = Callable[[Sequence[str]], Iterator[Scores]]
"""For each request, the scores of all tools; the score is 0 for a tool that the search would not
return.
"""
Encode = Callable[[Sequence[str]], list[Vectors]]
MakeScoring = Callable[[Sequence[Tool], Mapping[str, str], Encode], Scoring]
"""Makes scoring from tools, the descriptions of their servers, and an encoder."""


@dataclass(frozen=True, slots=True)
class SearchSetup:
    """The parts of a search; ``servers`` are those of the tools."""

    embedder: Embedder
    cache: VectorCache
    config: RetrievalConfig
    scorer: PairScorer | None = None
    learned: LearnedRanking | None = None
    servers: Iterable[Server] = ()

    def open(self, tools: Iterable[Tool], progress: Progress = silent) -> "SearchableTools":
        """The search of the configured client, or else ToolScope's own.

        Raises their errors, and ``ConfigError`` for a client with a learned model.
        """
        client = self.config.client
        if client is None:
            own = Retriever(tools, self.embedder, self.cache, self.config, self.scorer, progress)
            return own.with_learned(self.learned)
        if self.learned is not None:
            raise ConfigError(f"{client} cannot use a trained model; leave out the model, or --as")
        return ClientRetriever(tools, client, self.embedder, self.cache, self.servers)


@dataclass(frozen=True, slots=True)
class ClientSearch:
    """The search of a client.

    The search has a ``title`` and ranks ``by_meaning`` or by words. The ranking is ``approximate``
    if the search is not fully public. docs/decisions/036-searches-of-clients.md lists the sources.
    """

    title: str
    scoring: MakeScoring
    by_meaning: bool = False
    approximate: bool = False


class SearchableTools(Protocol):
    """Ranks the tools of a toolset for requests."""

    def over(self, tools: Iterable[Tool]) -> "SearchableTools":
        """The search over other tools."""

    def search(self, request: ToolRequest | str, k: int = 10) -> tuple[RankedTool, ...]:
        """The k best tools; ties are broken by id."""

    def search_each(
        self, requests: Sequence[ToolRequest], k: int = 10, progress: Progress = silent
    ) -> tuple[tuple[RankedTool, ...], ...]:
        """The result of ``search`` for each request."""

    def answers(
        self, requests: Sequence[ToolRequest], k: int = 10, progress: Progress = silent
    ) -> tuple[SearchAnswer, ...]:
        """The results of ``search_each``, each with whether any tool fits."""


class ClientRetriever:
    """Tools ranked like the search ``name`` in ``CLIENT_SEARCHES``, with the interface of
    ``Retriever``.

    ``servers`` is what a client knows about the servers. Raises ``ModelError`` as the embedder
    does.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        name: ClientName,
        embedder: Embedder,
        cache: VectorCache,
        servers: Iterable[Server] = (),
    ) -> None:
        self._kind = CLIENT_SEARCHES[name]
        self._servers = {one.name: one.description for one in servers}
        self._vectors = RequestVectors(embedder, cache)
        self._search_in(tools)

    def over(self, tools: Iterable[Tool]) -> "ClientRetriever":
        """The search over other tools."""
        other = copy(self)
        other._search_in(tools)
        return other

    def _search_in(self, tools: Iterable[Tool]) -> None:
        self._tools = sorted(tools, key=lambda tool: tool.id)
        self._scores = self._kind.scoring(self._tools, self._servers, self._vectors.of)

    def search(self, request: ToolRequest | str, k: int = 10) -> tuple[RankedTool, ...]:
        """The k best tools that the search returns; ties are broken by id."""
        request = ToolRequest(request) if isinstance(request, str) else request
        return self.search_each([request], k)[0]

    def answers(
        self, requests: Sequence[ToolRequest], k: int = 10, progress: Progress = silent
    ) -> tuple[SearchAnswer, ...]:
        """Like ``search_each``; no client says whether any tool fits."""
        return tuple(SearchAnswer(one, None) for one in self.search_each(requests, k, progress))

    def search_each(
        self, requests: Sequence[ToolRequest], k: int = 10, progress: Progress = silent
    ) -> tuple[tuple[RankedTool, ...], ...]:
        """Like ``search`` for each request.

        Sub-queries by a person or a model are searched separately, as an agent would, and a tool
        gets its best score. Reports ``Step("search", …)`` in requests.
        """
        searches = [self._searches(one) if k > 0 else () for one in requests]
        scores = iter(self._scores([text for texts in searches for text in texts]))
        rankings: list[tuple[RankedTool, ...]] = []
        for number, texts in enumerate(searches):
            best: dict[str, RankedTool] = {}
            for at, _ in enumerate(texts):
                for place in self._ranked(next(scores), k):
                    if place.tool_id not in best or place.score > best[place.tool_id].score:
                        by = at if len(texts) > 1 else None
                        best[place.tool_id] = replace(place, subquery=by)
            rankings.append(tuple(sorted(best.values(), key=lambda one: -one.score)[:k]))
            progress(Step("search", number + 1, len(requests)))
        return tuple(rankings)

    def _searches(self, request: ToolRequest) -> tuple[str, ...]:
        """The texts to search one after the other; empty if nothing can be found."""
        if not request.text.strip() or not self._tools:
            return ()
        return (not request.by_rule and request.subqueries) or (request.text,)

    def _ranked(self, scores: Scores, k: int) -> tuple[RankedTool, ...]:
        shares, by_meaning = min_max(scores), self._kind.by_meaning
        places = []
        for row in best_first(scores, k):
            if scores[row] > 0:
                score, share = float(scores[row]), float(shares[row])
                dense, sparse = (score, 0.0) if by_meaning else (0.0, score)
                parts = (share, 0.0, 0.0, 0.0) if by_meaning else (0.0, share, 0.0, 0.0)
                places.append(RankedTool(self._tools[row].id, share, dense, sparse, parts))
        return tuple(places)


def definition_text(tool: Tool, servers: Mapping[str, str] = _NONE) -> str:
    """The text searched by FastMCP and, according to its documentation, by Anthropic.

    It is the name, the description, and the names and descriptions of the top-level arguments.
    """
    arguments = (f"{one.name} {one.description}".strip() for one in tool.parameters)
    return " ".join(part for part in (tool.name, tool.description, *arguments) if part)


def codex_text(tool: Tool, servers: Mapping[str, str]) -> str:
    """The text that Codex searches for a tool of an MCP server.

    It has the full name and the tool's own, the server, the title, both descriptions, and the
    argument names in alphabetical order.
    """
    return " ".join(
        part
        for part in (
            f"mcp__{tool.server}__{tool.name}" if tool.server else tool.name,
            tool.name,
            tool.server,
            str(tool.annotations.get("title") or tool.raw.get("title") or ""),
            tool.description,
            servers.get(tool.server, ""),
            *sorted(one.name for one in tool.parameters),
        )
        if part.strip()
    )


def codex_terms(text: str) -> list[str]:
    """Words by Unicode rules, not split at underscores, without stop words, stemmed.

    This is what the BM25 library of Codex does for English.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return [stem(one) for one in _UNICODE_WORDS.findall(plain) if one not in _stop_words()]


@cache
def _stop_words() -> frozenset[str]:
    """NLTK's list, which Codex's library has too."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS  # imported late, like bm25s itself

    return frozenset(STOPWORDS_EN_PLUS)


def fastmcp_terms(text: str) -> list[str]:
    """Runs of two or more letters or digits in normal form, as in FastMCP's search."""
    return _WORDS.findall(unicodedata.normalize("NFKC", text).casefold())


def _bm25(
    text: Callable[[Tool, Mapping[str, str]], str],
    terms: Callable[[str], list[str]],
    k1: float,
    tools: Sequence[Tool],
    servers: Mapping[str, str],
    encode: Encode,
) -> Scoring:
    """BM25 over texts of tools, without the constant factor k1 + 1, which does not affect the
    order.
    """
    import bm25s  # imports Numba and SciPy, which other searches do not need

    documents = [terms(text(tool, servers)) for tool in tools]
    nothing = np.zeros(len(documents), dtype=np.float32)
    index = bm25s.BM25(k1=k1, b=0.75) if any(documents) else None
    if index is not None:
        index.index(documents, show_progress=False)

    def scores(requests: Sequence[str]) -> Iterator[Scores]:
        for request in requests:
            words = terms(request)
            if index is None or not words:
                yield nothing
            else:
                yield np.asarray(index.get_scores(words), dtype=np.float32)

    return scores


def _claude_regex(tools: Sequence[Tool], servers: Mapping[str, str], encode: Encode) -> Scoring:
    """A regular-expression search.

    A model writes the pattern; without a model, any of the request's words may match. Tools with
    more of them rank higher; words in the name count twice.
    """
    names = [tool.name.casefold() for tool in tools]
    texts = [definition_text(tool).casefold() for tool in tools]

    def scores(requests: Sequence[str]) -> Iterator[Scores]:
        for request in requests:
            words = {one for one in _content_words(request) if _MODEL_WORDS.fullmatch(one)}
            counts = [
                sum((one in name) + (one in text) for one in words)
                for name, text in zip(names, texts, strict=True)
            ]
            yield np.asarray(counts, dtype=np.float32)

    return scores


def _embedding(tools: Sequence[Tool], servers: Mapping[str, str], encode: Encode) -> Scoring:
    vectors = np.array(encode([tool_text(one) for one in tools]))

    def scores(requests: Sequence[str]) -> Iterator[Scores]:
        for request in encode(requests):
            yield np.maximum(vectors @ request, 0).astype(np.float32)

    return scores


def _namespaces(tools: Sequence[Tool], servers: Mapping[str, str], encode: Encode) -> Scoring:
    """Ranks namespaces by name and description, as a model sees them, then tools of the nearest.

    All tools of a nearer namespace rank above those of the next.
    """
    spaces = list(dict.fromkeys(tool.owner for tool in tools))
    texts = [f"{space}: {servers.get(space, '')}".strip(": ") or "tools" for space in spaces]
    described = np.array(encode(list(map(encodable, texts))))
    within = _embedding(tools, servers, encode)
    rows = np.array([spaces.index(tool.owner) for tool in tools], dtype=np.intp)

    def scores(requests: Sequence[str]) -> Iterator[Scores]:
        for request, nearness in zip(encode(requests), within(requests), strict=True):
            places = np.argsort(np.argsort(-(described @ request), kind="stable"), kind="stable")
            yield (len(spaces) - places[rows] + nearness / 2).astype(np.float32)

    return scores


def _content_words(text: str) -> list[str]:
    """The words of a text without stop words; names are split."""
    return [one for one in split_text(text) if one not in _stop_words()]


CLIENT_SEARCHES: Mapping[ClientName, ClientSearch] = {
    "claude-bm25": ClientSearch(
        "Claude, BM25", partial(_bm25, definition_text, _content_words, 1.2), approximate=True
    ),
    "claude-regex": ClientSearch("Claude, regular expressions", _claude_regex, approximate=True),
    "codex": ClientSearch("Codex", partial(_bm25, codex_text, codex_terms, 1.2)),
    "fastmcp": ClientSearch("FastMCP", partial(_bm25, definition_text, fastmcp_terms, 1.5)),
    "openai-namespaces": ClientSearch(
        "OpenAI, namespaces", _namespaces, by_meaning=True, approximate=True
    ),
    "embedding": ClientSearch("plain embedding", _embedding, by_meaning=True),
}
"""The searches by name, in the order in which they are listed."""
