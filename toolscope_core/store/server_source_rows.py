"""Which servers a catalog was read from: for all of its versions, without any of their values."""

from __future__ import annotations

from dataclasses import dataclass

from toolscope_core.model.tool import JsonObject
from toolscope_core.store.engine import Store, now
from toolscope_core.store.rebuilding import of_row
from toolscope_core.store.tables import ServerSourceRow


@dataclass(frozen=True, slots=True)
class ServerSource:
    """The servers of a catalog, and when they were last read."""

    at: str
    value: JsonObject


def keep_server_source(store: Store, name: str, value: JsonObject) -> None:
    """Keep the servers of the catalogs called ``name``, in place of earlier ones."""
    with store.write() as session:
        session.merge(ServerSourceRow(name=name, at=now(), value=dict(value)))


def read_server_source(store: Store, name: str) -> ServerSource | None:
    """The servers of the catalogs called ``name``; ``None`` where they were read from files."""
    with store.read() as session:
        row = session.get(ServerSourceRow, name)
        return None if row is None else of_row(ServerSource, row)
