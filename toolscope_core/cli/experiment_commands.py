"""The commands that measure a catalog under stress and with varied settings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

import typer

from toolscope_core.cli import terminal
from toolscope_core.cli.asking import asking
from toolscope_core.cli.options import (
    SAVED,
    Accepted,
    AsJson,
    AskRequest,
    CatalogPaths,
    EmbedderName,
    VariantsFile,
)
from toolscope_core.cli.searcher import (
    ASKING_SPLITS,
    DEFAULT_SEARCH,
    Decomposition,
    MergedBundle,
    SearchedTools,
    Searcher,
    SearchKnobs,
    SearchOptions,
    SkipUnknown,
    Splits,
    ToolsTakenBy,
)
from toolscope_core.evaluation import sweeps
from toolscope_core.evaluation.bench import Bench
from toolscope_core.evaluation.comparison import ToolsetFigures, Trial
from toolscope_core.evaluation.measured_toolsets import Toolset, with_merged
from toolscope_core.evaluation.metrics import SWEPT_METRICS
from toolscope_core.evaluation.results import result_json
from toolscope_core.evaluation.selection import ListChooser
from toolscope_core.evaluation.stress import StressPoint
from toolscope_core.llm.embedding import embedder_of
from toolscope_core.model.configuration import Knob, PlanConfig, RequestSplit
from toolscope_core.model.environment import read_environment
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.search_configuration import PaperName, RetrievalConfig, usual_split
from toolscope_core.rps.workers import tools_of_pools

ENCODERS_K = 10
"""The cut-off for the figures of encoders."""
Queries = Annotated[
    Path | None,
    typer.Option(
        help="JSONL or CSV with `id`, `query` and `gold`; without it the requests are made from "
        "the tools' descriptions."
    ),
]
_Decompose = Annotated[
    RequestSplit | None,
    typer.Option(
        "--decompose",
        help="Split requests by rules, or use the steps given in the query set (an upper bound); "
        "default: as the named paper does, or else rules.",
    ),
]


@dataclass(frozen=True, slots=True)
class ExperimentFiles:
    """The requests and texts for a measurement; each field is an option."""

    queries: Queries = None
    decomposition: _Decompose = None
    skip_unknown: SkipUnknown = False
    variants: VariantsFile = None
    embedder: EmbedderName = None

    def bench(
        self, catalogs: Sequence[Path], cutoffs: Sequence[int], paper: PaperName | None = None
    ) -> tuple[Bench, Trial]:
        """A bench for the catalog, and a trial of its requests with the cut-offs of the
        measurement.
        """
        split = self.decomposition or usual_split(paper)
        bench = Bench.of_files(catalogs, self.embedder, self.variants)
        queries = bench.queries(self.queries, self.skip_unknown)
        return bench, bench.trial(queries, cutoffs, split)


_SYNTHETIC = ExperimentFiles()
"""The default, for which requests are made from the descriptions."""
WithGateway = Annotated[
    bool,
    typer.Option(
        "--gateway",
        help="Also apply merges that need a gateway if the merged tool is no larger than its "
        "members; the paper applies all merges.",
    ),
]
_Threshold = Annotated[
    float | None,
    typer.Option(
        help=(
            "Minimum cosine similarity of a candidate pair, where the sweep starts; default: the "
            "encoder's."
        )
    ),
]


@terminal.command
def stress(
    catalogs: CatalogPaths,
    files: ExperimentFiles = _SYNTHETIC,
    bundle: MergedBundle = None,
    decomposition: Annotated[
        list[str] | None,
        typer.Option(
            "--decompose",
            metavar="<rules|steps|dummy|context>",
            help="How requests are split; repeatable. Each way is compared with no split; the "
            "default is rules. dummy and context ask a model or read --splits.",
        ),
    ] = None,
    splits: Splits = None,
    select: Annotated[
        ToolsTakenBy | None,
        typer.Option(
            help="Measure which tools each job takes from its whole pool (tables 6 and 8): the "
            "best by its search, or the model's choice."
        ),
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Weight of the dense score; 1 in Retrieval-Plan-Select.")
    ] = RetrievalConfig().dense_weight,
    ask: AskRequest = SAVED,
    as_json: AsJson = False,
) -> None:
    """Find tools among more and more distractors, random or the closest ones
    (Retrieval-Plan-Select, tables 6 to 8).

    Example: toolscope stress tools.json --queries queries.jsonl --bundle bundle
    """
    bench, trial = files.bench(catalogs, (1,))
    knobs = SearchKnobs(alpha=alpha, rerank="none")
    trials: dict[str, Trial] = {}
    for way in ("none", *_split_ways(decomposition or ["rules"])):
        recorded = splits if way in ("steps", *ASKING_SPLITS) else None
        searched = SearchedTools(decomposition=way, embedder=files.embedder, splits=recorded)
        searcher = Searcher(
            bench.catalog, SearchOptions(1, searched, knobs, ask), terminal.progress()
        )
        trials[way] = replace(trial, requests=tuple(searcher.requests(trial.queries)))
    result = bench.stress(
        with_merged(bench.catalog, bundle),
        trials,
        knobs.config(),
        terminal.progress(),
        best=1 if select == "best" else None,
        chooser=partial(_chooser, select, ask),
    )
    if as_json:
        terminal.say_json(result_json(result))
        return
    _say_source(files.queries, len(result.queries))
    for name, points in result.toolsets.items():
        _say_stress(name, points)


def _split_ways(names: Sequence[str]) -> list[Decomposition]:
    ways: tuple[Decomposition, ...] = get_args(Decomposition)
    if wrong := set(names) - set(ways):
        raise ConfigError(f"--decompose is {min(wrong)!r:.40}; use one of {', '.join(ways[1:])}")
    return [way for way in ways if way in names]


@contextmanager
def _chooser(
    select: ToolsTakenBy | None, ask: AskRequest, toolset: Toolset, trial: Trial
) -> Iterator[ListChooser | None]:
    """The model's choice from the pools, or ``None`` if no model chooses.

    Raises the errors of commands that ask a model.
    """
    if select != "model":
        yield None
        return
    with asking(ask) as (_, asker):
        yield partial(tools_of_pools, toolset.tools, trial.requests, asker)


def _say_stress(name: str, points: Sequence[StressPoint]) -> None:
    against = "; of no gain by splitting, one-sided, two-sided" if points[0].gain else ""
    terminal.say(f"{name}: noise, distractors, precision, recall, F1, p of no loss{against}")
    for point in points:
        intervals = (point.precision, point.recall, point.f1)
        figures = "  ".join(one.text for one in intervals)
        p_values = [point.p_loss, *(astuple(point.gain) if point.gain else ())]
        p_text = "  ".join(f"{p:.4f}" for p in p_values)
        terminal.say(f"  {point.noise:8} {point.distractors:3}  {figures}  {p_text}")


@terminal.command
def sweep(
    catalogs: CatalogPaths,
    setting: Annotated[
        Knob,
        typer.Option(
            "--move",
            help="What to vary: the minimum similarity of merges (threshold), the weight of dense "
            "scores (alpha), the number of tools that are reranked (candidates) or returned (k), "
            "or the embedding model (encoder, with --encoder).",
        ),
    ] = "threshold",
    encoders: Annotated[
        list[str] | None,
        typer.Option(
            "--encoder",
            help="With --move encoder: a sentence-transformers model, by name or folder; "
            "repeatable.",
        ),
    ] = None,
    accept: Accepted = "auto",
    gateway: WithGateway = False,
    threshold: _Threshold = None,
    knobs: SearchKnobs = DEFAULT_SEARCH,
    files: ExperimentFiles = _SYNTHETIC,
    as_json: AsJson = False,
) -> None:
    """Vary one setting and measure each value: size, recall, gold calls that run.

    Example: toolscope sweep tools.json --queries queries.jsonl --move threshold --accept all
    """
    if bool(encoders) != (setting == "encoder"):
        raise ConfigError("--move encoder and --encoder need each other; use both, or neither")
    config = knobs.config()
    bench, trial = files.bench(catalogs, (ENCODERS_K if encoders else 1,), knobs.as_in_paper)
    plan_config = PlanConfig(accept=accept, gateway=gateway)
    settings = sweeps.FixedSettings(trial, (), bench.tokens, plan_config, config, ENCODERS_K)
    if encoders:
        load = partial(embedder_of, read_environment())
        sweep_points = sweeps.encoder_points(
            settings, load, bench.cache, encoders, progress=terminal.progress()
        )
    else:
        analysis = bench.analysis(threshold, terminal.progress())
        sweep_points = sweeps.setting_points(
            analysis, settings, bench.ranker, setting, progress=terminal.progress()
        )
    points = [point.figures(bench.catalog) for point in sweep_points]
    if as_json:
        options = {"knob": setting, "accept": accept, "gateway": gateway}
        terminal.say_json({**options, "queries": len(trial.queries), "points": result_json(points)})
        return
    _say_source(files.queries, len(trial.queries))
    names = "".join(f"{metric.title + '@k':22}" for metric in SWEPT_METRICS)
    terminal.say(f"{setting:>10}  tools  smaller  {names}TCCR")
    for point in points:
        _say_point(point)


def _say_point(point: sweeps.SweepFigures) -> None:
    value = f"{point.value:10.10}" if isinstance(point.value, str) else f"{point.value:10g}"
    calls = "-" if point.tccr is None else f"{point.tccr:.3f}"
    figures = _figures(point, [metric.name for metric in SWEPT_METRICS])
    terminal.say(f"{value}  {point.tools:5}  {point.reduction:6.1%}   {figures}{calls}")


def _figures(row: ToolsetFigures, names: Sequence[str]) -> str:
    return "".join(f"{row.metrics[name].text:22}" for name in names)


@terminal.command
def ablation(
    catalogs: CatalogPaths,
    files: ExperimentFiles = _SYNTHETIC,
    threshold: _Threshold = None,
    knobs: SearchKnobs = DEFAULT_SEARCH,
    as_json: AsJson = False,
) -> None:
    """Switch reranker, merger and correction on and off (ToolScope, table 3). The merger accepts
    all proposals: drop-ins only, or also those that need a gateway. The reranker is that of the
    search, which a paper or single options may set.

    Example: toolscope ablation tools.json --queries queries.jsonl --as-in-paper toolscope
    """
    bench, trial = files.bench(catalogs, (5, 10, 30), knobs.as_in_paper)
    analysis = bench.analysis(threshold, terminal.progress())
    settings = sweeps.FixedSettings(trial, (), bench.tokens, config=knobs.config())
    ablation_rows = sweeps.ablation_rows(analysis, settings, bench.ranker, terminal.progress())
    rows = [row.figures(bench.catalog) for row in ablation_rows]
    if as_json:
        terminal.say_json({"queries": len(trial.queries), "rows": result_json(rows)})
        return
    _say_source(files.queries, len(trial.queries))
    metrics = ("csr@5", "csr@30", "recall@10")
    names = "".join(f"{name:22}" for name in metrics)
    terminal.say(f"reranker  merger    correction  tools  smaller  {names}TCCR   UCC")
    for row in rows:
        reranker, correction = ("on" if on else "-" for on in (row.reranker, row.correction))
        calls = "-" if row.tccr is None else f"{row.tccr:.3f}  {row.ucc:.3f}"
        terminal.say(
            f"{reranker:9} {row.merger:9} {correction:10}  {row.tools:5}  "
            f"{row.reduction:6.1%}   {_figures(row, metrics)}{calls}"
        )


def _say_source(queries: Path | None, count: int) -> None:
    origin = "" if queries else " made from descriptions: use them only for comparisons"
    terminal.say(f"{count:,} queries{origin}; 95 % bootstrap intervals in brackets")
