"""What the tables share: data sets, queries, recorded splits, rankings and figures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.measuring import catalog_file, data_folder
from toolscope_core.catalog.document_variants import read_variants
from toolscope_core.embedding.vector_cache import embed_cached
from toolscope_core.evaluation.bench import Bench
from toolscope_core.evaluation.comparison import Measurement, Trial
from toolscope_core.evaluation.intervals import Interval, interval
from toolscope_core.evaluation.metrics import MetricRow
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.configuration import RequestSplit
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Augmentation, JsonObject, Tool
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.decomposition import recorded_splits
from toolscope_core.retrieval.retriever import Retriever

QUERIES, PLANS, VARIANTS = "queries.dev.jsonl", "plans.dev.jsonl", "augmented.jsonl"
BARE = RetrievalConfig(rerank="none")
DENSE = RetrievalConfig(dense_weight=1.0, rerank="none")
SPARSE = RetrievalConfig(dense_weight=0.0, rerank="none")


@dataclass(frozen=True, slots=True, eq=False)
class PaperSet:
    """A data set, with the name of its folder and the file of its tools."""

    name: str
    path: Path
    bench: Bench
    queries: tuple[Query, ...]

    @classmethod
    def read(cls, name: str) -> "PaperSet":
        path = catalog_file(name)
        return cls.of(name, path, data_folder(name) / QUERIES)

    @classmethod
    def of(cls, name: str, catalog: Path, queries: Path) -> "PaperSet":
        bench = Bench.of_files([catalog])
        return cls(name, catalog, bench, bench.queries(queries, skip_unknown=True))

    @property
    def tools(self) -> Sequence[Tool]:
        return self.bench.catalog.tools

    def trial(self, cutoffs: Sequence[int]) -> Trial:
        """The queries of the set. If all of them have steps, they are split into these; otherwise
        by rule.
        """
        split: RequestSplit = "steps" if all(one.steps for one in self.queries) else "rules"
        return self.bench.trial(self.queries, cutoffs, split)

    def variants(self) -> Mapping[str, Augmentation]:
        """The document variants that a model wrote, by tool id. Most sets have none."""
        file = data_folder(self.name) / VARIANTS
        return read_variants(file, self.bench.catalog).by_id if file.exists() else {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text. Texts that were embedded before are read from the cache."""
        return embed_cached(texts, self.bench.embedder, self.bench.cache)

    def retriever(self, tools: Sequence[Tool], config: RetrievalConfig) -> Retriever:
        return Retriever(tools, self.bench.embedder, self.bench.cache, config)

    def split_trials(self) -> dict[str, Trial]:
        """A trial for each way of splitting requests.

        If the splits of a model are recorded, each trial has only the queries that have such
        splits.
        """
        trial, path = self.trial((1,)), data_folder(self.name) / PLANS
        recorded = {
            kind: recorded_splits(path, kind) for kind in ("dummy", "context") if path.exists()
        }
        if recorded:
            own = tuple(one for one in trial.queries if one.id in recorded["dummy"])
            trial = replace(trial, queries=own)
        ways: Mapping[str, RequestSplit] = {
            "not split": "none",
            "by rule": "rules",
            "gold steps": "steps",
        }
        trials = {name: trial.split_by(split) for name, split in ways.items()}
        for kind, splits in recorded.items():
            requests = [ToolRequest(one.text, splits[one.id], False) for one in trial.queries]
            trials[kind] = replace(trial, requests=tuple(requests))
        return trials


Rows = Callable[[PaperSet], Iterator[JsonObject]]


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table or figure.

    ``what`` is its subject. ``minutes`` is about how long all its ``sets`` take on two idle cores.
    ``rows`` makes its rows. The README says why other tables of the papers are not reproduced.
    """

    what: str
    sets: tuple[str, ...]
    minutes: int
    rows: Rows


def figures(own: Measurement, names: Sequence[str]) -> JsonObject:
    rows = [row for row in own.rows if row.name in names]
    return {"tools": len(own.toolset.tools), **intervals(rows)}


def intervals(rows: Iterable[MetricRow]) -> JsonObject:
    return {row.name: ends(row.interval) for row in rows}


def ends(own: Interval) -> list[float]:
    """The mean, and the ends of its 95 % interval."""
    return [round(one, 3) for one in (own.mean, own.low, own.high)]


def share(hits: Sequence[float]) -> list[float]:
    """Like ``ends``, for one value per query."""
    return ends(interval(hits))


def needed_by(queries: Sequence[Query], ids: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each query needs each tool, with a row for each query and a column for each tool."""
    golds = ({tool for need in query.gold for tool in need} for query in queries)
    return np.array([[tool in gold for tool in ids] for gold in golds])


def spread(values: ArrayLike) -> str:
    """The mean and the standard deviation, as text. Empty if there are no values."""
    own = np.asarray(values, dtype=np.float64)
    return f"{own.mean():.3f} ± {own.std():.3f}" if own.size else ""
