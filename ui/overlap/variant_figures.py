"""The effect of document variants on search vectors: colliding pairs, the map and the heatmap
(Retrieval–Plan–Select, figures 4, 5 and A2).

Three toolsets are compared: the tools' own text, accepted variants, and a control that is padded
with random words to the same length. The vectors are those of the retriever. It reads more text
than the merge does, so the curve of *own text* differs from that of *original*.
"""

from dataclasses import replace

import numpy as np

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.embedding import projection
from toolscope_core.embedding.minilm import normalised
from toolscope_core.model.errors import JobError
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.retrieval.retriever import Retriever
from toolscope_core.rps.variant_writing import noise_matched
from toolscope_core.store import subprocess_jobs
from ui.overlap import curves, maps
from ui.overlap.collisions import Curve, Tile, ToolMap, compared_by
from ui.shared.kept import kept, kept_under
from ui.shared.services import reviewed_variants, searches
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot

OWN, WRITTEN, CONTROL = "own text", "with variants", "with random words"

SIDES = (OWN, WRITTEN, CONTROL)

_DENSE = RetrievalConfig(dense_weight=1.0, rerank="none")

KIND = "variant documents"


def has_any(snapshot: Snapshot) -> bool:
    """Whether the catalog has accepted variants."""
    return bool(reviewed_variants.accepted_variants(snapshot))


def curve(snapshot: Snapshot) -> Curve | None:
    """The curve of the three toolsets; ``None`` if ``start`` has to embed texts first."""
    vectors = _vectors_of(snapshot, searches.impatient)
    return None if vectors is None else curves.curve_of(snapshot, vectors)


def tiles(snapshot: Snapshot, tile: Tile) -> dict[str, Tile] | None:
    """A tile for the tools' own text and one with their variants; ``None`` in the same case as
    ``curve``.
    """
    vectors = _vectors_of(snapshot, searches.impatient)
    if vectors is None:
        return None
    return {name: compared_by(snapshot.analysis, tile, vectors[name]) for name in (OWN, WRITTEN)}


def points(snapshot: Snapshot, method: maps.Method) -> tuple[projection.Points, ...] | None:
    """The positions of the tools of the three toolsets.

    With PCA, the three share their axes. With UMAP and t-SNE, each has its own axes, scaled to the
    same size. ``None`` if the positions have to be computed, which ``start`` does.
    """
    vectors = _vectors_of(snapshot, searches.impatient)
    if vectors is None:
        return None

    def stored_points() -> tuple[projection.Points, ...] | None:
        if method == "PCA":
            joint = projection.pca(np.vstack(list(vectors.values())))
            return tuple(np.split(joint, len(vectors)))
        parts = [_stored(snapshot, method, one) for one in vectors.values()]
        known = tuple(_to_unit(one) for one in parts if one is not None)
        return known if len(known) == len(parts) else None

    variants = tuple(reviewed_variants.accepted_variants(snapshot).items())
    catalog = snapshot.analysis.catalog
    return kept_under(catalog, "variant points", (method, variants), stored_points, limit=4)


@kept(limit=4)
def map_of(snapshot: Snapshot, method: maps.Method, grouping: str) -> ToolMap:
    """The three panels. Raises ``JobError`` before the projection is known."""
    places = points(snapshot, method)
    if places is None:
        raise JobError(f"{method} of the variants has not been computed yet; start it on the map")
    tools = maps.map_of(snapshot, "PCA", grouping, compare=False)
    base = tools.panels[0]
    sides = zip(SIDES, places, strict=True)
    panels = tuple(replace(base, title=name, points=own) for name, own in sides)
    return ToolMap(panels, (), tools.grouping)


def seconds(snapshot: Snapshot, method: maps.Method) -> int:
    """The approximate duration of the three projections in seconds, from earlier measurements."""
    return len(SIDES) * maps.seconds(snapshot, method)


def start(snapshot: Snapshot, method: maps.Method = "PCA") -> str:
    """Run ``_run`` in the background. A map stops when its page is left."""
    start = snapshot.start if method == "PCA" else snapshot.start_watched
    return start(kind_of(method), lambda progress: _run(snapshot, method, progress))


def kind_of(method: maps.Method) -> str:
    """The kind of job for a method. Each method has its own kind, so that another one can be
    started instead.
    """
    return KIND if method == "PCA" else f"{KIND}, {method}"


def _run(snapshot: Snapshot, method: maps.Method = "PCA", progress: Progress = silent) -> None:
    """Compute the missing vectors, counts and projections, now."""
    vectors = _vectors_of(snapshot, progress)
    for own in (vectors or {}).values():
        curves.count(snapshot.work, own, progress)
        if method != "PCA" and _stored(snapshot, method, own) is None:
            points = subprocess_jobs.compute(maps.TASKS[method], own, progress=progress)
            snapshot.work.arrays.write(maps.map_key(own, method), points)


def _vectors_of(snapshot: Snapshot, progress: Progress) -> dict[str, Vectors] | None:
    """The vectors of each toolset; ``None`` if embedding the texts would keep a page waiting."""
    catalog = snapshot.analysis.catalog
    variants = reviewed_variants.accepted_variants(snapshot)

    def make() -> dict[str, Vectors] | None:
        sides: dict[str, dict[str, Augmentation]] = {
            OWN: {},
            WRITTEN: variants,
            CONTROL: noise_matched(catalog, variants),
        }
        try:
            return {
                name: _normed(snapshot.work, with_variants(catalog.tools, own), progress)
                for name, own in sides.items()
            }
        except searches.LongWaitError:
            return None

    return kept_under(catalog, "variant vectors", tuple(variants.items()), make, limit=2)


def _normed(work: Workspace, tools: tuple[Tool, ...], progress: Progress) -> Vectors:
    """The retriever's vectors of the tools' texts: float32 (n, d), each of length 1."""
    retriever = Retriever(tools, work.embedder, work.vectors, _DENSE, progress=progress)
    retriever.encode_documents(progress)
    return normalised(retriever.vectors)


def _stored(snapshot: Snapshot, method: maps.Method, vectors: Vectors) -> projection.Points | None:
    return snapshot.work.arrays.points(maps.map_key(vectors, method), (len(vectors), 2))


def _to_unit(points: projection.Points) -> projection.Points:
    """The points, scaled to the square from -1 to 1."""
    low, high = points.min(axis=0), points.max(axis=0)
    centred = points - (low + high) / 2
    return np.asarray(centred / max(float((high - low).max()) / 2, 1e-9), dtype=np.float64)
