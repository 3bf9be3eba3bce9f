"""Settings of this store, by name; none holds a key of an endpoint."""

from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import delete
from sqlmodel import col

from toolscope_core.model.tool import JsonObject
from toolscope_core.store.engine import Store, row_named
from toolscope_core.store.tables import SettingRow

T = TypeVar("T")


def read_setting(store: Store, name: str) -> JsonObject | None:
    """The setting of this name; ``None`` where nothing was chosen."""
    with store.read() as session:
        row = session.get(SettingRow, name)
        return None if row is None else row.value


def setting_as(store: Store, name: str, build: Callable[[JsonObject], T]) -> T | None:
    """A setting as ``build`` converts it; ``None`` where nothing was chosen.

    Raises ``StoreError`` where ``build`` cannot make anything of it.
    """
    value = read_setting(store, name)
    if value is None:
        return None
    with row_named(store, f"setting row (name {name})"):
        return build(value)


def write_setting(store: Store, name: str, value: JsonObject | None) -> None:
    """Choose a value, or with ``None`` take the choice back."""
    with store.write() as session:
        session.connection().execute(delete(SettingRow).where(col(SettingRow.name) == name))
        if value is not None:
            session.add(SettingRow(name=name, value=dict(value)))
