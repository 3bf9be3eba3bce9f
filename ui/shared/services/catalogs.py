"""Catalogs on the screen: preview, import, list, open."""

from __future__ import annotations

from collections.abc import Sequence

from toolscope_core.catalog.isolation import read_isolated
from toolscope_core.catalog.sources import Source, load_paths
from toolscope_core.check.versions.diff import diff
from toolscope_core.evaluation.example import EXAMPLE_NAME, example_path
from toolscope_core.model.address_keys import tool_key
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import CatalogError, StoreError
from toolscope_core.store import (
    CatalogRecord,
    Store,
    delete_catalog,
    list_catalogs,
    load_catalog,
    rename_catalog,
    save_catalog,
)


class Catalogs:
    """What is stored under which name; opened catalogs are kept in memory (they never change)."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store
        self._open: dict[int, Catalog] = {}
        self._ids: dict[int, dict[str, str]] = {}

    def preview(self, sources: Sequence[Source], forced: str | None = None) -> Catalog:
        """What an import of these files would bring, without storing anything.

        Raises ``CatalogError`` where no catalog can be made of them.
        """
        return read_isolated(sources, forced)

    def add(self, name: str, catalog: Catalog) -> CatalogRecord:
        """Store a previewed catalog under a name; equal content again is a no-op. Decisions on
        tools that the newest version of that name has under other ids follow them.
        """
        name = name.strip()
        if not name:
            raise CatalogError("the catalog has no name; type one, such as the file's")
        newest = next((record for record in self.newest() if record.name == name), None)
        renamed = diff(self.open(newest.id), catalog).new_ids if newest else {}
        return save_catalog(self._store, name, catalog, renamed)

    def add_example(self) -> CatalogRecord:
        """Store the bundled example, unless it is there."""
        return self.add(EXAMPLE_NAME, read_isolated(load_paths([example_path()])))

    def newest(self) -> tuple[CatalogRecord, ...]:
        """The newest version of each catalog, by name."""
        newest: dict[str, CatalogRecord] = {}
        for record in list_catalogs(self._store):
            newest.setdefault(record.name, record)
        return tuple(newest.values())

    def rename(self, name: str, new: str) -> None:
        """Call a catalog, all its versions and decisions, otherwise. Raises ``StoreError``."""
        rename_catalog(self._store, name, new.strip())

    def delete(self, name: str) -> None:
        """Delete a catalog with all that hangs on it. Raises ``StoreError`` while a job runs on
        it, and for the last one: there is always one to show.
        """
        if [record.name for record in self.newest()] == [name]:
            raise StoreError(f"{name} is the only catalog; add another before you delete it")
        delete_catalog(self._store, name)

    def open(self, catalog_id: int) -> Catalog:
        """Raises ``StoreError`` for an unknown id."""
        if catalog_id not in self._open:
            self._open[catalog_id] = load_catalog(self._store, catalog_id)
        return self._open[catalog_id]

    def named(self, catalog_id: int, key: str) -> str | None:
        """The id of the tool that a link names; ``None`` where this catalog has none such."""
        if catalog_id not in self._ids:
            tools = self.open(catalog_id).tools
            self._ids[catalog_id] = {tool_key(tool.id): tool.id for tool in tools}
        return self._ids[catalog_id].get(key)
