"""Servers compared on the pages: how far they cover each other, advice, and switching off a whole
server.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

from toolscope_core.merging.coverage import Coverage, CoveredTool, ServerCoverage, server_coverage
from toolscope_core.merging.server_choice import Advice, advise, kept_by, merges_of
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import Tool, digest
from toolscope_core.store.engine import now
from ui.shared.cards.batches import ServerPairProposals, owners_of, server_pairs
from ui.shared.kept import kept
from ui.shared.services import review, usage_evidence
from ui.shared.snapshot import Snapshot

EVERY, ADVISED, TOGETHER = "All servers", "Can be switched off", "Can be switched off together"
"""The choices of servers that the table on the Catalog page shows."""
SERVERS = {"part": "Servers"}
CAN_GO = SERVERS | {"servers_shown": ADVISED}
"""The address of that table with the servers that can be switched off."""


@dataclass(frozen=True, slots=True)
class ToolMatch:
    """One row of two servers side by side: a tool of each, or a tool of one server (then the other
    id is empty).

    ``match`` says how one tool does the other's job; it is ``None`` if no tool is similar.
    ``proposal`` is the waiting proposal with both tools. ``decision`` is what people have decided
    on them.
    """

    one: str
    other: str
    match: CoveredTool | None = None
    proposal: Cluster | None = None
    decision: str = ""

    @property
    def way(self) -> str:
        """How the other tool does the job, as in ``CoveredTool``; ``alone`` if no
        tool is similar.
        """
        return self.match.way if self.match else "alone"


@kept()
def coverage(snapshot: Snapshot) -> ServerCoverage:
    """How the servers cover each other. This is computed again after a decision."""
    costs = snapshot.work.catalogs.costs
    return server_coverage(snapshot.analysis, snapshot.plan.clusters, snapshot.log, costs)


@kept()
def advice(snapshot: Snapshot) -> Advice:
    """The advice on all servers."""
    return advise(coverage(snapshot))


@kept()
def against_all(snapshot: Snapshot) -> tuple[Coverage, ...]:
    """For each server, how much of its work all other servers together cover."""
    servers = coverage(snapshot)
    names = frozenset(servers.servers)
    return tuple(servers.of(one, names - {one}) for one in servers.servers)


def use_in_words(snapshot: Snapshot, one: Coverage) -> str:
    """What the logs of a catalog say about the use of a server. Empty without logs."""
    figures = usage_evidence.figures(snapshot)
    return one.use_in_words({tool: count.calls for tool, count in figures.by_id.items()})


@kept()
def pairs(snapshot: Snapshot) -> tuple[ServerPairProposals, ...]:
    """The pairs of servers that are worth looking at.

    Two or more proposals wait between the two servers, one of their merges is accepted, or one
    covers some of the other's work.
    """
    near = {(min(two), max(two)) for two in coverage(snapshot).serving_pairs()}
    near |= {
        two
        for cluster in snapshot.plan.clusters
        if cluster.state == "accepted"
        for two in combinations(owners_of(snapshot.analysis, cluster), 2)
    }
    return server_pairs(snapshot.analysis, review.queue(snapshot), near)


def matches(snapshot: Snapshot, pair: ServerPairProposals) -> tuple[ToolMatch, ...]:
    """Every tool of two servers: first the waiting proposals, then other matches, then decisions,
    then the rest.
    """
    one, other = pair.servers
    servers = coverage(snapshot)
    ones, others = servers.of(one, [other]), servers.of(other, [one])
    matches = {(row.tool, row.substitute): row for row in (*ones.served, *ones.alike)}
    of_theirs = {(row.substitute, row.tool): row for row in (*others.served, *others.alike)}
    matched_ids = {by for _, by in matches}
    matches |= {two: row for two, row in of_theirs.items() if two[1] not in matched_ids}
    proposals = _proposed_matches(pair, set(matches))
    decided = {two: words for two, words in _decisions(snapshot, pair) if two not in proposals}
    unproposed = [(two, row) for two, row in matches.items() if two not in proposals]
    unproposed.sort(key=lambda row: row[1].way == "alike")
    decided_ids = {tool for two in decided for tool in two}
    unmatched = [(tool, "") for tool in ones.alone] + [("", tool) for tool in others.alone]
    return (
        *(ToolMatch(*two, matches.get(two), card) for two, card in proposals.items()),
        *(ToolMatch(*two, row, decision=decided.pop(two, "")) for two, row in unproposed),
        *(ToolMatch(*two, decision=words) for two, words in decided.items()),
        *(ToolMatch(*two) for two in unmatched if decided_ids.isdisjoint(two)),
    )


def _decisions(
    snapshot: Snapshot, pair: ServerPairProposals
) -> Iterator[tuple[tuple[str, str], str]]:
    """The pairs of tools on two servers on which people have decided, each with the decision."""
    servers = coverage(snapshot)
    by_id = servers.catalog.by_id
    for kept_apart in sorted(servers.constraints.cannot):
        for two in ((kept_apart.left, kept_apart.right), (kept_apart.right, kept_apart.left)):
            if (by_id[two[0]].owner, by_id[two[1]].owner) == pair.servers:
                yield two, "kept apart"
    for cluster in snapshot.plan.clusters:
        ends = _ends(by_id, cluster, pair.servers)
        if ends and cluster.state == "accepted":
            yield ends, "accepted"
    for tool in sorted(servers.constraints.omitted):
        if by_id[tool].owner in pair.servers:
            yield (tool, "") if by_id[tool].owner == pair.servers[0] else ("", tool), "left out"


def answer_account(
    snapshot: Snapshot, one: str, other: str, answer: str | None, reviewer: str
) -> None:
    """Record whether two servers use one account (``ONE_ACCOUNT`` or ``OWN_ACCOUNTS``).

    ``None`` retracts the answer. Raises ``DecisionError`` for the same reasons as
    ``review.record``.
    """
    catalog = snapshot.analysis.catalog
    ids = [tool.id for tool in catalog.tools if tool.owner in (one, other)]
    if answer is not None:
        review.say(snapshot, "account", ids, reviewer, {"account": answer})
        return
    decisions = review.active_decisions(snapshot)
    seqs = [row.seq for row in decisions if row.action == "account" and set(row.ids) == set(ids)]
    review.undo_all(snapshot, reviewer, seqs)


def switch_off(
    snapshot: Snapshot, servers: Sequence[Coverage], reviewer: str
) -> tuple[Decision, ...]:
    """Remove all tools of the servers, as one batch.

    A tool is merged with a tool of one of the ``others`` that takes its calls completely; all other
    tools are left out. Raises ``DecisionError`` for the same reasons as ``review.record``.
    Decisions made before the error are kept.
    """
    catalog = snapshot.analysis.catalog
    batch = {"batch": digest(reviewer, now(), *(one.server for one in servers))[:12]}
    decisions: list[Decision] = []
    merged: set[str] = set()
    for stays, members in merges_of(servers, snapshot.plan.clusters):
        detail = {**kept_by(stays), **batch}
        with suppress(DecisionError):  # a decision against it: leave it out
            decisions.append(review.say(snapshot, "accept", members, reviewer, detail))
            merged.update(members)
    for one in servers:
        others = [t.id for t in catalog.tools if t.server == one.server and t.id not in merged]
        if others:
            detail = {"reason": one.why_off, **batch}
            decisions.append(review.say(snapshot, "omit", others, reviewer, detail))
    return tuple(decisions)


def _ends(
    tools: Mapping[str, Tool], cluster: Cluster, servers: tuple[str, str]
) -> tuple[str, str] | None:
    """The first member (by id) on each of two servers. ``None`` if one of the servers has no
    member.
    """
    ends = [
        next((member for member in cluster.members if tools[member].owner == server), "")
        for server in servers
    ]
    return (ends[0], ends[1]) if all(ends) else None


def _proposed_matches(
    pair: ServerPairProposals, matches: Collection[tuple[str, str]]
) -> dict[tuple[str, str], Cluster]:
    """The proposals between two servers, keyed by a tool of each. If possible, the key is one of
    the ``matches``.
    """
    rows = {}
    for cluster, (ours, theirs) in zip(pair.clusters, pair.sides, strict=True):
        two = [(a.id, b.id) for a in ours for b in theirs]
        rows.update(dict.fromkeys([one for one in two if one in matches] or two[:1], cluster))
    return rows
