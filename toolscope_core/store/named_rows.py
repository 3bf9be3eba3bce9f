"""Data of a catalog other than its tools: queries, logs, variants, its servers, and selections."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar, get_args

from sqlalchemy import delete, func
from sqlmodel import Session, col, select

from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import Augmentation, JsonObject, digest
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, damaged_row, now, of_row
from toolscope_core.store.tables import (
    GeneratedRow,
    QueryFileRow,
    SelectionRow,
    ServerSourceRow,
    UsageLogRow,
    VariantRow,
)

NamedRow = TypeVar("NamedRow", QueryFileRow, UsageLogRow, VariantRow)


@dataclass(frozen=True, slots=True)
class QueryFile:
    """A query set as it was uploaded, with its file name and the time of the upload."""

    name: str
    at: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class UsageLog:
    """The figures from one log, with the hash of its content, its file name, and
    when it was added.
    """

    key: str
    label: str
    at: str
    value: JsonObject = field(repr=False)


@dataclass(frozen=True, slots=True)
class OfferedVariant:
    """A document variant, and the file that it came from."""

    variant: Augmentation
    source: str


@dataclass(frozen=True, slots=True)
class ServerSource:
    """The servers of a catalog, without their secret values, and when they were last read."""

    at: str
    value: JsonObject


def keep_query_file(store: Store, catalog_id: int, name: str, content: bytes) -> None:
    """Store a query set. It replaces an earlier one with this name."""
    _keep(store, catalog_id, QueryFileRow, [{"file": name, "at": now(), "content": content}])


def list_query_files(store: Store, catalog_id: int) -> tuple[QueryFile, ...]:
    """The query sets of a catalog, sorted by name."""
    rows = _rows(store, catalog_id, QueryFileRow)
    files = (QueryFile(row.file, row.at, row.content) for row in rows)
    return tuple(sorted(files, key=lambda file: file.name))


def delete_query_file(store: Store, catalog_id: int, name: str) -> None:
    """Delete a query set, if it exists."""
    _delete(store, catalog_id, QueryFileRow, "file", name)


def keep_usage_log(store: Store, catalog_id: int, key: str, label: str, value: JsonObject) -> None:
    """Store the figures from a log. They replace earlier figures from the same content."""
    row = {"key": key, "label": label, "at": now(), "value": dict(value)}
    _keep(store, catalog_id, UsageLogRow, [row])


def list_usage_logs(store: Store, catalog_id: int) -> tuple[UsageLog, ...]:
    """The logs of a catalog, in the order in which they were added."""
    logs = (of_row(UsageLog, row) for row in _rows(store, catalog_id, UsageLogRow))
    return tuple(sorted(logs, key=lambda log: (log.at, log.key)))


def delete_usage_log(store: Store, catalog_id: int, key: str) -> None:
    """Delete the figures from a log, if they exist."""
    _delete(store, catalog_id, UsageLogRow, "key", key)


def keep_variants(
    store: Store, catalog_id: int, source: str, variants: Mapping[str, Augmentation]
) -> None:
    """Store variants by fingerprint. They replace earlier variants of the same tools."""
    rows = [
        {"fingerprint": one, "source": source, **asdict(own), "questions": list(own.questions)}
        for one, own in variants.items()
    ]
    _keep(store, catalog_id, VariantRow, rows)


def list_variants(store: Store, catalog_id: int) -> dict[str, OfferedVariant]:
    """The stored variants of a catalog, by fingerprint."""
    return {
        row.fingerprint: OfferedVariant(of_row(Augmentation, row), row.source)
        for row in _rows(store, catalog_id, VariantRow)
    }


def keep_server_source(store: Store, name: str, value: JsonObject) -> None:
    """Store the servers of the catalogs called ``name``. They replace earlier ones."""
    with store.write() as session:
        session.merge(ServerSourceRow(name=name, at=now(), value=dict(value)))


def read_server_source(store: Store, name: str) -> ServerSource | None:
    """The servers of the catalogs called ``name``; ``None`` if the catalogs came from files."""
    with store.read() as session:
        row = session.get(ServerSourceRow, name)
        return None if row is None else of_row(ServerSource, row)


def _keep(
    store: Store, catalog_id: int, table: type[NamedRow], rows: Iterable[Mapping[str, Any]]
) -> None:
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        for cells in rows:
            session.merge(table(name=name, **cells))


def _rows(store: Store, catalog_id: int, table: type[NamedRow]) -> Sequence[NamedRow]:
    with store.read() as session:
        name = catalog_row(session, store, catalog_id).name
        return session.exec(select(table).where(table.name == name)).all()


def _delete(store: Store, catalog_id: int, table: type[NamedRow], column: str, value: str) -> None:
    with store.write() as session:
        own = {"name": catalog_row(session, store, catalog_id).name, column: value}
        session.connection().execute(delete(table).filter_by(**own))


KEPT = 200
"""The number of selections that are kept for each catalog; the oldest is removed first."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Tools of one catalog, and the view that selected them, in words (``source``).

    ``key`` is a hash of everything, so it always names the same tools.
    """

    catalog_id: int
    source: str
    tool_ids: frozenset[str] = field(repr=False)
    key: str


def keep_selection(store: Store, catalog_id: int, source: str, ids: Iterable[str]) -> Selection:
    """Store these tools as the newest selection of the catalog; a repeat is stored only once."""
    ranked = sorted(set(ids))
    key = digest(catalog_id, source, ranked)[:16]
    with store.write() as session:
        catalog_row(session, store, catalog_id)
        own = col(SelectionRow.catalog_id) == catalog_id
        session.connection().execute(delete(SelectionRow).where(own, col(SelectionRow.key) == key))
        session.add(SelectionRow(catalog_id=catalog_id, key=key, source=source, ids=ranked))
        session.flush()
        newest = col(SelectionRow.number).desc()
        oldest = select(SelectionRow.number).where(own).order_by(newest).offset(KEPT)
        too_many = col(SelectionRow.number).in_(oldest)
        session.connection().execute(delete(SelectionRow).where(too_many))
    return Selection(catalog_id, source, frozenset(ranked), key)


def get_selection(store: Store, catalog_id: int, key: str) -> Selection | None:
    """The selection with this key; ``None`` if the catalog has no such selection, or no longer has
    it.
    """
    if not key.isalnum():  # the key may come from a link that somebody typed
        return None
    query = select(SelectionRow).where(
        SelectionRow.catalog_id == catalog_id, SelectionRow.key == key
    )
    with store.read() as session:
        row = session.exec(query).first()
        return None if row is None else Selection(catalog_id, row.source, frozenset(row.ids), key)


GeneratedState = Literal["waiting", "kept", "dropped", "failed"]
SET_NAME = "generated.jsonl"
"""The query set that contains the queries that were kept."""


@dataclass(frozen=True, slots=True)
class GeneratedQuery:
    """A generated query: the ids of its ``tools``, the ``draft``, the current ``text``, and its
    author.

    A *failed* query has no text; ``reason`` says why.
    """

    key: str
    tools: tuple[str, ...]
    draft: str
    text: str
    reason: str = ""
    source: str = ""
    state: GeneratedState = "waiting"


AsFile = Callable[[Sequence[GeneratedQuery]], bytes]
"""A function that returns the content of a query file with these queries."""


def keep_generated(
    store: Store, catalog_id: int, source: str, queries: Sequence[GeneratedQuery]
) -> int:
    """Store new queries, and return how many were added.

    A query whose key is already stored is not replaced, unless that query failed and now has a
    text.
    """
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        rows = _generated_rows(session, name)
        states = {row.key: row.state for row in rows}
        number = max((row.number for row in rows), default=0)
        fresh = [
            one
            for one in queries
            if one.key not in states or (states[one.key] == "failed" and one.text)
        ]
        for at, one in enumerate(fresh, number + 1):
            state = "waiting" if one.text else "failed"
            cells = {**asdict(one), "tools": list(one.tools), "source": source, "state": state}
            session.merge(GeneratedRow(name=name, number=at, at=now(), **cells))
    return len(fresh)


def list_generated(store: Store, catalog_id: int) -> tuple[GeneratedQuery, ...]:
    """The generated queries of a catalog, in the order in which they arrived."""
    with store.read() as session:
        rows = _generated_rows(session, catalog_row(session, store, catalog_id).name)
        return tuple(_query(store, row) for row in rows)


def decide_generated(
    store: Store,
    catalog_id: int,
    shown: Iterable[GeneratedQuery],
    state: GeneratedState,
    as_file: AsFile,
) -> int:
    """Set the state of queries, write the set of kept queries, and return how many changed.

    A query stays unchanged if it failed, or if it differs from what was ``shown``.
    """
    as_shown = {one.key: one for one in shown}
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        rows = [
            row
            for row in _generated_rows(session, name)
            if row.state not in (state, "failed") and _query(store, row) == as_shown.get(row.key)
        ]
        for row in rows:
            row.state = state
        _write_set(session, store, name, as_file)
    return len(rows)


def edit_generated(
    store: Store, catalog_id: int, shown: GeneratedQuery, text: str, as_file: AsFile
) -> None:
    """Give a query another text, and keep the query.

    Raises ``StoreError`` if the query differs from what was ``shown``.
    """
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        row = session.exec(
            select(GeneratedRow).where(GeneratedRow.name == name, GeneratedRow.key == shown.key)
        ).first()
        if row is None or row.text != shown.text:
            raise StoreError(
                "somebody else has changed this query since you opened it; look at it again"
            )
        row.text, row.state = text, "kept"
        _write_set(session, store, name, as_file)


def clear_generated(store: Store, catalog_id: int, states: Collection[GeneratedState]) -> int:
    """Delete the queries in these states permanently, and return how many there were."""
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        own = (col(GeneratedRow.name) == name, col(GeneratedRow.state).in_(states))
        count = session.exec(select(func.count(col(GeneratedRow.number))).where(*own)).one()
        session.connection().execute(delete(GeneratedRow).where(*own))
    return count


def _write_set(session: Session, store: Store, name: str, as_file: AsFile) -> None:
    queries = [_query(store, row) for row in _generated_rows(session, name) if row.state == "kept"]
    if queries:
        content = as_file(queries)
        session.merge(QueryFileRow(name=name, file=SET_NAME, at=now(), content=content))
        return
    own = (col(QueryFileRow.name) == name, col(QueryFileRow.file) == SET_NAME)
    session.connection().execute(delete(QueryFileRow).where(*own))


def _generated_rows(session: Session, name: str) -> list[GeneratedRow]:
    own = select(GeneratedRow).where(GeneratedRow.name == name)
    return list(session.exec(own.order_by(col(GeneratedRow.number))))


def _query(store: Store, row: GeneratedRow) -> GeneratedQuery:
    if row.state not in get_args(GeneratedState):
        raise damaged_row(store, f"generated_query row (key {row.key[:12]})", row.state)
    return of_row(GeneratedQuery, row)
