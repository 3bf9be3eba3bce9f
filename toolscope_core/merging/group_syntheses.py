"""The merged tools of sets of tools and the objections to them, each computed only once.

A decision on one cluster leaves thousands of other clusters unchanged.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cached_property, partial
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from toolscope_core.catalog.tokens import Costs
from toolscope_core.files.cached_values import CachedValues
from toolscope_core.files.folders import code_version
from toolscope_core.judging.arguments.alignment import argument_map, words_apart
from toolscope_core.judging.arguments.argument_words import (
    keys_without_form,
    silent_changes,
    told_once,
)
from toolscope_core.judging.guards import (
    Companions,
    guards,
    keeps_nothing,
    nouns_of,
    only_computes,
    only_looks,
)
from toolscope_core.judging.relation_words import unmatched_reasons
from toolscope_core.merging.auto_accept import Differences, Proposal, is_clean
from toolscope_core.merging.synthesis import Keepers, Synthesis, synthesise
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import ArgumentMap, ClusterKind, Group
from toolscope_core.model.pair import Pair, Relation
from toolscope_core.model.tool import Tool, digest
from toolscope_core.model.unicode_forms import comparable_name
from toolscope_core.wording.products import Products, products_of
from toolscope_core.wording.reading import ToolReading, read_tool
from toolscope_core.wording.tool_text import split_name
from toolscope_core.wording.vocabulary import is_of_the_machine, keeps_things
from toolscope_core.wording.words import singular

_FILES = frozenset("file directory folder document".split())
_PATHS = frozenset("path file filename filepath folder directory dir root pattern".split())
"""Words in parameter names that refer to a file."""

_LENGTHS = frozenset("max maximum limit length".split())
"""Words in parameter names that refer to the size of a result."""

_LEAST_TOOLS = 2
"""The number of tools that must work on a thing before the server is said to have it."""

_MOST_CACHED = 8_000
"""The most merged tools, and sentences on their arguments, in the cache."""

_SAME_TOOLS = 0.4
"""Two servers are instances of the same server if they share this part of the
smaller one's tools.
"""


class Stores:
    """Tells whether the servers of a catalog store something; each server is
    examined at most once.
    """

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
        """Whether the members are on several servers that may have separate stores.

        The tools of a server are read together: its *search* searches its notes if another of its
        tools writes notes. Tools that only compute are ignored.
        """
        servers = sorted({tool.owner for tool in members})
        if len(servers) < 2 or all(map(only_computes, members)):
            return False
        if not any(map(self._may_keep, servers)):
            return False
        instances = any(self.are_instances(a, b) for a, b in combinations(servers, 2))
        return instances or not self._reach_one_store(members)

    def are_instances(self, one: str, other: str) -> bool:
        """Whether two servers have the same tools, each for another folder or account."""
        ours, theirs = ({_shape(tool) for tool in self._tools[server]} for server in (one, other))
        return len(ours & theirs) >= _SAME_TOOLS * min(len(ours), len(theirs))

    def share_a_product(self, one: str, other: str) -> bool:
        """Whether tools of both servers are made for the same product, one that has accounts."""
        ours, theirs = (
            frozenset[str]().union(
                *(self._products[tool.id].accounts for tool in self._tools[server])
            )
            for server in (one, other)
        )
        return not ours.isdisjoint(theirs)

    def subjects(self, owner: str) -> tuple[str, ...]:
        """The things owned by people that a server's tools work on, most frequent first."""
        counts = Counter(
            noun
            for tool in self._tools[owner]
            for noun in dict.fromkeys(read_tool(tool).nouns)
            if keeps_things([singular(noun)]) and noun not in owner.casefold()
        )
        common = [noun for noun, count in counts.items() if count >= _LEAST_TOOLS]
        return tuple(sorted(common, key=lambda noun: (-counts[noun], noun)))

    def _reach_one_store(self, members: Sequence[Tool]) -> bool:
        accounts = [self._products[tool.id].accounts for tool in members]
        if any(accounts):
            return bool(frozenset[str].intersection(*accounts))
        readings = [read_tool(tool) for tool in members]
        own_things = [_owned(reading) for reading in readings]
        return (
            all(is_of_the_machine(nouns_of(reading)) for reading in readings)
            and not any(map(_has_its_own_folder, readings))
            and len(set(own_things)) == 1
        )

    def _may_keep(self, server: str) -> bool:
        """Whether a server may store something.

        It does not if most of its tools clearly store nothing and the others only look things up.
        """
        if server not in self._is_store:
            tools = self._tools[server]
            rest = [tool for tool in tools if not keeps_nothing(tool)]
            self._is_store[server] = 2 * len(rest) >= len(tools) or not all(map(only_looks, rest))
        return self._is_store[server]


def _owned(reading: ToolReading) -> frozenset[str]:
    """The owned things that the tool mentions, except those of a machine: *in your notes*."""
    words = map(singular, reading.content)
    return frozenset(w for w in words if keeps_things([w]) and not is_of_the_machine([w]))


def _has_its_own_folder(reading: ToolReading) -> bool:
    """Whether the tool works on files without an argument that says which."""
    return not _FILES.isdisjoint(map(singular, nouns_of(reading))) and _PATHS.isdisjoint(
        reading.arguments or ()
    )


def _shape(tool: Tool) -> tuple[str, frozenset[str]]:
    return tool.name.casefold(), frozenset(parameter.name for parameter in tool.parameters)


_Members = tuple[str, ...]
_Value = TypeVar("_Value")
_SYNTHESIS = TypeAdapter(Synthesis)
_SENTENCES = TypeAdapter(tuple[str, ...])
_READ = "id name description server schema returns annotations raw implied_server".split()
"""The parts of a tool that are read, in the order in which they were declared."""


def _key(tools: Iterable[Tool], *facts: object) -> str:
    """A 128-bit hash of tools as they are written and of facts about them, as JSON values."""
    text = json.dumps([[[getattr(tool, part) for part in _READ] for tool in tools], facts])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class GroupSyntheses:
    """The merged tools of one catalog, each computed once; members are ids, sorted.

    ``keepers`` are the shares of ``Keepers``; ``costs`` are the sizes of tools before and after
    merges. ``folder`` is the root of all caches, where merged tools are kept for the next run.
    """

    def __init__(
        self,
        catalog: Catalog,
        keepers: Mapping[str, float] = MappingProxyType({}),
        folder: Path | None = None,
    ) -> None:
        self._catalog = catalog
        self.keepers = keepers
        self.costs = Costs()
        self._tools = catalog.by_id
        self._blocked = catalog.blocked
        self._companions = Companions(catalog.tools)
        self._stores = Stores(catalog.tools)
        self._contents: dict[str, Sequence[str]] = {}
        self._syntheses: dict[Hashable, Synthesis] = {}
        code = code_version("merging", "judging", "wording", "catalog", "model") if folder else ""
        self._cached = CachedValues(folder, "syntheses.json", code, _MOST_CACHED)
        self._differences: dict[tuple[_Members, str, ClusterKind, bool], Differences] = {}
        self._ids: dict[_Members, str] = {}
        self._serves_all: dict[tuple[_Members, str], bool] = {}

    def of(self, members: Sequence[str]) -> list[Tool]:
        """The tools with these ids."""
        return [self._tools[member] for member in members]

    @cached_property
    def owners(self) -> Mapping[str, set[str]]:
        """For each name, as clients compare names, the ids of the tools that have
        it in the input.
        """
        owners: dict[str, set[str]] = {}
        for tool in self._catalog.tools:
            owners.setdefault(comparable_name(tool.name), set()).add(tool.id)
        return owners

    @cached_property
    def _warned(self) -> frozenset[str]:
        return frozenset(one.tool_id for one in self._catalog.findings if one.severity == "warn")

    @cached_property
    def _described(self) -> Mapping[str, tuple[str]]:
        doubtful = {one.server for one in self._catalog.findings if one.severity != "info"}
        return {
            server.name: (server.description,)
            for server in self._catalog.servers
            if server.description.strip() and server.name not in doubtful
        }

    def _contents_of(self, owner: str) -> Sequence[str]:
        """The contents of a server: its own description, or else the things that
        its tools work on.
        """
        if owner not in self._contents:
            self._contents[owner] = self._described.get(owner) or self._stores.subjects(owner)
        return self._contents[owner]

    def cluster_id(self, members: _Members) -> str:
        """Like the function ``cluster_id``, but for ids."""
        if members not in self._ids:
            self._ids[members] = cluster_id(self.of(members))
        return self._ids[members]

    def synthesis(
        self,
        members: _Members,
        canonical: str | None,
        family: bool = False,
        kind: ClusterKind | None = None,
        unfit: frozenset[str] = frozenset(),
    ) -> Synthesis:
        """The merged tool of the members, with the canonical and the kind that people chose, if
        any.

        ``unfit`` members never represent the others. If each member may store something
        (``stores``), no canonical represents them, unless people chose a drop-in. A member with a
        blocking finding need not stay reachable.
        """
        key = members, canonical, family, kind, unfit
        if key not in self._syntheses:
            tools = self.of(members)
            all_clean = self._blocked.isdisjoint(members)
            stores = kind is None and all_clean and self._stores.are_apart(tools)
            keep_all = kind == "gateway" or stores
            self._syntheses[key] = self._read_or_made(tools, canonical, family, keep_all, unfit)
        return self._syntheses[key]

    def _read_or_made(
        self,
        tools: Sequence[Tool],
        canonical: str | None,
        family: bool,
        keep_all: bool,
        unfit: frozenset[str],
    ) -> Synthesis:
        """The merged tool from the cache, or else a new one, which is put there.

        Its key has all that ``synthesise`` reads: the tools as they are written, and facts about
        them and their servers.
        """
        facts = [
            (
                [tool.id in ids for ids in (self._blocked, self._warned, unfit)],
                self.keepers.get(tool.server, 0.0),
                self._contents_of(tool.owner) if keep_all and not family else None,
            )
            for tool in tools
        ]
        key = _key(tools, canonical, family, keep_all, facts)
        synthesis = self._read(key, _SYNTHESIS)
        if synthesis is None:
            keepers = Keepers(self.keepers, unfit, self._warned, self._contents_of)
            synthesis = synthesise(tools, self._blocked, canonical, family, keep_all, keepers)
            self._cached.add({key: asdict(synthesis)})
        return synthesis

    def _read(self, key: str, kind: TypeAdapter[_Value]) -> _Value | None:
        """The value of a key in the cache; ``None`` if there is none that can be read."""
        (value,) = self._cached.get([key])
        with suppress(ValidationError):
            return kind.validate_python(value)
        return None

    def save(self) -> None:
        """Store new merged tools. Raises ``ConfigError`` if the folder is unusable."""
        self._cached.save()

    def is_clean(self, members: _Members, unfit: frozenset[str] = frozenset()) -> bool:
        """Whether the group could be accepted without a person if its probability allowed it.

        See ``auto_accept.is_clean``.
        """
        synthesis = self.synthesis(members, None, unfit=unfit)
        blocked = not self._blocked.isdisjoint(members)
        differences = partial(self.differences, members, synthesis)
        return is_clean(Proposal(Group(members), synthesis, differences, blocked))

    def relation(self, members: _Members, synthesis: Synthesis, family: bool) -> Relation:
        """The relation between the members; *subsumes* if one serves the others, but not each of
        them serves it.
        """
        if family:
            return "family"
        if synthesis.kind == "gateway":
            return "duplicate"
        key = members, synthesis.canonical
        if key not in self._serves_all:
            canonical = self._tools[synthesis.canonical]
            back = (argument_map(canonical, tool).exact for tool in self.of(members))
            self._serves_all[key] = all(back)
        return "duplicate" if self._serves_all[key] else "subsumes"

    def differences(
        self, members: _Members, synthesis: Synthesis, one_account: bool = False
    ) -> Differences:
        """The differences that a person must read before the members become the ``synthesis``.

        ``one_account`` is true if people have said that the members' servers work on the same
        account.
        """
        key = members, synthesis.canonical, synthesis.kind, one_account
        if key not in self._differences:
            tools, canonical = self.of(members), self._tools[synthesis.canonical]
            others = [
                pair
                for pair in zip(tools, synthesis.arguments, strict=True)
                if pair[0] is not canonical
            ]
            self._differences[key] = Differences(
                arguments=self._changes(canonical, others, synthesis.kind),
                words=tuple(self._words(canonical, others)) if synthesis.kind == "drop_in" else (),
                guards=guards(
                    tools, synthesis.canonical, synthesis.kind, self._companions, one_account
                ),
                formless={
                    Pair.of(tool.id, canonical.id): names
                    for tool, alpha in others
                    if synthesis.kind == "drop_in" and self._are_startable(tool, canonical)
                    if (names := keys_without_form(tool, canonical, alpha.moves))
                },
            )
        return self._differences[key]

    def _changes(
        self, canonical: Tool, others: Sequence[tuple[Tool, ArgumentMap]], kind: ClusterKind
    ) -> tuple[str, ...]:
        """What changes in the arguments of the other tools' calls, from the cache or computed."""
        key = _key([canonical, *(tool for tool, _ in others)], kind, repr([a for _, a in others]))
        changes = self._read(key, _SENTENCES)
        if changes is not None:
            return changes
        changes = told_once(
            change
            for tool, alpha in others
            for change in (
                words_apart(tool, canonical)
                if kind == "gateway"
                else (
                    *silent_changes(tool, canonical, alpha.moves),
                    *_default_lengths(canonical, alpha),
                )
            )
        )
        self._cached.add({key: changes})
        return changes

    def _are_startable(self, tool: Tool, other: Tool) -> bool:
        """Whether both tools' servers can be started and are different programs."""
        one, two = (self._starts.get(side.server, "") for side in (tool, other))
        return bool(one and two) and one != two

    @cached_property
    def _starts(self) -> Mapping[str, str]:
        return {server.name: server.started for server in self._catalog.servers}

    def _words(self, canonical: Tool, others: Iterable[tuple[Tool, ArgumentMap]]) -> Iterator[str]:
        for tool, alpha in others:
            if tool.content_hash != canonical.content_hash:
                yield from unmatched_reasons(read_tool(canonical), read_tool(tool), alpha)


def _default_lengths(canonical: Tool, alpha: ArgumentMap) -> Iterator[str]:
    """Sentences on defaults that would shorten the results for callers of an old tool."""
    given = {move.target for move in alpha.moves} | alpha.constants.keys()
    for parameter in canonical.parameters:
        default = parameter.schema.get("default")
        is_length = not _LENGTHS.isdisjoint(split_name(parameter.name))
        if parameter.name not in given and is_length and type(default) is int and default > 0:
            yield (
                f"`{parameter.name}` of {canonical.id} defaults to {default:,}; {alpha.tool_id} "
                "has no such argument"
            )


def cluster_id(members: Iterable[Tool]) -> str:
    """12 hex digits of the hash of the members' sorted fingerprints."""
    return digest(sorted(tool.fingerprint for tool in members))[:12]
