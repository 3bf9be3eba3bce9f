"""Accepted merges that the judge would no longer make, from before decisions kept the relation.

They stay accepted until somebody says otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from toolscope_core.datamodel import Catalog, Cluster, Decision, Pair, Verdict
from toolscope_core.decision_log import active, version_of
from toolscope_core.decisions import JOINING, id_list
from toolscope_core.errors import StaleDecisionError
from toolscope_core.pipeline import Analysis
from toolscope_core.views.relations import relation_of, unlicensed_in


@dataclass(frozen=True, slots=True)
class LookAgain:
    """An accepted prune that somebody should look at again: ``why`` in sentences.

    ``doubtful`` are the pruned members (ids, sorted) that the canonical does not stand for as the
    judge sees it now; ``seqs`` the decisions that put the members together, oldest first.
    """

    cluster: Cluster
    why: tuple[str, ...]
    doubtful: tuple[str, ...]
    seqs: tuple[int, ...]


def look_again(
    analysis: Analysis, clusters: Sequence[Cluster], log: Sequence[Decision]
) -> tuple[LookAgain, ...]:
    """The accepted prunes in which the judge now calls the canonical and a pruned member a family,
    or keeps them apart, where no decision says as what relation it joined the two; in the order of
    ``clusters``.
    """
    joins, items = Joins(log), []
    for cluster in clusters:
        if cluster.state == "accepted" and cluster.kind == "prune":
            decisions = joins.of(_prints(analysis.catalog, cluster.members))
            pairs = _unseen(analysis.catalog, cluster, decisions)
            doubts = [v for v in analysis.verdicts(pairs) if v.outcome in ("family", "keep")]
            if doubts:
                items.append(_again(analysis.catalog, cluster, doubts, decisions))
    return tuple(items)


class Joins:
    """The standing decisions of a log that put tools together."""

    def __init__(self, log: Sequence[Decision]) -> None:
        self._touching: dict[str, list[Decision]] = {}
        for decision in active(log):
            if decision.action in JOINING:
                for member in set(decision.members):
                    self._touching.setdefault(member, []).append(decision)

    def of(self, prints: Collection[str]) -> tuple[Decision, ...]:
        """Those that put two or more of these fingerprints together, oldest first."""
        wanted = set(prints)
        touching = {d.seq: d for one in wanted for d in self._touching.get(one, ())}
        return tuple(
            decision
            for _, decision in sorted(touching.items())
            if any(len(wanted & part) > 1 for part in _joined(decision))
        )


def parting(
    catalog: Catalog, seen: LookAgain, log: Sequence[Decision], reviewer: str
) -> tuple[Decision, ...]:
    """The rows that keep the doubtful members apart from the others: what put them together is
    taken back, newest first, and said again without them.

    Raises ``StaleDecisionError`` where the cluster is not as it was shown.
    """
    tools, cluster = catalog.by_id, seen.cluster
    if cluster.version != version_of([tools[m].fingerprint for m in cluster.members], log):
        raise StaleDecisionError(
            f"somebody decided on the merge of {id_list(cluster.members)} meanwhile; look at it as "
            "it is now"
        )
    doubtful = _prints(catalog, seen.doubtful)
    others = _prints(catalog, cluster.members) - doubtful
    held = [
        decision
        for decision in Joins(log).of(_prints(catalog, cluster.members))
        if any(part & doubtful and part & others for part in _joined(decision))
    ]
    back = [Decision("undo", (), (), reviewer, detail={"retracts": d.seq}) for d in held[::-1]]
    return (*back, *(_without(decision, doubtful, reviewer) for decision in held))


def _without(decision: Decision, doubtful: Collection[str], reviewer: str) -> Decision:
    """The decision said again, with the doubtful fingerprints apart from all others."""
    kept = {key: value for key, value in decision.detail.items() if key == "relation"}
    again = Decision(decision.action, decision.members, decision.ids, reviewer, detail=kept)
    if decision.action == "split":
        groups = [list(group) for group in decision.detail["groups"]]
        rest = [[one for one in group if one not in doubtful] for group in groups]
        alone = [[one] for group in groups for one in group if one in doubtful]
        parts = [*filter(None, rest), *alone]
        return replace(again, detail={**kept, "groups": parts})
    apart = [one for one in decision.members if one in doubtful]
    if decision.action == "drop":
        apart = list(dict.fromkeys((*decision.detail["drop"], *apart)))
    elif len(decision.members) == 2:
        return replace(again, action="reject", detail={})
    return replace(again, action="drop", detail={**kept, "drop": apart})


def _unseen(catalog: Catalog, cluster: Cluster, decisions: Sequence[Decision]) -> list[Pair]:
    """The canonical with each pruned member that only decisions without a relation put to it."""
    seen = [part for d in decisions if d.detail.get("relation") for part in _joined(d)]
    if all(decision.detail.get("relation") for decision in decisions):
        return []
    return [
        Pair.of(cluster.canonical, member)
        for member in cluster.members
        if member != cluster.canonical
        and not any(_prints(catalog, (cluster.canonical, member)) <= part for part in seen)
    ]


def _again(
    catalog: Catalog, cluster: Cluster, doubts: Sequence[Verdict], decisions: Sequence[Decision]
) -> LookAgain:
    tools = catalog.by_id
    sentences = [relation_of(v, (tools[v.pair.left], tools[v.pair.right])) for v in doubts]
    ends = {end for v in doubts for end in (v.pair.left, v.pair.right)}
    words = [f"{one[0].upper()}{one[1:]}." for one in unlicensed_in(catalog, cluster)]
    return LookAgain(
        cluster=cluster,
        why=tuple(dict.fromkeys((*sentences, *words))),
        doubtful=tuple(sorted(ends - {cluster.canonical})),
        seqs=tuple(decision.seq for decision in decisions),
    )


def _joined(decision: Decision) -> list[set[str]]:
    """The fingerprints of each part that a decision puts together."""
    prints = dict(zip(decision.ids, decision.members, strict=True))
    parts = decision.parts[1:] if decision.action == "drop" else decision.parts
    return [{prints[tool_id] for tool_id in part} for part in parts]


def _prints(catalog: Catalog, ids: Sequence[str]) -> set[str]:
    return {catalog.by_id[tool_id].fingerprint for tool_id in ids}
