"""The collision curve: how many pairs of tools are how close, before and after the merge."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import pairs_above
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.tool import digest
from ui.overlap.figures import Curve, CurveVariant
from ui.overlap.merged_vectors import new_texts, plan_vectors
from ui.shared.services.page_service import JobService
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

THRESHOLDS = tuple(step / 100 for step in range(50, 101))


COUNTED_AT_ONCE = 5_000
"""Up to this many tools the pairs are counted while a page waits (4,076: 0.2 to 0.6 s each)."""


ORIGINAL, MERGED = "original", "merged"


class Curves(JobService):
    """Exact counts over all pairs, each made once and kept on disk."""

    kind = "count"

    def __init__(self, work: Workspace) -> None:
        super().__init__(work)
        self._merged: ResultCache[Vectors | None] = ResultCache()

    def curve(self, catalog_id: int) -> Curve:
        """The toolset as it came in, and with the decided and the safe merges.

        What would keep a page waiting is left out and named in ``waiting``: ``start`` it. Raises
        ``JobError`` before the analysis is finished.
        """
        analysis = self._analyses.required(catalog_id)
        sets = {ORIGINAL: analysis.vectors, MERGED: self._merged_vectors(catalog_id, analysis)}
        variants: list[CurveVariant] = []
        for name, vectors in sets.items():
            variant = None if vectors is None else self.variant_of(catalog_id, name, vectors)
            variants += [] if variant is None else [variant]
        waiting = tuple(name for name in sets if name not in [variant.name for variant in variants])
        return Curve(THRESHOLDS, analysis.threshold, tuple(variants), waiting)

    def run(self, catalog_id: int, progress: Progress = silent) -> None:
        """Count here and now what is not counted yet."""
        analysis, decided = self._analyses.required(catalog_id), len(self._review.log(catalog_id))
        merged = self._embedded(catalog_id, analysis, progress)
        self._merged.put(catalog_id, (analysis,), merged, state=decided)
        for vectors in (analysis.vectors, merged):
            self.count(vectors, progress)

    def _merged_vectors(self, catalog_id: int, analysis: Analysis) -> Vectors | None:
        """``None`` where the merge is large or a new text has no vector yet."""
        decided = len(self._review.log(catalog_id))
        return self._merged.get(
            catalog_id,
            (analysis,),
            lambda: self._embedded_before(catalog_id, analysis),
            state=decided,
        )

    def _embedded_before(self, catalog_id: int, analysis: Analysis) -> Vectors | None:
        if len(analysis.catalog.tools) > COUNTED_AT_ONCE:
            return None
        texts = list(new_texts(analysis, self._merged_plan(catalog_id)).values())
        if len(self._work.vectors.read(analysis.model, texts)) < len(set(texts)):
            return None
        return self._embedded(catalog_id, analysis, silent)

    def _embedded(self, catalog_id: int, analysis: Analysis, progress: Progress) -> Vectors:
        return plan_vectors(
            analysis,
            self._merged_plan(catalog_id),
            lambda texts: embed_cached(texts, self._work.embedder, self._work.vectors, progress),
        )

    def _merged_plan(self, catalog_id: int) -> MergePlan:
        return self._review.plan(catalog_id, PlanConfig(accept="auto"))

    def variant_of(self, catalog_id: int, name: str, vectors: Vectors) -> CurveVariant | None:
        """The line of one toolset; ``None`` where it has too many tools to be counted at once and
        was not counted before.
        """

        def counted() -> CurveVariant | None:
            if len(vectors) <= COUNTED_AT_ONCE:
                pairs: NDArray[np.int64] | None = self.count(vectors)
            else:
                pairs = self._work.arrays.counts(_key(vectors), len(THRESHOLDS))
            return None if pairs is None else CurveVariant(name, len(vectors), pairs)

        return self._cached(("variants", catalog_id, name), (vectors,), counted)

    def count(self, vectors: Vectors, progress: Progress = silent) -> NDArray[np.int64]:
        """int64: the pairs of vectors (of length 1) from each threshold on, counted if need be."""
        key = _key(vectors)
        pairs = self._work.arrays.counts(key, len(THRESHOLDS))
        if pairs is None:
            pairs = pairs_above(vectors, np.array(THRESHOLDS), progress)
            self._work.arrays.write(key, pairs)
        return pairs


def _key(vectors: Vectors) -> str:
    """Equal for equal vectors and thresholds."""
    content = hashlib.sha256(vectors.tobytes()).hexdigest()
    return digest(content, vectors.shape, THRESHOLDS)
