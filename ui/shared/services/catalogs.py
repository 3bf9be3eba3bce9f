"""Catalogs on the screen: previewing, importing, listing and opening them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS
from toolscope_core.catalog.tokens import Costs
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import CatalogError, StoreError
from toolscope_core.model.tool import Tool, digest
from toolscope_core.store import catalog_rows, engine, stored_state
from ui.shared.snapshot import FORMAT

if TYPE_CHECKING:
    from pathlib import Path

    from toolscope_core.catalog.sources import Source


class Catalogs:
    """The stored catalogs by name. Opened catalogs are cached in memory, because
    they never change.
    """

    def __init__(self, store: engine.Store, caches: Path) -> None:
        self._store, self._caches = store, caches
        self.costs = Costs()
        self._open: dict[int, Catalog] = {}
        self._previewed: tuple[str, Catalog] | None = None

    def preview(self, sources: Sequence[Source]) -> Catalog:
        """What importing these files would add. Nothing is stored, and the last preview is cached.

        Raises ``CatalogError`` if no catalog can be made from the files.
        """
        from toolscope_core.catalog.isolation import read_isolated  # imports every reader

        key = digest([(s.label, s.format, hashlib.sha256(s.data).hexdigest()) for s in sources])
        last = self._previewed
        if last is None or last[0] != key:
            last = self._previewed = key, read_isolated(sources, caches=self._caches)
        return last[1]

    def add(self, name: str, catalog: Catalog) -> catalog_rows.CatalogRecord:
        """Store a previewed catalog under a name. If the content is the same, it is not stored
        again.

        If tools have other ids than in the newest version of that name, the decisions on them
        follow.
        """
        from toolscope_core.check.version_changes import diff

        name = name.strip()
        if not name:
            raise CatalogError("the catalog has no name; type one, such as the file's")
        newest = next((record for record in self.newest() if record.name == name), None)
        renamed = diff(self.open(newest.id), catalog).new_ids if newest else {}
        return catalog_rows.save_catalog(self._store, name, catalog, renamed)

    def newest(self) -> tuple[catalog_rows.CatalogRecord, ...]:
        """The newest version of each catalog, by name."""
        return tuple(catalog_rows.newest_of(catalog_rows.list_catalogs(self._store)).values())

    def rename(self, name: str, new: str) -> None:
        """Rename a catalog, together with all its versions and decisions. Raises ``StoreError``."""
        catalog_rows.rename_catalog(self._store, name, new.strip())

    def delete(self, name: str) -> None:
        """Delete a catalog and everything that belongs to it.

        Raises ``StoreError`` while a job runs on the catalog. It also raises it for the only
        catalog, because a catalog is always shown.
        """
        if [record.name for record in self.newest()] == [name]:
            raise StoreError(f"{name} is the only catalog; add another before you delete it")
        catalog_rows.delete_catalog(self._store, name)

    def open(self, catalog_id: int) -> Catalog:
        """The catalog. Raises ``StoreError`` for an unknown id."""
        if catalog_id not in self._open:
            self._open[catalog_id] = catalog_rows.load_catalog(self._store, catalog_id)
        return self._open[catalog_id]

    def choose_format(self, format: str) -> None:
        """Show all sizes in this format from now on."""
        stored_state.write_setting(self._store, FORMAT, {"format": format})

    def definition_tokens(self, tool: Tool) -> int:
        """The tokens of a tool's definition in a prompt."""
        return self.costs.of(tool, PROMPT_FORMATS[0])
