"""What narrows the table of tools: the state of a tool, and what the scan found in it."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from toolscope_core.catalog.formats.offered_names import shared_names
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.plan import MergePlan
from ui.shared.kept import kept
from ui.shared.snapshot import Snapshot
from ui.shared.tools.catalog_tables import findings_by_kind

Facet = Mapping[str, Collection[str]]
"""By its label the ids of the tools that have it."""

PROPOSED, MERGED, ALONE, LEFT_OUT = "in a proposal", "merged", "in no proposal", "left out"
SHARES_NAME = "shares its name with another server"


@kept()
def findings(catalog: Catalog) -> Facet:
    """The tools by kind of finding, the worst first."""
    kinds = findings_by_kind(catalog)
    ids = {kind: {one.tool_id for one in own} - {""} for kind, own in kinds.items()}
    return {kind: own for kind, own in ids.items() if own}


def states(snapshot: Snapshot) -> Facet:
    """The tools by what becomes of them, as far as that is decided; empty before the analysis
    is finished.
    """
    return {} if snapshot.analysed is None else tool_states(snapshot.plan)


@kept()
def tool_states(plan: MergePlan) -> Facet:
    """The tools of a plan by their state; what no tool has is left away."""
    states: defaultdict[str, set[str]] = defaultdict(set)
    for cluster in plan.clusters:
        states[MERGED if cluster.state == "accepted" else PROPOSED].update(cluster.members)
    states[LEFT_OUT].update(plan.removed)
    taken = set().union(*states.values())
    states[ALONE] = {tool.id for tool in plan.catalog.tools} - taken
    for same in shared_names(item.tool for item in plan.tools):
        states[SHARES_NAME].update(tool.id for tool in same)
    order = (PROPOSED, MERGED, ALONE, LEFT_OUT, SHARES_NAME)
    return {state: states[state] for state in order if states[state]}
