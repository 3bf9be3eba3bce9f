"""The collision curve: the number of pairs at each similarity, before and after the merge."""

import hashlib
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import pairs_above
from toolscope_core.embedding.vector_cache import embed_cached
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.protocols import Progress, Vectors, silent
from toolscope_core.model.tool import digest
from toolscope_core.wording.boilerplate import compared_texts
from toolscope_core.wording.tool_text import tool_text
from ui.overlap.collisions import Curve, CurveVariant
from ui.shared.kept import kept_under
from ui.shared.services.workspace import Workspace
from ui.shared.snapshot import Snapshot


def new_texts(analysis: Analysis, plan: MergePlan) -> dict[str, str]:
    """The embedded texts of outgoing tools that differ from those of the input, by id."""
    tools = analysis.catalog.by_id
    merged = [item.tool for item in plan.tools if len(item.members) > 1]
    new = {tool.id for tool in merged if tool_text(tool) != tool_text(tools[tool.id])}
    if not new:
        return {}
    texts = compared_texts([item.tool for item in plan.tools])
    return {
        item.tool.id: text
        for item, text in zip(plan.tools, texts, strict=True)
        if item.tool.id in new
    }


def plan_vectors(
    analysis: Analysis, plan: MergePlan, embed: Callable[[list[str]], Vectors]
) -> Vectors:
    """The vectors of the outgoing tools, in order, as float32 (n, d). Only new
    texts are embedded.
    """
    rows = [analysis.rows[item.tool.id] for item in plan.tools]
    vectors = analysis.vectors[rows]
    texts = new_texts(analysis, plan)
    if texts:
        place = {item.tool.id: at for at, item in enumerate(plan.tools)}
        vectors[[place[tool_id] for tool_id in texts]] = embed(list(texts.values()))
    return vectors


THRESHOLDS = tuple(step / 100 for step in range(50, 101))

COUNTED_AT_ONCE = 5_000
"""Up to this many tools, the pairs are counted while the page waits. For 4,076 tools, this takes
0.2 to 0.6 s for each toolset.
"""

_ORIGINAL, _MERGED = "original", "merged"
KIND = "count"


def curve(snapshot: Snapshot) -> Curve:
    """The curve of the input toolset and of the toolset with decided and safe merges.

    Parts that would take long are left out and named in ``uncounted``; ``start`` computes them.
    Raises ``JobError`` before the analysis is done.
    """
    vectors = {_ORIGINAL: snapshot.analysis.vectors, _MERGED: _merged_vectors(snapshot)}
    return curve_of(snapshot, vectors)


def curve_of(snapshot: Snapshot, vectors: Mapping[str, Vectors | None]) -> Curve:
    """The curve of the named toolsets; ``uncounted`` has the names of the toolsets that are not
    counted yet.
    """
    by_name = {
        name: None if one is None else variant_of(snapshot, name, one)
        for name, one in vectors.items()
    }
    uncounted = tuple(name for name, variant in by_name.items() if variant is None)
    variants = tuple(variant for variant in by_name.values() if variant is not None)
    return Curve(THRESHOLDS, snapshot.analysis.threshold, variants, uncounted)


def start(snapshot: Snapshot) -> str:
    """Run ``run`` in the background. Returns the job's id."""
    return snapshot.start(KIND, lambda progress: run(snapshot, progress))


def run(snapshot: Snapshot, progress: Progress = silent) -> None:
    """Count the toolsets that are not counted yet, now."""
    plan = merged_plan(snapshot)
    merged = kept_under(plan, "vectors", (), lambda: _embedded(snapshot, progress))
    for vectors in (snapshot.analysis.vectors, merged):
        count(snapshot.work, vectors, progress)


def _merged_vectors(snapshot: Snapshot) -> Vectors | None:
    """The vectors of the merged toolset. ``None`` if the catalog is large, or if a new text has no
    vector yet.
    """
    analysis, plan = snapshot.analysis, merged_plan(snapshot)

    def embedded() -> Vectors | None:
        if len(analysis.catalog.tools) > COUNTED_AT_ONCE:
            return None
        texts = list(new_texts(analysis, plan).values())
        if len(snapshot.work.vectors.read(analysis.model, texts)) < len(set(texts)):
            return None
        return _embedded(snapshot, silent)

    return kept_under(plan, "vectors", (), embedded)


def _embedded(snapshot: Snapshot, progress: Progress) -> Vectors:
    return plan_vectors(
        snapshot.analysis,
        merged_plan(snapshot),
        lambda texts: embed_cached(texts, snapshot.work.embedder, snapshot.work.vectors, progress),
    )


def merged_plan(snapshot: Snapshot) -> MergePlan:
    """The plan with decided and safe merges."""
    return snapshot.plan_under(PlanConfig(accept="auto"))


def variant_of(snapshot: Snapshot, name: str, vectors: Vectors) -> CurveVariant | None:
    """The line for one toolset. ``None`` if it has not been counted before and is too large to
    count now.
    """

    def counted() -> CurveVariant | None:
        if len(vectors) <= COUNTED_AT_ONCE:
            pairs: NDArray[np.int64] | None = count(snapshot.work, vectors)
        else:
            pairs = snapshot.work.arrays.counts(_key(vectors), len(THRESHOLDS))
        return None if pairs is None else CurveVariant(name, len(vectors), pairs)

    return kept_under(snapshot, "curve", name, counted)


def count(work: Workspace, vectors: Vectors, progress: Progress = silent) -> NDArray[np.int64]:
    """For each threshold, the number of pairs of unit vectors that reach it, as int64. Counted
    unless known.
    """
    key = _key(vectors)
    pairs = work.arrays.counts(key, len(THRESHOLDS))
    if pairs is None:
        pairs = pairs_above(vectors, np.array(THRESHOLDS), progress)
        work.arrays.write(key, pairs)
    return pairs


def _key(vectors: Vectors) -> str:
    """A key. The same vectors and thresholds give the same key."""
    return digest(content_hash(vectors), vectors.shape, THRESHOLDS)


def content_hash(vectors: Vectors) -> str:
    """A hash of all the numbers, as 64 hex digits."""
    return hashlib.sha256(vectors.tobytes()).hexdigest()
