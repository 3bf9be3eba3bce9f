"""Edits of people that an outgoing toolset does not show, each with the reason."""

from collections.abc import Sequence

from toolscope_core.decisions.constraints import ToolLocator
from toolscope_core.decisions.forms import id_list
from toolscope_core.decisions.log import active
from toolscope_core.merging.clusters import NEEDS_GATEWAY
from toolscope_core.model.decision import Decision
from toolscope_core.model.plan import MergePlan


def unapplied_edits(plan: MergePlan, log: Sequence[Decision]) -> dict[int, str]:
    """By their seq why edits in force that name a tool of the catalog change nothing in ``plan``;
    in log order. What ``plan.unreadable`` says of a tool is not said again.
    """
    locate = ToolLocator(plan.catalog, log)
    edits = (item for item in active(log) if item.action == "edit")
    reasons = {item.seq: _why_unapplied(plan, locate, item) for item in edits}
    return {seq: why for seq, why in reasons.items() if why}


def _why_unapplied(plan: MergePlan, locate: ToolLocator, edit: Decision) -> str:
    present, changed = locate(edit)
    ids = tuple(sorted(present.values()))
    gone = locate.omitted.keys() & set(edit.ids)
    if changed:
        return f"{id_list(sorted(changed))} is not what it was when the edit was made; edit it anew"
    if gone and not ids:
        return f"{id_list(sorted(gone))} is left out of the toolset"
    written = {cluster.members for cluster in (*plan.applied, *plan.edited)}
    if not ids or ids in written or ids in plan.unreadable:
        return ""
    held_back = plan.held_back.get(ids[0], "") if len(ids) == 1 else ""
    return held_back or _why_no_merge(plan, ids)


def _why_no_merge(plan: MergePlan, ids: tuple[str, ...]) -> str:
    """Why the tools are not the members of a merge that is written."""
    around = next((one.members for one in plan.applied if {*ids} <= {*one.members}), ())
    if around:
        return f"the tool that is written is the merge of {id_list(around)}; edit all of them"
    cluster = next((one for one in plan.clusters if one.members == ids), None)
    if cluster is None:
        return f"{id_list(ids)} are not merged with each other; edit each, or accept their merge"
    if cluster.state == "accepted":
        return NEEDS_GATEWAY
    return f"the merge of {id_list(ids)} is {cluster.state}; accept it first"
