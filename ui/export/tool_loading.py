"""Which tools stay in every prompt, and which are left to the search of a client."""

from collections.abc import Sequence

from toolscope_core.decisions.actions import BY_SEARCH, IN_EVERY_PROMPT
from toolscope_core.decisions.constraints import deferrals
from toolscope_core.export.eager_choice import LoadedTool, LoadingEvidence, loaded_tools
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from ui.shared.services.findable_tools import FindableTools
from ui.shared.services.page_service import PageService, Uses
from ui.shared.services.usage_evidence import UsageEvidence


class Loading(PageService):
    """What is chosen from the call logs, from findability and by people."""

    _findable = Uses(FindableTools)
    _usage = Uses(UsageEvidence)

    def tools(
        self, catalog_id: int, config: PlanConfig, search: str, budget: int
    ) -> tuple[LoadedTool, ...]:
        """Every outgoing tool, in the order in which tools are chosen. How often ``search`` finds
        one is that of the tool as it came in, whatever is merged with it.
        """
        plan, calls = self._review.plan(catalog_id, config), self._usage.figures(catalog_id)
        evidence = LoadingEvidence(
            {tool_id: one.calls for tool_id, one in calls.by_id.items()},
            self._findable.shares(catalog_id, search) or {},
            deferrals(plan.catalog, self._review.log(catalog_id)),
        )
        return loaded_tools(plan, evidence, budget, self._catalogs.costs, self._catalogs.shape)

    def decide(self, catalog_id: int, ids: Sequence[str], eager: bool, reviewer: str) -> Decision:
        """Keep these tools in every prompt, or leave them to the search. Raises ``DecisionError``
        as ``Review.record``.
        """
        way = IN_EVERY_PROMPT if eager else BY_SEARCH
        return self._review.say(catalog_id, "load", ids, reviewer, {"loading": way})
