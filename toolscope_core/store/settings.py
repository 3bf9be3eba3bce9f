"""What people chose for this store, by name: it holds no key of an endpoint."""

from __future__ import annotations

from toolscope_core.datamodel import JsonObject
from toolscope_core.store.engine import Store
from toolscope_core.store.tables import SettingRow


def read_setting(store: Store, name: str) -> JsonObject | None:
    """``None`` where nothing was chosen."""
    with store.read() as session:
        row = session.get(SettingRow, name)
        return None if row is None else row.value


def write_setting(store: Store, name: str, value: JsonObject | None) -> None:
    """Choose a value, or with ``None`` take the choice back."""
    with store.write() as session:
        row = session.get(SettingRow, name)
        if row is not None:
            session.delete(row)
            session.flush()
        if value is not None:
            session.add(SettingRow(name=name, value=dict(value)))
