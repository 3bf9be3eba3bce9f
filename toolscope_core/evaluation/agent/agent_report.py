"""What an agent did with several toolsets, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from toolscope_core.evaluation.agent.agent_loop import Episode
from toolscope_core.evaluation.intervals import Interval, interval, paired_p
from toolscope_core.evaluation.metrics import recall
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.selection import is_correct
from toolscope_core.model.tool import JsonObject

FAILED = ("error", "no tool")


@dataclass(frozen=True, slots=True)
class WorkFigures:
    """How the requests went with one toolset of ``tools`` tools.

    ``correct`` is the share of requests for which exactly what is needed was called (Correct
    Selection Rate, ToolScope, eq. 6), ``served`` that of the needs for which a call succeeded. Of
    the answers so many were ``right`` and ``wrong``; the others were not graded. What follows are
    means over requests: calls, those of them that failed, those of tools that serve no need and are
    not allowed, turns, tokens, wall-clock seconds. ``unanswered`` requests came to no answer;
    ``counted`` is false where the endpoint does not report tokens, so that they are estimated.
    """

    name: str
    tools: int
    correct: Interval
    served: Interval
    right: int
    wrong: int
    calls: float
    failed_calls: float
    unneeded_calls: float
    turns: float
    tokens_in: float
    tokens_out: float
    seconds: float
    unanswered: int
    counted: bool


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The figures of each toolset on the same requests, in the order given; the two p-values, of no
    change from the first toolset to the last, are of paired bootstraps (``None`` of one toolset).
    """

    queries: int
    sides: tuple[WorkFigures, ...]
    correct_p: float | None
    served_p: float | None

    def as_json(self) -> JsonObject:
        return asdict(self)


def agent_report(
    golds: Mapping[str, Sequence[Query]],
    sizes: Mapping[str, int],
    episodes: Mapping[tuple[str, str], Episode],
) -> AgentReport:
    """The report on ``episodes``, by query id and toolset. ``golds`` has for each toolset the same
    queries in the same order, with the originals that serve each need; ``sizes`` its number of
    tools.
    """
    correct: list[list[float]] = []
    served: list[list[float]] = []
    sides = []
    for name, queries in golds.items():
        pairs = [(episodes[query.id, name], query) for query in queries]
        correct.append([float(chose_right(*pair)) for pair in pairs])
        served.append([_served(*pair) for pair in pairs])
        sides.append(_figures(name, sizes[name], correct[-1], served[-1], pairs))
    return AgentReport(
        queries=len(correct[0]),
        sides=tuple(sides),
        correct_p=paired_p(correct[0], correct[-1]) if len(sides) > 1 else None,
        served_p=paired_p(served[0], served[-1]) if len(sides) > 1 else None,
    )


def chose_right(episode: Episode, query: Query) -> bool:
    """Whether exactly what is needed was called, and succeeded or was only noted; allowed tools
    aside.
    """
    needed = frozenset().union(*query.gold)
    chosen = {
        call.tool_id
        for call in episode.calls
        if call.tool_id in needed and call.outcome not in FAILED
    }
    return not _unneeded(episode, query) and is_correct(frozenset(chosen), query.gold)


def _served(episode: Episode, query: Query) -> float:
    """The share of needs that a call which succeeded serves."""
    done = list({call.tool_id for call in episode.calls if call.outcome == "ok"})
    return recall(done, query.gold, len(done))


def _figures(
    name: str,
    tools: int,
    correct: Sequence[float],
    served: Sequence[float],
    pairs: Sequence[tuple[Episode, Query]],
) -> WorkFigures:
    work = [episode for episode, _ in pairs]
    return WorkFigures(
        name=name,
        tools=tools,
        correct=interval(correct),
        served=interval(served),
        right=sum(one.grade == "right" for one in work),
        wrong=sum(one.grade == "wrong" for one in work),
        calls=fmean(len(one.calls) for one in work),
        failed_calls=fmean(sum(call.outcome in FAILED for call in one.calls) for one in work),
        unneeded_calls=fmean(_unneeded(*pair) for pair in pairs),
        turns=fmean(one.turns for one in work),
        tokens_in=fmean(one.tokens_in for one in work),
        tokens_out=fmean(one.tokens_out for one in work),
        seconds=fmean(one.seconds for one in work),
        unanswered=sum(one.ending != "answered" for one in work),
        counted=all(one.counted for one in work),
    )


def _unneeded(episode: Episode, query: Query) -> int:
    """How many calls were of tools that serve no need and are not allowed; what there is none of
    is no tool.
    """
    fine = query.allowed.union({""}, *query.gold)
    return sum(call.tool_id not in fine for call in episode.calls)
