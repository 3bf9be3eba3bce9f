"""What an agent did with several toolsets, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from toolscope_core.evaluation.agent.agent_loop import Episode
from toolscope_core.evaluation.intervals import Interval, interval, paired_p
from toolscope_core.evaluation.metrics import Gold, recall
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.evaluation.selection import is_correct
from toolscope_core.model.tool import JsonObject

FAILED = ("error", "no tool")


@dataclass(frozen=True, slots=True)
class WorkFigures:
    """How the requests went with one toolset of ``tools`` tools.

    ``correct`` is the share of requests for which exactly what is needed was called (Correct
    Selection Rate, ToolScope, eq. 6), ``served`` that of the needs for which some tool was. The
    others are means over requests: calls, those of them that failed, those of tools that serve no
    need, turns, tokens, wall-clock seconds. ``unanswered`` requests came to no answer; ``counted``
    is false where the endpoint does not report tokens, so that they are estimated.
    """

    name: str
    tools: int
    correct: Interval
    served: Interval
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
    change from the first toolset to the last, are of paired bootstraps.
    """

    queries: int
    sides: tuple[WorkFigures, ...]
    correct_p: float
    served_p: float

    def as_json(self) -> JsonObject:
        return asdict(self)


def agent_report(
    golds: Mapping[str, Sequence[Query]],
    sizes: Mapping[str, int],
    episodes: Mapping[tuple[str, str], Episode],
) -> AgentReport:
    """The report on ``episodes``, by query id and toolset. ``golds`` has for each toolset the same
    queries in the same order, with the gold answers by its own ids; ``sizes`` its number of tools.
    """
    correct: list[list[float]] = []
    served: list[list[float]] = []
    sides = []
    for name, queries in golds.items():
        work = [episodes[query.id, name] for query in queries]
        pairs = list(zip(work, (query.gold for query in queries), strict=True))
        correct.append([float(is_correct(one.chosen, gold)) for one, gold in pairs])
        served.append([recall(list(one.chosen), gold, len(one.chosen)) for one, gold in pairs])
        sides.append(_figures(name, sizes[name], correct[-1], served[-1], pairs))
    return AgentReport(
        queries=len(correct[0]),
        sides=tuple(sides),
        correct_p=paired_p(correct[0], correct[-1]),
        served_p=paired_p(served[0], served[-1]),
    )


def _figures(
    name: str,
    tools: int,
    correct: Sequence[float],
    served: Sequence[float],
    pairs: Sequence[tuple[Episode, Gold]],
) -> WorkFigures:
    work = [episode for episode, _ in pairs]
    return WorkFigures(
        name=name,
        tools=tools,
        correct=interval(correct),
        served=interval(served),
        calls=fmean(len(one.calls) for one in work),
        failed_calls=fmean(sum(call.outcome in FAILED for call in one.calls) for one in work),
        unneeded_calls=fmean(_unneeded(one, gold) for one, gold in pairs),
        turns=fmean(one.turns for one in work),
        tokens_in=fmean(one.tokens_in for one in work),
        tokens_out=fmean(one.tokens_out for one in work),
        seconds=fmean(one.seconds for one in work),
        unanswered=sum(one.ending != "answered" for one in work),
        counted=all(one.counted for one in work),
    )


def _unneeded(episode: Episode, gold: Gold) -> int:
    needed = {tool_id for need in gold for tool_id in need}
    return sum(call.tool_id not in needed for call in episode.calls)
