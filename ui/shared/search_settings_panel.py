"""How tools are ranked: the search of a paper or our own, and every setting of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from streamlit.delta_generator import DeltaGenerator

from toolscope_core.model.configuration import (
    CROSS_ENCODER,
    PAPER_SEARCHES,
    Assembly,
    Corpus,
    Paper,
    RetrievalConfig,
)
from ui.shared.value_choice import chosen_value

SEARCHES: dict[str, Paper | Literal[""]] = {
    "our own": "",
    "as in ToolScope": "toolscope",
    "as in Retrieval–Plan–Select": "rps",
    "as in Tool2Vec": "tool2vec",
    "as in Tool-to-Agent": "tool-to-agent",
}
ABOUT_SEARCHES = (
    "The search of a paper: ToolScope's takes meaning alone and a cross-encoder, Tool-to-Agent's "
    "finds servers by its algorithm 1, the others take meaning alone. The cross-encoder is "
    "downloaded from the Hugging Face hub where it is not on this machine."
)
RERANKERS = {
    "automatic": "auto",
    "token by token": "late",
    "a cross-encoder (ms-marco)": CROSS_ENCODER,
    "off": "none",
}
ABOUT_RERANKING = (
    "Token by token compares the best 50 again, each word of the request with each word of the "
    "tool. Automatic does so for tools, not for servers, and is the paper's where one is chosen."
)
ASSEMBLIES: dict[str, Assembly | None] = {
    "as the search has it": None,
    "scores added": "blend",
    "the best of each part first": "top1",
}
ABOUT_ASSEMBLY = (
    "How the parts of a request give one ranking: their scores added to those of the whole, or the "
    "best of each first and the others made comparable (ToolScope, eq. 5)."
)
WEIGHTS = {
    "dense_weight": ("Weight of meaning against words (α)", "0 is BM25 alone, 1 meaning alone."),
    "rerank_weight": ("Weight of the reranker", "Of its score, beside 1 for the search's."),
    "subquery_weight": ("Weight of parts split by rule", "Of their best, beside 1 for the whole."),
    "step_weight": ("Weight of other parts", "Of steps that a query set or a model has."),
    "server_weight": ("Weight of a server's own text", "Beside 1 for the best of its tools."),
}
"""Settings of a search, with what they are called and what they mean."""
MOST_WEIGHT, MOST_CANDIDATES = 10.0, 500
SETTING_KEYS = ("search", "assembly", "candidates", *WEIGHTS)
"""Widgets, and their names in the address."""


@dataclass(frozen=True, slots=True)
class ChosenSearch:
    """The paper whose search it is, empty for ours, and its settings."""

    paper: Paper | Literal[""]
    config: RetrievalConfig


def search_settings(
    place: DeltaGenerator, rerank: str, corpus: Corpus, *, servers: bool
) -> ChosenSearch:
    """Draw the settings; an empty number is what the search has."""
    paper = chosen_value(place, "Search", SEARCHES, "search", 300, ABOUT_SEARCHES)
    base = PAPER_SEARCHES[paper] if paper else RetrievalConfig()
    assembly = chosen_value(place, "Assembly", ASSEMBLIES, "assembly", 300, ABOUT_ASSEMBLY)
    given: dict[str, Any] = {"assembly": assembly}
    given["rerank"] = None if rerank == "auto" else rerank
    given["candidates"] = place.number_input(
        "Candidates reranked", 1, MOST_CANDIDATES, None, key="candidates", bind="query-params",
        placeholder=str(base.candidates), width=300,
    )  # fmt: skip
    for name, (label, about) in WEIGHTS.items():
        if name == "server_weight" and not servers:
            continue
        most = 1.0 if name == "dense_weight" else MOST_WEIGHT
        given[name] = place.number_input(
            label, 0.0, most, None, 0.1, key=name, bind="query-params", width=300,
            placeholder=f"{getattr(base, name):g}".replace("inf", "alone"), help=about,
        )  # fmt: skip
    own = {name: value for name, value in given.items() if value is not None}
    return ChosenSearch(paper, replace(base, corpus=corpus, **own))
