"""A store moved to another database, and one brought up to date."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from toolscope_core.model.protocols import Progress
from toolscope_core.store import CopiedTable, Store, copy_store, existing_store


@dataclass(frozen=True, slots=True)
class CopyReport:
    """Where a store was copied from and to, without passwords, and its tables."""

    source: str
    target: str
    tables: tuple[CopiedTable, ...]


def copy_to(source_url: str, target_url: str, progress: Progress) -> CopyReport:
    """Copy a store into a new one and check it. Raises ``StoreError``."""
    with closing(existing_store(source_url)) as source, closing(Store(target_url)) as target:
        tables = copy_store(source, target, progress)
        return CopyReport(source.place, target.place, tables)


def upgrade(url: str) -> str:
    """The name of the store, once it is up to date: whoever calls has a backup."""
    with closing(Store(url, backed_up=True)) as store:
        return store.place
