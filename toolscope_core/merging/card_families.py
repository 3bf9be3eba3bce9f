"""Finds families that extend beyond one proposal.

Such a family is one operation for several providers or values, some of which already have several
tools for the same job. It describes how proposals and single tools are related; it merges nothing,
and no tool leaves its proposal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import PairRows
from toolscope_core.judging.selector import own_words, selector_of
from toolscope_core.merging.analysis import Analysis, bars_of
from toolscope_core.merging.contracted_graph import RowGraph, component_of
from toolscope_core.merging.grouping import (
    family_groups,
    family_judge,
    family_rows,
    job_judge,
    named_alike,
)
from toolscope_core.merging.pair_graph import staying
from toolscope_core.model.cluster import CardFamily, Cluster
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.wording.reading import read_tool

_MembersByHead = Mapping[str, tuple[str, ...]]
"""The ids that each canonical tool represents, sorted, keyed by the canonical id."""


def card_families(
    analysis: Analysis, links: Constraints, clusters: Sequence[Cluster]
) -> tuple[CardFamily, ...]:
    """The families with at least one cluster of tools for one job, sorted.

    The canonical tools of any two members are a family, or a model says so for most pairs of their
    tools. No judge thinks that tools of two members may do one job (if the model says family, only
    the model counts), and people did not keep the members apart.
    """
    members = _members(analysis, links, clusters)
    jobs = [c.canonical for c in clusters if c.relation != "family" and c.canonical in members]
    if not jobs:
        return ()
    alike = _named_alike(analysis, links, clusters, members)
    in_alike = {head for family in alike for head in family.members}
    members = {head: tools for head, tools in members.items() if head not in in_alike}
    jobs = [job for job in jobs if job not in in_alike]
    judge = _CardJudge(analysis, members)
    graph = _graph(analysis, links, judge, jobs)
    cannot = judge.apart(links.cannot)
    families_in = partial(
        family_groups,
        judge=judge,
        family_at=bars_of(analysis).family_at,
        constraints=Constraints(cannot=cannot),
        tools=analysis.catalog.by_id,
        stands=judge.stands,
    )
    wider = {analysis.rows[head]: tools for head, tools in members.items() if len(tools) > 1}
    families = analysis.card_families.of(graph, families_in, cannot, wider)
    others = (
        _card_family(analysis, members, {one: one for one in group.members}, group.weakest_edge)
        for group in families
        if not set(jobs).isdisjoint(group.members)
    )
    return tuple(sorted((*alike, *others), key=lambda family: family.members))


def _named_alike(
    analysis: Analysis, links: Constraints, clusters: Sequence[Cluster], members: _MembersByHead
) -> list[CardFamily]:
    """The families of similarly named tools on one server, some of which are on
    cards for one job.
    """
    of_values = {one.canonical for one in clusters if one.relation == "family"}
    heads = {t: head for head, tools in members.items() if head not in of_values for t in tools}
    free = np.array([tool in heads for tool in analysis.rows])
    families, used = [], set[str]()
    for group in named_alike(analysis, links, free & analysis.judge.facts.mappable):
        by_head = {heads[tool]: tool for tool in reversed(group.members)}
        is_alone = all(len(members[head]) == 1 for head in by_head)
        if is_alone or len(by_head) < 2 or not used.isdisjoint(by_head):
            continue
        used.update(by_head)
        own = [(head, by_head[head]) for head in sorted(by_head)]
        families.append(_card_family(analysis, members, dict(own), group.weakest_edge))
    return families


def _members(analysis: Analysis, links: Constraints, clusters: Sequence[Cluster]) -> _MembersByHead:
    """Possible members: proposals with known arguments, and tools in no proposal."""
    free = dict.fromkeys(analysis.rows)
    for tool in (
        *analysis.catalog.blocked,
        *links.omitted,
        *(tool for one in clusters for tool in (*one.members, *one.newcomers)),
    ):
        free.pop(tool, None)
    mappable = analysis.judge.facts.mappable
    members = {tool: (tool,) for tool in free if mappable[analysis.rows[tool]]}
    cards = [one for one in clusters if one.kind != "looks_alike"]
    return members | {one.canonical: one.members for one in cards}


@dataclass(frozen=True, slots=True)
class _CardJudge:
    """A judge for pairs of canonical tools, by row, that asks about all the tools that they
    represent.
    """

    analysis: Analysis
    members: _MembersByHead

    def __call__(self, left: PairRows, right: PairRows) -> NDArray[np.float64]:
        ids = tuple(self.analysis.rows)
        heads = [Pair.of(ids[a], ids[b]) for a, b in zip(left, right, strict=True)]
        if not heads:
            return np.zeros(0)
        parts = [list(self._pairs(head)) for head in heads]
        begins = np.cumsum([0, *map(len, parts[:-1])])
        pairs = [pair for part in parts for pair in part]
        family, bars = family_judge(self.analysis)(pairs), bars_of(self.analysis)
        answers = np.array([self._answer(pair) for pair in pairs])
        says_family = np.add.reduceat(answers, begins) > 0
        is_settled = np.repeat(says_family, [*map(len, parts)]) & (answers == 0)
        perhaps_one_job = job_judge(self.analysis)(pairs) >= bars.unsure_at
        perhaps_one_job &= (answers <= 0) & ~is_settled
        by_model = np.maximum.reduceat(np.where(answers > 0, family, 0.0), begins)
        best = np.maximum(family_judge(self.analysis)(heads), np.where(says_family, by_model, 0.0))
        return np.where(np.logical_or.reduceat(perhaps_one_job, begins), 0.0, best)

    def stands(self, head: Pair) -> bool:
        """Whether the model calls more of the pairs between their tools a family than anything
        else.
        """
        return sum(map(self._answer, self._pairs(head))) > 0

    def _answer(self, pair: Pair) -> int:
        """1 if the model says that the two are a family, -1 for another answer, 0 for none."""
        verdicts = self.analysis.model_verdicts
        if verdicts is None:
            return 0
        return 1 if verdicts.is_family(pair) else -int(pair in verdicts.verdicts)

    def apart(self, pairs: frozenset[Pair]) -> frozenset[Pair]:
        """The canonical tools of pairs that people keep apart."""
        heads = {tool: head for head, tools in self.members.items() for tool in tools}
        sides = ((heads.get(pair.left, ""), heads.get(pair.right, "")) for pair in pairs)
        return frozenset(Pair.of(a, b) for a, b in sides if a and b and a != b)

    def _pairs(self, head: Pair) -> Iterator[Pair]:
        """The pairs of a tool from one member and a tool from the other."""
        for a, b in product(self.members[head.left], self.members[head.right]):
            yield Pair.of(a, b)


def _graph(
    analysis: Analysis, links: Constraints, judge: _CardJudge, jobs: Sequence[str]
) -> RowGraph:
    """The canonical tools of possible families, as far as a tool of ``jobs`` can be reached from
    them.
    """
    rows, ids = analysis.rows, tuple(analysis.rows)
    heads = np.full(len(ids), -1, dtype=np.int32)
    pairs = [(rows[tool], rows[head]) for head, tools in judge.members.items() for tool in tools]
    own, head_rows = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    heads[own] = head_rows
    ends = staying(analysis, links, *family_rows(analysis))[:2]
    edges = np.sort(heads[np.stack(ends, axis=1)], axis=1)
    edges = np.unique(edges[(edges[:, 0] >= 0) & (edges[:, 0] < edges[:, 1])], axis=0)
    nothing_copied = np.arange(len(ids), dtype=np.int32)
    component = component_of(RowGraph(ids, nothing_copied, *edges.T))
    near = np.isin(component, component[[rows[job] for job in jobs]])
    left, right = edges[near[edges[:, 0]]].T
    is_family = judge(left, right) >= bars_of(analysis).family_at
    return RowGraph(ids, nothing_copied, left[is_family], right[is_family])


def _card_family(
    analysis: Analysis, members: _MembersByHead, typical: Mapping[str, str], weakest_edge: float
) -> CardFamily:
    """The family of the canonical tools in ``typical``, each with the tool whose value it has."""
    tools = [analysis.catalog.by_id[tool] for tool in typical.values()]
    selector, values = selector_of(tools, own_words([read_tool(tool) for tool in tools]))
    return CardFamily(
        members=tuple(typical),
        tools=tuple(members[head] for head in typical),
        weakest_edge=round(weakest_edge, 6),
        selector=selector,
        values=values,
    )
