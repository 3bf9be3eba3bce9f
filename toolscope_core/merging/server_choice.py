"""Finds servers that can be switched off: those that others cover, copies, and those that no job
needs.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.decision_lines import decision_of_row
from toolscope_core.decisions.log import admit
from toolscope_core.merging.coverage import COVERED, Coverage, ServerCoverage
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.numbers import enumerated
from toolscope_core.model.tool import JsonObject

_MOST_TRIED = 40
"""If more servers than this could go, the search does not try to put each of them back."""


@dataclass(frozen=True, slots=True)
class Advice:
    """The servers of a catalog that the other servers make unnecessary.

    ``switch_off`` are servers that can all go together, largest token saving first: the remaining
    servers are enough for the tools of each (``Coverage.is_enough``). ``needless`` are servers that
    can go together without losing the job of any tool. ``copies`` are groups of servers that have
    the same tools.
    """

    switch_off: tuple[Coverage, ...]
    needless: tuple[Coverage, ...]
    copies: tuple[tuple[str, ...], ...]

    @property
    def needless_in_words(self) -> str:
        """A sentence that names the servers outside the smallest set, which can go together.

        It is empty if there are fewer than two.
        """
        if len(self.needless) < 2:
            return ""
        tokens = sum(one.tokens for one in self.needless)
        keeping = [one.server for one in self.needless if one.keeps]
        keeps = f" These may have data of their own: {enumerated(keeping)}." if keeping else ""
        return (
            f"You can switch off {enumerated(one.server for one in self.needless)} together; the "
            f"other servers still do the job of each of their tools: −{tokens:,} tokens.{keeps}"
        )


def advise(servers: ServerCoverage) -> Advice:
    """Advice on all servers."""
    copies = _copies(servers)
    extra = {server for group in copies for server in group[1:]}
    every = [server for server in servers.servers if server not in extra]
    pairs: defaultdict[str, list[Coverage]] = defaultdict(list)
    for server, other in servers.serving_pairs():
        if extra.isdisjoint((server, other)) and servers.share(server, [other]) >= COVERED:
            one = servers.of(server, [other])
            if one.is_enough:
                pairs[server].append(one)
    best = {server: min(own, key=_worth) for server, own in pairs.items()}
    keepers = {
        server: (frozenset(other for one in own for other in one.others),)
        for server, own in pairs.items()
    }
    order = sorted(best, key=lambda server: (len(best[server].lost_tools), *_dearest(best[server])))
    off = _that_can_go(order, keepers)
    removable = [
        min((one for one in pairs[server] if off.isdisjoint(one.others)), key=_worth)
        for server in order
        if server in off
    ]
    staying = {other for one in removable for other in one.others}
    for server in every:
        if server in off or server in staying or servers.handles_of(server):
            continue  # several servers cannot share what one server holds open
        rest = [one for one in every if one not in off and one != server]
        if servers.share(server, rest) >= COVERED and servers.of(server, rest).is_enough:
            together = servers.of_fewest(server, rest)
            removable.append(together)
            off.add(server)
            staying.update(together.others)
    return Advice(tuple(sorted(removable, key=_dearest)), _needless(servers, every), copies)


def _dearest(one: Coverage) -> tuple[int, str]:
    return -one.tokens, one.server


def _that_can_go(
    order: Sequence[str], needs: Mapping[str, Sequence[frozenset[str]]], kept: str = ""
) -> set[str]:
    """The servers of ``order`` that can go together, chosen greedily and without the server
    ``kept``.

    Of each set of servers that a removed one needs, at least one server stays.
    """
    removable: set[str] = set()
    for server in order:
        trial = removable | {server}
        if server != kept and all(not need <= trial for one in trial for need in needs[one]):
            removable = trial
    return removable


def _worth(one: Coverage) -> tuple[float, int, int, int, str, tuple[str, ...]]:
    """Sort key for choosing between two directions, or between two servers to keep."""
    lost = sum(bool(row.losses) for row in one.served)
    return -one.share, len(one.keeps), lost, -one.tokens, one.server, one.others


def _copies(servers: ServerCoverage) -> tuple[tuple[str, ...], ...]:
    """Groups of servers that have the same tools, both by their names and
    according to the judge.
    """
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
    """The servers outside the smallest set that still does all jobs.

    The search is greedy, most expensive server first. Each removed server is then put back once, in
    case other servers that save more could go instead.
    """
    needs = {server: servers.serving(server, every) for server in every}
    order = sorted(
        (server for server in every if all(needs[server])),
        key=lambda server: (-servers.tokens[server], server),
    )

    def saved(removable: Collection[str]) -> int:
        return sum(servers.tokens[one] for one in removable)

    best = _that_can_go(order, needs)
    if len(best) <= _MOST_TRIED:
        best = max((best, *(_that_can_go(order, needs, one) for one in sorted(best))), key=saved)
    others = [one for one in every if one not in best]
    return tuple(servers.of_fewest(one, others) for one in order if one in best)


_REVIEWER = "merge --by-server"


def without_loss(advice: Advice, clusters: Sequence[Cluster]) -> tuple[Coverage, ...]:
    """The servers in the advice that can be switched off without asking a person.

    Other servers take every call of each tool, nothing is lost or guessed, no call selects an
    account, the server stores nothing, and nobody has decided on its tools.
    """
    decided_ids = {member for one in clusters if one.state == "accepted" for member in one.members}
    return tuple(
        one
        for one in advice.switch_off
        if not one.lost_tools
        and not one.keeps
        and decided_ids.isdisjoint(row.tool for row in one.served)
        and not any(row.losses or row.accounts or row.way == "gateway" for row in one.served)
    )


def merges_of(
    off: Sequence[Coverage], clusters: Sequence[Cluster]
) -> Iterator[tuple[str, list[str]]]:
    """Each tool that stays, with the ids of all tools that become one with it (sorted, including
    its own).

    If some of these tools are in accepted merges, the other members of those merges are included,
    so that one decision covers all. If such a merge is a gateway tool or a family, all of its tools
    stay, and nothing is merged.
    """
    into: defaultdict[str, set[str]] = defaultdict(set)
    for one in off:
        for stays, tools in one.into.items():
            into[stays].update((stays, *tools))
    accepted = [one for one in clusters if one.state == "accepted"]
    for stays, members in sorted(into.items()):
        merges = [one for one in accepted if not members.isdisjoint(one.members)]
        if all(one.kind == "drop_in" and one.relation != "family" for one in merges):
            yield stays, sorted(members.union(*(one.members for one in merges)))


def kept_by(stays: str) -> JsonObject:
    """The detail of a decision that merges tools into the tool ``stays`` and keeps that tool."""
    return {"relation": "duplicate", "canonical": stays, "kind": "drop_in"}


def switched_off(
    catalog: Catalog, log: Sequence[Decision], off: Sequence[Coverage], clusters: Sequence[Cluster]
) -> tuple[Decision, ...]:
    """The log, with decisions added that remove the servers in ``off``.

    Their tools are merged with the tools that serve them, or left out if an active decision does
    not allow that.
    """
    log, merged_ids = tuple(log), set[str]()
    for stays, members in merges_of(off, clusters):
        with suppress(DecisionError):
            log = _admitted(catalog, log, "accept", members, kept_by(stays))
            merged_ids.update(members)
    for one in off:
        rest = [t.id for t in catalog.tools if t.server == one.server and t.id not in merged_ids]
        if rest:
            log = _admitted(catalog, log, "omit", rest, {"reason": one.why_off})
    return log


def _admitted(
    catalog: Catalog, log: tuple[Decision, ...], action: str, ids: Sequence[str], detail: JsonObject
) -> tuple[Decision, ...]:
    row = {"action": action, "ids": list(ids), "reviewer": _REVIEWER, "detail": dict(detail)}
    decision = decision_of_row(catalog, row)
    return (*log, admit(log, decision, None, suspended_decisions(catalog, log)))
