"""The settings in the store, and everything a page needs before it draws."""

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

ENDPOINT = "endpoint"
"""The name of the setting for a model's endpoint."""
Choose = Callable[[tuple[CatalogRecord, ...]], CatalogRecord | None]
Stamps = tuple[tuple[str, str], ...]
"""The keys of rows, each with its time, sorted."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """The state of the store at one moment.

    It has the ``record`` of the chosen catalog, the catalog's log of decisions, and its query sets
    and usage logs without their content. It also has the ``records`` of all versions of all
    catalogs, sorted by name, newest version first, and all settings by name.
    """

    record: CatalogRecord
    log: Log
    query_files: Stamps
    usage_logs: Stamps
    records: tuple[CatalogRecord, ...]
    settings: Mapping[str, JsonObject]


def read_state(store: Store, choose: Choose) -> StoredState:
    """The state of the store at one moment, for the catalog that ``choose`` picks from the records.

    Raises ``StoreError`` if it picks none.
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
    """A setting, converted by ``build``; ``None`` if nothing was chosen.

    Raises ``StoreError`` if ``build`` cannot read the setting.
    """
    with store.read() as session:
        row = session.get(SettingRow, name)
    if row is None:
        return None
    with row_named(store, f"setting row (name {name})"):
        return build(row.value)


def write_setting(store: Store, name: str, value: JsonObject | None) -> None:
    """Store a setting; the value ``None`` removes it."""
    with store.write() as session:
        session.connection().execute(delete(SettingRow).where(col(SettingRow.name) == name))
        if value is not None:
            session.add(SettingRow(name=name, value=dict(value)))
