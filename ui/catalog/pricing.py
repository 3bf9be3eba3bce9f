"""What a toolset costs an agent in every prompt: as it is, and by each way to make it smaller."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.plan import MergedTool
from ui.shared.cards.queue import is_family
from ui.shared.kept import kept
from ui.shared.services import server_advice
from ui.shared.snapshot import Snapshot

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


def today(snapshot: Snapshot) -> ToolsetPrice:
    """The catalog as it was loaded; needs no analysis."""
    tokens = snapshot.tokens
    return ToolsetPrice(len(tokens), sum(tokens.values()))


@kept()
def under(snapshot: Snapshot, config: PlanConfig) -> ToolsetPrice:
    """What the plan leaves. Raises ``JobError`` before the analysis is finished."""
    return _price(snapshot, snapshot.plan_under(config).tools)


@kept()
def without_servers(snapshot: Snapshot) -> ToolsetPrice:
    """What is left, as decided, once all servers are off that the advice names. Raises as
    ``under``.
    """
    gone = {one.server for one in server_advice.advice(snapshot).switch_off}
    left = (item for item in snapshot.plan.tools if item.tool.server not in gone)
    return _price(snapshot, left)


def merges(snapshot: Snapshot) -> MergeCounts:
    """How many merges the plan with a gateway makes of each kind. Raises as ``under``."""
    plan = snapshot.plan_under(WITH_GATEWAY)
    kinds = Counter("family" if is_family(one) else one.kind for one in plan.applied)
    alike = sum(one.kind == "unknown" for one in plan.clusters)
    return MergeCounts(kinds["prune"], kinds["router"], kinds["family"], alike)


def _price(snapshot: Snapshot, items: Iterable[MergedTool]) -> ToolsetPrice:
    shape = snapshot.shape
    costs = [snapshot.work.catalogs.costs.of(item.tool, shape) for item in items]
    return ToolsetPrice(len(costs), sum(costs))
