"""Which servers can be switched off: those that others cover, the smallest set that does all jobs,
and copies.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from toolscope_core.merging.coverage import COVERED, Coverage, ServerCoverage
from toolscope_core.model.numbers import enumerated

_MOST_TRIED = 40
"""Servers of which each is tried back in the smallest set: so many are few enough to choose."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What the servers of a catalog can do without each other.

    ``switch_off`` are servers of which others that stay serve ``COVERED`` or more, those that save
    most tokens first; all of them can go together. ``needless`` are the servers that can go
    together without one tool that nobody serves. ``copies`` are groups of servers with the same
    tools.
    """

    switch_off: tuple[Coverage, ...]
    needless: tuple[Coverage, ...]
    copies: tuple[tuple[str, ...], ...]

    @property
    def needless_in_words(self) -> str:
        """The servers of the smallest set that can go together; empty where it is not several."""
        if len(self.needless) < 2:
            return ""
        tokens = sum(one.tokens for one in self.needless)
        keeping = [one.server for one in self.needless if one.keeps]
        keeps = f" Data of their own may be on {enumerated(keeping)}." if keeping else ""
        return (
            f"{enumerated(one.server for one in self.needless)} can go together, and the other "
            f"servers still do the job of each of their tools: −{tokens:,} tokens.{keeps}"
        )


def advise(servers: ServerCoverage) -> Advice:
    """The advice on all servers."""
    copies = _copies(servers)
    extra = {server for group in copies for server in group[1:]}
    every = [server for server in servers.servers if server not in extra]
    pairs: defaultdict[str, list[Coverage]] = defaultdict(list)
    for one in servers.of_pairs():
        if one.share >= COVERED and extra.isdisjoint((one.server, *one.others)):
            pairs[one.server].append(one)
    best = {server: min(own, key=_worth) for server, own in pairs.items()}
    keepers = {server: (_others(own),) for server, own in pairs.items()}
    order = sorted(best, key=lambda server: (len(best[server].lost_tools), *_dearest(best[server])))
    off = _that_can_go(order, keepers)
    gone = [
        min((one for one in pairs[server] if off.isdisjoint(one.others)), key=_worth)
        for server in order
        if server in off
    ]
    staying = {other for one in gone for other in one.others}
    for server in every:
        if server in off or server in staying or servers.handles_of(server):
            continue  # what one server holds open several cannot share
        together = servers.of(server, [one for one in every if one not in off and one != server])
        if together.share >= COVERED:
            gone.append(together)
            off.add(server)
            staying.update(together.others)
    return Advice(tuple(sorted(gone, key=_dearest)), _needless(servers, every), copies)


def _others(coverages: Sequence[Coverage]) -> frozenset[str]:
    return frozenset(other for one in coverages for other in one.others)


def _dearest(one: Coverage) -> tuple[int, str]:
    return -one.tokens, one.server


def _that_can_go(
    order: Sequence[str], needs: Mapping[str, Sequence[frozenset[str]]], kept: str = ""
) -> set[str]:
    """The servers that can go together, greedily in order, without the one that is ``kept``: of
    each set that one of them needs a server stays.
    """
    gone: set[str] = set()
    for server in order:
        trial = gone | {server}
        if server != kept and all(not need <= trial for one in trial for need in needs[one]):
            gone = trial
    return gone


def _worth(one: Coverage) -> tuple[float, int, int, int, str, tuple[str, ...]]:
    """Which of two directions, and of two keepers, comes first."""
    lost = sum(bool(served.lost) for served in one.served)
    return -one.share, len(one.keeps), lost, -one.tokens, one.server, one.others


def _copies(servers: ServerCoverage) -> tuple[tuple[str, ...], ...]:
    """Groups of servers that have the same tools: by name, and by the judge."""
    by_names: defaultdict[frozenset[str], list[list[str]]] = defaultdict(list)
    for server, tools in servers.servers.items():
        groups = by_names[frozenset(tool.name for tool in tools)]
        for group in groups:
            if servers.are_copies(group[0], server):
                group.append(server)
                break
        else:
            groups.append([server])
    every = (group for groups in by_names.values() for group in groups)
    return tuple(tuple(group) for group in every if len(group) > 1)


def _needless(servers: ServerCoverage, every: Sequence[str]) -> tuple[Coverage, ...]:
    """The servers of the smallest toolset that still does all jobs: greedily the dearest first,
    then each is put back once where others could go in its place for more.
    """
    needs = {server: servers.serving(server, every) for server in every}
    order = sorted(
        (server for server in every if all(needs[server])),
        key=lambda server: (-servers.tokens[server], server),
    )

    def saved(gone: Collection[str]) -> int:
        return sum(servers.tokens[one] for one in gone)

    best = _that_can_go(order, needs)
    if len(best) <= _MOST_TRIED:
        best = max((best, *(_that_can_go(order, needs, one) for one in sorted(best))), key=saved)
    others = [one for one in every if one not in best]
    return tuple(servers.of(one, others) for one in order if one in best)
