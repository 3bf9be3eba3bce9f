"""The choice of how tools are ranked: the search of a paper or our own, with all settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from streamlit.delta_generator import DeltaGenerator

from toolscope_core.model import search_configuration

_T = TypeVar("_T")


def chosen_value(
    place: DeltaGenerator,
    label: str,
    values: Mapping[str, _T],
    key: str,
    width: int,
    about: str | None = None,
) -> _T:
    """Draw the box. Returns the value of the chosen label; at first, this is the first one."""
    value = place.selectbox(
        label, list(values), key=key, bind="query-params", width=width, help=about
    )
    return values[value]


SEARCHES: dict[str, search_configuration.SearchName] = {
    "our own": "",
    "as in ToolScope": "toolscope",
    "as in Retrieval–Plan–Select": "rps",
    "as in Tool2Vec": "tool2vec",
    "as in Tool-to-Agent": "tool-to-agent",
    "like Claude (BM25)": "claude-bm25",
    "like Claude (regular expressions)": "claude-regex",
    "like Codex": "codex",
    "like FastMCP": "fastmcp",
    "like OpenAI (namespaces)": "openai-namespaces",
    "plain embedding": "embedding",
}
ABOUT_SEARCHES = (
    "The searches of the papers: ToolScope's uses meaning alone and a cross-encoder; "
    "Tool-to-Agent's finds servers by its algorithm 1; the others use meaning alone. The "
    "cross-encoder is downloaded from the Hugging Face hub if it is not on this machine. You can "
    "also choose the search of a client that defers tools, as far as it is public; then no other "
    "setting counts."
)
RERANKERS = {
    "automatic": "auto",
    "token by token": "late",
    "a cross-encoder (ms-marco)": search_configuration.CROSS_ENCODER,
    "off": "none",
}
CORPORA: dict[str, search_configuration.Corpus] = {
    "tools and servers": "both",
    "tools only": "tools",
    "servers only": "servers",
}
ABOUT_RERANKING = (
    "*Token by token* ranks the best 50 again by comparing each word of the request with each "
    "word of the tool. *Automatic* does so for tools, not for servers; if a paper's search is "
    "chosen, it uses the paper's reranking."
)
ASSEMBLIES: dict[str, search_configuration.Assembly | None] = {
    "as the search does": None,
    "scores added": "blend",
    "the best of each part first": "top1",
}
ABOUT_ASSEMBLY = (
    "How the parts of a request form one ranking: their scores are added to those of the whole, "
    "or the best tool for each part comes first and the other scores are made comparable "
    "(ToolScope, eq. 5)."
)
_WEIGHTS = {
    "dense_weight": ("Weight of meaning against words (α)", "0 is BM25 alone, 1 is meaning alone."),
    "rerank_weight": (
        "Weight of the reranker",
        "Relative to the search's own score, which has weight 1.",
    ),
    "subquery_weight": (
        "Weight of parts split by rule",
        "Weight of the best part's score, relative to the whole request, which has weight 1.",
    ),
    "step_weight": ("Weight of other parts", "For steps that a query set or a model provides."),
    "server_weight": (
        "Weight of a server's own text",
        "Relative to the best of its tools, which has weight 1.",
    ),
}
"""The settings of a search, each with its label and what it means."""
MOST_WEIGHT, MOST_CANDIDATES = 10.0, 500
SETTING_KEYS = ("search", "assembly", "candidates", *_WEIGHTS)
"""The keys of widgets, which are also their names in the address."""


@dataclass(frozen=True, slots=True)
class ChosenSearch:
    """The chosen search (empty for our own), and its settings."""

    name: search_configuration.SearchName
    config: search_configuration.RetrievalConfig


def search_settings(
    place: DeltaGenerator, rerank: str, corpus: search_configuration.Corpus, *, servers: bool
) -> ChosenSearch:
    """Draw the settings. For an empty number, the search uses its own value."""
    name = chosen_value(place, "Search", SEARCHES, "search", 300, ABOUT_SEARCHES)
    base = search_configuration.named_search(name)
    assembly = chosen_value(place, "Assembly", ASSEMBLIES, "assembly", 300, ABOUT_ASSEMBLY)
    settings: dict[str, Any] = {"assembly": assembly}
    settings["rerank"] = None if rerank == "auto" else rerank
    settings["candidates"] = place.number_input(
        "Candidates reranked", 1, MOST_CANDIDATES, None, key="candidates", bind="query-params",
        placeholder=str(base.candidates), width=300,
    )  # fmt: skip
    for setting, (label, about) in _WEIGHTS.items():
        if setting == "server_weight" and not servers:
            continue
        highest = 1.0 if setting == "dense_weight" else MOST_WEIGHT
        settings[setting] = place.number_input(
            label, 0.0, highest, None, 0.1, key=setting, bind="query-params", width=300,
            placeholder=f"{getattr(base, setting):g}".replace("inf", "alone"), help=about,
        )  # fmt: skip
    own = {one: value for one, value in settings.items() if value is not None}
    return ChosenSearch(name, replace(base, corpus=corpus, **own))
