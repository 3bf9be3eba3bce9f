"""Whole servers let go by decisions, as ``merge --by-server`` makes them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress

from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.decision_lines import decision_of_row
from toolscope_core.decisions.log import admit
from toolscope_core.merging.coverage import Coverage
from toolscope_core.merging.server_choice import Advice
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import JsonObject

REVIEWER = "merge --by-server"


def without_loss(advice: Advice, clusters: Sequence[Cluster]) -> tuple[Coverage, ...]:
    """The servers of the advice that can go unseen: of each tool another takes every call, nothing
    is lost or guessed on the way, the server keeps nothing, and nobody decided on its tools.
    """
    decided = {member for one in clusters if one.state == "accepted" for member in one.members}
    return tuple(
        one
        for one in advice.switch_off
        if not one.lost_tools
        and not one.keeps
        and decided.isdisjoint(served.tool for served in one.served)
        and not any(served.lost or served.way == "gateway" for served in one.served)
    )


def merges_of(
    gone: Sequence[Coverage], clusters: Sequence[Cluster]
) -> Iterator[tuple[str, list[str]]]:
    """By the tool that stays all tools (sorted ids, itself too) that become one with it, those of
    the accepted merges that they are in already among them: one decision on all of them says which.
    Where one of these is a router or a family, all of its tools stay, and there is no merge.
    """
    into: defaultdict[str, set[str]] = defaultdict(set)
    for one in gone:
        for stays, tools in one.into.items():
            into[stays].update((stays, *tools))
    accepted = [one for one in clusters if one.state == "accepted"]
    for stays, members in sorted(into.items()):
        joined = [one for one in accepted if not members.isdisjoint(one.members)]
        if all(one.kind == "prune" and one.relation != "parametric" for one in joined):
            yield stays, sorted(members.union(*(one.members for one in joined)))


def kept_by(stays: str) -> JsonObject:
    """The detail of such a decision."""
    return {"relation": "duplicate", "canonical": stays, "kind": "prune"}


def switched_off(
    catalog: Catalog, log: Sequence[Decision], gone: Sequence[Coverage], clusters: Sequence[Cluster]
) -> tuple[Decision, ...]:
    """The log with the decisions that let the servers go: their tools become merges with those that
    serve them, or are left out where a standing decision says otherwise.
    """
    log, merged = tuple(log), set[str]()
    for stays, members in merges_of(gone, clusters):
        with suppress(DecisionError):
            log = _admitted(catalog, log, "accept", members, kept_by(stays))
            merged.update(members)
    for one in gone:
        rest = [t.id for t in catalog.tools if t.server == one.server and t.id not in merged]
        if rest:
            log = _admitted(catalog, log, "omit", rest, {"reason": one.why_off})
    return log


def _admitted(
    catalog: Catalog, log: tuple[Decision, ...], action: str, ids: Sequence[str], detail: JsonObject
) -> tuple[Decision, ...]:
    row = {"action": action, "ids": list(ids), "reviewer": REVIEWER, "detail": dict(detail)}
    decision = decision_of_row(catalog, row)
    return (*log, admit(log, decision, None, suspended_decisions(catalog, log)))
