"""The logs of decisions: each read once for every change of it, and the row of a new decision."""

from collections.abc import Callable, Iterable
from types import MappingProxyType

from toolscope_core.decisions.constraints import suspended_decisions
from toolscope_core.decisions.decision_lines import decision_of_row
from toolscope_core.decisions.log import admit
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.tool import JsonObject
from toolscope_core.store.decision_rows import count_decisions, read_log
from toolscope_core.store.engine import Store, now
from ui.shared.services.result_cache import ResultCache


class Logs:
    """What anybody decided on each catalog. A page asks for it a dozen times a run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: ResultCache[tuple[Decision, ...]] = ResultCache()

    def of(self, catalog_id: int) -> tuple[Decision, ...]:
        """All decisions on the catalogs of this name, oldest first; the same value until it
        changes.
        """
        return self._read.get(
            catalog_id,
            (),
            lambda: read_log(self._store, catalog_id),
            state=count_decisions(self._store, catalog_id),
        )


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
