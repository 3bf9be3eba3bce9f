"""A model's answers about a catalog alongside the offline judge: verdicts, audits, texts, grades.

A model alone changes nothing. Its verdicts decide which tools are proposed together; whatever would
be accepted without a person is compared with the offline judge in ``doubts``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.merging.auto_accept import UNCONVINCED, model_doubts
from toolscope_core.model.numbers import listed
from toolscope_core.model.pair import Pair, PairOutcome, Verdict
from toolscope_core.model.protocols import TaskCost
from toolscope_core.model.tool import JsonObject

Band = Literal["Low", "Medium", "High"]
Probabilities = Callable[[Sequence[Pair]], NDArray[np.float64]]
"""Probabilities of pairs by the offline judge, in their order: of the same job, or of a family
where that is asked for.
"""

_JUST_BELOW = 0.001
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Bars:
    """The probabilities at which the offline judge's verdicts begin.

    They are the probabilities of the same job for *unsure*, for *merge* and for accepting without a
    person, and the probability of a family for *family*.
    """

    unsure_at: float
    merge_at: float
    auto_at: float
    family_at: float = 0.5


@dataclass(frozen=True, slots=True)
class Audit:
    """A model's answer on a cluster.

    ``groups`` partition its ``members`` (ids, sorted) into tools of one job, or the cases of a
    ``family``. Without groups there is no usable answer, and ``reason`` says why; the cluster stays
    unchanged.
    """

    members: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    reason: str = ""
    family: bool = False


@dataclass(frozen=True, slots=True)
class DocumentationGrade:
    """The documentation grade of a tool, 1 to 5, and the deficient aspects."""

    score: int
    lacking: tuple[str, ...] = ()
    reason: str = ""

    @property
    def band(self) -> Band:
        """The band of the score, as in ToolScope (appendix E)."""
        return "Low" if self.score < 3 else "Medium" if self.score == 3 else "High"


@dataclass(frozen=True, slots=True)
class SkippedPairs:
    """The numbers of questions that were not needed.

    ``sure`` counts pairs that the offline judge is sure to be *keep*, ``implied`` pairs that the
    model's merges already decide, and ``clusters`` those that needed no audit.
    """

    sure: int = 0
    implied: int = 0
    clusters: int = 0


@dataclass(frozen=True)
class ModelVerdicts:
    """All answers of ``judge`` (a model at an origin) on a catalog.

    ``verdicts`` include *unanalysed* ones, with the reason as evidence. ``audits`` of one kind have
    no common member. ``documents`` maps member ids to the model's changes to the offline document;
    ``refused`` says in sentences why changes are not used. ``notes`` says for each tool id what was
    left out of the prompt. ``suspicious_ids`` are tools whose text addresses models. ``message``
    says why questions are left open, if any; ``configuration`` decided the questions (it contains
    no key).
    """

    judge: str
    verdicts: Mapping[Pair, Verdict] = field(default_factory=dict)
    audits: tuple[Audit, ...] = ()
    documents: Mapping[tuple[str, ...], JsonObject] = field(default_factory=dict)
    refused: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suspicious_ids: frozenset[str] = frozenset()
    costs: tuple[TaskCost, ...] = ()
    saved: SkippedPairs = field(default_factory=SkippedPairs)
    message: str = ""
    configuration: JsonObject = field(default_factory=dict)

    @property
    def unanalysed(self) -> dict[Pair, str]:
        """The pairs without a usable answer, each with the reason."""
        failed = {p: v for p, v in self.verdicts.items() if v.outcome == "unanalysed"}
        return {pair: " ".join(verdict.evidence) for pair, verdict in failed.items()}

    @property
    def rejected(self) -> tuple[Audit, ...]:
        """The audits with an unusable answer."""
        return tuple(audit for audit in self.audits if not audit.groups)

    def edges(
        self,
        offline: Mapping[Pair, float],
        bars: Bars,
        least: float = -1.0,
        far: frozenset[Pair] = frozenset(),
    ) -> dict[Pair, float]:
        """The edges of the merge graph.

        They are the model's merges, ``offline`` edges of unasked pairs, and pairs that an audit put
        together among connected tools. ``least`` is the cosine of a candidate pair; pairs in
        ``far`` are candidates at any cosine.
        """
        return self._edges("merge", offline, bars.merge_at, least, far)

    def families(
        self,
        offline: Mapping[Pair, float],
        bars: Bars,
        least: float = -1.0,
        far: frozenset[Pair] = frozenset(),
    ) -> dict[Pair, float]:
        """The family edges, with their probability.

        They are the model's families, ``offline`` edges of unasked pairs, and pairs that a family
        audit put together. ``least`` and ``far`` as in ``edges``.
        """
        return self._edges("family", offline, bars.family_at, least, far)

    def probabilities(
        self, pairs: Sequence[Pair], offline: Probabilities, bars: Bars
    ) -> NDArray[np.float64]:
        """Probabilities of the same job for correction: audits override verdicts, which override
        the offline judge.

        *merge* is at least ``bars.merge_at``, every other verdict is below it; two tools in
        different groups of an audit are at 0.
        """
        return self._answers("merge", pairs, offline, bars.merge_at)

    def family_probabilities(
        self, pairs: Sequence[Pair], offline: Probabilities, bars: Bars
    ) -> NDArray[np.float64]:
        """Probabilities of a family, in the same way; ``offline`` gives those of a family.

        *family* is at least ``bars.family_at``, every other verdict is below it; two that an audit
        put together as one job, or into different families, are at 0.
        """
        return self._answers("family", pairs, offline, bars.family_at)

    def doubts(self, members: Sequence[str], offline: Probabilities, bars: Bars) -> tuple[str, ...]:
        """Why a cluster based on the model must wait for a person, as sentences.

        Empty without objections (``merging.auto_accept``, *doubts*).
        """
        pairs = [Pair(a, b) for a, b in combinations(sorted(members), 2)]
        pairs_by_doubt: dict[str, list[str]] = {}
        for pair, p in zip(pairs, offline(pairs).tolist(), strict=True):
            is_suspicious = not self.suspicious_ids.isdisjoint((pair.left, pair.right))
            verdict = self.verdicts.get(pair)
            for doubt in model_doubts(self.judge, verdict, p, is_suspicious, bars.auto_at):
                names = f"{pair.left} and {pair.right}"
                odds = f" ({p:.2f})" if doubt.endswith(UNCONVINCED) else ""
                pairs_by_doubt.setdefault(doubt, []).append(names + odds)
        reasons = [
            f"{doubt}: {listed(of, _MOST_NAMED, nouns='pairs')}"
            for doubt, of in sorted(pairs_by_doubt.items())
        ]
        own = set(members)
        for audit in self.rejected:
            if own & set(audit.members):
                reasons.append(f"{self.judge} gave no usable answer on the cluster: {audit.reason}")
        return tuple(reasons)

    def unfit(
        self, members: Sequence[str], copies: Mapping[str, str], sure_at: float
    ) -> frozenset[str]:
        """The members that do not serve all the others.

        If verdicts say that some members serve all the others, directly or through each other, all
        the other members are unfit. Otherwise, those are unfit for which a verdict denies it. A
        merge below ``sure_at`` serves nobody, and an unasked pair says nothing. ``copies`` (tool →
        the first of equal content) serve each other.
        """
        serves: dict[tuple[str, str], bool] = {}
        for pair in (Pair(a, b) for a, b in combinations(sorted(members), 2)):
            verdict = self.verdicts.get(pair)
            if copies.get(pair.left, pair.left) == copies.get(pair.right, pair.right):
                serves |= {(pair.left, pair.right): True, (pair.right, pair.left): True}
            elif verdict is not None and verdict.outcome not in ("unanalysed", "unsure"):
                side = verdict.serves if verdict.same_job >= sure_at else "none"
                serves[pair.left, pair.right] = side in ("left", "both")
                serves[pair.right, pair.left] = side in ("right", "both")
        not_serving = frozenset(tool for (tool, _), does in serves.items() if not does)
        import networkx as nx  # takes longer than the rest of a small merge

        arrows = nx.DiGraph([ends for ends, does in serves.items() if does])
        whole = {
            tool
            for tool in arrows
            if tool not in not_serving and len(nx.descendants(arrows, tool)) == len(members) - 1
        }
        return frozenset(members) - whole if whole else not_serving

    def _edges(
        self,
        outcome: PairOutcome,
        offline: Mapping[Pair, float],
        at: float,
        least: float,
        far: frozenset[Pair],
    ) -> dict[Pair, float]:
        """The edges of one verdict, *merge* or *family*, each with at least a bar's probability."""
        edges = {pair: p for pair, p in offline.items() if pair not in self.verdicts}
        edges |= {
            pair: max(_probability(verdict, outcome), at)
            for pair, verdict in self.verdicts.items()
            if verdict.outcome == outcome and (verdict.similarity >= least or pair in far)
        }
        return dict(sorted({**self._audited(edges, at, outcome == "family"), **edges}.items()))

    def _answers(
        self, outcome: PairOutcome, pairs: Sequence[Pair], offline: Probabilities, at: float
    ) -> NDArray[np.float64]:
        """Probabilities of one verdict, *merge* or *family*: at least at a bar if the model says
        so, or else below.
        """
        family, values = outcome == "family", offline(pairs).copy()
        for row, pair in enumerate(pairs):
            audited, verdict = self._together(pair, family), self.verdicts.get(pair)
            if verdict is not None and verdict.outcome == outcome:
                values[row] = max(_probability(verdict, outcome), at)
            elif verdict is not None:
                analysed = verdict.outcome != "unanalysed"
                below = _probability(verdict, outcome) if analysed else values[row]
                values[row] = min(below, at - _JUST_BELOW)
            if audited is False or (family and self._together(pair)):
                values[row] = 0.0
            elif audited:
                values[row] = max(values[row], at)
        return values

    def _audited(self, edges: Mapping[Pair, float], at: float, family: bool) -> dict[Pair, float]:
        """The pairs put together by audits of a kind, among tools connected by edges."""
        import networkx as nx

        parts = nx.connected_components(nx.Graph([(pair.left, pair.right) for pair in edges]))
        part_of = {tool: number for number, part in enumerate(parts) for tool in part}
        return {
            Pair(a, b): at
            for audit in self.audits
            for group in audit.groups
            for a, b in combinations(group, 2)
            if audit.family == family and a in part_of and part_of[a] == part_of.get(b)
        }

    def is_family(self, pair: Pair) -> bool:
        """Whether the model says that the two are a family, directly or in an audit."""
        audited, verdict = self._together(pair, family=True), self.verdicts.get(pair)
        if audited is not None:
            return audited
        return verdict is not None and verdict.outcome == "family"

    def _together(self, pair: Pair, family: bool = False) -> bool | None:
        """Whether an audit of this kind put the two together; ``None`` if none had both."""
        left, right = (self._groups.get((family, tool)) for tool in (pair.left, pair.right))
        if left is None or right is None or left[0] != right[0]:
            return None
        return left == right

    @cached_property
    def _groups(self) -> dict[tuple[bool, str], tuple[int, int]]:
        """Kind of the audit and tool id → which audit, and which group of it."""
        return {
            (one.family, tool): (audit, group)
            for audit, one in enumerate(self.audits)
            for group, ids in enumerate(one.groups)
            for tool in ids
        }


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair on which the model and the offline judge differ.

    ``gap`` is the larger distance of their probabilities of the same job or of a family.
    """

    pair: Pair
    offline: Verdict
    model: Verdict

    @property
    def gap(self) -> float:
        one, other = self.offline, self.model
        return max(abs(one.same_job - other.same_job), abs(one.family - other.family))


def disagreements(
    model_verdicts: ModelVerdicts, offline: Callable[[Sequence[Pair]], Sequence[Verdict]]
) -> tuple[Disagreement, ...]:
    """The pairs with two different verdicts, widest gap first, then by ids, without unanalysed
    ones.
    """
    pairs = sorted(p for p, v in model_verdicts.verdicts.items() if v.outcome != "unanalysed")
    differing = (
        Disagreement(pair, verdict, model_verdicts.verdicts[pair])
        for pair, verdict in zip(pairs, offline(pairs), strict=True)
        if verdict.outcome != model_verdicts.verdicts[pair].outcome
    )
    return tuple(sorted(differing, key=lambda one: (-one.gap, one.pair)))


def _probability(verdict: Verdict, outcome: PairOutcome) -> float:
    return verdict.family if outcome == "family" else verdict.same_job
