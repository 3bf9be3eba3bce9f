"""Implied servers on the screen: which there are, and people's changes to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolscope_core.decisions.constraints import owners
from toolscope_core.decisions.log import admit
from toolscope_core.judging.implied_servers import present_servers
from toolscope_core.model.catalog import ImpliedServer
from toolscope_core.model.decision import Decision
from toolscope_core.store import Store, append_decision
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.logs import Logs, make_decision
from ui.shared.services.result_cache import ResultCache


class ImpliedOwners:
    """The servers that names imply in a catalog, with the changes that were decided."""

    def __init__(self, store: Store, catalogs: Catalogs, logs: Logs) -> None:
        self._store = store
        self._catalogs = catalogs
        self._logs = logs
        self._chosen: ResultCache[dict[str, str]] = ResultCache()
        self._servers: ResultCache[tuple[ImpliedServer, ...]] = ResultCache()

    def chosen(self, catalog_id: int) -> Mapping[str, str]:
        """By tool id the implied server that people gave it; empty for none."""
        log = self._logs.of(catalog_id)
        return self._chosen.get(
            catalog_id, (log,), lambda: owners(self._catalogs.open(catalog_id), log)
        )

    def servers(self, catalog_id: int) -> tuple[ImpliedServer, ...]:
        """The implied servers as the judge uses them, by name, each with the reason."""
        chosen = self.chosen(catalog_id)
        return self._servers.get(
            catalog_id,
            (),
            lambda: present_servers(self._catalogs.open(catalog_id).tools, chosen),
            state=dict(chosen),
        )

    def change(self, catalog_id: int, ids: Sequence[str], owner: str, reviewer: str) -> Decision:
        """Count these tools as those of ``owner``, or of none where it is empty: all of a server
        renames or dismisses it, some of them split it. Raises ``DecisionError``.
        """
        catalog = self._catalogs.open(catalog_id)
        decision = make_decision(catalog, "owner", ids, reviewer, {"owner": owner.strip()})
        return append_decision(self._store, catalog_id, lambda log: admit(log, decision))
