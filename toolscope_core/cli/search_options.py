"""The options of the commands that search a catalog."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from toolscope_core.cli.options import EmbedderName, VariantsFile
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.search_configuration import (
    PAPER_SEARCHES,
    Assembly,
    ClientName,
    Corpus,
    Paper,
    RetrievalConfig,
)

Decomposition = Literal["none", "rules", "steps", "dummy", "context"]
"""How a request is split into sub-queries."""
ASKING: tuple[Decomposition, ...] = ("dummy", "context")
"""A model is asked for these."""
Selection = Literal["best", "model"]
"""Who takes tools of those that are found."""
Decompose = Annotated[
    Decomposition,
    typer.Option(
        "--decompose",
        help="Split requests by rules, by their own steps, or by a model: dummy sees the request, "
        "context the nearest tools too.",
    ),
]
Splits = Annotated[
    Path | None,
    typer.Option(help="JSONL with `id` and the recorded steps, dummy or context split of each."),
]
ModelFolder = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="DIR",
        help="Folder of a trained model (learn --out). With --decompose dummy or context any other "
        "text is the name of the model that is asked; default TOOLSCOPE_MODEL.",
    ),
]
MergedBundle = Annotated[
    Path | None,
    typer.Option(help="Folder that merge wrote, or Export's zip: its toolset is measured as well."),
]
SkipUnknown = Annotated[
    bool, typer.Option(help="Leave out queries whose answers the catalog does not have.")
]
Usage = Annotated[
    Path | None,
    typer.Option(
        help="JSONL or CSV with `query` and `gold`: tools are found by the mean vector of the "
        "queries that they serve too (Tool2Vec)."
    ),
]
Worker = Annotated[
    Selection,
    typer.Option(help="Who takes tools: the best of each ranking, or what a model chooses."),
]
Iterative = Annotated[
    bool,
    typer.Option(
        "--iterative/--once",
        help="Search each job in several phrasings, show a model more tools until it takes one; or "
        "each job once, as it stands.",
    ),
]
Filtered = Annotated[
    bool, typer.Option("--filter", help="Leave out tools that the whole request does not need.")
]
Servers = Annotated[bool, typer.Option("--servers", help="Find servers in place of tools.")]
SearchedTexts = Annotated[
    Corpus, typer.Option(help="What --servers searches: the texts of tools, of servers, or both.")
]


@dataclass(frozen=True, slots=True)
class SearchKnobs:
    """How tools are ranked, each setting as an option; what is ``None`` is the paper's, where one
    is named, else the default.
    """

    as_in_paper: Annotated[
        Paper | None,
        typer.Option(
            help="Search as a paper does: toolscope (cosine, a cross-encoder, eq. 5), rps (cosine "
            "to each part), tool2vec (cosine, with --usage or --model what was learned alone, not "
            "split), tool-to-agent (algorithm 1). The other options change single settings of it."
        ),
    ] = None
    client: Annotated[
        ClientName | None,
        typer.Option(
            "--as",
            help="Rank as the search of a client does that defers tools; of the other options "
            "only steps of --decompose count then, each searched for by itself.",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(help="Weight of the dense score, 0 to 1; the rest is BM25's; default 0.6."),
    ] = None
    rerank: Annotated[
        str | None,
        typer.Option(
            metavar="<auto|none|late|MODEL>",
            help="Score the best anew: token by token (late), or by a sentence-transformers "
            "CrossEncoder; auto, the default, is late for tools, none for servers.",
        ),
    ] = None
    candidates: Annotated[
        int | None, typer.Option(help="How many of the best are scored anew; default 50.")
    ] = None
    rerank_weight: Annotated[
        float | None,
        typer.Option(help="Weight of that score beside 1, inf for it alone; default 0.7."),
    ] = None
    assembly: Annotated[
        Assembly | None,
        typer.Option(
            help="How the parts of a request give one ranking: blend, the default, or top1, the "
            "best of each part first and the others min-max normalised (ToolScope, eq. 5)."
        ),
    ] = None
    subquery_weight: Annotated[
        float | None,
        typer.Option(help="Blend: weight of parts split by rules beside 1; default 0.5."),
    ] = None
    step_weight: Annotated[
        float | None,
        typer.Option(help="Blend: weight of other parts, inf for these alone; default 1.5."),
    ] = None
    server_weight: Annotated[
        float | None,
        typer.Option(
            help="Weight of a server's own text beside 1 for its best, where servers are found; "
            "default 0.5."
        ),
    ] = None

    def config(self, corpus: Corpus = "both") -> RetrievalConfig:
        """Raises ``ConfigError`` for values that cannot be meant."""
        base = PAPER_SEARCHES[self.as_in_paper] if self.as_in_paper else RetrievalConfig()
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        named = {"dense_weight": given.pop("alpha"), **given}
        del named["as_in_paper"]
        values: dict[str, Any] = {key: one for key, one in named.items() if one is not None}
        return replace(base, corpus=corpus, **values)

    def split(self, decomposition: Decomposition) -> Decomposition:
        """How requests are split: the queries of Tool2Vec are whole."""
        return "none" if self.as_in_paper == "tool2vec" else decomposition


@dataclass(frozen=True, slots=True)
class SearchedTools:
    """What is searched and by what, each as an option."""

    decomposition: Decompose = "rules"
    splits: Splits = None
    servers: Servers = False
    corpus: SearchedTexts = "both"
    variants: VariantsFile = None
    embedder: EmbedderName = None
    usage: Usage = None
    model: ModelFolder = None


DEFAULT_SEARCH, ALL_TOOLS = SearchKnobs(), SearchedTools()
"""Nothing was given."""


def trained_model(model: str | None, *, asks: bool) -> Path | None:
    """The folder of a trained model; ``None`` where the text is the name of one that is asked."""
    if not model or (asks and not Path(model).is_dir()):
        return None
    return Path(model)


def catalogs_and_request(words: Sequence[str]) -> tuple[list[Path], str]:
    """The catalog files and the request that comes after them.

    Raises ``ConfigError`` where one is missing.
    """
    *files, request = words
    if not files:
        raise ConfigError(
            f"only {request[:60]!r} was given; give a catalog and after it the request, in quotes"
        )
    if not request.strip():
        raise ConfigError("the request is empty; say in words what an agent is asked")
    return list(map(Path, files)), request
