"""The commands that measure a catalog under stress and under other settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from toolscope_core.cli.options import (
    SAVED,
    Accepted,
    AskRequest,
    Catalogs,
    EmbedderName,
    VariantsFile,
)
from toolscope_core.cli.search_options import (
    ASKING,
    DEFAULT_SEARCH,
    Decomposition,
    MergedBundle,
    SearchKnobs,
    Selection,
    SkipUnknown,
    Splits,
)
from toolscope_core.cli.terminal import command, progress, say, say_json
from toolscope_core.model.configuration import Knob, PlanConfig, Split
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import interval_text
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import JsonObject

if TYPE_CHECKING:
    from toolscope_core.cli.searcher import SearchOptions
    from toolscope_core.evaluation.comparison import Trial
    from toolscope_core.evaluation.laboratory import Laboratory
    from toolscope_core.evaluation.measured_toolsets import Toolset
    from toolscope_core.evaluation.selection import Choice

ENCODERS_K = 10
"""The cut-off of the figures of encoders."""
Queries = Annotated[
    Path | None,
    typer.Option(
        help="JSONL or CSV with `id`, `query` and `gold`; without it requests are made from the "
        "descriptions of the tools."
    ),
]
Decompose = Annotated[
    Split,
    typer.Option(
        "--decompose",
        help="Split requests by rules, or by the steps that the query set gives (a bound).",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Everything, as JSON.")]


@dataclass(frozen=True, slots=True)
class ExperimentFiles:
    """The requests and texts that are measured with, each as an option."""

    queries: Queries = None
    decomposition: Decompose = "rules"
    skip_unknown: SkipUnknown = False
    variants: VariantsFile = None
    embedder: EmbedderName = None

    def laboratory(self, catalogs: Sequence[Path], split: Split | None = None) -> Laboratory:
        """The catalog with its requests, split as the option says or as it is given."""
        from toolscope_core.evaluation.laboratory import ExperimentOptions, Laboratory

        files = (self.queries, split or self.decomposition, self.skip_unknown)
        options = ExperimentOptions(*files, self.embedder, self.variants)
        return Laboratory(catalogs, options, read_environment())


SYNTHETIC = ExperimentFiles()
"""Nothing was given: requests are made from the descriptions."""
Routers = Annotated[
    bool,
    typer.Option("--routers", help="Take those too that need a gateway, as all of the paper do."),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Least cosine of candidate pairs, where theta begins; default that of the encoder."
    ),
]


@command
def stress(
    catalogs: Catalogs,
    files: ExperimentFiles = SYNTHETIC,
    bundle: MergedBundle = None,
    decomposition: Annotated[
        list[str] | None,
        typer.Option(
            "--decompose",
            metavar="<rules|steps|dummy|context>",
            help="How requests are split, again for each way; each stands against none, and the "
            "default is rules. dummy and context ask a model, or are in --splits.",
        ),
    ] = None,
    splits: Splits = None,
    select: Annotated[
        Selection | None,
        typer.Option(
            help="Measure what each job takes of its whole pool (tables 6 and 8): the best by its "
            "search, or what a model chooses."
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Weight of the dense score; 1 as in Retrieval-Plan-Select.")
    ] = RetrievalConfig().dense_weight,
    ask: AskRequest = SAVED,
    as_json: AsJson = False,
) -> None:
    """Find tools among more and more distractors, drawn at random or the closest
    (Retrieval-Plan-Select, tables 6 to 8).
    """
    from toolscope_core.cli.searcher import SearchOptions

    laboratory = files.laboratory(catalogs, "none")
    config = RetrievalConfig(dense_weight=alpha, rerank="none")
    ways: dict[Decomposition, SearchOptions] = {
        way: SearchOptions(
            decomposition=way,
            config=config,
            embedder=files.embedder,
            splits=splits if way in ("steps", *ASKING) else None,
            ask=ask,
        )
        for way in ("none", *_split_ways(decomposition or ["rules"]))
    }
    result = _stressed(laboratory, ways, bundle, select)
    if as_json:
        say_json(result)
        return
    _say_source(files.queries, len(result["queries"]))
    for name, points in result["toolsets"].items():
        _say_stress(name, points)


def _split_ways(names: Sequence[str]) -> list[Decomposition]:
    ways: tuple[Decomposition, ...] = get_args(Decomposition)
    if wrong := set(names) - set(ways):
        raise ConfigError(f"--decompose is {min(wrong)!r:.40}; give one of {', '.join(ways[1:])}")
    return [way for way in ways if way in names]


def _stressed(
    laboratory: Laboratory,
    ways: Mapping[Decomposition, SearchOptions],
    bundle: Path | None,
    select: Selection | None,
) -> JsonObject:
    """The stress tests of the catalog, and of the toolset of a bundle, for each way to split."""
    from toolscope_core.cli.searcher import Searcher
    from toolscope_core.evaluation.comparison import SPLIT_NAMES
    from toolscope_core.evaluation.measured_toolsets import with_merged
    from toolscope_core.evaluation.results import stress_result
    from toolscope_core.evaluation.stress import stress_test
    from toolscope_core.retrieval.retriever import Retriever

    trial, trials = laboratory.trial((1,)), {}
    for way, options in ways.items():
        searcher = Searcher(laboratory.catalog, options, progress())
        trials[way] = replace(trial, requests=tuple(searcher.requests(trial.queries)))
    tests, config = {}, ways["none"].config
    alone: dict[str, str] = {}
    for toolset in with_merged(laboratory.catalog, laboratory.variants, bundle):
        retriever = Retriever(toolset.tools, laboratory.embedder, laboratory.cache, config)
        for way, own in trials.items():
            name, base = (f"{toolset.name}, {SPLIT_NAMES[one]}" for one in (way, "none"))
            with _chooser(select, ways[way].ask, toolset, own) as choice:
                best = 1 if select == "best" else None
                tests[name] = stress_test(toolset, retriever, own, progress(), best, choice)
            alone |= {} if name == base else {name: base}
    return stress_result(trial, tests, alone)


@contextmanager
def _chooser(
    select: Selection | None, ask: AskRequest, toolset: Toolset, trial: Trial
) -> Iterator[Choice | None]:
    """What takes tools of the pools where a model does. Raises as the model's commands do."""
    if select != "model":
        yield None
        return
    from toolscope_core.cli.asking import asking
    from toolscope_core.rps.workers import taken_of_pools

    with asking(ask) as (_, asker):
        yield partial(taken_of_pools, toolset.tools, trial.requests, asker)


def _say_stress(name: str, points: Sequence[JsonObject]) -> None:
    against = "; of no gain by splitting, one-sided, two-sided" if "gain" in points[0] else ""
    say(f"{name}: noise, distractors, precision, recall, F1, p of no loss{against}")
    for point in points:
        figures = "  ".join(interval_text(**point[key]) for key in ("precision", "recall", "f1"))
        p_values = [point["p_loss"], *point.get("gain", {}).values()]
        p_text = "  ".join(f"{p:.4f}" for p in p_values)
        say(f"  {point['noise']:8} {point['distractors']:3}  {figures}  {p_text}")


@command
def sweep(
    catalogs: Catalogs,
    setting: Annotated[
        Knob,
        typer.Option(
            "--move",
            help="What is moved: the least similarity of merges (theta), the weight of dense "
            "scores (alpha), how many are reranked (candidates), how many are given (k), or the "
            "embedding model (encoder, with --encoder).",
        ),
    ] = "theta",
    encoders: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder",
            help="With --move encoder: a sentence-transformers model, by name or folder; again for "
            "each.",
        ),
    ] = None,
    accept: Accepted = "auto",
    routers: Routers = False,
    threshold: Threshold = None,
    knobs: SearchKnobs = DEFAULT_SEARCH,
    files: ExperimentFiles = SYNTHETIC,
    as_json: AsJson = False,
) -> None:
    """Move one setting and measure each value: size, recall, gold calls that run."""
    from toolscope_core.evaluation.metrics import METRIC_NAMES, SWEPT_METRICS
    from toolscope_core.evaluation.results import sweep_point
    from toolscope_core.evaluation.sweeps import Standing, encoder_points, setting_points
    from toolscope_core.llm.embedding import embedder_of

    if bool(encoders) != (setting == "encoder"):
        raise ConfigError("--move encoder and --encoder go together; give both, or neither")
    config, laboratory = knobs.config(), files.laboratory(catalogs)
    trial = laboratory.trial((ENCODERS_K if encoders else 1,))
    plan_config = PlanConfig(accept=accept, routers=routers)
    standing = Standing(trial, (), laboratory.tokens, plan_config, config, ENCODERS_K)
    if encoders:
        load = partial(embedder_of, read_environment())
        points = encoder_points(standing, load, laboratory.cache, encoders, progress=progress())
    else:
        analysis = laboratory.analysis(threshold, progress())
        ranker_of = laboratory.ranker
        points = setting_points(analysis, standing, ranker_of, setting, progress=progress())
    size = len(laboratory.catalog.tools)
    result: JsonObject = {
        "knob": setting,
        "accept": accept,
        "routers": routers,
        "queries": len(trial.queries),
        "points": [sweep_point(point, size) for point in points],
    }
    if as_json:
        say_json(result)
        return
    _say_source(files.queries, result["queries"])
    names = "".join(f"{METRIC_NAMES[metric] + '@k':22}" for metric in SWEPT_METRICS)
    say(f"{setting:>10}  tools  smaller  {names}TCCR")
    for point in result["points"]:
        figures = "".join(f"{interval_text(**point['metrics'][one]):22}" for one in SWEPT_METRICS)
        calls = "-" if point["tccr"] is None else f"{point['tccr']:.3f}"
        say(
            f"{_value(point['value'])}  {point['tools']:5}  {point['reduction']:6.1%}   "
            f"{figures}{calls}"
        )


@command
def ablation(
    catalogs: Catalogs,
    files: ExperimentFiles = SYNTHETIC,
    threshold: Threshold = None,
    as_json: AsJson = False,
) -> None:
    """Switch reranker, merger and correction on and off (ToolScope, table 3): the merger takes all
    proposals, drop-in or with those that need a gateway too.
    """
    from toolscope_core.evaluation.results import ablation_row
    from toolscope_core.evaluation.sweeps import Standing, ablation_rows

    laboratory = files.laboratory(catalogs)
    trial, size = laboratory.trial((5, 10, 30)), len(laboratory.catalog.tools)
    analysis, standing = (
        laboratory.analysis(threshold, progress()),
        Standing(trial, (), laboratory.tokens),
    )
    rows = [
        ablation_row(row, size)
        for row in ablation_rows(analysis, standing, laboratory.ranker, progress())
    ]
    if as_json:
        say_json({"queries": len(trial.queries), "rows": rows})
        return
    _say_source(files.queries, len(trial.queries))
    shown = ("csr@5", "csr@30", "recall@10")
    names = "".join(f"{name:22}" for name in shown)
    say(f"reranker  merger    correction  tools  smaller  {names}TCCR   UCC")
    for row in rows:
        figures = "".join(f"{interval_text(**row['metrics'][name]):22}" for name in shown)
        on = {part: "on" if row[part] else "-" for part in ("reranker", "correction")}
        calls = "-" if row["tccr"] is None else f"{row['tccr']:.3f}  {row['ucc']:.3f}"
        say(
            f"{on['reranker']:9} {row['merger']:9} {on['correction']:10}  {row['tools']:5}  "
            f"{row['reduction']:6.1%}   {figures}{calls}"
        )


def _value(value: float | str) -> str:
    return f"{value:10.10}" if isinstance(value, str) else f"{value:10g}"


def _say_source(queries: Path | None, count: int) -> None:
    made = "" if queries else " made from descriptions: good only to compare"
    say(f"{count:,} queries{made}; 95 % bootstrap intervals in brackets")
