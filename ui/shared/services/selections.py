"""One selection of tools for all views: made in one, seen in every other."""

from __future__ import annotations

from collections.abc import Iterable

from toolscope_core.store import Selection, Store, get_selection, keep_selection
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.result_cache import ResultCache

__all__ = ["Selection", "Selections"]

MOST_IN_MEMORY = 16


class Selections:
    """Selections by key. The last ones read stay in memory, since every page asks each time."""

    def __init__(self, store: Store, catalogs: Catalogs) -> None:
        self._store = store
        self._catalogs = catalogs
        self._selections: ResultCache[Selection | None] = ResultCache(most=MOST_IN_MEMORY)

    def keep(self, catalog_id: int, ids: Iterable[str], source: str) -> Selection | None:
        """Keep these tools, those that the catalog has; ``None`` where it has none of them.

        ``source`` says in words where they were chosen, such as ``the map``.
        """
        tools = self._catalogs.open(catalog_id).by_id
        chosen = [tool_id for tool_id in ids if tool_id in tools]
        if not chosen:
            return None
        selection = keep_selection(self._store, catalog_id, source, chosen)
        self._selections.put((catalog_id, selection.key), (), selection)
        return selection

    def get(self, catalog_id: int, key: str) -> Selection | None:
        """The selection that a link names; ``None`` where this catalog has none such."""
        return self._selections.get(
            (catalog_id, key), (), lambda: get_selection(self._store, catalog_id, key)
        )
