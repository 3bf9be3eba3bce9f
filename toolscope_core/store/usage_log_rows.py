"""What logs and traces say of the tools of a catalog, for all of its versions."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import delete
from sqlmodel import col, select

from toolscope_core.model.tool import JsonObject
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, now
from toolscope_core.store.rebuilding import of_row
from toolscope_core.store.tables import UsageLogRow


@dataclass(frozen=True, slots=True)
class UsageLog:
    """The figures of one log by the hash of its content, the name of its file, and when it was
    added.
    """

    key: str
    label: str
    at: str
    value: JsonObject = field(repr=False)


def keep_usage_log(store: Store, catalog_id: int, key: str, label: str, value: JsonObject) -> None:
    """Keep the figures of a log, in place of those of the same content."""
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        session.merge(UsageLogRow(name=name, key=key, label=label, at=now(), value=dict(value)))


def list_usage_logs(store: Store, catalog_id: int) -> tuple[UsageLog, ...]:
    """The logs of a catalog, in the order in which they were added."""
    with store.read() as session:
        name = catalog_row(session, store, catalog_id).name
        rows = session.exec(select(UsageLogRow).where(UsageLogRow.name == name))
        logs = [of_row(UsageLog, row) for row in rows]
    return tuple(sorted(logs, key=lambda log: (log.at, log.key)))


def usage_log_keys(store: Store, catalog_id: int) -> tuple[tuple[str, str], ...]:
    """Key and time of each log of a catalog, sorted, without its figures."""
    with store.read() as session:
        name = catalog_row(session, store, catalog_id).name
        named = select(UsageLogRow.key, UsageLogRow.at).where(UsageLogRow.name == name)
        return tuple(sorted((key, at) for key, at in session.exec(named)))


def delete_usage_log(store: Store, catalog_id: int, key: str) -> None:
    """Delete the figures of a log; one that is not there is no error."""
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        own = (col(UsageLogRow.name) == name, col(UsageLogRow.key) == key)
        session.connection().execute(delete(UsageLogRow).where(*own))
