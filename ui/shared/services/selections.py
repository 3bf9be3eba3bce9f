"""One selection of tools for all views: made in one, seen in every other."""

from __future__ import annotations

from collections.abc import Iterable

from toolscope_core.store import Selection, Store, get_selection, keep_selection
from ui.shared.services.catalogs import Catalogs

__all__ = ["Selection", "Selections"]

MOST_IN_MEMORY = 16


class Selections:
    """Selections by key. The last ones used stay in memory, since every page asks each time."""

    def __init__(self, store: Store, catalogs: Catalogs) -> None:
        self._store = store
        self._catalogs = catalogs
        self._held: dict[tuple[int, str], Selection] = {}

    def keep(self, catalog_id: int, ids: Iterable[str], source: str) -> Selection | None:
        """Keep these tools, those that the catalog has; ``None`` where it has none of them.

        ``source`` says in words where they were chosen, such as ``the map``.
        """
        tools = self._catalogs.open(catalog_id).by_id
        chosen = [tool_id for tool_id in ids if tool_id in tools]
        if not chosen:
            return None
        return self._hold(keep_selection(self._store, catalog_id, source, chosen))

    def get(self, catalog_id: int, key: str) -> Selection | None:
        """The selection that a link names; ``None`` where this catalog has none such."""
        held = self._held.get((catalog_id, key))
        selection = held or get_selection(self._store, catalog_id, key)
        return selection and self._hold(selection)

    def _hold(self, selection: Selection) -> Selection:
        place = (selection.catalog_id, selection.key)
        self._held.pop(place, None)
        self._held[place] = selection
        for old in list(self._held)[:-MOST_IN_MEMORY]:
            self._held.pop(old, None)
        return selection
