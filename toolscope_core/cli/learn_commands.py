"""The command that trains a model from queries with known tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolscope_core.cli.terminal import (
    Catalogs,
    EmbedderName,
    app,
    errors_as_sentences,
    more,
    progress,
    say,
)
from toolscope_core.model.environment import read_environment
from toolscope_core.model.numbers import quantity

if TYPE_CHECKING:
    from toolscope_core.cli.commands.learn_command import LearnReport


LoggedQueries = Annotated[
    Path, typer.Option(help="JSONL or CSV with `query` and `gold`: requests and their tools.")
]


class LearningMethod(StrEnum):
    """What is trained; each stands on those before it."""

    tool2vec = "tool2vec"
    mlc = "mlc"
    refiner = "refiner"


SHOWN = ("recall@3", "recall@5", "recall@7", "recall@10", "ndcg@5", "ndcg@10")


@app.command()
@errors_as_sentences
def learn(
    catalogs: Catalogs,
    queries: LoggedQueries,
    out: Annotated[Path, typer.Option(help="Folder of the model; replaced if it is one.")],
    variants: Annotated[
        Path | None,
        typer.Option(
            help="JSONL of document variants: searched, and their questions are learned from."
        ),
    ] = None,
    method: Annotated[
        LearningMethod,
        typer.Option(
            help="tool2vec: tools by the mean of their queries; mlc: a classifier over all tools "
            "too; refiner: the best candidates scored together too."
        ),
    ] = LearningMethod.refiner,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Tune this transformer for the classifier too, by name or folder, such as "
            "all-MiniLM-L6-v2; takes long. Broken off, it goes on after the last whole epoch."
        ),
    ] = None,
    candidates: Annotated[
        int, typer.Option(help="How many candidates the refiner scores together.")
    ] = 32,
    embedder: EmbedderName = None,
) -> None:
    """Learn from requests which tools serve them; search --model uses what was learned."""
    from toolscope_core.cli.commands.learn_command import LearnFiles, learn_files
    from toolscope_core.tool2vec.training import LearnOptions

    options = LearnOptions(method.value, candidates, encoder or "")
    files = LearnFiles(catalogs, queries, variants, embedder, options)
    report = learn_files(files, out, read_environment(), progress())
    _tell(report)
    say(f"model: {out}")


@app.command("tune-embedder")
@errors_as_sentences
def tune_embedder(
    catalogs: Catalogs,
    queries: LoggedQueries,
    out: Annotated[Path, typer.Option(help="Folder of the embedder; replaced if it is one.")],
    variants: Annotated[
        Path | None,
        typer.Option(help="JSONL of document variants: their questions are learned from too."),
    ] = None,
    embedder: EmbedderName = None,
) -> None:
    """Tune an embedder for one epoch on triplets of a request, a text of what serves it, and one of
    what does not (Tool2Vec, section 5.1). Name the folder with --embedder afterwards.
    """
    from toolscope_core.cli.commands.learn_command import LearnFiles
    from toolscope_core.cli.commands.tune_command import tune_files

    files = LearnFiles(catalogs, queries, variants, embedder)
    triplets = tune_files(files, out, read_environment(), progress())
    say(f"tuned on {quantity(triplets, 'triplet')}; embedder: {out}")


def _tell(report: LearnReport) -> None:
    about = report.model.about
    unused = more(report.unused, "of no tool here, left out")
    questions = more(about["questions"], "questions of variants")
    say(
        f"{quantity(about['queries'], 'query')}{unused}{questions}; "
        f"{about['tools_with_queries']:,} of {quantity(about['tools'], 'tool')} have some"
    )
    held_out = about["held_out"]
    say(f"on {quantity(held_out['queries'], 'query')}, each left out of its training:")
    for way, metrics in held_out["metrics"].items():
        figures = "  ".join(
            f"{name} {mean:.3f} [{low:.3f}, {high:.3f}]"
            for name, (mean, low, high) in metrics.items()
            if name in SHOWN
        )
        say(f"{way:9} {figures}")
    weights = ", ".join(f"{name} {one:g}" for name, one in report.model.blend.weights.items())
    say(f"weights beside 1 for the text: {weights}")
    if not any(report.model.blend.weights.values()):
        say("nothing that was learned clearly helps, so tools are ranked by their text")
    say("[95 % bootstrap intervals over queries]")
