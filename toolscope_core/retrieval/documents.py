"""The texts of tools and servers that are compared with a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from toolscope_core.embedding.vector_cache import (
    TokenCache,
    TokenCodes,
    VectorCache,
    coded,
    embed_cached,
)
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.cluster import grouped
from toolscope_core.model.protocols import Embedder, Progress, TokenEmbedder, Vectors, silent
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import (
    encodable,
    snake_name,
    source_text,
    split_name,
    tool_name_words,
    tool_text,
)
from toolscope_core.wording.words import SEARCH_STOP_WORDS

MADE_WORDS = 12
"""The most words in a generated description of a server that has none."""


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """The texts of a tool or a server.

    ``short`` is the text embedded for merging; ``full`` has the arguments too. For an augmented
    tool, both also have its questions; ``expanded`` is its expanded description, and ``plain`` the
    document without these additions.
    """

    id: str
    short: str
    full: str
    expanded: str = ""
    plain: SearchDocument | None = None

    @property
    def tool_side(self) -> tuple[str, ...]:
        """The texts whose tokens are matched against a request."""
        return (self.plain.short, self.expanded) if self.plain else (self.short,)

    @property
    def request_side(self) -> str:
        """The text against which a request's tokens are matched."""
        return self.short if self.plain else self.full

    @property
    def texts(self) -> frozenset[str]:
        """All texts of the document that are encoded."""
        plain = self.plain.texts if self.plain else frozenset[str]()
        return frozenset((self.short, self.full, *self.tool_side)) | plain


@dataclass(frozen=True, slots=True)
class ServerProfile:
    """A server with its tools' ids, sorted.

    ``is_made_up`` is true if it has no description of its own; then ``description`` consists of the
    words of its tools' names.
    """

    name: str
    description: str
    tools: tuple[str, ...]
    is_made_up: bool = False


def tool_document(tool: Tool, with_server: bool = True) -> SearchDocument:
    """The texts of a tool; ``with_server`` puts the server's name before the full one."""
    server = " ".join(split_name(tool.server)) if with_server else ""
    full, own = f"{server} {argument_text(tool)}".strip(), tool_text(tool)
    plain = SearchDocument(tool.id, own, encodable(full))
    if tool.augmentation is None:
        return plain
    words = " ".join(tool.augmentation.expanded.split())
    questions = " ".join(" ".join(one.split()) for one in tool.augmentation.questions)
    expanded = encodable(f"{snake_name(tool)}: {words}")
    return SearchDocument(
        tool.id,
        short=encodable(f"{expanded} {questions}".strip()),
        full=encodable(f"{full} {words} {questions}".strip()),
        expanded=expanded,
        plain=plain,
    )


def argument_text(tool: Tool) -> str:
    """``snake_case_name: description``, then each argument with its description.

    BM25 uses this text, and it is the second of two for the dense score;
    docs/decisions/029-two-texts-for-search.md has the alternatives that were measured.
    """
    arguments = "; ".join(
        " ".join(split_name(one.name)) + (f": {one.description}" if one.description else "")
        for one in tool.parameters
    )
    return encodable(
        f"{snake_name(tool)}: {' '.join(source_text(tool).split())} {arguments}".strip()
    )


def server_profiles(catalog: Catalog) -> tuple[ServerProfile, ...]:
    """The owners of a catalog's tools by name, including servers implied by names."""
    by_owner = grouped((tool for tool in catalog.tools if tool.owner), lambda tool: tool.owner)
    by_name = {server.name: server for server in catalog.servers}
    return tuple(
        _profile(by_name.get(name, Server(name)), by_owner[name]) for name in sorted(by_owner)
    )


def server_document(profile: ServerProfile, tools: Iterable[Tool]) -> SearchDocument:
    """The text of a server: its name, its description, and the names of its ``tools``."""
    names = "; ".join(" ".join(tool_name_words(tool)) for tool in tools)
    title = " ".join(split_name(profile.name)) or profile.name
    description = "" if profile.is_made_up else " ".join(profile.description.split())
    text = encodable(" ".join(f"{title}: {description} {names}".split()))
    return SearchDocument(profile.name, text, text)


def _profile(server: Server, tools: list[Tool]) -> ServerProfile:
    ids = tuple(sorted(tool.id for tool in tools))
    if server.description.strip():
        return ServerProfile(server.name, server.description, ids)
    own = {*split_name(server.name), *SEARCH_STOP_WORDS}
    words = Counter(word for tool in tools for word in dict.fromkeys(tool_name_words(tool)))
    common = [word for word, _ in words.most_common() if word not in own]
    return ServerProfile(server.name, ", ".join(common[:MADE_WORDS]), ids, is_made_up=True)


FEW = 32
"""The number of requests that are encoded faster than the disk cache is searched."""
MOST = 8_192
"""The number of requests whose vectors stay in memory."""


_T = TypeVar("_T")

Comparisons = dict[tuple[tuple[str, ...], str], tuple[float, float]]
"""The scores in both directions (``late``), by the texts of each side of a tool."""


class RequestVectors:
    """Requests encoded by one embedder.

    Tokens are rounded like those of tools, so a request's score does not depend on other requests.
    """

    def __init__(self, embedder: Embedder, cache: VectorCache, with_tokens: bool = False) -> None:
        self._embedder, self.cache, self._with_tokens = embedder, cache, with_tokens
        self._vectors: dict[str, Vectors] = {}
        self._codes: dict[str, TokenCodes] = {}
        self._compared: dict[str, Comparisons] = {}

    def of(self, texts: Sequence[str], progress: Progress = silent) -> list[Vectors]:
        """The vector of each text. Raises ``ModelError`` as the embedder does."""
        vectors, new = _room_for(self._vectors, texts)
        self._vectors = vectors
        if len(new) > FEW:
            encoded = embed_cached(
                new, self._embedder, self.cache, progress, keep_tokens=self._with_tokens
            )
        elif self._with_tokens and isinstance(self._embedder, TokenEmbedder):
            encoded, tokens = self._embedder.encode_with_tokens(new)
            self._codes, _ = _room_for(self._codes, new)
            self._codes.update(zip(new, map(coded, tokens), strict=True))
        else:
            encoded = self._embedder.encode(new)
        vectors.update(zip(new, encoded, strict=True))
        return [vectors[text] for text in texts]

    def compared(self, text: str) -> Comparisons:
        """The token comparisons made so far for a request, to be read and extended."""
        if len(self._compared) >= MOST:
            self._compared = {}
        return self._compared.setdefault(text, {})

    def tokens(self, texts: Sequence[str], embedder: TokenEmbedder) -> dict[str, TokenCodes]:
        """The token vectors by text, as integers in units of 1/127 (``decoded``)."""
        codes, new = _room_for(self._codes, texts)
        self._codes = codes
        if len(new) > FEW:
            vectors = TokenCache(self.cache.folder).ensure(new, embedder)
            codes.update((text, vectors.codes(text)) for text in new)
        elif new:
            codes.update(zip(new, map(coded, embedder.encode_with_tokens(new)[1]), strict=True))
        return {text: codes[text] for text in texts}


def _room_for(memory: dict[str, _T], texts: Sequence[str]) -> tuple[dict[str, _T], list[str]]:
    """The stored values, and the texts without one.

    If the memory would grow too large, a new, empty one is used, because another thread may still
    read the old one.
    """
    distinct = list(dict.fromkeys(texts))
    new = [text for text in distinct if text not in memory]
    return ({}, distinct) if len(memory) + len(new) > MOST else (memory, new)
