"""The row of a new decision, and what lets it into the log."""

from collections.abc import Callable, Iterable
from types import MappingProxyType

from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.decision_lines import decision_of_row
from toolscope_core.decisions.log import admit
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.tool import JsonObject
from toolscope_core.store.engine import now

Step = Callable[[tuple[Decision, ...]], Decision]
"""What the store appends next to a log. Raises ``DecisionError`` where that may not stand in it."""


def admission(catalog: Catalog, decision: Decision, version: str | None = None) -> Step:
    """Appends a decision on tools of this ``version``, if one was seen."""
    return lambda log: admit(log, decision, version, suspended_decisions(catalog, log))


def retraction(seq: int, reviewer: str) -> Step:
    """Takes back decision ``seq``."""
    undo = Decision("undo", (), (), reviewer, now(), detail={"retracts": seq})
    return lambda log: admit(log, undo, None)


def make_decision(
    catalog: Catalog,
    action: Action,
    ids: Iterable[str],
    reviewer: str,
    detail: JsonObject = MappingProxyType({}),
) -> Decision:
    """What ``reviewer`` says now of tools of the catalog (ids), not yet admitted. Raises
    ``DecisionError``.
    """
    row = {"action": action, "ids": list(ids), "reviewer": reviewer, "detail": dict(detail)}
    return decision_of_row(catalog, {**row, "at": now()})
