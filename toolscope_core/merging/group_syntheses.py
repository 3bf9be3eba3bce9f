"""What sets of tools become and what speaks against it, each worked out once: a decision on one
cluster leaves the thousands of others as they are.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from types import MappingProxyType

from toolscope_core.catalog.tokens import Costs
from toolscope_core.judging.arguments.alignment import argument_map, words_apart
from toolscope_core.judging.arguments.argument_words import silent_changes
from toolscope_core.judging.guards import Companions, guards
from toolscope_core.judging.reading import read_tool
from toolscope_core.judging.unmatched_words import unmatched_reasons
from toolscope_core.merging.auto_accept import Differences, Proposal, is_clean
from toolscope_core.merging.stores import Stores
from toolscope_core.merging.synthesis import Keepers, Synthesis, synthesise
from toolscope_core.model.argument_map import ArgumentMap
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Group, Kind
from toolscope_core.model.pair import Relation
from toolscope_core.model.tool import Tool, digest
from toolscope_core.model.unicode_forms import normalise

Members = tuple[str, ...]


class GroupSyntheses:
    """For one catalog; members are ids, sorted. ``keepers`` are the shares of ``Keepers``,
    ``costs`` the sizes of tools as they are and as merges would leave them.
    """

    def __init__(
        self, catalog: Catalog, keepers: Mapping[str, float] = MappingProxyType({})
    ) -> None:
        self._catalog = catalog
        self.keepers = keepers
        self.costs = Costs()
        self._tools = catalog.by_id
        self._blocked = catalog.blocked
        self._companions = Companions(catalog.tools)
        self._stores = Stores(catalog.tools)
        self._syntheses: dict[Hashable, Synthesis] = {}
        self._differences: dict[tuple[Members, str, Kind, bool], Differences] = {}
        self._ids: dict[Members, str] = {}
        self._serves_all: dict[tuple[Members, str], bool] = {}

    def of(self, members: Sequence[str]) -> list[Tool]:
        """The tools themselves."""
        return [self._tools[member] for member in members]

    @cached_property
    def owners(self) -> Mapping[str, set[str]]:
        """Names as clients compare them → ids of the tools that came in with them."""
        owners: dict[str, set[str]] = {}
        for tool in self._catalog.tools:
            owners.setdefault(folded(tool.name), set()).add(tool.id)
        return owners

    def cluster_id(self, members: Members) -> str:
        """As the function of this name."""
        if members not in self._ids:
            self._ids[members] = cluster_id(self.of(members))
        return self._ids[members]

    def synthesis(
        self,
        members: Members,
        canonical: str | None,
        family: bool = False,
        kind: Kind | None = None,
        unfit: frozenset[str] = frozenset(),
    ) -> Synthesis:
        """What the members would become, with a canonical and a kind that people chose, if any;
        none of those ``unfit`` stands for the others.

        No canonical stands for members that may each keep something of their own (``stores``),
        unless people chose a prune; but one with a blocking finding need not stay reachable.
        """
        key = members, canonical, family, kind, unfit
        if key not in self._syntheses:
            tools = self.of(members)
            all_clean = self._blocked.isdisjoint(members)
            stores = kind is None and all_clean and self._stores.are_apart(tools)
            apart = kind == "router" or stores
            keepers = Keepers(self.keepers, unfit)
            self._syntheses[key] = synthesise(
                tools, self._blocked, canonical, family, apart, keepers
            )
        return self._syntheses[key]

    def is_clean(self, members: Members, unfit: frozenset[str] = frozenset()) -> bool:
        """Whether nothing but its probability speaks against accepting them unseen as one group:
        see ``auto_accept.is_clean``.
        """
        synthesis = self.synthesis(members, None, unfit=unfit)
        blocked = not self._blocked.isdisjoint(members)
        differences = partial(self.differences, members, synthesis)
        return is_clean(Proposal(Group(members), synthesis, differences, blocked))

    def relation(self, members: Members, synthesis: Synthesis, family: bool) -> Relation:
        """What the members are to each other: *subsumes* where one serves the others and not
        each of them it.
        """
        if family:
            return "parametric"
        if synthesis.kind == "router":
            return "duplicate"
        key = members, synthesis.canonical
        if key not in self._serves_all:
            stays = self._tools[synthesis.canonical]
            back = (argument_map(stays, tool).exact for tool in self.of(members))
            self._serves_all[key] = all(back)
        return "duplicate" if self._serves_all[key] else "subsumes"

    def differences(
        self, members: Members, synthesis: Synthesis, one_account: bool = False
    ) -> Differences:
        """What a person must read before the members become what ``synthesis`` made of them;
        ``one_account`` where people said that their servers work on one.
        """
        key = members, synthesis.canonical, synthesis.kind, one_account
        if key not in self._differences:
            tools, stays = self.of(members), self._tools[synthesis.canonical]
            moved = [
                pair
                for pair in zip(tools, synthesis.arguments, strict=True)
                if pair[0] is not stays
            ]
            self._differences[key] = Differences(
                arguments=tuple(
                    change
                    for tool, alpha in moved
                    for change in (
                        words_apart(tool, stays)
                        if synthesis.kind == "router"
                        else silent_changes(tool, stays, alpha.moves)
                    )
                ),
                words=tuple(self._words(stays, moved)) if synthesis.kind == "prune" else (),
                guards=guards(
                    tools, synthesis.canonical, synthesis.kind, self._companions, one_account
                ),
            )
        return self._differences[key]

    def _words(self, stays: Tool, moved: Iterable[tuple[Tool, ArgumentMap]]) -> Iterator[str]:
        for tool, alpha in moved:
            if tool.content_hash != stays.content_hash:
                yield from unmatched_reasons(read_tool(stays), read_tool(tool), alpha)


def cluster_id(members: Iterable[Tool]) -> str:
    """12 hex digits of the hash of the sorted member fingerprints."""
    return digest(sorted(tool.fingerprint for tool in members))[:12]


def folded(name: str) -> str:
    """A name as clients compare it."""
    if name.isascii():
        return name.lower()
    return normalise("NFKC", name).casefold()
