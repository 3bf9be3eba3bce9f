"""Measures how one change of a toolset, or each merge of a plan, affects requests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from toolscope_core.evaluation.comparison import (
    PLACES,
    Measurement,
    MergeEffect,
    QueryEffect,
    Trial,
)
from toolscope_core.evaluation.confusions import is_right
from toolscope_core.evaluation.intervals import Interval, discordant_p, holm, share_interval
from toolscope_core.evaluation.measured_toolsets import Ranker, Rankings, Toolset, joined_queries
from toolscope_core.evaluation.metrics import ndcg
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import Tool, digest
from toolscope_core.retrieval.assembly import ToolRequest


@dataclass(frozen=True, slots=True)
class ToolsetChange:
    """A change that replaces the tools with the ids in ``replaced`` by ``tools``.

    ``tools`` has the one tool into which they are merged, or the same tools with new descriptions.
    """

    replaced: tuple[str, ...]
    tools: tuple[Tool, ...]

    @property
    def version(self) -> str:
        """A hash of the change; equal changes have the same hash."""
        return digest(self.replaced, [(tool.id, tool.fingerprint) for tool in self.tools])

    def applied_to(self, tools: Sequence[Tool]) -> Toolset:
        """The toolset after the change, with a mapping from the old ids."""
        removed, new_ids = set(self.replaced), {tool.id for tool in self.tools}
        rest = (tool for tool in tools if tool.id not in removed)
        phi = {one: self.tools[0].id for one in self.replaced if one not in new_ids}
        return Toolset("changed", (*rest, *self.tools), phi)


@dataclass(frozen=True, slots=True)
class SearchedQueries:
    """Queries with gold answers, the requests that were searched for in ``tools``, and the
    results.
    """

    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]
    requests: tuple[ToolRequest, ...]
    rankings: Rankings

    @classmethod
    def of(cls, trial: Trial, ranker: Ranker, progress: Progress = silent) -> "SearchedQueries":
        """The queries of a trial with their results in the trial's catalog."""
        tools = trial.catalog.tools
        rankings = ranker.rankings(tools, trial.requests, PLACES, progress)
        return cls(tools, trial.queries, trial.requests, rankings)

    def touched_by(self, change: ToolsetChange) -> tuple[int, ...]:
        """The positions of the queries that need a changed tool or find one."""
        removed = set(change.replaced)
        return tuple(
            place
            for place, (query, ranking) in enumerate(zip(self.queries, self.rankings, strict=True))
            if not removed.isdisjoint(ranking) or any(need & removed for need in query.gold)
        )


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """The effect of a change on the queries that it touches.

    ``touched`` is their number; ``right`` of them were right before (``is_right``). ``won`` are
    right only afterwards, ``lost`` only before. ``joined`` counts the queries that need two of the
    tools that become one.
    """

    touched: int
    right: int
    won: tuple[Query, ...]
    lost: tuple[Query, ...]
    joined: int = 0

    @property
    def p(self) -> float:
        """The exact, uncorrected p-value of McNemar's test."""
        return discordant_p(len(self.won), len(self.lost))

    @property
    def rate(self) -> tuple[float, float, float]:
        """The share of wins among wins and losses, with its interval."""
        return share_interval([True] * len(self.won) + [False] * len(self.lost))

    @property
    def gain(self) -> int:
        """The number by which the right queries increase."""
        return len(self.won) - len(self.lost)


def change_effect(
    before: SearchedQueries, change: ToolsetChange, ranker: Ranker, progress: Progress = silent
) -> ChangeEffect:
    """The effect of one change; only the queries that it touches are searched again."""
    touched, after = before.touched_by(change), change.applied_to(before.tools)
    came = [before.queries[place] for place in touched]
    requests = [before.requests[place] for place in touched]
    rankings = ranker.rankings(after.tools, requests, PLACES, progress) if came else ()
    was = [is_right(query, before.rankings[at]) for query, at in zip(came, touched, strict=True)]
    now = map(is_right, relabelled(came, after.phi), rankings)
    moves = list(zip(came, was, now, strict=True))
    return ChangeEffect(
        touched=len(touched),
        right=sum(was),
        won=tuple(query for query, old, new in moves if new > old),
        lost=tuple(query for query, old, new in moves if new < old),
        joined=len(joined_queries(came, after)),
    )


def merges_of(toolset: Toolset) -> Iterator[ToolsetChange]:
    """The merges of a toolset, each as a separate change, in the order of ids."""
    members: dict[str, list[str]] = {}
    for old, new in sorted(toolset.phi.items()):
        if new is not None:
            members.setdefault(new, []).append(old)
    by_id = toolset.by_id
    for new, old_ids in sorted(members.items()):
        if len(old_ids) > 1:
            yield ToolsetChange(tuple(old_ids), (by_id[new],))


@dataclass(frozen=True, slots=True)
class ComparedChange:
    """The effect of one of several changes, to the tools with the ids in ``tools``.

    ``queries`` is the number of queries that it touches, and ``right_before`` how many of them were
    right before. ``won`` and ``lost`` are ids of queries. ``joined`` is how many queries need two
    tools that become one. ``p`` is the p-value, ``p_holm`` the p-value after Holm's correction over
    all changes, and ``rate`` the share of wins.
    """

    tools: tuple[str, ...]
    queries: int
    right_before: int
    won: tuple[str, ...]
    lost: tuple[str, ...]
    joined: int
    p: float
    p_holm: float
    rate: Interval


def compared_changes(
    before: SearchedQueries,
    changes: Sequence[ToolsetChange],
    ranker: Ranker,
    progress: Progress = silent,
) -> tuple[ComparedChange, ...]:
    """The effect of each change alone, the change with the most losses first.

    Reports ``Step("merges", …)`` in changes.
    """
    effects = []
    for number, change in enumerate(changes):
        progress(Step("merges", number, len(changes)))
        effects.append(change_effect(before, change, ranker))
    corrected = holm([effect.p for effect in effects])
    rows = [
        ComparedChange(
            tools=change.replaced,
            queries=effect.touched,
            right_before=effect.right,
            won=tuple(query.id for query in effect.won),
            lost=tuple(query.id for query in effect.lost),
            joined=effect.joined,
            p=effect.p,
            p_holm=p_holm,
            rate=Interval(*effect.rate),
        )
        for change, effect, p_holm in zip(changes, effects, corrected, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (len(row.won) - len(row.lost), row.tools)))


def merge_effects(
    plan: MergePlan,
    trial: Trial,
    before: Measurement,
    after: Measurement,
    ranker: Ranker,
    progress: Progress = silent,
) -> tuple[MergeEffect, ...]:
    """The effect of every merge in a plan that touches a query, the most harmful merge first.

    ``before`` measures the plan's catalog, ``after`` its export. To test a merge, the merged tool
    is replaced by its members; everything else, including names, stays the same. Reports
    ``Step("merges", …)`` in merges.
    """
    merges = [item for item in plan.tools if len(item.members) > 1]
    effects = []
    for number, merge in enumerate(merges):
        progress(Step("merges", number, len(merges)))
        if touched := _touched(merge, trial, before, after):
            effects.append(_effect(before.toolset, merge, touched, trial, after, ranker))
    progress(Step("merges", len(merges), len(merges)))
    return tuple(sorted(effects, key=lambda one: (one.change, one.tool)))


def without_merge(toolset: Toolset, came: Toolset, merge: MergedTool) -> Toolset:
    """The toolset with one merged tool replaced by its members, taken from ``came``."""
    members, old = set(merge.members), came.by_id
    return replace(
        toolset,
        tools=(
            *(tool for tool in toolset.tools if tool.id != merge.tool.id),
            *(old[one] for one in merge.members),
        ),
        phi={one: new for one, new in toolset.phi.items() if one not in members},
        arguments={one: a for one, a in toolset.arguments.items() if one not in members},
    )


def _touched(merge: MergedTool, trial: Trial, before: Measurement, after: Measurement) -> list[int]:
    members = set(merge.members)
    return [
        place
        for place, query in enumerate(trial.queries)
        if any(not members.isdisjoint(need) for need in query.gold)
        or not members.isdisjoint(before.rankings[place])
        or merge.tool.id in after.rankings[place]
    ]


def _effect(
    came: Toolset,
    merge: MergedTool,
    touched: Sequence[int],
    trial: Trial,
    after: Measurement,
    ranker: Ranker,
) -> MergeEffect:
    toolset, k = without_merge(after.toolset, came, merge), max(trial.cutoffs)
    rankings = ranker.rankings(toolset.tools, [trial.requests[place] for place in touched], k)
    golds = [one.gold for one in relabelled([trial.queries[at] for at in touched], toolset.phi)]
    members = set(merge.members)
    queries = tuple(
        QueryEffect(
            trial.queries[at].id,
            ndcg(ranking, gold, k),
            ndcg(after.rankings[at], after.golds[at], k),
        )
        for at, ranking, gold in zip(touched, rankings, golds, strict=True)
    )
    gains = [one.ndcg_with - one.ndcg_without for one in queries]
    return MergeEffect(
        tool=merge.tool.id,
        members=merge.members,
        change=round(sum(gains), 6),
        helped=sum(gain > 0 for gain in gains),
        hurt=sum(gain < 0 for gain in gains),
        queries=tuple(
            replace(one, ndcg_without=round(one.ndcg_without, 6), ndcg_with=round(one.ndcg_with, 6))
            for one in queries
        ),
        joins=tuple(
            trial.queries[at].id
            for at in touched
            if sum(not members.isdisjoint(need) for need in trial.queries[at].gold) > 1
        ),
    )
