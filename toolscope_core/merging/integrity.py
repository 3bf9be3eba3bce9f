"""Whether a merge plan holds together: checked before any plan is let out."""

from collections.abc import Sequence

from toolscope_core.model.cluster import Cluster
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.tool import Tool


def check_plan(plan: MergePlan) -> None:
    """φ total, onto and idempotent, but for the tools that are left out, which have no image;
    members partition the rest; kept and pruned disjoint; α covers what is merged and loses nothing
    but what people let go; a prune keeps its canonical's own name and schema.

    Raises ``ValueError``: a plan that fails is a bug, not something a user can mend.
    """
    phi = {row.old_id: row.new_id for row in plan.relabels if row.new_id is not None}
    incoming = {tool.id for tool in plan.catalog.tools}
    staying = incoming.difference(plan.removed)
    kept = {item.tool.id for item in plan.tools}
    members = [member for item in plan.tools for member in item.members]
    broken = [
        name
        for name, holds in (
            ("φ is total", set(phi) == staying and len(plan.relabels) == len(incoming)),
            ("φ is onto", set(phi.values()) == kept),
            ("φ is idempotent", all(phi[new] == new for new in phi.values())),
            ("members partition the catalog", sorted(members) == sorted(staying)),
            (
                "φ follows the members",
                all(phi[m] == t.tool.id for t in plan.tools for m in t.members),
            ),
            (
                "α covers the merged",
                _in_merged(plan.tools) <= {a.tool_id for a in plan.arguments} <= staying,
            ),
            ("α loses nothing", all(alpha.applicable for alpha in plan.arguments)),
            ("a drop-in keeps the canonical's own schema", _prunes_are_own(plan)),
        )
        if not holds
    ]
    if broken:
        raise ValueError(f"the merge plan is inconsistent: not ({'; '.join(broken)})")


def _in_merged(tools: Sequence[MergedTool]) -> set[str]:
    return {member for item in tools if len(item.members) > 1 for member in item.members}


def _prunes_are_own(plan: MergePlan) -> bool:
    own = plan.catalog.by_id
    return all(
        _is_own(cluster, own[cluster.canonical]) for cluster in (*plan.applied, *plan.edited)
    )


def _is_own(cluster: Cluster, canonical: Tool) -> bool:
    if cluster.kind == "router":
        return True
    document = cluster.document
    return (document.name, document.schema) == (canonical.name, canonical.schema)
