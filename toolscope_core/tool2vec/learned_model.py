"""A trained model: what it learned about each tool, and how it scores a toolset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.vector_cache import text_key
from toolscope_core.evaluation.metrics import Gold, ndcg, recall
from toolscope_core.model.configuration import FirstStageName
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Augmentation, JsonObject, Tool
from toolscope_core.retrieval.assembly import LearnedShare, ToolRequest, best_first
from toolscope_core.tool2vec.linear_head import LinearHead, UsageVectors

WEIGHTS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 4.0)
DOUBTS = (0.5, 1.0, 2.0, 4.0)
LEAST_UNSEEN = 1 / 3
"""The minimum share of the weight that goes to held-out queries for tools without training queries,
if such queries exist.
"""
_ROUNDS = 2
_CHECKED_AT = (5, 10)


@dataclass(frozen=True, slots=True)
class Blend:
    """The weights of learned scores, by name, relative to 1 for the texts.

    ``doubt`` is the number of a tool's queries at which half of the learned score counts. If a
    weight is infinite, only its score counts, whatever the other weights and the doubt are.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    doubt: float = 2.0

    def share(self, learned: Mapping[str, _Floats], evidence: _Floats) -> LearnedShare:
        """The share of the learned scores in the scores of n tools.

        ``learned`` has the scores by name, each in [0, 1] and of shape (n,). ``evidence`` is the
        number of each tool's queries, as in ``TrainingQueries.evidence``.
        """
        total = sum(self.weights.values())
        if total == math.inf:
            alone = next(name for name, weight in self.weights.items() if weight == math.inf)
            return LearnedShare(np.zeros_like(learned[alone]), learned[alone])
        trust = (evidence / (evidence + self.doubt + 1e-9)).astype(np.float32)
        summed = np.zeros(len(evidence), dtype=np.float32)
        for name, weight in self.weights.items():
            if weight:
                summed += np.float32(weight) * learned[name]
        own_share = (1 + total * (1 - trust)) / np.float32(1 + total)
        return LearnedShare(own_share.astype(np.float32), trust * summed / np.float32(1 + total))


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutQuery:
    """A recorded query scored by models that were trained without it.

    ``by_text`` and ``learned`` are the text scores and the learned scores of n tools, each of shape
    (n,). ``evidence`` is how many training queries each tool had. ``row`` is the query's position
    among the training queries.
    """

    row: int
    gold: Gold
    by_text: _Floats
    learned: Mapping[str, _Floats]
    evidence: _Floats
    is_unseen: bool
    fold: int


def ranked(query: HeldOutQuery, blend: Blend, ids: Sequence[str], k: int) -> list[str]:
    """The ids of the k best tools."""
    scores = blend.share(query.learned, query.evidence).scores(query.by_text)
    return [ids[row] for row in best_first(scores, k)]


def chosen_blend(
    queries: Sequence[HeldOutQuery],
    names: Sequence[str],
    ids: Sequence[str],
    begun: Blend | None = None,
) -> Blend:
    """The weights that rank held-out queries best, chosen for one learned score after the other.

    A score gets 0 if its gain is no larger than the gain's standard error. Queries for tools
    without training queries count for at least a third, so that learning about some tools does not
    push others down. Weights in ``begun`` stay; those of ``names`` are added.
    """
    begun = begun or Blend()
    best = replace(begun, weights={**begun.weights, **dict.fromkeys(names, 0.0)})
    if len(queries) < 2:
        return best
    importance = _importance(queries)

    def values_of(blend: Blend) -> NDArray[np.float64]:
        return np.multiply(importance, [_value(one, blend, ids) for one in queries])

    best_values = values_of(best)
    for _ in range(_ROUNDS):
        by_weight = ((name, weight) for name in reversed(names) for weight in WEIGHTS)
        for name, weight in by_weight:
            trial = replace(best, weights={**best.weights, name: weight})
            if trial != best and (values := values_of(trial)).mean() > best_values.mean():
                best, best_values = trial, values
        for doubt in DOUBTS if not begun.weights and any(best.weights.values()) else ():
            trial = replace(best, doubt=doubt)
            if trial != best and (values := values_of(trial)).mean() > best_values.mean():
                best, best_values = trial, values
    for name in reversed(names):  # the last score has to prove its gain first
        trial = replace(best, weights={**best.weights, name: 0.0})
        if best.weights[name] and not _clear(best_values - (values := values_of(trial))):
            best, best_values = trial, values
    return best


def _clear(gains: NDArray[np.float64]) -> bool:
    """Whether the mean of paired gains exceeds its standard error."""
    return bool(gains.mean() > gains.std() / np.sqrt(len(gains)))


def _importance(queries: Sequence[HeldOutQuery]) -> NDArray[np.float64]:
    """The weight of each query, 1 on average."""
    unseen = np.array([one.is_unseen for one in queries])
    own = float(unseen.mean())
    if own in (0.0, 1.0):
        return np.ones(len(queries))
    share = max(own, LEAST_UNSEEN)
    return np.where(unseen, share / own, (1 - share) / (1 - own))


def _value(query: HeldOutQuery, blend: Blend, ids: Sequence[str]) -> float:
    """The mean of recall@5, recall@10 and nDCG@10."""
    ranking = ranked(query, blend, ids, max(_CHECKED_AT))
    recalls = [recall(ranking, query.gold, k) for k in _CHECKED_AT]
    return (sum(recalls) + ndcg(ranking, query.gold, max(_CHECKED_AT))) / 3


DESCRIPTION, TOOL2VEC, MLC, TUNED, REFINER = "description", "tool2vec", "mlc", "tuned", "refiner"
PART_WEIGHT = 0.5
"""The weight of a request's best sub-query relative to the request itself."""


class QueryClassifier(Protocol):
    """A tuned encoder with a classifier for each tool."""

    def logits(self, texts: Sequence[str]) -> _Floats:
        """The logits of the tools: float32 of shape (len(texts), m)."""


class CandidateRefiner(Protocol):
    """Scores the candidates for a request jointly."""

    def logits(self, text: str, candidates: Vectors, scores: _Floats) -> _Floats:
        """The candidates' logits, float32 of shape (N,), from their vectors (N, d) and first scores
        (N,).
        """


def stretched(scores: _Floats) -> _Floats:
    """Each row scaled to [0, 1]; shape (n, m)."""
    low, high = scores.min(axis=-1, keepdims=True), scores.max(axis=-1, keepdims=True)
    stretched_scores: _Floats = ((scores - low) / (high - low + 1e-9)).astype(np.float32)
    return stretched_scores


def assembled_parts(scores: _Floats) -> _Floats:
    """The scores for a request, shape (m,), from the scores for its texts, shape (t, m).

    The first text is the request itself.
    """
    if len(scores) == 1:
        return np.asarray(scores[0], dtype=np.float32)
    whole, best = scores[0], scores[1:].max(axis=0)
    assembled: _Floats = ((whole + PART_WEIGHT * best) / (1 + PART_WEIGHT)).astype(np.float32)
    return assembled


def stage_scores(
    centres: Vectors, head: LinearHead | None, vectors: Vectors, name: str = TOOL2VEC
) -> dict[str, _Floats]:
    """The scores for a request by name, in [0, 1] and of shape (m,), from the vectors of its texts.

    ``name`` is the name of the cosine to ``centres``.
    """
    scores = {name: np.asarray(vectors @ centres.T, dtype=np.float32)}
    if head is not None:
        scores[MLC] = head.logits(vectors)
    return {name: stretched(assembled_parts(one)) for name, one in scores.items()}


_Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class LearnedModel:
    """A model's knowledge about m tools, recognised by their fingerprints.

    ``centres`` are the tools' Tool2Vec vectors, float32 of shape (m, d). ``described`` are the
    vectors of the tools' texts, if these vectors select candidates (``first`` is *description*) or
    the refiner reads them (``reads_described``). ``evidence`` is the number of queries for each
    tool, shape (m,). ``variants`` are the document variants used in training; the tools are
    searched with them. ``about`` describes the training and the results on held-out queries.
    """

    method: str
    embedder: str
    fingerprints: tuple[str, ...]
    usage: UsageVectors
    centres: Vectors
    evidence: _Floats
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

    def alone(self) -> LearnedModel:
        """The model as the paper uses it: only its last stage scores the tools, and the text scores
        do not count.

        A tool without queries is still represented by the vector of its text.
        """
        missing = {TUNED: self.tuned is None, REFINER: self.refiner is None}
        *_, last = (name for name in self.blend.weights if not missing.get(name))
        return replace(self, blend=Blend({last: math.inf}))

    def over(self, tools: Sequence[Tool]) -> ModelScorer:
        """See ``retrieval.learned_scores.LearnedRanking``."""
        by_count = np.argsort(self.usage.counts, kind="stable").tolist()
        row = {self.fingerprints[at]: at for at in by_count}  # the most used of exact copies
        rows = [row.get(tool.fingerprint, -1) for tool in tools]
        return ModelScorer(self, np.array(rows, dtype=np.intp))

    def variants_of(self, tools: Sequence[Tool]) -> dict[str, Augmentation]:
        """The document variants used in training, for the tools that have not changed since."""
        own = frozenset(self.fingerprints)
        return {
            tool.id: self.variants[tool.id]
            for tool in tools
            if tool.fingerprint in own and tool.id in self.variants
        }

    def learned_from(self, text: str) -> bool:
        """Whether exactly this text was a recorded training query."""
        return text_key(text).hex()[:16] in self.about.get("texts", ())

    def learned(self, request: ToolRequest, vectors: Sequence[Vectors]) -> dict[str, _Floats]:
        """The learned scores of the m tools by name, in [0, 1].

        They are computed from the vectors of the request's ``texts``. Scores with the weight 0 are
        left out.
        """
        names = {name for name, weight in self.blend.weights.items() if weight}
        stacked = np.asarray(vectors, dtype=np.float32)
        if self.first == DESCRIPTION and self.described is not None:
            learned = stage_scores(self.described, None, stacked, DESCRIPTION)
        else:
            learned = stage_scores(self.centres, self.head, stacked)
        if self.tuned is not None and (names & {TUNED, REFINER}):
            learned[TUNED] = stretched(assembled_parts(self.tuned.logits(request.texts)))
        if self.refiner is not None and REFINER in names:
            described = self.described if self.reads_described else None
            vectors_of_tools = self.centres if described is None else described
            learned[REFINER] = refined_scores(
                self.refiner, request.text, vectors_of_tools, learned, self.candidates
            )
        return {name: one for name, one in learned.items() if name in names}


def candidate_scores(learned: Mapping[str, _Floats]) -> _Floats:
    """The scores that select the refiner's candidates, which are those of the first stage's last
    part.
    """
    return next(learned[name] for name in (TUNED, MLC, TOOL2VEC, DESCRIPTION) if name in learned)


def refined_scores(
    refiner: CandidateRefiner,
    text: str,
    centres: Vectors,
    learned: Mapping[str, _Floats],
    candidates: int,
) -> _Floats:
    """The refiner's scores of the m tools: in [0, 1] for the candidates, 0 for the other tools."""
    first = candidate_scores(learned)
    rows = best_first(first, candidates)
    scores = np.zeros(len(first), dtype=np.float32)
    logits = refiner.logits(text, centres[rows], first[rows])
    scores[rows] = (1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))) ** 0.5
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class ModelScorer:
    """A model applied to n tools.

    ``rows``, of shape (n,), has each tool's row in the model, or -1 if the model does not know the
    tool.
    """

    model: LearnedModel
    rows: NDArray[np.intp]

    @property
    def evidence(self) -> _Floats:
        """How many queries each tool was trained on; see ``TrainingQueries.evidence``."""
        own: _Floats = np.append(self.model.evidence, np.float32(0))[self.rows]
        return own

    def share(self, request: ToolRequest, vectors: Sequence[Vectors]) -> LearnedShare:
        """See ``retrieval.learned_scores.LearnedScorer``."""
        learned = self.model.learned(request, vectors)
        nothing = np.zeros(1, dtype=np.float32)
        own = {name: np.concatenate([one, nothing])[self.rows] for name, one in learned.items()}
        return self.model.blend.share(own, self.evidence)
