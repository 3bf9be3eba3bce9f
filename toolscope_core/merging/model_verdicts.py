"""A model's answers about a catalog beside the offline judge's: verdicts, audits, texts and grades.

A model alone changes nothing. Its verdicts decide which tools are proposed together. Before
anything is accepted without a person, ``doubts`` compares it with the offline judge.
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
"""The offline judge's probabilities for pairs, in the order of the pairs.

They are probabilities of the same job, or of a family where that is the question.
"""

_JUST_BELOW = 0.001
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Bars:
    """The probabilities at which the offline judge's verdicts begin.

    ``unsure_at``, ``merge_at`` and ``auto_at`` (for accepting without a person) are probabilities
    of the same job; ``family_at`` is a probability of a family.
    """

    unsure_at: float
    merge_at: float
    auto_at: float
    family_at: float = 0.5


@dataclass(frozen=True, slots=True)
class Audit:
    """A model's answer about a cluster.

    ``groups`` divide its ``members`` (ids, sorted) into tools that do one job, or into the cases of
    a ``family``. If there are no groups, the answer was unusable, and ``reason`` says why; the
    cluster then stays unchanged.
    """

    members: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...] = ()
    reason: str = ""
    family: bool = False


@dataclass(frozen=True, slots=True)
class DocumentationGrade:
    """The documentation grade of a tool, from 1 to 5, and the aspects in which its documentation
    lacks something.
    """

    score: int
    lacking: tuple[str, ...] = ()
    reason: str = ""

    @property
    def band(self) -> Band:
        """The band of the score, as in ToolScope (appendix E)."""
        return "Low" if self.score < 3 else "Medium" if self.score == 3 else "High"


@dataclass(frozen=True, slots=True)
class SkippedPairs:
    """How many questions were not needed.

    ``sure`` counts the pairs that the offline judge surely keeps apart (*keep*), ``implied`` the
    pairs that the model's merges already decide, and ``clusters`` the clusters that needed no
    audit.
    """

    sure: int = 0
    implied: int = 0
    clusters: int = 0


@dataclass(frozen=True)
class ModelVerdicts:
    """All answers of ``judge`` (a model at an origin) about a catalog.

    ``verdicts`` include *unanalysed* ones, whose evidence is the reason. No tool is in two
    ``audits`` of the same kind. ``documents`` maps member ids to the model's changes to the offline
    document, and ``refused`` maps them to sentences that say why changes are not used. ``notes``
    lists, for each tool id, what was left out of the prompt. ``suspicious_ids`` are the tools whose
    text addresses models. ``message`` says why questions are still open, if any are.
    ``configuration`` is what decided the questions; it contains no key.
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
        """The audits whose answer was unusable."""
        return tuple(audit for audit in self.audits if not audit.groups)

    def edges(
        self,
        offline: Mapping[Pair, float],
        bars: Bars,
        least: float = -1.0,
        far: frozenset[Pair] = frozenset(),
    ) -> dict[Pair, float]:
        """The edges of the merge graph.

        These are the model's merges, the ``offline`` edges of pairs that the model was not asked
        about, and the pairs of connected tools that an audit put together. ``least`` is the lowest
        cosine of a candidate pair; pairs in ``far`` are candidates whatever their cosine.
        """
        return self._edges("merge", offline, bars.merge_at, least, far)

    def families(
        self,
        offline: Mapping[Pair, float],
        bars: Bars,
        least: float = -1.0,
        far: frozenset[Pair] = frozenset(),
    ) -> dict[Pair, float]:
        """The family edges, with their probabilities.

        These are the model's families, the ``offline`` edges of pairs that the model was not asked
        about, and the pairs that a family audit put together. ``least`` and ``far`` are as in
        ``edges``.
        """
        return self._edges("family", offline, bars.family_at, least, far)

    def probabilities(
        self, pairs: Sequence[Pair], offline: Probabilities, bars: Bars
    ) -> NDArray[np.float64]:
        """The probabilities of the same job that correction uses.

        An audit overrides a verdict, and a verdict overrides the offline judge. The probability of
        a *merge* is at least ``bars.merge_at``, and that of any other verdict is below it. Two
        tools in different groups of an audit get 0.
        """
        return self._answers("merge", pairs, offline, bars.merge_at)

    def family_probabilities(
        self, pairs: Sequence[Pair], offline: Probabilities, bars: Bars
    ) -> NDArray[np.float64]:
        """The probabilities of a family, found in the same way; ``offline`` gives those of the
        offline judge.

        The probability of a *family* is at least ``bars.family_at``, and that of any other verdict
        is below it. Two tools get 0 if an audit put them together as one job, or into different
        families.
        """
        return self._answers("family", pairs, offline, bars.family_at)

    def doubts(self, members: Sequence[str], offline: Probabilities, bars: Bars) -> tuple[str, ...]:
        """Sentences that say why a cluster based on the model must wait for a person.

        Empty if there is no objection (see ``auto_accept._check_doubts``).
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

        If the verdicts say that some members serve all the others, directly or through each other,
        all the remaining members are unfit. Otherwise, a member is unfit if a verdict denies that
        it serves another. In a merge below ``sure_at``, neither tool serves the other, and a pair
        that was not asked about says nothing. ``copies`` (each tool → the first tool with equal
        content) serve each other.
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
        import networkx as nx  # this import takes longer than the rest of a small merge

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
        """The edges of one verdict, *merge* or *family*.

        Those from the model have at least the probability ``at``.
        """
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
        """The probabilities of one verdict, *merge* or *family*.

        A probability is at least ``at`` if the model gave this verdict, and below it if the model
        gave another.
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
        """The pairs that audits of one kind put together, if edges connect the two tools."""
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
        """Whether the model says that the two tools are a family, directly or in an audit."""
        audited, verdict = self._together(pair, family=True), self.verdicts.get(pair)
        if audited is not None:
            return audited
        return verdict is not None and verdict.outcome == "family"

    def _together(self, pair: Pair, family: bool = False) -> bool | None:
        """Whether an audit of this kind put the two tools together; ``None`` if no audit contained
        both.
        """
        left, right = (self._groups.get((family, tool)) for tool in (pair.left, pair.right))
        if left is None or right is None or left[0] != right[0]:
            return None
        return left == right

    @cached_property
    def _groups(self) -> dict[tuple[bool, str], tuple[int, int]]:
        """The numbers of a tool's audit and group, by the kind of audit (family or not) and the
        tool's id.
        """
        return {
            (one.family, tool): (audit, group)
            for audit, one in enumerate(self.audits)
            for group, ids in enumerate(one.groups)
            for tool in ids
        }


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair about which the model and the offline judge disagree.

    ``gap`` is the larger of two differences between their probabilities: of the same job, and of a
    family.
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
    """The pairs with two different verdicts, except unanalysed ones.

    They are sorted by gap, widest first, and then by ids.
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
