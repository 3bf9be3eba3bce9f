"""Families: the same operation for several providers or fixed values, one varying selector each.

They are formed from what same-job clusters leave. No member could serve another's callers, since
what differs is in no argument; a gateway with a selector could stand for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

from toolscope_core.judging.phrasing import renamed, unshared
from toolscope_core.merging.contracted_graph import RowGraph, RowJudge, weakest_of_rows
from toolscope_core.merging.correction import correct
from toolscope_core.model.cluster import Group
from toolscope_core.model.decision import Constraints
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool
from toolscope_core.wording.reading import ToolReading, read_tool
from toolscope_core.wording.words import words_of


def family_groups(
    graph: RowGraph,
    judge: RowJudge,
    family_at: float,
    constraints: Constraints,
    tools: Mapping[str, Tool],
    stands: Callable[[Pair], bool] = lambda pair: False,
) -> tuple[Group, ...]:
    """Groups of two or more tools in which every two are a family and one selector varies, sorted.

    ``judge`` gives the probability of a family; at least ``family_at`` counts. Tools of which every
    two ``stands`` for are a family whatever they are called. Of the constraints only *never merge*
    matters: the graph holds nothing that people put together.
    """
    apart = Constraints(cannot=constraints.cannot)
    rows = {tool: row for row, tool in enumerate(graph.ids)}
    parts = [
        part
        for group in correct(graph, judge, family_at, apart)
        for part in _by_selector([tools[member] for member in group.members], stands)
    ]
    weakest = weakest_of_rows([[rows[tool] for tool in part] for part in parts], judge)
    families = (Group(*own, family=True) for own in zip(parts, weakest, strict=True))
    return tuple(sorted(families, key=lambda group: group.members))


def own_words(readings: Sequence[ToolReading]) -> list[tuple[str, ...]]:
    """For each of the tools the words of its name that no other name says, then those of its text
    that none of the others says at all.
    """
    return reduce(_Compared.beside, readings, _Compared()).own_words()


@dataclass(frozen=True, slots=True)
class _Compared:
    """Tools beside each other: of each the ``name_words`` that no other name says, and of
    ``all_words`` those that none of the others says. One more is compared with each of them once.
    """

    readings: tuple[ToolReading, ...] = ()
    name_words: tuple[frozenset[str], ...] = ()
    all_words: tuple[frozenset[str], ...] = ()

    def beside(self, reading: ToolReading) -> _Compared:
        """These and one more."""
        names = [renamed(one, reading) for one in self.readings]
        words = [(unshared(one, reading), unshared(reading, one)) for one in self.readings]
        return _Compared(
            (*self.readings, reading),
            _narrowed(self.name_words, frozenset(reading.named), names),
            _narrowed(self.all_words, frozenset(reading.words), words),
        )

    def own_words(self) -> list[tuple[str, ...]]:
        each = zip(self.readings, self.name_words, self.all_words, strict=True)
        return [tuple([word for word in one.words if word in a or word in b]) for one, a, b in each]


def _narrowed(
    words: Sequence[frozenset[str]],
    added: frozenset[str],
    pairs: Sequence[tuple[tuple[str, ...], tuple[str, ...]]],
) -> tuple[frozenset[str], ...]:
    """The words of each that the one added does not say, then its own that none of them says."""
    kept = [own.intersection(ours) for own, (ours, _) in zip(words, pairs, strict=True)]
    return (*kept, added.intersection(*(theirs for _, theirs in pairs)))


def _by_selector(members: Sequence[Tool], stands: Callable[[Pair], bool]) -> list[tuple[str, ...]]:
    """The ids of what stays together where each member needs words, or a server, of its own: a
    tool that differs from the others in another selector begins a group of its own.
    """
    groups: list[_Compared] = []
    for tool in members:
        reading = read_tool(tool)
        for at, group in enumerate(groups):
            wider = group.beside(reading)
            pairs = combinations([one.tool.id for one in wider.readings], 2)
            if all(stands(Pair.of(a, b)) for a, b in pairs) or _have_values(wider):
                groups[at] = wider
                break
        else:
            groups.append(_Compared().beside(reading))
    several = (group.readings for group in groups if len(group.readings) > 1)
    return [tuple(one.tool.id for one in readings) for readings in several]


def _have_values(compared: _Compared) -> bool:
    readings, words = compared.readings, compared.own_words()
    named = [
        [word for word in own if word in one.named]
        for own, one in zip(words, readings, strict=True)
    ]
    by_server = len({one.tool.server for one in readings}) == len(readings)
    if by_server and len({_without_server(one) for one in readings}) == 1:
        return True
    if all(named):
        return len(readings) < 3 or not _vary_otherwise(readings, words)
    if any(named) and len(readings) > 2:
        return False
    return all(words) or by_server


def _without_server(reading: ToolReading) -> frozenset[str]:
    """The words of a name that are not its server's: *who am I*, of ``gmail/Gmail_WhoAmI``."""
    return frozenset(reading.named) - set(words_of(reading.tool.server))


def _vary_otherwise(readings: Sequence[ToolReading], words: Sequence[Sequence[str]]) -> bool:
    """Whether some, but not all, say a name word in another selector: *price*, beside *stock*."""
    names = [frozenset(one.named) for one in readings]
    common = frozenset.intersection(*names)
    return any(name - common - set(own) for name, own in zip(names, words, strict=True))
