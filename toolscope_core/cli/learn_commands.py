"""The commands that train a search or an embedder on queries whose tools are known."""

from pathlib import Path
from typing import Annotated

import typer

from toolscope_core.catalog.document_variants import read_variants
from toolscope_core.catalog.isolation import read_files
from toolscope_core.cli.options import CatalogPaths, EmbedderName
from toolscope_core.cli.terminal import command, more, progress, say
from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.evaluation.query_sets import read_queries, with_ids
from toolscope_core.files import folders
from toolscope_core.llm.embedding import encoder_and_cache
from toolscope_core.model.configuration import FirstStageName, LearningMethod
from toolscope_core.model.environment import read_environment
from toolscope_core.model.numbers import interval_text, quantity
from toolscope_core.tool2vec.learned_model import LearnedModel
from toolscope_core.tool2vec.model_folder import write_model
from toolscope_core.tool2vec.training import LearnConfig, Trainer, trained_model
from toolscope_core.tool2vec.tuned_embedder import tuned_files

LoggedQueries = Annotated[
    Path,
    typer.Option(help="JSONL or CSV with `query` and `gold`: requests and the tools they need."),
]


_SHOWN = tuple(f"{one}@{k}" for one in ("recall", "ndcg") for k in (3, 5, 7, 10))
"""The figures in tables 1, 2 and A.4 of Tool2Vec, and the same figures at ten places."""


@command
def learn(
    catalogs: CatalogPaths,
    queries: LoggedQueries,
    out: Annotated[
        Path, typer.Option(help="Folder for the model; a model that is already there is replaced.")
    ],
    variants: Annotated[
        Path | None,
        typer.Option(
            help="JSONL of document variants, for the search and, with their questions, for "
            "training."
        ),
    ] = None,
    method: Annotated[
        LearningMethod,
        typer.Option(
            help="tool2vec: tools as the mean of their queries; mlc: also a classifier over all "
            "tools; refiner: also a model that scores the best candidates together."
        ),
    ] = "refiner",
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Also tune this transformer for the classifier, by name or folder, for example "
            "all-MiniLM-L6-v2. Slow; an interrupted run continues after its last whole "
            "epoch."
        ),
    ] = None,
    candidates: Annotated[
        int,
        typer.Option(
            help="Number of candidates that the refiner scores together; 64 in the paper."
        ),
    ] = 32,
    first: Annotated[
        FirstStageName,
        typer.Option(
            "--on",
            help="Where the refiner's candidates come from: the tools' descriptions, tool2vec, or "
            "the classifier (mlc).",
        ),
    ] = "mlc",
    described: Annotated[
        bool,
        typer.Option(
            "--described",
            help="The refiner reads vectors of descriptions instead of Tool2Vec's (table A.1).",
        ),
    ] = False,
    refiner_encoder: Annotated[
        str | None,
        typer.Option(
            help="Tune this whole transformer as the refiner, for example "
            "microsoft/deberta-v3-xsmall (the paper's); default: two layers of MiniLM."
        ),
    ] = None,
    embedder: EmbedderName = None,
) -> None:
    """Learn from requests which tools serve them; search --model uses the result.

    Example: toolscope learn tools.json --queries logged.jsonl --method refiner --out model
    """
    config = LearnConfig(method, candidates, encoder or "", described, first, refiner_encoder or "")
    folders.check_ours(out, folders.MODEL_PROGRAM)
    catalog = read_files(catalogs)
    query_set = with_ids(read_queries(queries), catalog.tools)
    variants_by_id = read_variants(variants, catalog).by_id if variants else {}
    trainer = Trainer(*encoder_and_cache(embedder), progress())
    model = trained_model(catalog.tools, query_set, variants_by_id, config, trainer)
    write_model(model, out)
    in_catalog = catalog.by_id.keys()
    _tell(model, sum(not any(need & in_catalog for need in query.gold) for query in query_set))
    say(f"model: {out}")


@command
def tune_embedder(
    catalogs: CatalogPaths,
    queries: LoggedQueries,
    out: Annotated[
        Path, typer.Option(help="Folder for the embedder; one that is already there is replaced.")
    ],
    variants: Annotated[
        Path | None,
        typer.Option(help="JSONL of document variants, whose questions are used for training too."),
    ] = None,
    embedder: EmbedderName = None,
) -> None:
    """Tune an embedder for one epoch on triplets: a request, a text of a tool that serves it, and
    one of a tool that does not (Tool2Vec, section 5.1). Use the folder with --embedder afterwards.

    Example: toolscope tune-embedder tools.json --queries logged.jsonl --out tuned
    """
    folders.check_ours(out, folders.EMBEDDER_PROGRAM)
    catalog = read_files(catalogs)
    variants_by_id = read_variants(variants, catalog).by_id if variants else {}
    query_set = with_ids(read_queries(queries), catalog.tools)
    cache, source = VectorCache(read_environment().cache_dir), embedder or DEFAULT_MODEL
    tuned = tuned_files(catalog.tools, query_set, variants_by_id, cache, source, progress())
    tuned.write(out)
    say(f"tuned on {quantity(tuned.triplets, 'triplet')}; embedder: {out}")


def _tell(model: LearnedModel, unused_queries: int) -> None:
    """Report the training data, and the results for held-out queries."""
    about = model.about
    unused = more(unused_queries, "left out, for tools that are not in the catalog")
    questions = more(about["questions"], "questions of variants")
    say(
        f"{quantity(about['queries'], 'query')}{unused}{questions}; "
        f"{about['tools_with_queries']:,} of {quantity(about['tools'], 'tool')} have some"
    )
    held_out = about["held_out"]
    say(f"on {quantity(held_out['queries'], 'query')}, each by a model trained without it:")
    for way, metrics in held_out["metrics"].items():
        figures = "  ".join(
            f"{name} {interval_text(**interval)}"
            for name, interval in metrics.items()
            if name in _SHOWN
        )
        say(f"{way:11} {figures}")
    weights = ", ".join(f"{name} {one:g}" for name, one in model.blend.weights.items())
    say(f"weights relative to the text's, which is 1: {weights}")
    if not any(model.blend.weights.values()):
        say("nothing that was learned clearly helps, so tools are ranked by their texts")
    say("[95 % bootstrap intervals over queries]")
