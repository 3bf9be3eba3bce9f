"""Which tools stay in every prompt, and which are left to the search of a client."""

from collections.abc import Sequence

from toolscope_core.decisions.actions import BY_SEARCH, IN_EVERY_PROMPT
from toolscope_core.decisions.constraints import deferrals
from toolscope_core.export.eager_choice import LoadedTool, LoadingEvidence, loaded_tools
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from ui.shared.services import findable_tools, review, usage_evidence
from ui.shared.snapshot import Snapshot


def tools(
    snapshot: Snapshot, config: PlanConfig, search: str, budget: int
) -> tuple[LoadedTool, ...]:
    """Every outgoing tool, in the order in which tools are chosen. How often ``search`` finds
    one is that of the tool as it came in, whatever is merged with it.
    """
    plan, calls = snapshot.plan_under(config), usage_evidence.figures(snapshot)
    evidence = LoadingEvidence(
        {tool_id: one.calls for tool_id, one in calls.by_id.items()},
        findable_tools.shares(snapshot, search) or {},
        deferrals(plan.catalog, snapshot.log),
    )
    return loaded_tools(plan, evidence, budget, snapshot.work.catalogs.costs, snapshot.shape)


def decide(snapshot: Snapshot, ids: Sequence[str], eager: bool, reviewer: str) -> Decision:
    """Keep these tools in every prompt, or leave them to the search. Raises ``DecisionError``
    as ``review.say``.
    """
    way = IN_EVERY_PROMPT if eager else BY_SEARCH
    return review.say(snapshot, "load", ids, reviewer, {"loading": way})
