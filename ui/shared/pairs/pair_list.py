"""The ranked list of pairs of tools that overlap."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import nearest
from toolscope_core.judging.relation_words import differs_of
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.cluster import RELATIONS
from toolscope_core.model.pair import PairOutcome
from toolscope_core.model.tool import digest
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot

SHOWN_PAIRS = 1_000
LISTS_KEPT = 8
RELATED_FROM = 0.45
"""From this cosine on, two tools that are not one job are *related*."""


@dataclass(frozen=True, slots=True)
class PairFilter:
    """A filter for candidate pairs.

    ``server`` is the server of either tool; ``None`` means any. ``differing`` selects the pairs on
    which the model and the offline judge differ. Every word of ``find`` must be in the name, server
    or description of one of the two tools. Pairs with one of ``tools`` (ids) come first; with
    ``only``, the other pairs are left out.
    """

    verdict: str | None = None
    server: str | None = None
    least_similarity: float = 0.0
    differing: bool = False
    tools: frozenset[str] = frozenset()
    only: bool = False
    find: str = ""

    @property
    def key(self) -> str:
        """Twelve hex digits that identify the filters."""
        return digest(self.verdict, self.server, self.least_similarity, self.differing, self.find)[
            :12
        ]


@dataclass(frozen=True, slots=True)
class PairRow:
    """A candidate pair in the table, with the tokens of both tools in every prompt.

    ``selected`` is how many of the two tools are in ``PairFilter.tools``. ``same_job`` and
    ``family`` (probabilities), ``verdict``, ``relation`` (in words) and ``differs`` (the words that
    only one tool uses) come from the offline judge. ``model`` is the model's verdict; it is empty
    if the model was not asked.
    """

    same_job: float
    family: float
    similarity: float
    verdict: PairOutcome
    relation: str
    differs: str
    selected: int
    left: str
    left_server: str
    left_tokens: int
    right: str
    right_server: str
    right_tokens: int
    left_id: str
    right_id: str
    model: PairOutcome | Literal[""] = ""

    @property
    def differing(self) -> bool:
        """Whether the model and the offline judge disagree."""
        return self.model not in ("", "unanalysed", self.verdict)


@dataclass(frozen=True, slots=True)
class PairList:
    """The strongest of the ``matching`` pairs. There are ``total`` candidates."""

    rows: tuple[PairRow, ...]
    matching: int
    total: int


def pair_list(
    analysis: Analysis, pair_filter: PairFilter, tokens: Mapping[str, int], limit: int = SHOWN_PAIRS
) -> PairList:
    """The matching pairs: first those with ``pair_filter.tools``, then by probability, similarity
    and ids.

    If only families are listed, their probability is that of a family. ``tokens`` are keyed by tool
    id.
    """
    scores, tools = analysis.scores, analysis.catalog.tools
    outcomes = outcomes_of(analysis)
    passing = scores.same_job >= pair_filter.least_similarity
    if pair_filter.server is not None:
        is_of_server = np.array([tool.server == pair_filter.server for tool in tools], dtype=bool)
        passing &= is_of_server[scores.left] | is_of_server[scores.right]
    words = pair_filter.find.casefold().split()
    texts = [f"{t.name} {t.server} {t.description}".casefold() for t in tools] if words else []
    for word in words:
        says = np.array([word in text for text in texts], dtype=bool)
        passing &= says[scores.left] | says[scores.right]
    if pair_filter.verdict is not None:
        passing &= outcomes == pair_filter.verdict
    model = model_outcomes_of(analysis)
    if pair_filter.differing:
        passing &= (model != outcomes) & (model != "") & (model != "unanalysed")
    is_selected = np.array([tool.id in pair_filter.tools for tool in tools], dtype=np.int64)
    selected = is_selected[scores.left] + is_selected[scores.right]
    if pair_filter.only:
        passing &= selected > 0
    matches = np.flatnonzero(passing)
    probabilities = scores.family if pair_filter.verdict == "family" else scores.same_job
    strength = (matches, -scores.similarity[matches], -probabilities[matches])
    best = matches[np.lexsort((*strength, selected[matches] == 0))][:limit]
    rows = [
        replace(
            _row(analysis, row, outcomes[row].item(), tokens),
            model=model[row].item(),
            selected=int(selected[row]),
        )
        for row in best.tolist()
    ]
    return PairList(rows=tuple(rows), matching=len(matches), total=len(scores))


@dataclass(frozen=True, slots=True)
class PairCounts:
    """How many candidate pairs have each verdict of the offline judge.

    ``siblings`` are pairs of related tools that stay separate, so that an agent has to tell them
    apart.
    """

    merge: int
    family: int
    unsure: int
    keep: int
    siblings: int

    @property
    def total(self) -> int:
        return self.merge + self.family + self.unsure + self.keep


@dataclass(frozen=True, slots=True)
class Closest:
    """The names of the two most similar tools in a catalog, and their cosine."""

    left: str
    right: str
    similarity: float


@kept(limit=LISTS_KEPT)
def matching(snapshot: Snapshot, pair_filter: PairFilter) -> PairList:
    """The strongest candidate pairs that pass the filter. The last few lists are cached."""
    return pair_list(snapshot.analysis, pair_filter, snapshot.tokens)


@kept()
def pair_counts(analysis: Analysis) -> PairCounts:
    """How many candidate pairs of an analysis have each verdict. ``siblings`` also count in
    ``keep``.
    """
    outcomes = outcomes_of(analysis)
    number = Counter(outcomes.tolist())
    related = (outcomes == "keep") & (analysis.scores.similarity >= RELATED_FROM)
    return PairCounts(
        merge=number["merge"],
        family=number["family"],
        unsure=number["unsure"],
        keep=number["keep"],
        siblings=int(related.sum()),
    )


def closest(analysis: Analysis) -> Closest | None:
    """The two most similar tools; ``None`` if there is only one tool."""
    tools, scores = analysis.catalog.tools, analysis.scores
    near = scores if len(scores) else nearest(analysis.vectors, 1, -1.0)
    if not len(near):
        return None
    row = int(near.similarity.argmax())
    one, other = sorted((tools[near.left[row]], tools[near.right[row]]), key=lambda tool: tool.id)
    return Closest(one.name, other.name, float(near.similarity[row]))


def _row(analysis: Analysis, row: int, verdict: PairOutcome, tokens: Mapping[str, int]) -> PairRow:
    scores = analysis.scores
    rows = int(scores.left[row]), int(scores.right[row])
    left, right = (analysis.catalog.tools[one] for one in rows)
    similarity, same_job, family = (
        float(column[row]) for column in (scores.similarity, scores.same_job, scores.family)
    )
    compared = analysis.judge.comparison(*rows, similarity, (same_job, family), brief=True)
    return PairRow(
        same_job=same_job,
        family=family,
        similarity=similarity,
        verdict=verdict,
        relation=RELATIONS[compared.relation],
        differs=differs_of(compared.unshared),
        selected=0,
        left=left.name,
        left_server=left.server,
        left_tokens=tokens[left.id],
        right=right.name,
        right_server=right.server,
        right_tokens=tokens[right.id],
        left_id=left.id,
        right_id=right.id,
    )


def outcomes_of(analysis: Analysis) -> NDArray[np.str_]:
    """The offline judge's verdict on every candidate pair, derived from the probabilities."""
    scores, weights = analysis.scores, analysis.judge.weights
    below = np.where(scores.same_job >= weights.unsure_at, "unsure", "keep")
    single = np.where(scores.family >= weights.family_at, "family", below)
    return np.asarray(np.where(scores.same_job >= weights.merge_at, "merge", single))


def model_outcomes_of(analysis: Analysis) -> NDArray[np.str_]:
    """The model's verdict on every candidate pair; empty for a pair about which
    it was not asked.
    """
    scores, rows, count = analysis.scores, analysis.rows, len(analysis.catalog.tools)
    outcomes = np.full(len(scores), "", dtype="U10")
    verdicts = analysis.model_verdicts.verdicts if analysis.model_verdicts else {}
    if verdicts:
        ends = np.array([sorted((rows[p.left], rows[p.right])) for p in verdicts], dtype=np.int64)
        keys = scores.left.astype(np.int64) * count + scores.right
        outcomes[np.searchsorted(keys, ends[:, 0] * count + ends[:, 1])] = [
            verdict.outcome for verdict in verdicts.values()
        ]
    return outcomes
