"""The settings of this store, and all that a page asks of it before it draws."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import delete
from sqlmodel import col, select

from toolscope_core.model.tool import JsonObject
from toolscope_core.store.catalog_rows import CatalogRecord, catalog_row, records_in
from toolscope_core.store.decision_rows import Log, log_in
from toolscope_core.store.engine import Store, found_row, row_named
from toolscope_core.store.tables import QueryFileRow, SettingRow, UsageLogRow

Choose = Callable[[tuple[CatalogRecord, ...]], CatalogRecord | None]
Stamps = tuple[tuple[str, str], ...]
"""Keys of rows and the time of each, sorted."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """Of a catalog the ``record`` and the log of its decisions, and which query sets and usage logs
    it has, without what is in them; the ``records`` of all versions of all catalogs, by name, the
    newest first; and all settings, by name.
    """

    record: CatalogRecord
    log: Log
    query_files: Stamps
    usage_logs: Stamps
    records: tuple[CatalogRecord, ...]
    settings: Mapping[str, JsonObject]


def read_state(store: Store, choose: Choose) -> StoredState:
    """What the store holds at one moment, of the catalog that is chosen among its records. Raises
    ``StoreError`` where none is.
    """
    with store.read() as session:
        records = records_in(session)
        record = found_row(store, choose(records), "such catalog; import it or choose another")
        files = select(QueryFileRow.file, QueryFileRow.at).where(QueryFileRow.name == record.name)
        logs = select(UsageLogRow.key, UsageLogRow.at).where(UsageLogRow.name == record.name)
        return StoredState(
            record,
            log_in(session, store, catalog_row(session, store, record.id)),
            tuple(sorted((file, at) for file, at in session.exec(files))),
            tuple(sorted((key, at) for key, at in session.exec(logs))),
            records,
            {row.name: row.value for row in session.exec(select(SettingRow))},
        )


_T = TypeVar("_T")


def setting_as(store: Store, name: str, build: Callable[[JsonObject], _T]) -> _T | None:
    """A setting as ``build`` converts it; ``None`` where nothing was chosen.

    Raises ``StoreError`` where ``build`` cannot make anything of it.
    """
    with store.read() as session:
        row = session.get(SettingRow, name)
    if row is None:
        return None
    with row_named(store, f"setting row (name {name})"):
        return build(row.value)


def write_setting(store: Store, name: str, value: JsonObject | None) -> None:
    """Choose a value, or with ``None`` take the choice back."""
    with store.write() as session:
        session.connection().execute(delete(SettingRow).where(col(SettingRow.name) == name))
        if value is not None:
            session.add(SettingRow(name=name, value=dict(value)))
