"""The logs of decisions as they stand, each read from the store once for every change of it."""

from __future__ import annotations

from toolscope_core.model.decision import Decision
from toolscope_core.store import Store, count_decisions, read_log
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
