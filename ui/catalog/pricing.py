"""What a toolset costs an agent in every prompt: as it is, and by each way to make it smaller."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergedTool
from ui.shared.cards.queue import is_family
from ui.shared.services.page_service import PageService, Uses
from ui.shared.services.server_advice import ServerAdvice

DECIDED = PlanConfig()
WITHOUT_CODE = PlanConfig(accept="all")
WITH_GATEWAY = PlanConfig(accept="all", routers=True)


@dataclass(frozen=True, slots=True)
class ToolsetPrice:
    """How many tools an agent sees, and the tokens that they take in every prompt."""

    tools: int
    tokens: int


@dataclass(frozen=True, slots=True)
class MergeCounts:
    """The merges with a gateway by what they ask for: nothing (``drop_ins``), a gateway for one job
    (``gateways``) or for one operation of several providers (``families``); and the clusters that
    only look ``alike``, which are left as they are.
    """

    drop_ins: int
    gateways: int
    families: int
    alike: int


class Pricing(PageService):
    """The price of the toolset of a catalog, as its plan would leave it."""

    _servers = Uses(ServerAdvice)

    def today(self, catalog_id: int) -> ToolsetPrice:
        """The catalog as it was loaded; needs no analysis."""
        tokens = self._catalogs.tokens(catalog_id)
        return ToolsetPrice(len(tokens), sum(tokens.values()))

    def under(self, catalog_id: int, config: PlanConfig) -> ToolsetPrice:
        """What the plan leaves. Raises ``JobError`` before the analysis is finished."""
        plan = self._review.plan(catalog_id, config)
        return self._cached(
            ("prices", catalog_id, config, self._catalogs.shape),
            (plan,),
            lambda: self._price(plan.tools),
        )

    def without_servers(self, catalog_id: int) -> ToolsetPrice:
        """What is left, as decided, once all servers are off that the advice names. Raises as
        ``under``.
        """
        plan, advice = self._review.plan(catalog_id), self._servers.advice(catalog_id)
        gone = {one.server for one in advice.switch_off}
        return self._cached(
            ("prices", catalog_id, "servers", self._catalogs.shape),
            (plan, advice),
            lambda: self._price(item for item in plan.tools if item.tool.server not in gone),
        )

    def merges(self, catalog_id: int) -> MergeCounts:
        """How many merges the plan with a gateway makes of each kind. Raises as ``under``."""
        plan = self._review.plan(catalog_id, WITH_GATEWAY)
        kinds = Counter("family" if is_family(one) else one.kind for one in plan.applied)
        alike = sum(one.kind == "unknown" for one in plan.clusters)
        return MergeCounts(kinds["prune"], kinds["router"], kinds["family"], alike)

    def _price(self, items: Iterable[MergedTool]) -> ToolsetPrice:
        shape = self._catalogs.shape
        costs = [self._catalogs.costs.of(item.tool, shape) for item in items]
        return ToolsetPrice(len(costs), sum(costs))
