"""The map of a catalog: projections made once and kept, colours, regions, silhouettes."""

import hashlib
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np

from toolscope_core.embedding import projection
from toolscope_core.embedding.projection import Points
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ConfigError, JobError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.tool import digest
from toolscope_core.store.background import subprocess_jobs
from toolscope_core.store.job_rows import Job
from ui.overlap.figures import Panel, Silhouettes, ToolMap
from ui.overlap.heatmaps import Heatmaps
from ui.overlap.merged_vectors import new_texts, plan_vectors
from ui.overlap.regions import regions
from ui.shared.services.page_service import PageService, Uses
from ui.shared.tools.tool_blocks import CLUSTERS, SERVERS, blocks_of

Method = Literal["PCA", "UMAP", "t-SNE"]

METHODS: tuple[Method, ...] = ("UMAP", "t-SNE", "PCA")

BEFORE, AFTER = "as it came in", "merged"

MOST_TSNE = 10_000

UNASKED = 10_000
"""Up to this many tools a projection starts by itself."""

_Basis = tuple[Points, MergePlan, MergePlan | None]

TASKS: dict[str, subprocess_jobs.JobName] = {"UMAP": "umap", "t-SNE": "tsne"}

_PACKAGES = {"UMAP": "umap-learn", "t-SNE": "scikit-learn"}

_RATES = {"UMAP": (20.0, 0.02), "t-SNE": (5.0, 0.03)}
"""Seconds at the start and for each tool, as seen at 527 and 4,076 tools on two busy cores."""

SILHOUETTES = "silhouettes"

_SILHOUETTE_RATE = 1e-2


STATES = "states"
NEAREST = 6
LONGEST = 200
"""Letters of a description that may be looked at on the map."""


@dataclass(frozen=True, slots=True)
class Colouring:
    """Its ``label`` in the box, and what the legend calls a ``group``, in the singular."""

    label: str
    group: str


COLOURINGS = {
    SERVERS: Colouring("server", "server"),
    CLUSTERS: Colouring("cluster", "cluster"),
    STATES: Colouring("state of the cluster", "cluster state"),
}
"""By their values in the address; all others are category fields of the catalog."""


class Maps(PageService):
    """Projections and silhouettes of analysed catalogs; changes nothing."""

    _heatmaps = Uses(Heatmaps)

    def refusal(self, catalog_id: int, method: Method) -> str:
        """Why this method cannot be had for the catalog; empty if it can."""
        tools = len(self._analyses.required(catalog_id).catalog.tools)
        if method == "t-SNE" and tools > MOST_TSNE:
            return (
                f"t-SNE is offered up to {MOST_TSNE:,} tools, here are {tools:,}: its "
                f"{projection.PASSES:,} passes over so many take too long. UMAP shows "
                "neighbourhoods as well."
            )
        if method != "PCA" and tools < projection.LEAST_TOOLS:
            return f"{method} needs at least {projection.LEAST_TOOLS} tools, here are {tools}."
        return ""

    def points(self, catalog_id: int, method: Method) -> Points | None:
        """Where the tools lie, in the order of the catalog; ``None`` where that has to be
        computed first.
        """
        analysis = self._analyses.required(catalog_id)

        def stored() -> Points | None:
            if method == "PCA":
                return projection.pca(analysis.vectors)
            key, shape = self._map_key(catalog_id, method), (len(analysis.vectors), 2)
            return self._work.arrays.points(key, shape)

        return self._cached(("points", catalog_id, method), (analysis,), stored)

    def seconds(self, catalog_id: int, method: Method) -> int:
        """About how long a projection takes, from rates seen."""
        start, each = _RATES[method]
        return round(start + each * len(self._analyses.required(catalog_id).catalog.tools))

    def start(self, catalog_id: int, method: Method) -> str:
        """Project in the background; returns the job's id (that of a running one, if any).

        Raises ``ConfigError`` where the method is refused.
        """
        if refused := self.refusal(catalog_id, method):
            raise ConfigError(refused)
        return self._analyses.watched.start(
            catalog_id, method, lambda progress: self.run(catalog_id, method, progress)
        )

    def run(self, catalog_id: int, method: Method, progress: Progress = silent) -> None:
        """Project here and now, in a process of its own, unless it is known."""
        if self.points(catalog_id, method) is None:
            vectors = self._analyses.required(catalog_id).vectors
            made = subprocess_jobs.compute(TASKS[method], vectors, progress=progress)
            self._work.arrays.write(self._map_key(catalog_id, method), made)

    def job(self, catalog_id: int, kind: str) -> Job | None:
        """The latest job on the catalog for a method, or ``SILHOUETTES``."""
        return self._analyses.job(catalog_id, kind)

    def colours(self, catalog_id: int) -> tuple[str, ...]:
        """By what the tools can be coloured."""
        return (*self._heatmaps.groupings(catalog_id), STATES)

    def drawn(self, catalog_id: int, method: Method, by: str, beside: bool) -> ToolMap:
        """The map; ``beside`` it the toolset with the decided and the safe merges.

        A merged tool stands where its canonical stood. The same object for as long as nothing
        changed. Raises ``JobError`` before the projection is known.
        """
        points = self.points(catalog_id, method)
        if points is None:
            raise JobError(f"{method} of this catalog is not computed yet; start it on the map")
        plan = self._review.plan(catalog_id)
        sources = (points, plan, self._decided(catalog_id) if beside else None)
        return self._cached(
            ("drawn", catalog_id),
            sources,
            lambda: self._draw(catalog_id, points, by, beside),
            state=(method, by, beside),
        )

    def nearest(self, catalog_id: int, row: int) -> dict[int, float]:
        """The rows of the ``NEAREST`` tools to that of a row, the closest first, with cosines."""
        vectors = self._analyses.required(catalog_id).vectors
        cosines = vectors @ vectors[row]
        cosines[row] = -1.0
        ranked = np.argsort(-cosines, kind="stable")[: min(NEAREST, len(cosines) - 1)]
        return {int(at): float(cosines[at]) for at in ranked}

    def rewritten(self, catalog_id: int) -> int:
        """How many merged tools have another text than their canonical had."""
        return len(new_texts(self._analyses.required(catalog_id), self._decided(catalog_id)))

    def silhouettes(self, catalog_id: int) -> Silhouettes | None:
        """Before and after merging; ``None`` where they have to be computed first."""
        counts = projection.cluster_counts(len(self._analyses.required(catalog_id).catalog.tools))
        plan = self._decided(catalog_id)
        sizes = {BEFORE: len(plan.catalog.tools), AFTER: len(plan.tools)}
        variants = []
        for name, size in sizes.items():
            values = self._work.arrays.points(
                self._silhouette_key(catalog_id, name), (len(counts),)
            )
            if values is None:
                return None
            variants.append((name, size, values))
        return Silhouettes(counts, tuple(variants))

    def silhouette_seconds(self, catalog_id: int) -> int:
        """About how long both variants take, from rates seen."""
        return round(10 + _SILHOUETTE_RATE * len(self._analyses.required(catalog_id).catalog.tools))

    def start_silhouettes(self, catalog_id: int) -> str:
        """Compute in the background; returns the job's id (that of a running one, if any)."""
        return self._analyses.watched.start(
            catalog_id, SILHOUETTES, lambda progress: self.run_silhouettes(catalog_id, progress)
        )

    def run_silhouettes(self, catalog_id: int, progress: Progress = silent) -> None:
        """Compute here and now what is not known."""
        analysis = self._analyses.required(catalog_id)
        counts = projection.cluster_counts(len(analysis.catalog.tools))
        for name in (BEFORE, AFTER):
            key = self._silhouette_key(catalog_id, name)
            if self._work.arrays.points(key, (len(counts),)) is None:
                vectors = self._variant(catalog_id, name)
                made = subprocess_jobs.compute("silhouettes", vectors, counts, progress)
                self._work.arrays.write(key, made)

    def _variant(self, catalog_id: int, name: str) -> Vectors:
        analysis = self._analyses.required(catalog_id)
        if name == BEFORE:
            return analysis.vectors
        return plan_vectors(analysis, self._decided(catalog_id), self._analyses.embed)

    def _decided(self, catalog_id: int) -> MergePlan:
        return self._review.plan(catalog_id, PlanConfig(accept="auto"))

    def _draw(self, catalog_id: int, points: Points, by: str, beside: bool) -> ToolMap:
        tools = self._analyses.required(catalog_id).catalog.tools
        whole = Panel(
            title=BEFORE,
            points=points,
            names=tuple(tool.name for tool in tools),
            servers=tuple(tool.server for tool in tools),
            groups=self._grouped(catalog_id, by),
            members=tuple((row,) for row in range(len(tools))),
            texts=tuple(tool.description[:LONGEST] for tool in tools),
        )
        panels = (whole, self._merged(catalog_id, whole)) if beside else (whole,)
        words = self._cached(
            ("regions", catalog_id),
            (points,),
            lambda: regions(tools, points, len(panels)),
            state=len(panels),
        )
        return ToolMap(panels, words, colouring(by).group)

    def _merged(self, catalog_id: int, whole: Panel) -> Panel:
        rows = self._analyses.required(catalog_id).rows
        tools = self._decided(catalog_id).tools
        at = [rows[item.tool.id] for item in tools]
        return Panel(
            title=AFTER,
            points=whole.points[at],
            names=tuple(item.tool.name for item in tools),
            servers=tuple(whole.servers[row] for row in at),
            groups=tuple(whole.groups[row] for row in at),
            members=tuple(tuple(rows[member] for member in item.members) for item in tools),
            texts=tuple(item.tool.description[:LONGEST] for item in tools),
        )

    def _grouped(self, catalog_id: int, by: str) -> tuple[str, ...]:
        """What colours each tool; known for as long as the plan is the same."""
        plan = self._review.plan(catalog_id)
        return self._cached(("groups", catalog_id, by), (plan,), lambda: groups_of(plan, by))

    def _hash(self, catalog_id: int) -> str:
        analysis = self._analyses.required(catalog_id)
        return self._cached(("hashes", catalog_id), (analysis,), lambda: _content(analysis.vectors))

    def _map_key(self, catalog_id: int, method: Method) -> str:
        return _key(self._hash(catalog_id), method)

    def _silhouette_key(self, catalog_id: int, name: str) -> str:
        analysis = self._analyses.required(catalog_id)
        counts = projection.cluster_counts(len(analysis.catalog.tools))
        base = (self._hash(catalog_id), SILHOUETTES, counts, projection.SEED)
        if name == BEFORE:
            return digest(base, version("scikit-learn"))
        plan = self._decided(catalog_id)
        rows = [analysis.rows[item.tool.id] for item in plan.tools]
        return digest(base, version("scikit-learn"), rows, new_texts(analysis, plan))


def map_key(vectors: Vectors, method: Method) -> str:
    """The name of a kept projection: equal for equal vectors, parameters and library."""
    return _key(_content(vectors), method)


def colouring(name: str) -> Colouring:
    """The colouring of a name, which may be that of a field."""
    return COLOURINGS.get(name) or Colouring(f"field “{name}”", "value")


def groups_of(plan: MergePlan, by: str) -> tuple[str, ...]:
    """The group of each tool, in the order of the catalog; empty for none."""
    if by == STATES:
        states = {member: cluster.state for cluster in plan.clusters for member in cluster.members}
        return tuple(states.get(tool.id, "") for tool in plan.catalog.tools)
    groups = [""] * len(plan.catalog.tools)
    for block in blocks_of(plan, by):
        for row in block.rows.tolist():
            groups[row] = block.name
    return tuple(groups)


def _content(vectors: Vectors) -> str:
    return hashlib.sha256(vectors.tobytes()).hexdigest()


def _key(content: str, method: Method) -> str:
    knobs = (projection.SEED, projection.NEIGHBOURS, projection.PERPLEXITY, projection.PASSES)
    return digest(content, method, knobs, version(_PACKAGES[method]))
