"""What a request finds in a catalog, and how well a set of queries finds its gold answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

from toolscope_core.backends import Progress, silent
from toolscope_core.cache import VectorCache
from toolscope_core.catalog import load_paths, read_isolated
from toolscope_core.config import RetrievalConfig, Settings
from toolscope_core.datamodel import Catalog, JsonObject
from toolscope_core.embedders import embedder_of
from toolscope_core.errors import ConfigError
from toolscope_core.evaluation.intervals import holm
from toolscope_core.evaluation.query_sets import Query, read_queries, relabelled, with_known_gold
from toolscope_core.evaluation.reports import MetricRow, metric_rows, p_values
from toolscope_core.json_lines import write_rows
from toolscope_core.relabelling import read_relabelling
from toolscope_core.retrieval.decomposition import decompose
from toolscope_core.retrieval.retriever import RankedTool, Retriever, ToolRequest

Splitting = Literal["none", "rules"]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How tools are searched: the ``k`` best, the request split by rules or not."""

    k: int = 10
    splitting: Splitting = "rules"
    config: RetrievalConfig = field(default_factory=RetrievalConfig)
    embedder: str | None = None

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ConfigError(f"k is {self.k}; give at least 1")


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What is measured: at each of ``cutoffs``, after the merge too where a ``bundle`` is given;
    ``skip_unknown`` leaves queries out whose tools the catalog does not have.
    """

    search: SearchOptions = field(default_factory=SearchOptions)
    cutoffs: tuple[int, ...] = (1, 5, 10)
    bundle: Path | None = None
    skip_unknown: bool = False


@dataclass(frozen=True, slots=True)
class SearchReport:
    """What one request finds in a catalog, and what it was split into."""

    catalog: Catalog
    subqueries: tuple[str, ...]
    ranking: tuple[RankedTool, ...]


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The metrics of a query set, and of the same queries on the merged toolset where a bundle was
    given: ``p`` has by metric the paired p-value of no change, corrected by Holm. ``unjudged`` is
    the number of queries without gold answers, ``skipped`` of those whose tools are not there.
    """

    queries: int
    unjudged: int
    skipped: int
    tools: int
    rows: tuple[MetricRow, ...]
    tools_after: int | None = None
    rows_after: tuple[MetricRow, ...] = ()
    p: Mapping[str, float] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Everything but the values of the single queries."""
        before = {row.name: asdict(row.interval) for row in self.rows}
        after = {row.name: asdict(row.interval) for row in self.rows_after}
        return {
            "queries": self.queries,
            "unjudged": self.unjudged,
            "skipped": self.skipped,
            "tools": self.tools,
            "metrics": before,
            **({"merged": {"tools": self.tools_after, "metrics": after}} if after else {}),
            **({"p": dict(self.p)} if self.p else {}),
        }

    def recall_below(self, least: Mapping[int, float]) -> str:
        """Which of the recalls asked for, by k, are not reached on the last toolset; empty if all
        are.
        """
        rows = {row.k: row for row in self.rows_after or self.rows if row.metric == "recall"}
        missed = [
            f"recall@{k} is {rows[k].interval.mean:.3f}, below {wanted:g}"
            for k, wanted in sorted(least.items())
            if rows[k].interval.mean < wanted
        ]
        return "; ".join(missed)


def search_request(
    paths: Sequence[Path],
    request: str,
    options: SearchOptions,
    settings: Settings,
    progress: Progress = silent,
) -> SearchReport:
    """The tools for one request. Raises ``ConfigError`` for one without text."""
    if not request.strip():
        raise ConfigError("the request is empty; say in words what an agent is asked")
    catalog = read_isolated(load_paths(paths))
    asked = _request(request, options)
    found = _retriever(catalog, options, settings, progress).search(asked, options.k)
    return SearchReport(catalog, asked.subqueries, found)


def search_queries(
    paths: Sequence[Path],
    queries: Path,
    out: Path,
    options: SearchOptions,
    settings: Settings,
    progress: Progress = silent,
) -> int:
    """A ranking for each query of a set, as JSONL in its order; how many there are."""
    catalog = read_isolated(load_paths(paths))
    asked = read_queries(queries)
    requests = [_request(one.text, options) for one in asked]
    retriever = _retriever(catalog, options, settings, progress)
    found = retriever.search_each(requests, options.k, progress)
    write_rows(
        out,
        (
            {
                "id": query.id,
                "ranking": [place.tool_id for place in ranking],
                "scores": [round(place.score, 6) for place in ranking],
                "subqueries": list(request.subqueries),
            }
            for query, request, ranking in zip(asked, requests, found, strict=True)
        ),
    )
    return len(asked)


def evaluate_files(
    paths: Sequence[Path],
    queries: Path,
    options: EvaluationOptions,
    settings: Settings,
    progress: Progress = silent,
) -> EvaluationReport:
    """The metrics of a query set, and those of a bundle's toolset with the gold answers relabelled
    by φ.

    Raises ``ConfigError`` where gold answers are no tools of the catalog, no query has any, or the
    bundle is one of other tools.
    """
    catalog = read_isolated(load_paths(paths))
    asked = read_queries(queries)
    judged = [one for one in asked if one.gold]
    known = with_known_gold(judged, {tool.id for tool in catalog.tools}, options.skip_unknown)
    if not known:
        raise ConfigError(
            f"no query of {queries} has a gold answer among the tools; give tool ids under `gold`"
        )

    def measured(toolset: Catalog, wanted: Sequence[Query]) -> tuple[MetricRow, ...]:
        retriever = _retriever(toolset, options.search, settings, progress)
        requests = [_request(one.text, options.search) for one in wanted]
        found = retriever.search_each(requests, max(options.cutoffs), progress)
        rankings = [[one.tool_id for one in ranking] for ranking in found]
        return metric_rows(wanted, rankings, options.cutoffs)

    before = measured(catalog, known)
    report = EvaluationReport(
        len(known), len(asked) - len(judged), len(judged) - len(known), len(catalog.tools), before
    )
    if options.bundle is None:
        return report
    phi = dict(read_relabelling(options.bundle).phi)
    if foreign := sorted({tool.id for tool in catalog.tools} - phi.keys()):
        raise ConfigError(
            f"{options.bundle} says nothing of {foreign[0]}; give a bundle that was made of this "
            "catalog"
        )
    merged = read_isolated(load_paths([options.bundle]))
    after = measured(merged, relabelled(known, phi))
    raw = p_values(before, after)
    corrected = dict(zip(raw, holm([*raw.values()]), strict=True))
    return replace(report, tools_after=len(merged.tools), rows_after=after, p=corrected)


def _request(text: str, options: SearchOptions) -> ToolRequest:
    return ToolRequest(text, decompose(text) if options.splitting == "rules" else ())


def _retriever(
    catalog: Catalog, options: SearchOptions, settings: Settings, progress: Progress
) -> Retriever:
    cache = VectorCache(settings.cache_dir)
    embedder = embedder_of(settings, options.embedder)
    return Retriever(catalog.tools, embedder, cache, options.config, progress)
