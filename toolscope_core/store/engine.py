"""Opens the store, runs its short transactions, and puts its errors into words."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from sqlalchemy import Column, String, inspect, select, type_coerce
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import StoreError
from toolscope_core.store.databases import Database, database_of
from toolscope_core.store.migrations import is_current, migrate
from toolscope_core.store.tables import CellError

BUSY_SECONDS = 15.0
"""How many seconds a transaction waits for another writer."""

_Found = TypeVar("_Found")


def now() -> str:
    """The time on this machine, in the format of the store."""
    return _as_text(datetime.now(UTC))


class Store:
    """An open store, created or migrated as needed; safe to share between threads.

    Raises ``StoreError`` if the database cannot be used, here and in every transaction.
    ``backed_up`` says that a person has made a backup; a server is not migrated without one.
    """

    def __init__(self, url: str, *, backed_up: bool = False) -> None:
        self._database = database_of(url, BUSY_SECONDS, backed_up=backed_up)
        self.place = self._database.place
        self.repair = self._database.repair
        self.logs_read: dict[str, tuple[Decision, ...]] = {}
        """The decisions as they were read, by the name of the catalog; reading many decisions takes
        time.
        """
        with _in_words(self._database):
            with self._database.look().connect() as connection:
                ready = is_current(connection, self.place)
            self._engine = self._database.engine()
        if not ready:
            self._migrate()

    def read(self) -> AbstractContextManager[Session]:
        """A session that sees one state of the store."""
        return self._transaction(writes=False)

    def write(self) -> AbstractContextManager[Session]:
        """A session that alone may write; keep it short. An exception rolls everything back."""
        return self._transaction(writes=True)

    def time(self, session: Session, ahead: float = 0.0) -> str:
        """The time in ``ahead`` seconds from now, which is the same for all programs that use the
        store.
        """
        moment = self._database.clock(session.connection())
        return _as_text(moment.astimezone(UTC) + timedelta(seconds=ahead))

    def count_on(self, session: Session, column: Column[int]) -> None:
        """Continue the database's automatic numbers after the largest number in the column."""
        self._database.count_on(session.connection(), column)

    def close(self) -> None:
        """Disconnect from the database; a later transaction connects again."""
        self._engine.dispose()

    def _migrate(self) -> None:
        try:
            with self.write() as session:
                migrate(session.connection(), self._database, now())
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _transaction(self, *, writes: bool) -> Iterator[Session]:
        engine = self._engine.execution_options(writes=writes)
        with (
            _in_words(self._database),
            Session(engine, expire_on_commit=False) as session,
            session.begin(),
        ):
            session.connection()
            try:
                yield session
            except CellError as error:
                raise damaged_row(self, _row_of(session, error), str(error)) from error


def existing_store(url: str) -> Store:
    """The existing store at this URL, opened. Raises ``StoreError`` if there is none yet."""
    database = database_of(url, BUSY_SECONDS)
    with _in_words(database), database.look().connect() as connection:
        if not inspect(connection).get_table_names():
            raise StoreError(f"there is no store at {database.place}; check the address")
    return Store(url)


@contextmanager
def _in_words(database: Database) -> Iterator[None]:
    """Turn the database's errors into ``StoreError``; violated constraints remain bugs."""
    try:
        yield
    except IntegrityError:
        raise
    except database.failures as error:
        remedy = database.remedy(error)
        raise StoreError(f"the store {database.place} cannot be used: {remedy}") from error


def damaged_row(store: Store, row: str, reason: str) -> StoreError:
    """The error for a row that another program changed; ``row`` names the row and its table."""
    return StoreError(
        f"the {row} of the store {store.place} cannot be used: {reason}; {store.repair}"
    )


def found_row(store: Store, row: _Found | None, what: str) -> _Found:
    """The row. Raises ``StoreError`` if it is missing; ``what`` then names the
    row and the remedy.
    """
    if row is None:
        raise StoreError(f"{store.place} has no {what}")
    return row


@contextmanager
def row_named(store: Store, row: str) -> Iterator[None]:
    """A block in which conversion errors in a row become a ``StoreError`` that names the row."""
    try:
        yield
    except (ValueError, LookupError, TypeError) as error:
        raise damaged_row(store, row, str(error)) from error


def _as_text(moment: datetime) -> str:
    """A time as text: UTC in ISO 8601 with milliseconds, so that text order is time order."""
    return moment.isoformat(timespec="milliseconds")


def _row_of(session: Session, error: CellError) -> str:
    """The row that contains a cell, named by its primary key as it is stored."""
    table = error.column.table
    keys = [type_coerce(key, String) for key in table.primary_key]
    same = type_coerce(error.column, String) == error.text
    values = session.connection().execute(select(*keys).where(same)).first()
    columns = zip(table.primary_key.columns.keys(), values or (), strict=False)
    cells = (f"{name} {str(value)[:60]}" for name, value in columns)
    return f"{table.name} row ({', '.join(cells)})"


_Rebuilt = TypeVar("_Rebuilt")
_JSON_TYPES = {float: (float, int), Mapping: (dict,), Literal: (str,), None: (NoneType,)}


def rebuilt(kind: type[_Rebuilt], body: Any) -> _Rebuilt:
    """An instance of the dataclass ``kind`` with these fields.

    Raises ``ValueError`` if the body is not an object, or if a field is missing, unknown or of
    another type.
    """
    if not isinstance(body, dict):
        raise ValueError(f"{str(body)[:40]!r} is not a {kind.__name__}")
    types = _types(cast(Any, kind))
    for name, value in body.items():
        if name not in types or not isinstance(value, types[name]):
            raise ValueError(f"a {kind.__name__} has no {name} like {str(value)[:40]!r}")
    try:
        return kind(**body)
    except TypeError as error:
        raise ValueError(f"a {kind.__name__} lacks a field: {error}") from error


def of_row(kind: type[_Rebuilt], row: object, **others: Any) -> _Rebuilt:
    """An instance of the dataclass ``kind``, made from the row's cells with the same names.

    Lists become tuples. Fields that are not in the row are passed in as ``others``.
    """
    names = [item.name for item in fields(cast(Any, kind)) if item.name not in others]
    cells = {name: getattr(row, name) for name in names}
    lists = {name: tuple(cell) for name, cell in cells.items() if isinstance(cell, list)}
    return kind(**{**cells, **lists, **others})


@cache
def _types(kind: Any) -> Mapping[str, tuple[type, ...]]:
    """The Python types that JSON gives for each field that ``__init__`` takes."""
    hints = get_type_hints(kind)
    return MappingProxyType(
        {item.name: _flat(hints[item.name]) for item in fields(kind) if item.init}
    )


def _flat(hint: Any) -> tuple[type, ...]:
    origin = get_origin(hint) or hint
    if origin in _JSON_TYPES:
        return _JSON_TYPES[origin]
    parts = [_flat(part) for part in get_args(hint)]
    return tuple(one for part in parts for one in part) if parts else (origin,)
