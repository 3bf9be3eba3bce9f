"""The options of the commands that search a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from toolscope_core.model.configuration import Corpus, RetrievalConfig
from toolscope_core.model.errors import ConfigError

Decomposition = Literal["none", "rules", "steps", "dummy", "context"]
"""How a request is split into sub-queries."""
ASKING: tuple[Decomposition, ...] = ("dummy", "context")
"""A model is asked for these."""
Selection = Literal["best", "model"]
"""Who takes tools of those that are found."""
DEFAULT = RetrievalConfig()
Alpha = Annotated[
    float, typer.Option(help="Weight of the dense score, 0 to 1; the rest is BM25's.")
]
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
Rerank = Annotated[
    str,
    typer.Option(
        metavar="<auto|none|late|MODEL>",
        help="Score the best 50 anew: token by token (late), or by a sentence-transformers "
        "CrossEncoder; auto is late for tools, none for servers.",
    ),
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
Usage = Annotated[
    Path | None,
    typer.Option(
        help="JSONL or CSV with `query` and `gold`: tools are found by the mean vector of the "
        "queries that they serve too (Tool2Vec)."
    ),
]
Servers = Annotated[bool, typer.Option("--servers", help="Find servers in place of tools.")]
SearchedTexts = Annotated[
    Corpus, typer.Option(help="What --servers searches: the texts of tools, of servers, or both.")
]


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
