"""The commands that measure a catalog under stress and under other settings."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from toolscope_core.cli.merge_command import Accept
from toolscope_core.cli.terminal import (
    Catalogs,
    EmbedderName,
    VariantsFile,
    app,
    errors_as_sentences,
    progress,
    say,
)
from toolscope_core.model.configuration import RetrievalConfig
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError

if TYPE_CHECKING:
    from toolscope_core.model.configuration import Knob
    from toolscope_core.model.tool import JsonObject


class Splitting(StrEnum):
    """What requests are split by."""

    none = "none"
    rules = "rules"
    steps = "steps"


class Setting(StrEnum):
    """What a sweep moves."""

    theta = "theta"
    alpha = "alpha"
    candidates = "candidates"
    k = "k"
    encoder = "encoder"


Queries = Annotated[
    Path | None,
    typer.Option(
        help="JSONL or CSV with `id`, `query` and `gold`; without it requests are made from the "
        "descriptions of the tools."
    ),
]
Decompose = Annotated[
    Splitting,
    typer.Option(
        "--decompose",
        help="Split requests by rules, or by the steps that the query set gives (a bound).",
    ),
]
SkipUnknown = Annotated[
    bool, typer.Option(help="Leave out queries whose answers the catalog does not have.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Everything, as JSON.")]


@app.command()
@errors_as_sentences
def stress(
    catalogs: Catalogs,
    queries: Queries = None,
    bundle: Annotated[
        Path | None,
        typer.Option(help="Folder that merge wrote, or Export's zip: its toolset as well."),
    ] = None,
    decomposition: Decompose = Splitting.rules,
    skip_unknown: SkipUnknown = False,
    variants: VariantsFile = None,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
) -> None:
    """Find tools among more and more distractors, drawn at random or the closest."""
    from toolscope_core.cli.commands.experiment_command import ExperimentOptions, stress_files

    options = ExperimentOptions(
        queries, decomposition.value, skip_unknown, embedder, variants=variants
    )
    result = stress_files(catalogs, options, bundle, read_environment(), progress())
    if as_json:
        typer.echo(json.dumps(result, indent=1))
        return
    _say_source(queries, len(result["queries"]))
    for name, points in result["toolsets"].items():
        say(f"{name}: noise, distractors, precision, recall, F1")
        for point in points:
            figures = "  ".join(_interval(point[key]) for key in ("precision", "recall", "f1"))
            say(f"  {point['noise']:8} {point['distractors']:3}  {figures}")


@app.command()
@errors_as_sentences
def sweep(
    catalogs: Catalogs,
    setting: Annotated[
        Setting,
        typer.Option(
            "--move",
            help="What is moved: the least similarity of merges (theta), the weight of dense "
            "scores (alpha), how many are reranked (candidates), how many are given (k), or the "
            "embedding model (encoder, with --encoder).",
        ),
    ] = Setting.theta,
    encoders: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder",
            help="With --move encoder: a sentence-transformers model, by name or folder; again for "
            "each.",
        ),
    ] = None,
    accept: Annotated[
        Accept, typer.Option(help="Clusters accepted without a recorded decision.")
    ] = Accept.auto,
    queries: Queries = None,
    rerank: Annotated[
        str, typer.Option(metavar="<auto|none|late>", help="How the best are scored anew.")
    ] = "auto",
    decomposition: Decompose = Splitting.rules,
    skip_unknown: SkipUnknown = False,
    variants: VariantsFile = None,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
) -> None:
    """Move one setting and measure each value: size, recall, gold calls that run."""
    from toolscope_core.cli.commands.experiment_command import (
        ExperimentOptions,
        encoder_files,
        sweep_files,
    )

    if bool(encoders) != (setting is Setting.encoder):
        raise ConfigError("--move encoder and --encoder go together; give both, or neither")
    options = ExperimentOptions(
        queries,
        decomposition.value,
        skip_unknown,
        embedder,
        RetrievalConfig(rerank=rerank),
        variants,
    )
    settings = read_environment()
    if setting is Setting.encoder:
        result = encoder_files(
            catalogs, encoders or [], accept.value, options, settings, progress()
        )
    else:
        knob = cast("Knob", setting.value)
        result = sweep_files(catalogs, knob, accept.value, options, settings, progress())
    if as_json:
        typer.echo(json.dumps(result, indent=1))
        return
    _say_source(queries, result["queries"])
    say(f"{setting.value:>10}  tools  smaller  recall@k              nDCG@k                TCCR")
    for point in result["points"]:
        say(_point(point))


def _point(point: JsonObject) -> str:
    metrics = point["metrics"]
    calls = "-" if point["tccr"] is None else f"{point['tccr']:.3f}"
    return (
        f"{_value(point['value'])}  {point['tools']:5}  {point['reduction']:6.1%}   "
        f"{_interval(metrics['recall'])}  {_interval(metrics['ndcg'])}  {calls}"
    )


def _value(value: float | str) -> str:
    return f"{value:10.10}" if isinstance(value, str) else f"{value:10g}"


def _say_source(queries: Path | None, count: int) -> None:
    made = "" if queries else " made from descriptions: good only to compare"
    say(f"{count:,} queries{made}; 95 % bootstrap intervals in brackets")


def _interval(one: Any) -> str:
    return f"{one['mean']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"
