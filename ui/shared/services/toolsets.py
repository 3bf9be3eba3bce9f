"""Decisions on any set of tools, whether or not a cluster contains these tools."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal

from toolscope_core.decisions.constraints import omitted
from toolscope_core.decisions.forms import id_list
from toolscope_core.decisions.log import admit, version_of
from toolscope_core.merging.analysing import plan_merge
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair, Relation
from toolscope_core.model.tool import JsonObject
from ui.shared.cards.queue import cluster_with
from ui.shared.services import review
from ui.shared.snapshot import Snapshot

MOST_ON_A_CARD = 30
"""The maximum number of tools on a card. A person who accepts a card has reviewed each of them."""

MOST_APART = 100
"""The maximum number of tools kept apart at once. They make 4,950 pairs, and each is checked
against the active decisions now, and again whenever the plan is made.
"""


def version(snapshot: Snapshot, ids: Sequence[str]) -> str:
    """The version that a decision on these tools must carry."""
    tools = snapshot.catalog.by_id
    return version_of([tools[i].fingerprint for i in ids], snapshot.log)


def card(snapshot: Snapshot, ids: Sequence[str]) -> Cluster | None:
    """The cluster that contains all of these tools in the current plan, if there is one."""
    return cluster_with(snapshot.plan, ids)


def never_merge(snapshot: Snapshot, ids: Sequence[str], version: str, reviewer: str) -> Decision:
    """Keep all of these tools apart from each other until the decision is undone.

    Raises ``StaleDecisionError`` if somebody has decided in the meantime, and ``DecisionError`` if
    an active decision says the opposite or there are more than ``MOST_APART`` tools.
    """
    if len(ids) > MOST_APART:
        raise DecisionError(
            f"{len(ids):,} tools would make {len(ids) * (len(ids) - 1) // 2:,} pairs to keep apart "
            f"for good; select at most {MOST_APART} tools"
        )
    return review.say(snapshot, "keep_apart", ids, reviewer, version=version)


def send_to_review(snapshot: Snapshot, ids: Sequence[str], version: str, reviewer: str) -> Decision:
    """Ask for a card that contains all of these tools, whatever the judge says. Nothing is merged.

    Raises the errors of ``never_merge`` (here for more than ``MOST_ON_A_CARD`` tools), and
    ``DecisionError`` if no card may contain all of them.
    """
    if len(ids) > MOST_ON_A_CARD:
        raise DecisionError(
            f"a card of {len(ids):,} tools is too long; select at most {MOST_ON_A_CARD} tools"
        )
    analysis, log = snapshot.analysis, snapshot.log
    proposal = admit(log, review.make_decision(analysis.catalog, "propose", ids, reviewer))
    if cluster_with(plan_merge(analysis, (*log, proposal), PlanConfig()), ids) is None:
        cannot = (
            f"{ids[0]} and {ids[1]} cannot be on one card together"
            if len(ids) == 2
            else f"{id_list(ids)} cannot all be on one card"
        )
        raise DecisionError(
            f"{cannot}: they are in several accepted merges, or somebody kept some of their tools "
            "apart; undo one of those decisions first"
        )
    return review.say(snapshot, "propose", ids, reviewer, version=version)


def relate(
    snapshot: Snapshot,
    pair: Pair,
    answer: Literal["duplicate", "family", "apart"],
    version: str,
    reviewer: str,
) -> Decision:
    """Record how two tools are related.

    The answer is one job (recorded as *duplicate*, or as *subsumes* if only one tool serves the
    other's callers), a family (*family*), or kept apart. Raises the errors of ``never_merge``, and
    ``DecisionError`` if both tools are already in merges.
    """
    ids = (pair.left, pair.right)
    if answer == "apart":
        return never_merge(snapshot, ids, version, reviewer)
    relation: Relation = answer
    if answer == "duplicate":
        verdict = snapshot.analysis.verdict(pair)
        relation = "subsumes" if verdict.serves in ("left", "right") else "duplicate"
    if all(_is_merged(snapshot, tool_id) for tool_id in ids):
        raise DecisionError(
            f"{ids[0]} and {ids[1]} are already in accepted merges; undo one of the merges first"
        )
    detail = {"relation": relation}
    return review.say(snapshot, "accept", ids, reviewer, detail, version)


def _is_merged(snapshot: Snapshot, tool_id: str) -> bool:
    clusters = snapshot.plan.clusters
    return any(c.state == "accepted" and tool_id in c.members for c in clusters)


def leave_out(snapshot: Snapshot, ids: Sequence[str], reviewer: str, reason: str) -> Decision:
    """Leave these tools out of the toolset. Raises ``DecisionError`` without a reason."""
    return review.say(snapshot, "omit", ids, reviewer, {"reason": reason.strip()})


def flag(
    snapshot: Snapshot,
    ids: Sequence[str],
    reviewer: str,
    note: str,
    detail: JsonObject = MappingProxyType({}),
) -> Decision:
    """Add a note to these tools. No merge changes. Raises ``DecisionError`` if the note has no
    text.
    """
    noted = {"note": note.strip(), **detail}
    return review.say(snapshot, "flag", ids, reviewer, noted)


def left_out(snapshot: Snapshot) -> dict[str, Decision]:
    """For each tool that was left out, the decision that did so, by tool id."""
    return omitted(snapshot.catalog, snapshot.log)
