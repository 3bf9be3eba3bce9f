"""What one change of a toolset does to the requests that it touches: right before, right after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from toolscope_core.evaluation.comparison import Trial
from toolscope_core.evaluation.confusions import is_right
from toolscope_core.evaluation.intervals import discordant_p, holm, share_interval
from toolscope_core.evaluation.measured_toolsets import Ranker, Rankings, Toolset
from toolscope_core.evaluation.merge_effects import joined_queries
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import Tool, digest
from toolscope_core.retrieval.assembly import ToolRequest

PLACES = 10
"""A request is touched where one of the tools that change is among so many places before."""


@dataclass(frozen=True, slots=True)
class ToolsetChange:
    """The tools with the ids ``replaced`` become ``tools``: one that they are merged into, or the
    same under other descriptions.
    """

    replaced: tuple[str, ...]
    tools: tuple[Tool, ...]

    @property
    def version(self) -> str:
        """The same for equal changes."""
        return digest(self.replaced, [(tool.id, tool.fingerprint) for tool in self.tools])

    def applied_to(self, tools: Sequence[Tool]) -> Toolset:
        """The toolset after it, with the way to it from the ids of before."""
        gone, kept = set(self.replaced), {tool.id for tool in self.tools}
        rest = (tool for tool in tools if tool.id not in gone)
        phi = {one: self.tools[0].id for one in self.replaced if one not in kept}
        return Toolset("changed", (*rest, *self.tools), phi)


@dataclass(frozen=True, slots=True)
class Searched:
    """Queries with gold answers, what was searched for each in ``tools``, and what it finds."""

    tools: tuple[Tool, ...]
    queries: tuple[Query, ...]
    requests: tuple[ToolRequest, ...]
    rankings: Rankings

    @classmethod
    def of(cls, trial: Trial, ranker: Ranker, progress: Progress = silent) -> Searched:
        """What the queries of a trial find in its catalog."""
        tools = trial.catalog.tools
        rankings = ranker.rankings(tools, trial.requests, PLACES, progress)
        return cls(tools, trial.queries, trial.requests, rankings)

    def touched_by(self, change: ToolsetChange) -> tuple[int, ...]:
        """The places of the queries that need a tool which changes, or find one."""
        gone = set(change.replaced)
        return tuple(
            place
            for place, (query, ranking) in enumerate(zip(self.queries, self.rankings, strict=True))
            if not gone.isdisjoint(ranking) or any(need & gone for need in query.gold)
        )


@dataclass(frozen=True, slots=True)
class ChangeEffect:
    """What a change does to the queries that it touches, of which so many are ``right`` before it:
    those that are right after it alone, or before it alone (``is_right``). ``joined`` counts those
    that need two of the tools which become one.
    """

    touched: int
    right: int
    won: tuple[Query, ...]
    lost: tuple[Query, ...]
    joined: int = 0

    @property
    def p(self) -> float:
        """The exact p-value of McNemar's test, not corrected."""
        return discordant_p(len(self.won), len(self.lost))

    @property
    def rate(self) -> tuple[float, float, float]:
        """The share of those won in those won or lost, with its interval."""
        return share_interval([True] * len(self.won) + [False] * len(self.lost))

    @property
    def gain(self) -> int:
        """How many more are right."""
        return len(self.won) - len(self.lost)


def change_effect(
    before: Searched, change: ToolsetChange, ranker: Ranker, progress: Progress = silent
) -> ChangeEffect:
    """The effect of one change: only the queries that it touches are searched again."""
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
    """The merges that a toolset was made with, each as a change of its own, in the order of ids."""
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
    """A change with what it does; ``corrected_p`` is after Holm over all that are compared."""

    change: ToolsetChange
    effect: ChangeEffect
    corrected_p: float


def compared_changes(
    before: Searched, changes: Sequence[ToolsetChange], ranker: Ranker, progress: Progress = silent
) -> tuple[ComparedChange, ...]:
    """Each change alone, that which loses most first. Reports ``Step("merges", …)`` in changes."""
    effects = []
    for number, change in enumerate(changes):
        progress(Step("merges", number, len(changes)))
        effects.append(change_effect(before, change, ranker))
    corrected = holm([effect.p for effect in effects])
    rows = map(ComparedChange, changes, effects, corrected)
    return tuple(sorted(rows, key=lambda row: (row.effect.gain, row.change.replaced)))
