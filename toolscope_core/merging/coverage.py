"""Computes how much of one server's work another can do, and what would be lost without the server.

People decide by server. From the verdicts on the cards, this module finds which tools of a server
another server's tools can replace, with which arguments, and which tools no other server replaces.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Literal

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import Costs
from toolscope_core.decisions.constraints import constraints
from toolscope_core.judging.arguments.alignment import argument_map
from toolscope_core.judging.distinctions import object_apart
from toolscope_core.judging.guards import handles_of, returned
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.auto_accept import LEAST_OFFLINE
from toolscope_core.merging.group_syntheses import Stores
from toolscope_core.merging.pair_graph import edges_at, family_edges, unsure_pairs
from toolscope_core.model.catalog import Catalog, Server
from toolscope_core.model.cluster import ArgumentMap, Cluster
from toolscope_core.model.decision import Constraints, Decision
from toolscope_core.model.numbers import enumerated, listed, quantity
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool, canonical_json
from toolscope_core.wording.reading import read_tool
from toolscope_core.wording.words import plain_words

_Way = Literal["as it is", "mapped", "gateway", "alike"]
"""How another tool serves a tool: with the same arguments; with other argument names; with a loss,
or behind a gateway without a loss; not at all, because the tools only look alike.
"""

UNSURE = "perhaps a different job"
"""The loss if it is as likely as not that two tools do one job; for two servers that share more,
they mostly do.
"""

COVERED = 0.8
"""A server counts as covered if at least this share of its tools are served."""
_ACCOUNTS = (frozenset({"account"}), frozenset({"tenant"}))
_KEYS = frozenset({"id", "name", "email"})
_LONGEST_WORD = 40
_FEW = 3
"""Servers with fewer tools may share their names by chance."""
_BEST: Mapping[_Way, int] = {"as it is": 0, "mapped": 1, "gateway": 2, "alike": 3}


@dataclass(frozen=True, slots=True)
class CoveredTool:
    """A tool, and the other server's tool that comes nearest to doing its job.

    ``arguments`` are the arguments of its calls that get another name or a fixed value. ``losses``
    says in sentences what a call would lose. ``accounts`` are arguments that select an account and
    that the other tool lacks: that tool does the job only for the account of its own server.
    """

    tool: str
    substitute: str
    way: _Way
    losses: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a ``server``'s work the ``others`` can do.

    ``served`` and ``alike`` have the best tool for each tool of the server, by id; ``alone`` are
    the ids without a similar tool. ``tokens`` is the cost of the server. ``keeps`` says in
    sentences what the server stores for itself.
    """

    server: str
    others: tuple[str, ...]
    served: tuple[CoveredTool, ...]
    alike: tuple[CoveredTool, ...]
    alone: tuple[str, ...]
    tokens: int
    keeps: tuple[str, ...] = ()

    @property
    def tools(self) -> int:
        return len(self.served) + len(self.alike) + len(self.alone)

    @property
    def share(self) -> float:
        """The share of the server's tools that are served, from 0 to 1."""
        return len(self.served) / self.tools if self.tools else 0.0

    @property
    def is_enough(self) -> bool:
        """Whether the others cover the server, and at least one tool surely does the job of one of
        its tools.
        """
        sure = any(UNSURE not in one.losses for one in self.served)
        return sure and self.share >= COVERED

    @property
    def lost_tools(self) -> tuple[str, ...]:
        """Ids of the tools that no other server serves."""
        return tuple(sorted((*self.alone, *(one.tool for one in self.alike))))

    @property
    def into(self) -> Mapping[str, list[str]]:
        """For each kept tool, in sorted order, the tools whose calls it can take completely."""
        into: defaultdict[str, list[str]] = defaultdict(list)
        for one in self.served:
            if one.way != "gateway":
                into[one.substitute].append(one.tool)
        return dict(sorted(into.items()))

    @property
    def why_off(self) -> str:
        """The reason for leaving out tools that nothing serves."""
        stay = "stays" if len(self.others) == 1 else "stay"
        others = f": {enumerated(self.others)} {stay}" if self.others else ""
        return f"{self.server} is switched off{others}"

    @property
    def done(self) -> tuple[CoveredTool, ...]:
        """The tools whose calls another tool can surely take, without loss."""
        return tuple(one for one in self.served if not one.losses)

    @property
    def perhaps_done(self) -> tuple[CoveredTool, ...]:
        """The tools for which another tool is uncertain, or whose calls lose something or rely on a
        guess.
        """
        return tuple(one for one in self.served if one.losses)

    @property
    def in_words(self) -> str:
        """A sentence: *Switch off X (20 tools, −2,143 tokens): Y does the job of 16 of them,
        perhaps of 3 more; lost: 1 (bulk_delete)*.

        The numbers add up to the number of the server's tools.
        """
        done = f"{len(self.done):,} of them" if self.done else "none of them for sure"
        perhaps = f"{len(self.perhaps_done):,}{' more' if self.done else ''}"
        do = "do" if self.others[1:] else "does"
        names = listed(f"`{tool.rpartition('/')[2]}`" for tool in self.lost_tools)
        return (
            f"Switch off {self.server} ({quantity(self.tools, 'tool')}, −{self.tokens:,} "
            f"tokens): {enumerated(self.others) or 'no other server'} {do} the job of "
            f"{done}{f', perhaps of {perhaps}' * bool(self.perhaps_done)}; lost: "
            f"{len(self.lost_tools):,}{f' ({names})' if names else ''}."
        )

    def use_in_words(self, calls: Mapping[str, int]) -> str:
        """How often the server's tools were called, and the called tools that would be lost.

        ``calls`` counts the calls in logs by tool id; empty without logs.
        """
        if not calls:
            return ""
        rows = (*self.served, *self.alike)
        every = sum(calls.get(tool, 0) for tool in (*self.alone, *(row.tool for row in rows)))
        lost = [(tool, calls[tool]) for tool in self.lost_tools if calls.get(tool)]
        uses = listed(f"`{tool.rpartition('/')[2]}` {number:,}" for tool, number in lost)
        of_lost = (
            f"; calls to the tools that you would lose: {uses}"
            if lost
            else ", none to the tools that you would lose"
        )
        return f"{quantity(every, 'call')} in the logs{of_lost if self.lost_tools else ''}."


@dataclass(frozen=True, slots=True)
class CoverageLink:
    """How certain it is that two tools do one job.

    The tools may be only ``alike``, or ``unsure``: nobody would merge them, but they are about as
    likely as not to do one job. ``other_fields`` says that their servers are for two kinds of
    thing: such tools stand in for each other only if no call loses anything.
    """

    same_job: float
    alike: bool
    unsure: bool = False
    other_fields: bool = False


@dataclass(frozen=True)
class ServerCoverage:
    """The servers of a catalog compared with each other.

    ``links`` are keyed by the ids of two tools, in both directions. Tools without a server and
    ``removed_ids`` are left out. ``constraints`` has people's answers on whether two servers work
    on one account. ``costs`` are token counts to reuse.
    """

    catalog: Catalog
    links: Mapping[str, Mapping[str, CoverageLink]]
    removed_ids: frozenset[str] = frozenset()
    constraints: Constraints = field(default_factory=Constraints)
    costs: Costs = field(default_factory=Costs, repr=False)
    _served: dict[tuple[str, str], CoveredTool] = field(default_factory=dict, repr=False)
    _owners_of: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def servers(self) -> Mapping[str, tuple[Tool, ...]]:
        """The tools of each server, both in order."""
        tools: defaultdict[str, list[Tool]] = defaultdict(list)
        for tool in self.catalog.tools:
            if tool.server and tool.id not in self.removed_ids:
                tools[tool.server].append(tool)
        return {server: tuple(tools[server]) for server in sorted(tools)}

    @cached_property
    def tokens(self) -> Mapping[str, int]:
        """The token cost of each server's tools."""
        costs = self.costs
        return {
            server: sum(costs.of(tool, PROMPT_FORMATS[0]) for tool in own)
            for server, own in self.servers.items()
        }

    @cached_property
    def _stores(self) -> Stores:
        return Stores(self.catalog.tools)

    def among(self, names: Collection[str]) -> "ServerCoverage":
        """The coverage among only these servers, as for a client that has no other servers."""
        by_id = self.catalog.by_id
        rest = {tool.id for tool in self.catalog.tools if tool.server not in names}
        links = {
            tool: {other: link for other, link in row.items() if other not in rest}
            for tool, row in self.links.items()
            if by_id[tool].server in names
        }
        return replace(self, links=links, removed_ids=self.removed_ids | rest)

    def of(self, server: str, others: Collection[str]) -> Coverage:
        """How much of a server's work the ``others`` can do."""
        served: list[CoveredTool] = []
        alike: list[CoveredTool] = []
        alone: list[str] = []
        for tool in self.servers.get(server, ()):
            best = self._best(tool, others)
            if best is None:
                alone.append(tool.id)
            else:
                (alike if best.way == "alike" else served).append(best)
        owners = {self.catalog.by_id[one.substitute].server for one in served}
        instances = [one for one in sorted(owners) if self._are_instances(server, one)]
        return Coverage(
            server=server,
            others=tuple(sorted(owners)),
            served=tuple(served),
            alike=tuple(alike),
            alone=tuple(alone),
            tokens=self.tokens.get(server, 0),
            keeps=tuple(self._keeps(server, served, instances)),
        )

    def of_fewest(self, server: str, others: Collection[str]) -> Coverage:
        """The coverage by the fewest ``others`` that serve as many of its tools as all of them
        would.

        It also keeps the number of tools served without a loss. Selection is greedy: servers that
        serve the most tools come first; among equals, a server that serves one tool best.
        """
        every = self.of(server, others)
        linked = {
            self.catalog.by_id[other].server
            for tool in self.servers.get(server, ())
            for other in self.links.get(tool.id, {})
        }
        chosen: tuple[str, ...] = ()
        best = self.of(server, chosen)
        near = sorted(linked.intersection(others))
        while _served_counts(best) < _served_counts(every):
            trials = {one: self.of(server, [*chosen, one]) for one in near if one not in chosen}
            added = max(trials, key=lambda one: (_served_counts(trials[one]), one in every.others))
            chosen, best = (*chosen, added), trials[added]
        return replace(best, alike=every.alike, alone=every.alone)

    def of_pairs(self) -> Iterator[Coverage]:
        """Each pair of servers in which one serves a tool of the other, in order."""
        return (self.of(server, [other]) for server, other in self.serving_pairs())

    def serving_pairs(self) -> Iterator[tuple[str, str]]:
        """Each server with each other server that serves a tool of it, in order."""
        for server, own in self.servers.items():
            owners = frozenset[str]().union(*map(self._owners, own))
            yield from ((server, other) for other in sorted(owners - {server, ""}))

    def share(self, server: str, others: Collection[str]) -> float:
        """The ``share`` in ``of``; it takes a part of the time, because few calls are compared."""
        own = self.servers[server]
        return sum(not self._owners(tool).isdisjoint(others) for tool in own) / len(own)

    def _owners(self, tool: Tool) -> frozenset[str]:
        """The servers of the tools that serve a tool."""
        if tool.id not in self._owners_of:
            self._owners_of[tool.id] = frozenset(one.server for one, _ in self._serving(tool))
        return self._owners_of[tool.id]

    def _serving(self, tool: Tool) -> Iterator[tuple[Tool, CoverageLink]]:
        """The tools that serve a tool, perhaps with a loss."""
        for other, link in self.links.get(tool.id, {}).items():
            one = self.catalog.by_id[other]
            if _does_job(tool, one, link.alike) and not (
                link.other_fields and self._served_by(tool, one, link).way == "alike"
            ):
                yield one, link

    def are_copies(self, one: str, other: str) -> bool:
        """Whether two servers with equal tool names are the same.

        With few tools, their texts must agree; with three or more, each tool may do one job with
        the tool of the same name.
        """
        theirs = {tool.name: tool for tool in self.servers[other]}
        pairs = [(tool, theirs[tool.name]) for tool in self.servers[one]]
        if len(pairs) < _FEW:
            return all(a.description.split() == b.description.split() for a, b in pairs)
        links = (self.links.get(a.id, {}).get(b.id) for a, b in pairs)
        return all(link and link.same_job >= LEAST_OFFLINE for link in links)

    def serving(self, server: str, others: Collection[str]) -> tuple[frozenset[str], ...]:
        """For each of the server's tools, which of the ``others`` surely serve it."""
        by_id, among = self.catalog.by_id, frozenset(others) - {server}
        return tuple(
            among.intersection(by_id[other].server for other in self.of_same_job(tool))
            for tool in self.servers[server]
        )

    def of_same_job(self, tool: Tool) -> Iterator[str]:
        """The ids of the tools that surely do the same job as a tool."""
        return (one.id for one, link in self._serving(tool) if not link.unsure)

    def _best(self, tool: Tool, others: Collection[str]) -> CoveredTool | None:
        by_id = self.catalog.by_id
        fitting = [
            (self._served_by(tool, by_id[other], link), link)
            for other, link in self.links.get(tool.id, {}).items()
            if by_id[other].server in others
        ]
        if not fitting:
            return None
        return min(fitting, key=lambda one: _rank(*one))[0]

    def _served_by(self, tool: Tool, other: Tool, link: CoverageLink) -> CoveredTool:
        key = tool.id, other.id
        if key not in self._served:
            covered = serve(tool, other, link.alike)
            if link.unsure and covered.way != "alike":
                covered = replace(covered, way="gateway", losses=(UNSURE, *covered.losses))
            if link.other_fields and covered.losses:
                covered = replace(covered, way="alike")
            self._served[key] = covered
        return self._served[key]

    def are_on_one_account(self, one: str, other: str) -> bool | None:
        """Whether people said that the two servers work on one account; ``None`` if nobody has
        answered.
        """
        return self.constraints.are_on_one_account([one, other])

    def _are_instances(self, one: str, other: str) -> bool:
        """Whether the two are instances of one server that nobody declared to be on one account."""
        return self._stores.are_instances(one, other) and not self.are_on_one_account(one, other)

    def _keeps(
        self, server: str, served: Sequence[CoveredTool], instances: Sequence[str]
    ) -> Iterator[str]:
        if instances:
            names = configured_names([server, *instances], self.catalog.servers)
            yield (
                f"{names[0]} and {listed(names[1:])} share tools: if each has a folder or account "
                f"of its own, what only {server} has would be out of reach"
            )
            return
        pairs = (
            [self.catalog.by_id[one.tool], self.catalog.by_id[one.substitute]] for one in served
        )
        keeping = [tool.name for tool, other in pairs if self._may_keep(tool, other)]
        if keeping:
            yield (
                f"{listed(f'`{name}`' for name in keeping)} may work on data that only {server} has"
            )
        if accounts := sorted({name for one in served for name in one.accounts}):
            yield (
                f"its tools choose the account by {listed(f'`{name}`' for name in accounts)}; "
                "the other servers have only the account that they are set up with"
            )
        if handles := self.handles_of(server):
            yield f"others cannot use its {handles}: switch off all of its tools or none"

    def asks_for_account(self, one: str, other: str) -> bool:
        """Whether it is worth asking whether two servers work on one account.

        It is if both are made for the same product with accounts, or if a tool and its substitute
        may use separate data.
        """
        if self._stores.share_a_product(one, other):
            return True
        served = self.of(one, [other]).served
        pairs = (
            [self.catalog.by_id[row.tool], self.catalog.by_id[row.substitute]] for row in served
        )
        return any(map(self._stores.are_apart, pairs))

    def _may_keep(self, tool: Tool, other: Tool) -> bool:
        one_account = self.are_on_one_account(tool.server, other.server)
        return one_account is not True and self._stores.are_apart([tool, other])

    def handles_of(self, server: str) -> str:
        """The things that a server's tools keep open for their callers, in words; empty if none."""
        return handles_of(map(read_tool, self.servers.get(server, ())))


def configured_names(names: Sequence[str], servers: Sequence[Server]) -> list[str]:
    """The names of instances of one server, each with its distinguishing start arguments.

    For example *notes (`--folder notes`)*.
    """
    started = {server.name: [*map(_end, server.started.split())] for server in servers}
    words = [started.get(name, []) for name in names]
    common = set(words[0]).intersection(*words[1:])
    own = [" ".join(word for word in every if word not in common) for every in words]
    return [f"{name} (`{text}`)" if text else name for name, text in zip(names, own, strict=True)]


def _end(word: str) -> str:
    """A word as it is, or the end of a long word, which is enough to distinguish two paths."""
    return word if len(word) <= _LONGEST_WORD else f"…{word[-_LONGEST_WORD:]}"


def _does_job(tool: Tool, other: Tool, alike: bool) -> bool:
    """Whether ``other`` serves the callers of ``tool`` at all, perhaps with a loss."""
    are_known = tool.schema is not None and other.schema is not None
    return tool.content_hash == other.content_hash or (are_known and not alike)


def serve(tool: Tool, other: Tool, alike: bool = False) -> CoveredTool:
    """How ``other`` serves the callers of ``tool``; ``alike`` if the two do not do one job."""
    if not _does_job(tool, other, alike):
        return CoveredTool(tool.id, other.id, "alike")
    if tool.content_hash == other.content_hash:
        return CoveredTool(tool.id, other.id, "as it is")
    alpha = argument_map(tool, other)
    accounts = tuple(_accounts(tool, alpha))
    lost = [f"`{name}`: {why}" for name, why in alpha.dropped.items() if name not in accounts]
    lost += alpha.lossy
    ours, theirs = returned(tool.returns), returned(other.returns)
    results = [f"it returns {theirs}, not {ours}"] if ours and theirs and ours != theirs else []
    arguments = tuple(_changed_arguments(alpha))
    notes = (*lost, *results) if lost else (*alpha.inferred, *alpha.notes, *results)
    taken: _Way = "mapped" if arguments else "as it is"
    way = "gateway" if lost or accounts else taken
    return CoveredTool(tool.id, other.id, way, notes, arguments, accounts)


def _accounts(tool: Tool, alpha: ArgumentMap) -> Iterator[str]:
    """The dropped arguments that select for whom a tool works.

    Such an argument is an optional account or tenant, or the user's address.
    """
    for parameter in tool.parameters:
        words = frozenset(plain_words(parameter.name))
        is_account = not parameter.required and words - _KEYS in _ACCOUNTS
        if parameter.name in alpha.dropped and (is_account or words >= {"user", "email"}):
            yield parameter.name


def _served_counts(one: Coverage) -> tuple[int, int]:
    """The numbers of tools served, and served without a loss."""
    return len(one.served), sum(not row.losses for row in one.served)


def _changed_arguments(alpha: ArgumentMap) -> Iterator[str]:
    for move in alpha.moves:
        if move.source != move.target or move.op != "rename":
            yield f"{move.source} → {move.target}"
    for name, value in alpha.constants.items():
        yield f"{name} = {canonical_json(value)}"


def _rank(covered: CoveredTool, link: CoverageLink) -> tuple[int, int, float, str]:
    return _BEST[covered.way], len(covered.losses), -link.same_job, covered.substitute


def server_coverage(
    analysis: Analysis,
    clusters: Sequence[Cluster],
    log: Sequence[Decision] = (),
    costs: Costs | None = None,
) -> ServerCoverage:
    """The servers of an analysed catalog under the decisions.

    Links come from verdicts on pairs and from the cards (``clusters``). Pairs that people keep
    apart are no links, and tools left out or replaced by people are gone. Two tools that are about
    as likely as not one job are no link if their names and descriptions name different objects.
    ``costs`` are token counts to reuse.
    """
    tools = analysis.catalog.by_id
    copies: defaultdict[str, list[str]] = defaultdict(list)
    for tool, first in analysis.copies.items():
        copies[first].append(tool)
    links: defaultdict[str, dict[str, CoverageLink]] = defaultdict(dict)
    people = constraints(analysis.catalog, log)
    removed_ids = people.omitted | {
        member
        for cluster in clusters
        if cluster.state == "accepted" and cluster.kind == "drop_in"
        for member in cluster.members
        if member != cluster.canonical
    }
    own_copies = {Pair(tool, tool): 1.0 for tool in copies}
    cards = {
        Pair.of(a, b): cluster.weakest_edge
        for cluster in clusters
        if cluster.relation != "family" and cluster.kind != "looks_alike"
        for a, b in combinations(cluster.members, 2)
    }
    unsure = unsure_pairs(analysis)
    for pairs, alike in (
        (unsure, True),
        (family_edges(analysis), True),
        (cards, False),
        (edges_at(analysis), False),
        (own_copies, False),
    ):
        for pair, probability in pairs.items():
            for a, b in product(
                copies[analysis.copies[pair.left]], copies[analysis.copies[pair.right]]
            ):
                if a != b and removed_ids.isdisjoint((a, b)) and Pair.of(a, b) not in people.cannot:
                    likely = (
                        pairs is unsure
                        and probability >= LEAST_OFFLINE
                        and not object_apart(read_tool(tools[a]), read_tool(tools[b]))
                    )
                    other_fields = analysis.judge.signals.are_of_other_fields(
                        analysis.rows[a], analysis.rows[b]
                    )
                    link = CoverageLink(probability, alike and not likely, likely, other_fields)
                    links[a][b] = links[b][a] = link
    return ServerCoverage(analysis.catalog, links, removed_ids, people, costs or Costs())
