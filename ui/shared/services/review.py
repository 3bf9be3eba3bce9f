"""Review on the screen: the queue and how people share it, decisions, and undoing them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from toolscope_core.catalog.tokens import SizeChange
from toolscope_core.decisions import constraints, decision_lines, forms
from toolscope_core.decisions.log import active, admit
from toolscope_core.merging import analysing, model_verdicts
from toolscope_core.merging.analysing import is_larger_gateway, merge_size, supposed
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.group_syntheses import cluster_id
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster, Document
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import JsonObject, Tool, digest
from toolscope_core.store.decision_rows import append_decision, append_decisions
from toolscope_core.store.engine import now
from toolscope_core.store.stored_state import write_setting
from ui.shared.cards import batches
from ui.shared.cards.cards import Card, card_of
from ui.shared.cards.queue import (
    Order,
    Part,
    ReviewProgress,
    Show,
    in_queue_order,
    new_proposals,
    of_show,
    progressed,
    waits,
)
from ui.shared.kept import kept, kept_under
from ui.shared.snapshot import Snapshot

NextDecision = Callable[[tuple[Decision, ...]], Decision]
"""A function that takes a log and returns what the store appends to it.

It raises ``DecisionError`` if that is not allowed.
"""


def admission(catalog: Catalog, decision: Decision, version: str | None = None) -> NextDecision:
    """A step that appends a decision on tools.

    ``version`` is the ``version_of`` the tools that the reviewer saw; ``None`` accepts any.
    """
    return lambda log: admit(log, decision, version, constraints.suspended_decisions(catalog, log))


def retraction(seq: int, reviewer: str) -> NextDecision:
    """A step that retracts decision ``seq``."""
    undo = Decision("undo", (), (), reviewer, now(), detail={"retracts": seq})
    return lambda log: admit(log, undo, None)


def make_decision(
    catalog: Catalog,
    action: Action,
    ids: Iterable[str],
    reviewer: str,
    detail: JsonObject = MappingProxyType({}),
) -> Decision:
    """A reviewer's decision on tools of the catalog (ids). It is not admitted yet.

    Raises ``DecisionError``.
    """
    row = {"action": action, "ids": list(ids), "reviewer": reviewer, "detail": dict(detail)}
    return decision_lines.decision_of_row(catalog, {**row, "at": now()})


def queue(
    snapshot: Snapshot,
    order: Sequence[str] = (),
    by: Order = "risk",
    show: Show = "all",
    learned: Mapping[str, float] | None = None,
    calls: Mapping[str, int] | None = None,
) -> tuple[Cluster, ...]:
    """The clusters that wait for a person, sorted by ``in_queue_order``. They include accepted
    clusters with newcomers.

    ``learned`` are the probabilities for the order of that name, by cluster id. ``calls`` are the
    numbers of calls for the order *used*, by tool id. Clusters whose ids are in ``order`` come
    first, in that order, so that the queue does not move while somebody works on it.
    """
    clusters = of_show(filter(waits, snapshot.plan.clusters), show)
    savings = {one: -size.added for one, size in sizes(snapshot).items()}
    differences = judge_differences(snapshot) if by == "disagreement" else {}
    ordered = in_queue_order(clusters, by, savings, differences, learned or {}, calls or {})
    place = {cluster: number for number, cluster in enumerate(order)}
    return tuple(sorted(ordered, key=lambda one: place.get(one.id, len(place))))


def queue_part(snapshot: Snapshot, part: Part) -> tuple[Cluster, ...]:
    """The clusters in one part of the queue for a new version. Raises ``JobError`` before the
    analysis is done.
    """
    queued, earlier = queue(snapshot), snapshot.earlier
    if part == "again":
        return tuple(one for one in queued if one.state == "stale")
    if not earlier:
        return ()
    return new_proposals(queued, snapshot.catalog, snapshot.work.catalogs.open(earlier[0].id))


@kept()
def sizes(snapshot: Snapshot) -> Mapping[str, SizeChange]:
    """For each cluster id, how merging the cluster changes the size for the chosen client."""
    costs, tools = snapshot.analysis.syntheses.costs, snapshot.catalog.by_id
    clusters, format = snapshot.plan.clusters, snapshot.format
    earlier: dict[tuple[str, ...], tuple[Document, SizeChange]]
    earlier = kept_under(snapshot.analysis, sizes, format, dict)  # with the document, by members
    for one in clusters:
        if one.members not in earlier or earlier[one.members][0] is not one.document:
            earlier[one.members] = one.document, merge_size(one, tools, format, costs)
    return {one.id: earlier[one.members][1] for one in clusters}


def larger_gateways(snapshot: Snapshot) -> frozenset[str]:
    """The ids of the proposals that no batch contains. See ``is_larger_gateway``."""
    size = sizes(snapshot)
    return frozenset(
        one.id for one in snapshot.plan.clusters if is_larger_gateway(one, size[one.id])
    )


@kept()
def disagreements(analysis: Analysis) -> tuple[model_verdicts.Disagreement, ...]:
    """The pairs on which the model and the offline judge differ, widest gap first."""
    verdicts = analysis.model_verdicts
    return model_verdicts.disagreements(verdicts, analysis.offline) if verdicts else ()


def judge_differences(snapshot: Snapshot) -> dict[str, float]:
    """For each tool, the largest difference between the model and the offline judge over the tool's
    pairs.
    """
    widest: dict[str, float] = {}
    for differ in disagreements(snapshot.analysis):
        for tool in (differ.pair.left, differ.pair.right):
            widest.setdefault(tool, differ.gap)  # the widest gap comes first
    return widest


def cluster(snapshot: Snapshot, cluster_id: str | None) -> Cluster | None:
    """The cluster that has this id in the current plan, if there is one."""
    return next((c for c in snapshot.plan.clusters if c.id == cluster_id), None)


def tool_as_cluster(snapshot: Snapshot, tool_id: str) -> Cluster:
    """A tool as a cluster of one. This is what a person edits, whether or not the
    tool is merged.
    """
    return analysing.alone(snapshot.analysis, snapshot.log, tool_id)


def card(snapshot: Snapshot, cluster: Cluster) -> Card:
    """Everything that a person reviews before deciding on ``cluster``."""
    return card_of(snapshot.analysis, cluster, snapshot.format)


def active_decisions(snapshot: Snapshot) -> tuple[Decision, ...]:
    """The active decisions, newest first."""
    return active(snapshot.log)[::-1]


def history(snapshot: Snapshot) -> tuple[tuple[Decision, Decision | None], ...]:
    """Every decision, newest first, with the undo that retracted it, if any."""
    log = snapshot.log
    undone = {one.detail["retracts"]: one for one in log if one.action == "undo"}
    return tuple((one, undone.get(one.seq)) for one in log[::-1] if one.action != "undo")


@kept()
def progress(snapshot: Snapshot) -> ReviewProgress:
    """The counts for the header of the page."""
    return progressed(snapshot.plan.clusters, active(snapshot.log))


def decide(
    snapshot: Snapshot,
    action: Action,
    cluster: Cluster,
    reviewer: str,
    detail: Mapping[str, Any] | None = None,
) -> Decision:
    """Append a reviewer's decision on ``cluster`` as it was shown.

    ``detail`` names tools by id (see ``Decision``). Unless ``detail`` names another relation, the
    decision has the relation that was shown and, if it accepts a merge, the canonical tool and the
    kind *drop-in* that were shown. Raises ``StaleDecisionError`` if somebody else has decided on
    the cluster in the meantime, and ``DecisionError`` if the decision contradicts an active one.
    """
    shown: dict[str, Any] = {"relation": cluster.relation} if action in forms.WITH_RELATION else {}
    is_as_shown = "relation" not in (detail or {}) and cluster.canonical in cluster.members
    if action == "accept" and is_as_shown:
        shown["canonical"] = cluster.canonical
        shown |= {"kind": "drop_in"} if cluster.kind == "drop_in" else {}
    full_detail = {**shown, **(detail or {})}
    return say(snapshot, action, cluster.members, reviewer, full_detail, cluster.version)


def say(
    snapshot: Snapshot,
    action: Action,
    ids: Iterable[str],
    reviewer: str,
    detail: JsonObject = MappingProxyType({}),
    version: str | None = None,
) -> Decision:
    """Append a reviewer's decision on tools (ids). ``version`` is the version that the person saw,
    if any.

    Raises the errors of ``decide``.
    """
    decision = make_decision(snapshot.catalog, action, ids, reviewer, detail)
    return record(snapshot, decision, version)


def record(snapshot: Snapshot, decision: Decision, version: str | None = None) -> Decision:
    """Append a decision. ``version`` is the version of the tools that the person saw, if any.

    Raises the errors of ``decide``.
    """
    step = admission(snapshot.catalog, decision, version)
    return append_decision(snapshot.work.store, snapshot.id, step)


def recut(
    snapshot: Snapshot, cluster: Cluster, reviewer: str, groups: Sequence[Sequence[str]]
) -> tuple[str, ...]:
    """Divide the proposal into ``groups`` of tool ids. Groups of two or more tools remain
    proposals.

    Returns the ids of these proposals, largest first. Raises the errors of ``decide``.
    """
    decide(snapshot, "recut", cluster, reviewer, {"groups": [list(g) for g in groups]})
    tools = snapshot.catalog.by_id
    parts = sorted((group for group in groups if len(group) > 1), key=len, reverse=True)
    return tuple(cluster_id([tools[member] for member in group]) for group in parts)


def decide_each(
    snapshot: Snapshot, reviewer: str, rows: Iterable[tuple[Action, Cluster, Mapping[str, Any]]]
) -> tuple[tuple[Decision, ...], tuple[DecisionError, ...]]:
    """Make a decision for each row. Returns the decisions, and an error for each row that failed
    because somebody else was faster.

    A row has an action, the cluster as it was shown, and the detail. The detail of each decision
    names the batch, because nobody has reviewed the decision on its own.
    """
    rows, decisions, refused = list(rows), [], []
    batch = {"batch": digest(reviewer, now(), [one.version for _, one, _ in rows])[:12]}
    for action, cluster, detail in rows:
        try:
            decisions.append(decide(snapshot, action, cluster, reviewer, {**detail, **batch}))
        except DecisionError as error:
            refused.append(error)
    return tuple(decisions), tuple(refused)


@kept()
def server_pairs(snapshot: Snapshot) -> tuple[batches.ServerPairProposals, ...]:
    """The pairs of servers with two or more waiting duplicates between them.

    Larger gateway tools are left to the queue.
    """
    larger = larger_gateways(snapshot)
    clusters = [cluster for cluster in queue(snapshot) if cluster.id not in larger]
    return batches.server_pairs(snapshot.analysis, clusters)


def server_pair_of(snapshot: Snapshot, cluster: Cluster) -> batches.ServerPairProposals | None:
    """The pair of servers whose proposals include the cluster, if there is one."""
    pairs = server_pairs(snapshot)
    return next((pair for pair in pairs if cluster in pair.clusters), None)


@kept()
def safe(snapshot: Snapshot) -> batches.BatchSelection:
    """The merges that can be accepted now without a review. This is the list for
    ``accept_safe``.
    """
    return batches.safe_batch(snapshot.catalog, queue(snapshot))


def about(snapshot: Snapshot, decision: Decision) -> str | None:
    """The id of the cluster that a decision is about. Tools that no longer exist are left out."""
    tools = snapshot.catalog.by_id
    members = [tools[tool_id] for tool_id in decision.ids if tool_id in tools]
    return cluster_id(members) if len(members) > 1 else None


def answer_newcomers(
    snapshot: Snapshot, cluster: Cluster, reviewer: str, welcome: bool
) -> Decision:
    """Add the newcomers to an accepted cluster, or keep them out for good.

    Raises the errors of ``decide``.
    """
    everybody = tuple(sorted({*cluster.members, *cluster.newcomers}))
    union = replace(cluster, members=everybody, version=cluster.grown)
    if welcome:
        return decide(snapshot, "accept", union, reviewer)
    detail = {"drop": list(cluster.newcomers)}
    return decide(snapshot, "drop", union, reviewer, detail)


def undo_all(snapshot: Snapshot, reviewer: str, seqs: Sequence[int]) -> None:
    """Undo several decisions, newest first: all of them or none. Raises the errors of ``undo``."""
    steps = [retraction(seq, reviewer) for seq in sorted(seqs, reverse=True)]
    append_decisions(snapshot.work.store, snapshot.id, steps)


def undo(snapshot: Snapshot, reviewer: str, seq: int) -> Decision:
    """Undo decision ``seq``.

    Raises ``DecisionError`` if there is no such decision, or if later decisions build on it.
    """
    return append_decision(snapshot.work.store, snapshot.id, retraction(seq, reviewer))


SettledState = Literal["accepted", "kept_apart"]


@dataclass(frozen=True, slots=True)
class SettledCluster:
    """A cluster with the latest decision on it; ``None`` if no decision is active."""

    cluster: Cluster
    decision: Decision | None


def clusters(snapshot: Snapshot, state: SettledState) -> tuple[SettledCluster, ...]:
    """The accepted clusters sorted by name, or the clusters kept apart, newest first.

    A cluster that was kept apart is left out if one of its tools has changed or is gone.
    """
    return accepted(snapshot) if state == "accepted" else _rejected(snapshot)


@kept()
def _rejected(snapshot: Snapshot) -> tuple[SettledCluster, ...]:
    analysis = snapshot.analysis
    return tuple(
        SettledCluster(_as_rejected(analysis, one), one)
        for one in active(snapshot.log)[::-1]
        if one.action == "keep_apart" and _is_unchanged(analysis, one)
    )


@kept()
def accepted(snapshot: Snapshot) -> tuple[SettledCluster, ...]:
    """The accepted clusters, sorted by name."""
    latest: dict[str, Decision] = {}
    for one in active(snapshot.log):
        if one.action in forms.JOINING:
            latest |= dict.fromkeys(one.ids, one)
    clusters = [c for c in snapshot.plan.clusters if c.state == "accepted"]
    clusters.sort(key=lambda c: (c.document.name.casefold(), c.id))
    return tuple(
        SettledCluster(
            c,
            max(
                (latest[m] for m in c.members if m in latest), key=lambda one: one.seq, default=None
            ),
        )
        for c in clusters
    )


@kept()
def flags(snapshot: Snapshot) -> dict[str, tuple[Decision, ...]]:
    """The active flags on each tool, by tool id, oldest first."""
    return constraints.flags(snapshot.catalog, snapshot.log)


def flags_on(snapshot: Snapshot, cluster: Cluster) -> tuple[Decision, ...]:
    """The flags on members of the cluster, each only once, oldest first."""
    own = flags(snapshot)
    by_seq = {one.seq: one for member in cluster.members for one in own.get(member, ())}
    return tuple(by_seq[seq] for seq in sorted(by_seq))


@kept()
def comparisons(snapshot: Snapshot) -> dict[Pair, Decision]:
    """For each pair to which the same calls were sent, the decision that records what the calls
    showed.
    """
    return constraints.comparisons(snapshot.catalog, snapshot.log)


def _is_unchanged(analysis: Analysis, decision: Decision) -> bool:
    tools = analysis.catalog.by_id
    return all(
        tool_id in tools and tools[tool_id].fingerprint == member
        for tool_id, member in zip(decision.ids, decision.fingerprints, strict=True)
    )


def _as_rejected(analysis: Analysis, decision: Decision) -> Cluster:
    family = decision.detail.get("relation") == "family"
    return replace(supposed(analysis, decision.ids, family), state="kept_apart")


ReviewSplit = Literal["random", "server"]

_SEED = 77


@dataclass(frozen=True, slots=True)
class Shares:
    """The reviewers, and how the queue is divided among them."""

    people: tuple[str, ...]
    split: ReviewSplit


def shares(snapshot: Snapshot) -> Shares | None:
    """How the queue is divided; ``None`` if it is not divided."""
    return snapshot.setting(
        _name(snapshot), lambda saved: Shares(tuple(map(str, saved["people"])), saved["split"])
    )


def divide(snapshot: Snapshot, shares: Shares | None) -> None:
    """Divide the queue from now on. With ``None``, stop dividing it.

    Raises ``DecisionError`` if there are fewer than two people.
    """
    if shares is not None and len(set(shares.people)) < 2:
        raise DecisionError(
            "the queue cannot be divided among "
            f"{', '.join(shares.people) or 'nobody'}; name at least two people"
        )
    write_setting(snapshot.work.store, _name(snapshot), asdict(shares) if shares else None)


@kept()
def owners(snapshot: Snapshot) -> dict[str, str]:
    """The person who is responsible for each waiting cluster, by cluster id. Empty if the queue is
    not divided.

    Raises ``JobError`` before the analysis is done.
    """
    divided = shares(snapshot)
    if divided is None:
        return {}
    tools = snapshot.analysis.catalog.by_id
    return shared_out(filter(waits, snapshot.plan.clusters), tools, divided)


def shared_out(
    clusters: Iterable[Cluster], tools: Mapping[str, Tool], shares: Shares
) -> dict[str, str]:
    """The person who is responsible for each cluster, by cluster id.

    For each person, a hash is made with the cluster (or with the server of its canonical tool). The
    cluster goes to the person with the highest hash. The queue may therefore change and people may
    join, and all other clusters keep their person.
    """

    def person(cluster: Cluster) -> str:
        about = cluster.id if shares.split == "random" else tools[cluster.canonical].owner
        return max(shares.people, key=lambda one: digest(_SEED, one, about))

    return {cluster.id: person(cluster) for cluster in clusters} if shares.people else {}


def _name(snapshot: Snapshot) -> str:
    return f"shares/{snapshot.id}"
