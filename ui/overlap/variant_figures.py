"""What document variants do to the vectors that a search compares: pairs that collide, and the map
(Retrieval–Plan–Select, figures 4 and 5).

Three toolsets are compared: the tools' own text, with the accepted variants, and the control, which
is padded to the same length with random words. The vectors are those of the retriever, which reads
more than the merge does: the curve of *own text* is not that of *original*.
"""

import numpy as np

from toolscope_core.catalog.document_variants import with_variants
from toolscope_core.embedding import projection
from toolscope_core.embedding.projection import Points
from toolscope_core.model.errors import JobError
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import Augmentation, Tool
from toolscope_core.rps.control import noise_matched
from toolscope_core.store.background import subprocess_jobs
from toolscope_core.store.job_rows import Job
from ui.overlap.curves import THRESHOLDS, Curves
from ui.overlap.figures import Curve, Panel, ToolMap
from ui.overlap.maps import TASKS, Maps, Method, map_key
from ui.shared.services.page_service import JobService, Uses
from ui.shared.services.reviewed_variants import Variants
from ui.shared.services.searches import LongWaitError, Searches, impatient

OWN, WRITTEN, CONTROL = "own text", "with variants", "with random words"

SIDES = (OWN, WRITTEN, CONTROL)


_DENSE = RetrievalConfig(dense_weight=1.0, rerank="none")


class VariantFigures(JobService):
    """The figures of catalogs with accepted variants; changes nothing."""

    kind = "variant documents"
    _variants = Uses(Variants)
    _searches = Uses(Searches)
    _curves = Uses(Curves)
    _maps = Uses(Maps)

    def has_any(self, catalog_id: int) -> bool:
        """Whether the catalog has accepted variants."""
        return bool(self._variants.accepted(catalog_id))

    def curve(self, catalog_id: int) -> Curve | None:
        """The pairs of the three toolsets; ``None`` where texts have to be embedded: ``start``."""
        vectors = self._vectors_of(catalog_id, impatient)
        if vectors is None:
            return None
        threshold = self._analyses.required(catalog_id).threshold
        counted = [self._curves.variant_of(catalog_id, *one) for one in vectors.items()]
        waiting = tuple(name for name, one in zip(vectors, counted, strict=True) if one is None)
        return Curve(THRESHOLDS, threshold, tuple(one for one in counted if one), waiting)

    def points(self, catalog_id: int, method: Method) -> tuple[Points, ...] | None:
        """Where the tools of the three toolsets lie: PCA has the same axes for all, of UMAP and
        t-SNE each has its own, brought to the same size. ``None`` where that has to be computed:
        ``start``.
        """
        vectors = self._vectors_of(catalog_id, impatient)
        if vectors is None:
            return None

        def stored_points() -> tuple[Points, ...] | None:
            if method == "PCA":
                joint = projection.pca(np.vstack(list(vectors.values())))
                return tuple(np.split(joint, len(vectors)))
            stored = [self._stored(method, one) for one in vectors.values()]
            some = tuple(_to_unit(one) for one in stored if one is not None)
            return some if len(some) == len(stored) else None

        return self._cached(("points", catalog_id, method), (vectors,), stored_points, most=4)

    def drawn(self, catalog_id: int, method: Method, by: str) -> ToolMap:
        """The three panels. Raises ``JobError`` before the projection is known."""
        points = self.points(catalog_id, method)
        if points is None:
            raise JobError(f"{method} of the document variants is not computed yet; start it")
        whole = self._maps.drawn(catalog_id, "PCA", by, beside=False)
        base = whole.panels[0]

        def make() -> ToolMap:
            panels = (
                Panel(name, own, base.names, base.servers, base.groups, base.members, base.texts)
                for name, own in zip(SIDES, points, strict=True)
            )
            return ToolMap(tuple(panels), (), whole.by)

        return self._cached(("drawn", catalog_id, method, by), (points, whole), make, most=4)

    def seconds(self, catalog_id: int, method: Method) -> int:
        """About how long the three projections take, from rates seen."""
        return len(SIDES) * self._maps.seconds(catalog_id, method)

    def start(self, catalog_id: int, method: Method = "PCA") -> str:
        """As every such service; a map stops when its page is left."""
        if method == "PCA":
            return super().start(catalog_id, method)
        return self._analyses.watched.start(
            catalog_id, self._kind(method), lambda progress: self.run(catalog_id, method, progress)
        )

    def job(self, catalog_id: int, method: Method = "PCA") -> Job | None:
        """The latest such work by a method: each is its own, so that one is left for another."""
        return self._analyses.job(catalog_id, self._kind(method))

    def _kind(self, method: Method) -> str:
        return self.kind if method == "PCA" else f"{self.kind}, {method}"

    def run(self, catalog_id: int, method: Method = "PCA", progress: Progress = silent) -> None:
        """Embed, count and project here and now what is not known."""
        vectors = self._vectors_of(catalog_id, progress)
        for own in (vectors or {}).values():
            self._curves.count(own, progress)
            if method != "PCA" and self._stored(method, own) is None:
                made = subprocess_jobs.compute(TASKS[method], own, progress=progress)
                self._work.arrays.write(map_key(own, method), made)

    def _vectors_of(self, catalog_id: int, progress: Progress) -> dict[str, Vectors] | None:
        """The vectors of each toolset; ``None`` where a page would wait for texts."""
        catalog = self._analyses.required(catalog_id).catalog
        written = self._variants.accepted(catalog_id)

        def make() -> dict[str, Vectors] | None:
            sides: dict[str, dict[str, Augmentation]] = {
                OWN: {},
                WRITTEN: written,
                CONTROL: noise_matched(catalog, written),
            }
            try:
                return {
                    name: self._normed(with_variants(catalog.tools, own), progress)
                    for name, own in sides.items()
                }
            except LongWaitError:
                return None

        return self._cached(("vectors", catalog_id), (catalog,), make, state=written, most=2)

    def _normed(self, tools: tuple[Tool, ...], progress: Progress) -> Vectors:
        """float32 (n, d), of length 1: the dense side of the retriever."""
        vectors = self._searches.retriever(tools, _DENSE, progress).vectors
        lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return np.asarray(vectors / lengths, dtype=np.float32)

    def _stored(self, method: Method, vectors: Vectors) -> Points | None:
        return self._work.arrays.points(map_key(vectors, method), (len(vectors), 2))


def _to_unit(points: Points) -> Points:
    """The points in the square from -1 to 1."""
    least, most = points.min(axis=0), points.max(axis=0)
    centred = points - (least + most) / 2
    return np.asarray(centred / max(float((most - least).max()) / 2, 1e-9), dtype=np.float64)
