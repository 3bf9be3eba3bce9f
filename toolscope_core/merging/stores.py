"""Whether tools on several servers may each keep something of their own behind them.

Two entries of one file server over two folders have the same tools and different files: if one
entry's tools stood for the other's, those files would be out of reach, and a note would be written
to the wrong place. So servers of which many tools have the same names and arguments are *instances*
of one, each with a store of its own. Two packages for one product, or for what a machine has once
(its disk, its browser), reach one store, unless a person says otherwise; of all else only what a
server plainly keeps nothing for (sums, public facts) is not apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations

from toolscope_core.judging.guards import keeps_nothing, nouns_of, only_computes, only_looks
from toolscope_core.judging.products import Products, products_of
from toolscope_core.judging.reading import ToolReading, read_tool
from toolscope_core.judging.vocabulary import is_of_the_machine, keeps_things
from toolscope_core.judging.words import singular
from toolscope_core.model.tool import Tool

_FILES = frozenset("file directory folder document".split())
_PATHS = frozenset("path file filename filepath folder directory dir root pattern".split())
"""Words in the names of parameters that say which file is meant."""

_SAME_TOOLS = 0.4
"""From this share of the smaller server's tools on two servers are instances of one."""


class Stores:
    """The servers of a catalog, by whether they keep something; each is read at most once."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._every = tuple(tools)
        self._tools: dict[str, list[Tool]] = {}
        for tool in self._every:
            self._tools.setdefault(tool.owner, []).append(tool)
        self._is_store: dict[str, bool] = {}

    @cached_property
    def _products(self) -> Mapping[str, Products]:
        ids = (tool.id for tool in self._every)
        return dict(zip(ids, products_of(self._every), strict=True))

    def are_apart(self, members: Sequence[Tool]) -> bool:
        """Whether the members live on several servers, one of these may keep something, and they do
        not plainly reach one store. Tools of a server go together, *search* is of its notes where
        another tool writes them; but for those that only compute.
        """
        servers = sorted({tool.owner for tool in members})
        if len(servers) < 2 or all(map(only_computes, members)):
            return False
        if not any(map(self._may_keep, servers)):
            return False
        instances = any(self.are_instances(a, b) for a, b in combinations(servers, 2))
        return instances or not self._reach_one_store(members)

    def are_instances(self, one: str, other: str) -> bool:
        """Whether the tools of two servers are the same for another folder or account."""
        ours, theirs = ({_shape(tool) for tool in self._tools[server]} for server in (one, other))
        return len(ours & theirs) >= _SAME_TOOLS * min(len(ours), len(theirs))

    def _reach_one_store(self, members: Sequence[Tool]) -> bool:
        accounts = [self._products[tool.id].accounts for tool in members]
        if any(accounts):
            return bool(frozenset[str].intersection(*accounts))
        readings = [read_tool(tool) for tool in members]
        owned = [_owned(reading) for reading in readings]
        return (
            all(is_of_the_machine(nouns_of(reading)) for reading in readings)
            and not any(map(_has_its_own_folder, readings))
            and len(set(owned)) == 1
        )

    def _may_keep(self, server: str) -> bool:
        """Unless most of its tools plainly keep nothing, and the others only look."""
        if server not in self._is_store:
            tools = self._tools[server]
            rest = [tool for tool in tools if not keeps_nothing(tool)]
            self._is_store[server] = 2 * len(rest) >= len(tools) or not all(map(only_looks, rest))
        return self._is_store[server]


def _owned(reading: ToolReading) -> frozenset[str]:
    """What somebody keeps that the tool speaks of beside what a machine has: *in your notes*."""
    words = map(singular, reading.content)
    return frozenset(w for w in words if keeps_things([w]) and not is_of_the_machine([w]))


def _has_its_own_folder(reading: ToolReading) -> bool:
    """Whether the tool works on files and is not told which."""
    return not _FILES.isdisjoint(map(singular, nouns_of(reading))) and _PATHS.isdisjoint(
        reading.arguments or ()
    )


def _shape(tool: Tool) -> tuple[str, frozenset[str]]:
    return tool.name.casefold(), frozenset(parameter.name for parameter in tool.parameters)
