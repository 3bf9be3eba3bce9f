"""The pairs that came with new and changed tools: only they are judged."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from toolscope_core.check.baseline import Baseline
from toolscope_core.check.matched import Matched
from toolscope_core.embedding.candidate_pairs import Rows, candidates, default_threshold
from toolscope_core.embedding.embed_once import embed_cached
from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.judging.boilerplate import compared_texts
from toolscope_core.judging.judge import OfflineJudge
from toolscope_core.judging.same_names import same_named
from toolscope_core.judging.weights import shipped_weights
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.pair import Outcome, Pair, Verdict
from toolscope_core.model.protocols import Embedder, Progress, Step, silent


@dataclass(frozen=True, slots=True)
class PairJudge:
    """What pairs are judged with: the embedding model, its cache, and which pairs are near."""

    embedder: Embedder
    cache: VectorCache
    config: AnalysisConfig
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class NewPairs:
    """The verdicts on pairs that were not there, by left and right id: of *merge*, of *family*, and
    *unsure*.
    """

    overlaps: tuple[Verdict, ...] = ()
    families: tuple[Verdict, ...] = ()
    unsure: tuple[Verdict, ...] = ()


def new_pairs(catalog: Catalog, tools: Matched, baseline: Baseline, judge: PairJudge) -> NewPairs:
    """The pairs with a new or changed tool that are an overlap, a family or unsure, and were not
    the same before. Pairs that people keep apart or put together are left out.
    """
    verdicts = _judged(catalog, tools.new, judge)
    earlier = _earlier(tools, baseline, judge) if verdicts else {}
    kinds: dict[Outcome, list[Verdict]] = {"merge": [], "family": [], "unsure": []}
    for verdict in verdicts:
        is_now, was = _outcome(verdict, baseline.least_probability), tools.earlier(verdict.pair)
        before = None if was is None else earlier.get(was)
        settled = was in baseline.settled or verdict.similarity < baseline.least_similarity
        if is_now in kinds and not settled and not _was_there(is_now, before):
            kinds[is_now].append(verdict)
    return NewPairs(tuple(kinds["merge"]), tuple(kinds["family"]), tuple(kinds["unsure"]))


def _was_there(now: Outcome, before: Outcome | None) -> bool:
    """Whether the pair was the same before; one that was an overlap is not unsure anew."""
    return before == now or (now == "unsure" and before in ("merge", "family"))


def _earlier(tools: Matched, baseline: Baseline, judge: PairJudge) -> Mapping[Pair, Outcome]:
    """The verdicts of before on pairs of which both tools were there; judged where nobody had."""
    if baseline.outcomes is not None:
        return baseline.outcomes
    changed = {change.old.id for change in tools.changes.changed}
    return {one.pair: one.outcome for one in _judged(baseline.catalog, changed, judge)}


def _outcome(verdict: Verdict, least: float | None) -> Outcome:
    """The outcome of a verdict at the ``least`` probability that people applied, if they did."""
    if least is None or verdict.outcome == "family":
        return verdict.outcome
    if verdict.probability >= least:
        return "merge"
    return "unsure" if verdict.outcome == "merge" else verdict.outcome


def _judged(catalog: Catalog, wanted: Collection[str], judge: PairJudge) -> tuple[Verdict, ...]:
    """The verdicts, without *keep*, on the near pairs that hold one of the tools ``wanted``."""
    if not wanted:
        return ()
    texts = compared_texts(catalog.tools)
    vectors = embed_cached(texts, judge.embedder, judge.cache, judge.progress)
    theta = judge.config.threshold or default_threshold(judge.embedder.name)
    is_wanted = np.array([tool.id in wanted for tool in catalog.tools])
    first = _first_copies(catalog, is_wanted)
    offline = OfflineJudge.of(catalog.tools, vectors, model=judge.embedder.name)
    named = same_named(offline.signals.plain, vectors, judge.config.neighbours)
    near = candidates(vectors, first, judge.config.neighbours, theta, named)
    chosen = is_wanted[near.left] | is_wanted[near.right]
    left, right = near.left[chosen], near.right[chosen]
    judge.progress(Step("judge", 0, len(left)))
    given = offline.pair_probabilities(left, right)
    weights = shipped_weights()
    likely = (given.same_job >= weights.unsure_at) | (given.family >= weights.family_at)
    judge.progress(Step("judge", len(left), len(left)))
    return offline.verdicts(left[likely], right[likely])


def _first_copies(catalog: Catalog, is_new: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Rows:
    """By row the row that stands for all tools of its content: the first that is not new, so that a
    new copy is paired with what was there.
    """
    first: dict[str, int] = {}
    for row in np.argsort(is_new, kind="stable").tolist():
        first.setdefault(catalog.tools[row].content_hash, row)
    return np.array([first[tool.content_hash] for tool in catalog.tools], dtype=np.int32)
