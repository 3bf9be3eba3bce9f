"""By what the tools of a map are coloured, and the group of each."""

from __future__ import annotations

from dataclasses import dataclass

from toolscope_core.model.plan import MergePlan
from ui.overlap.collisions import CLUSTERS, SERVERS, blocks_of

STATES = "states"


@dataclass(frozen=True, slots=True)
class Colouring:
    """Its ``label`` in the box, and what the legend calls a ``group``, in the singular."""

    label: str
    group: str


COLOURINGS = {
    SERVERS: Colouring("server", "server"),
    CLUSTERS: Colouring("cluster", "cluster"),
    STATES: Colouring("state of the cluster", "cluster state"),
}
"""By their values in the address; all others are category fields of the catalog."""


def colouring(name: str) -> Colouring:
    """The colouring of a name, which may be that of a field."""
    return COLOURINGS.get(name) or Colouring(f"field “{name}”", "value")


def groups_of(plan: MergePlan, by: str) -> tuple[str, ...]:
    """The group of each tool, in the order of the catalog; empty for none."""
    if by == STATES:
        states = {member: cluster.state for cluster in plan.clusters for member in cluster.members}
        return tuple(states.get(tool.id, "") for tool in plan.catalog.tools)
    groups = [""] * len(plan.catalog.tools)
    for block in blocks_of(plan, by):
        for row in block.rows.tolist():
            groups[row] = block.name
    return tuple(groups)
