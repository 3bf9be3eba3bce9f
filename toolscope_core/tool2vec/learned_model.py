"""A trained model: what it learned about each tool, and how it scores a toolset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import text_key
from toolscope_core.model.cluster import grouped
from toolscope_core.model.configuration import FirstStageName
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Augmentation, JsonObject, Tool
from toolscope_core.retrieval.assembly import LearnedShare, ToolRequest, best_first
from toolscope_core.tool2vec.blend import (
    DESCRIPTION,
    MLC,
    REFINER,
    TOOL2VEC,
    TUNED,
    Blend,
    CandidateRefiner,
    QueryClassifier,
    assembled_parts,
    stage_scores,
    stretched,
)
from toolscope_core.tool2vec.linear_head import LinearHead, UsageVectors

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class LearnedModel:
    """What was learned about m tools, which are known again by their fingerprints.

    ``centres`` are their Tool2Vec vectors, float32 of shape (m, d), and ``described`` those of
    their texts, where candidates are taken by these (``first`` is *description*), or the refiner
    reads them (``reads_described``); ``evidence`` is how many queries each has, (m,).
    ``variants`` are the document variants that it was trained with: the tools are searched with
    them. ``about`` has what it was trained on and what it reached on held-out queries. ``members``
    are the fingerprints of what became one tool, by that tool's.
    """

    method: str
    embedder: str
    fingerprints: tuple[str, ...]
    usage: UsageVectors
    centres: Vectors
    evidence: Floats
    blend: Blend
    head: LinearHead | None = None
    tuned: QueryClassifier | None = None
    refiner: CandidateRefiner | None = None
    candidates: int = 32
    described: Vectors | None = None
    first: FirstStageName = "mlc"
    reads_described: bool = False
    variants: Mapping[str, Augmentation] = field(default_factory=dict)
    about: JsonObject = field(default_factory=dict)
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def after_merge(
        self, former: Sequence[Tool], phi: Mapping[str, str | None], merged: Sequence[Tool]
    ) -> LearnedModel:
        """The model for the toolset that ``phi`` leads to: a merged tool scores as the best of its
        members, with what was learned about all of them.
        """
        became = grouped(former, lambda tool: phi.get(tool.id, tool.id))
        members = {
            one.fingerprint: tuple(dict.fromkeys(old.fingerprint for old in became.get(one.id, ())))
            for one in merged
        }
        return replace(self, members=members)

    def alone(self) -> LearnedModel:
        """The model as the paper searches: by the last of its stages, without the tools' texts; a
        tool without a query has its own text's vector there.
        """
        missing = {TUNED: self.tuned is None, REFINER: self.refiner is None}
        *_, last = (name for name in self.blend.weights if not missing.get(name))
        return replace(self, blend=Blend({last: math.inf}))

    def over(self, tools: Sequence[Tool]) -> ModelScorer:
        """See ``retrieval.learned_scores.LearnedRanking``."""
        by_count = np.argsort(self.usage.counts, kind="stable").tolist()
        row = {self.fingerprints[at]: at for at in by_count}  # of exact copies the most used
        own = [self.members.get(tool.fingerprint) or (tool.fingerprint,) for tool in tools]
        rows = np.full((len(own), max(map(len, own), default=1)), -1, dtype=np.intp)
        for at, fingerprints in enumerate(own):
            rows[at, : len(fingerprints)] = [row.get(one, -1) for one in fingerprints]
        return ModelScorer(self, rows)

    def variants_of(self, tools: Sequence[Tool]) -> dict[str, Augmentation]:
        """The variants that it was trained with, of those tools that are as they were."""
        own = frozenset(self.fingerprints)
        return {
            tool.id: self.variants[tool.id]
            for tool in tools
            if tool.fingerprint in own and tool.id in self.variants
        }

    def learned_from(self, text: str) -> bool:
        """Whether a recorded query of exactly this text was learned from."""
        return text_key(text).hex()[:16] in self.about.get("texts", ())

    def unknown(self, tools: Sequence[Tool]) -> int:
        """How many of these tools it learned nothing about."""
        return int((self.over(tools).evidence == 0).sum())

    def learned(self, request: ToolRequest, vectors: Sequence[Vectors]) -> dict[str, Floats]:
        """By name the learned scores of the m tools in [0, 1], from the vectors of the request's
        ``texts``.
        """
        wanted = {name for name, weight in self.blend.weights.items() if weight}
        stacked = np.asarray(vectors, dtype=np.float32)
        if self.first == DESCRIPTION and self.described is not None:
            learned = stage_scores(self.described, None, stacked, DESCRIPTION)
        else:
            learned = stage_scores(self.centres, self.head, stacked)
        if self.tuned is not None and (wanted & {TUNED, REFINER}):
            learned[TUNED] = stretched(assembled_parts(self.tuned.logits(request.texts)))
        if self.refiner is not None and REFINER in wanted:
            described = self.described if self.reads_described else None
            vectors_of_tools = self.centres if described is None else described
            learned[REFINER] = refined_scores(
                self.refiner, request.text, vectors_of_tools, learned, self.candidates
            )
        return {name: one for name, one in learned.items() if name in wanted}


def candidate_scores(learned: Mapping[str, Floats]) -> Floats:
    """What the refiner's candidates are taken by: the last of the first stage's scores."""
    return next(learned[name] for name in (TUNED, MLC, TOOL2VEC, DESCRIPTION) if name in learned)


def refined_scores(
    refiner: CandidateRefiner,
    text: str,
    centres: Vectors,
    learned: Mapping[str, Floats],
    candidates: int,
) -> Floats:
    """The refiner's scores of the m tools: its candidates' in [0, 1], 0 for the others."""
    first = candidate_scores(learned)
    rows = best_first(first, candidates)
    scores = np.zeros(len(first), dtype=np.float32)
    logits = refiner.logits(text, centres[rows], first[rows])
    scores[rows] = (1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))) ** 0.5
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class ModelScorer:
    """A model over one toolset of n tools; ``rows`` of shape (n, most members) has for each tool
    its members' rows in the model, -1 for none.
    """

    model: LearnedModel
    rows: NDArray[np.intp]

    @property
    def evidence(self) -> Floats:
        """How many queries each tool was learned from, see ``TrainingQueries.evidence``."""
        own: Floats = np.append(self.model.evidence, np.float32(0))[self.rows].sum(axis=1)
        return own

    def share(self, request: ToolRequest, vectors: Sequence[Vectors]) -> LearnedShare:
        """See ``retrieval.learned_scores.LearnedScorer``."""
        learned = self.model.learned(request, vectors)
        nothing = np.zeros(1, dtype=np.float32)
        own = {
            name: np.concatenate([one, nothing])[self.rows].max(axis=1)
            for name, one in learned.items()
        }
        return self.model.blend.share(own, self.evidence)
