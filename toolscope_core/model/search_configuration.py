"""Settings of how tools are ranked for a request: ToolScope's search, the papers' and clients'."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from toolscope_core.model.configuration import RequestSplit
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject

Assembly = Literal["blend", "top1"]
ClientName = Literal[
    "claude-bm25", "claude-regex", "codex", "fastmcp", "openai-namespaces", "embedding"
]
"""Clients whose search over deferred tools is reproduced."""
Corpus = Literal["both", "tools", "servers"]
_CORPORA: tuple[Corpus, ...] = ("both", "tools", "servers")
_ASSEMBLIES: tuple[Assembly, ...] = ("blend", "top1")

RERANKERS = ("auto", "none", "late")
"""The names of rerankers; any other name is a cross-encoder."""


@dataclass(frozen=True, slots=True)
class RetrievalConfig:
    """The settings that decide what a request finds.

    ``dense_weight`` weighs the dense score, in [0, 1] (ToolScope, eq. 4). ``assembly`` says how
    sub-queries are combined. *top1* takes the best tool of each sub-query first and ranks the rest
    by eq. 5 among ``candidates`` of each. *blend* adds to the score of the request
    ``subquery_weight`` times the best score of its sub-queries (``step_weight`` for sub-queries by
    a person or a model, which split better than rules).

    ``rerank`` adds ``rerank_weight`` times another score to the ``candidates`` best of each text:
    *late* interaction, or a cross-encoder by name. *auto* means late if the embedder gives token
    vectors, or else *none*. An infinite weight ignores the other side: the reranker alone orders
    the ``candidates`` and puts them before all other tools, or the sub-queries alone order all
    tools.

    ``client`` names a client whose search replaces all of this. Servers are searched by the texts
    of ``corpus``; with *both*, ``server_weight`` times the server's own score is added to its best.
    The defaults were chosen on development queries of all benchmarks together
    (docs/decisions/029-two-texts-for-search.md).
    """

    dense_weight: float = 0.6
    assembly: Assembly = "blend"
    subquery_weight: float = 0.5
    step_weight: float = 1.5
    candidates: int = 50
    rerank: str = "auto"
    rerank_weight: float = 0.7
    corpus: Corpus = "both"
    server_weight: float = 0.5
    client: ClientName | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.dense_weight <= 1.0:
            raise ConfigError(f"the dense weight (alpha) is {self.dense_weight}; use 0 to 1")
        if self.assembly not in _ASSEMBLIES:
            raise ConfigError(f"`assembly` is {self.assembly!r}; use {' or '.join(_ASSEMBLIES)}")
        if self.corpus not in _CORPORA:
            raise ConfigError(f"`corpus` is {self.corpus!r}; use one of {', '.join(_CORPORA)}")
        for name in ("subquery_weight", "step_weight", "rerank_weight", "server_weight"):
            if not getattr(self, name) >= 0.0:
                raise ConfigError(f"{name} is {getattr(self, name)}; use 0 or more, or inf")
        if self.server_weight == math.inf:
            raise ConfigError("`server_weight` is inf; use a number, or --corpus servers")
        if not self.rerank.strip():
            raise ConfigError("`rerank` is empty; use auto, none, late or a cross-encoder's name")
        if self.candidates < 1:
            raise ConfigError(f"the number of candidates is {self.candidates}; use at least 1")

    def as_json(self) -> JsonObject:
        """Every setting, with *inf* as a word."""
        return {key: "inf" if one == math.inf else one for key, one in asdict(self).items()}

    @property
    def cross_encoder(self) -> str:
        """The reranking model, by name or folder; empty for none."""
        return "" if self.rerank in RERANKERS else self.rerank


PaperName = Literal["toolscope", "rps", "tool2vec", "tool-to-agent"]
CROSS_ENCODER = "cross-encoder/ms-marco-MiniLM-L6-v2"
PAPER_SEARCHES: Mapping[PaperName, RetrievalConfig] = {
    "toolscope": RetrievalConfig(
        dense_weight=1.0, assembly="top1", rerank=CROSS_ENCODER, rerank_weight=math.inf
    ),
    "rps": RetrievalConfig(
        dense_weight=1.0, rerank="none", subquery_weight=math.inf, step_weight=math.inf
    ),
    "tool2vec": RetrievalConfig(dense_weight=1.0, rerank="none"),
    "tool-to-agent": RetrievalConfig(
        rerank="none", subquery_weight=math.inf, step_weight=math.inf, server_weight=0.0
    ),
}
"""The search of each paper. ToolScope (eq. 4 with α = 1, §3.3, eq. 5): the cross-encoder alone
orders the 50 best, the first of each sub-query stands before the others. Retrieval–Plan–Select
(§3.2): the cosine to each sub-query. Tool2Vec (§4.1): the cosine of the whole request, where
something was learned to that alone. Tool-to-Agent (algorithm 1): a server stands where its best
document does, of tools and servers, for any of the steps; the paper does not say how BM25 and
cosine are weighed. What still differs: a tool is two texts here, whose cosines have a mean.
"""
_PAPER_SPLITS: Mapping[str, RequestSplit] = {
    "tool2vec": "none",
    "toolscope": "steps",
    "tool-to-agent": "steps",
}
SearchName = PaperName | ClientName | Literal[""]
"""A paper or a client with its search; empty for our own."""


def named_search(name: str) -> RetrievalConfig:
    """The settings of a search by its ``SearchName``; any other name is our own search."""
    for paper, config in PAPER_SEARCHES.items():
        if paper == name:
            return config
    client = next((one for one in get_args(ClientName) if one == name), None)
    return RetrievalConfig(client=client)


def usual_split(name: SearchName | None) -> RequestSplit:
    """How the requests of a named search are split.

    Retrieval–Plan–Select asks a model, so without one its requests are split by rules, as are all
    others.
    """
    return _PAPER_SPLITS.get(name or "", "rules")


def weight_shares(weight: float) -> tuple[float, float]:
    """The shares of a score and of another with this weight relative to it; they sum to 1."""
    return (0.0, 1.0) if weight == math.inf else (1 / (1 + weight), weight / (1 + weight))
