"""Decisions of the baseline that no longer hold as they were made, since a tool has changed."""

from dataclasses import dataclass

from toolscope_core.check.baseline import Baseline
from toolscope_core.check.matched import Matched
from toolscope_core.decisions.log import active
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Decision

_CHANGES_NOTHING = ("flag", "note")


@dataclass(frozen=True, slots=True)
class StaleDecision:
    """A decision with those of its tools, by the ids it names, that ``changed`` or are ``gone``."""

    decision: Decision
    changed: tuple[str, ...]
    gone: tuple[str, ...]


def stale_decisions(
    catalog: Catalog, baseline: Baseline, tools: Matched
) -> tuple[StaleDecision, ...]:
    """The decisions in force that name a tool which the baseline has as it was decided on, and the
    catalog has not, in their order; a renamed tool has changed.
    """
    left = {*catalog.by_id, *tools.before.values()}
    now = {tool.fingerprint for tool in catalog.tools}
    then = {tool.fingerprint for tool in baseline.catalog.tools}
    stale = []
    for decision in active(baseline.log):
        if decision.action in _CHANGES_NOTHING:
            continue
        named = zip(decision.members, decision.ids, strict=True)
        lost = [tool_id for member, tool_id in named if member in then - now]
        changed = tuple(tool_id for tool_id in lost if tool_id in left)
        gone = tuple(tool_id for tool_id in lost if tool_id not in left)
        if lost:
            stale.append(StaleDecision(decision, changed, gone))
    return tuple(stale)
