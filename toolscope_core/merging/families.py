"""Families: the same operation for several providers or fixed values, one varying selector each.

They are formed from what same-job clusters leave. No member could serve another's callers, since
what differs is in no argument; a gateway with a selector could stand for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from toolscope_core.judging.phrasing import unshared
from toolscope_core.judging.reading import ToolReading, read_tool
from toolscope_core.merging.contracted_graph import RowGraph, RowJudge, weakest_of_rows
from toolscope_core.merging.correction import correct
from toolscope_core.model.cluster import Group
from toolscope_core.model.decision import Constraints
from toolscope_core.model.tool import Tool


def family_groups(
    graph: RowGraph,
    judge: RowJudge,
    family_at: float,
    constraints: Constraints,
    tools: Mapping[str, Tool],
) -> tuple[Group, ...]:
    """Groups of two or more tools in which every two are a family and one selector varies, sorted.

    ``judge`` gives the probability of a family; at least ``family_at`` counts. Of the constraints
    only *never merge* matters: the graph holds nothing that people put together.
    """
    apart = Constraints(cannot=constraints.cannot)
    rows = {tool: row for row, tool in enumerate(graph.ids)}
    parts = []
    for group in correct(graph, judge, family_at, apart):
        parts += [
            replace(
                group,
                members=part,
                weakest_edge=weakest_of_rows([rows[tool] for tool in part], judge),
                split=False,
                intransitive=False,
                family=True,
            )
            for part in _by_selector([tools[member] for member in group.members])
        ]
    return tuple(sorted(parts, key=lambda group: group.members))


def own_words(readings: Sequence[ToolReading]) -> list[tuple[str, ...]]:
    """For each of the tools the words that none of the others says, those of its name first."""
    own = []
    for at, one in enumerate(readings):
        others = [other for place, other in enumerate(readings) if place != at]
        left = set(one.words).intersection(*(unshared(one, other) for other in others))
        own.append(tuple(word for word in one.words if word in left))
    return own


def _by_selector(members: Sequence[Tool]) -> list[tuple[str, ...]]:
    """The ids of what stays together where each member needs words, or a server, of its own: a
    tool that differs from the others in another selector begins a group of its own.
    """
    groups: list[list[Tool]] = []
    for tool in members:
        for group in groups:
            if _have_values([*group, tool]):
                group.append(tool)
                break
        else:
            groups.append([tool])
    return [tuple(tool.id for tool in group) for group in groups if len(group) > 1]


def _have_values(tools: Sequence[Tool]) -> bool:
    readings = [read_tool(tool) for tool in tools]
    words = own_words(readings)
    named = [
        [word for word in own if word in one.named]
        for own, one in zip(words, readings, strict=True)
    ]
    if all(named):
        return len(tools) < 3 or not _vary_otherwise(readings, words)
    if any(named) and len(tools) > 2:
        return False
    return all(words) or len({tool.server for tool in tools}) == len(tools)


def _vary_otherwise(readings: Sequence[ToolReading], words: Sequence[Sequence[str]]) -> bool:
    """Whether some, but not all, say a name word in another selector: *price*, beside *stock*."""
    names = [frozenset(one.named) for one in readings]
    common = frozenset.intersection(*names)
    return any(name - common - set(own) for name, own in zip(names, words, strict=True))
