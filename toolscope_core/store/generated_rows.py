"""Queries that a model wrote, with what people decided about each: for all versions of a catalog.

The query set made of those that are kept is written in the same transaction as a decision, so that
it never holds anything else.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from sqlalchemy import delete, func
from sqlmodel import Session, col, select

from toolscope_core.model.errors import StoreError
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, damaged_row, now
from toolscope_core.store.rebuilding import of_row
from toolscope_core.store.tables import GeneratedRow, QueryFileRow

GeneratedState = Literal["waiting", "kept", "dropped", "failed"]
SET_NAME = "generated.jsonl"
"""The query set of those that were kept."""


@dataclass(frozen=True, slots=True)
class GeneratedQuery:
    """A query on offer: the ids of its ``tools``, the ``draft``, the ``text`` as it stands, and who
    wrote it. One that *failed* has no text; ``reason`` says why.
    """

    key: str
    tools: tuple[str, ...]
    draft: str
    text: str
    reason: str = ""
    source: str = ""
    state: GeneratedState = "waiting"


AsFile = Callable[[Sequence[GeneratedQuery]], bytes]
"""The content of a query file that holds these queries."""


def keep_generated(
    store: Store, catalog_id: int, source: str, queries: Sequence[GeneratedQuery]
) -> int:
    """Put queries on offer; how many are new. One whose key is there already stays as it is, unless
    it failed and is written now.
    """
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        rows = _rows(session, name)
        states, number = (
            {row.key: row.state for row in rows},
            max((row.number for row in rows), default=0),
        )
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
    """The queries on offer for a catalog, in order of their arrival."""
    with store.read() as session:
        rows = _rows(session, catalog_row(session, store, catalog_id).name)
        return tuple(_query(store, row) for row in rows)


def decide_generated(
    store: Store,
    catalog_id: int,
    shown: Iterable[GeneratedQuery],
    state: GeneratedState,
    as_file: AsFile,
) -> int:
    """Give queries a state, and write the set of those that are kept; how many changed. One that is
    no longer as it was ``shown`` stays as it is, and so does one that failed.
    """
    as_shown = {one.key: one for one in shown}
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        changed = [
            row
            for row in _rows(session, name)
            if row.state not in (state, "failed") and _query(store, row) == as_shown.get(row.key)
        ]
        for row in changed:
            row.state = state
        _write_set(session, store, name, as_file)
    return len(changed)


def edit_generated(
    store: Store, catalog_id: int, shown: GeneratedQuery, text: str, as_file: AsFile
) -> None:
    """Give a query another text and keep it. Raises ``StoreError`` where it is no longer as it was
    ``shown``.
    """
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        row = session.exec(
            select(GeneratedRow).where(GeneratedRow.name == name, GeneratedRow.key == shown.key)
        ).first()
        if row is None or row.text != shown.text:
            raise StoreError(
                "somebody else has changed this query since it was shown; look at it again"
            )
        row.text, row.state = text, "kept"
        _write_set(session, store, name, as_file)


def clear_generated(store: Store, catalog_id: int, states: Collection[GeneratedState]) -> int:
    """Delete the queries in these states for good; how many there were."""
    with store.write() as session:
        name = catalog_row(session, store, catalog_id).name
        own = (col(GeneratedRow.name) == name, col(GeneratedRow.state).in_(states))
        count = session.exec(select(func.count(col(GeneratedRow.number))).where(*own)).one()
        session.connection().execute(delete(GeneratedRow).where(*own))
    return count


def _write_set(session: Session, store: Store, name: str, as_file: AsFile) -> None:
    kept = [_query(store, row) for row in _rows(session, name) if row.state == "kept"]
    if kept:
        content = as_file(kept)
        session.merge(QueryFileRow(name=name, file=SET_NAME, at=now(), content=content))
        return
    own = (col(QueryFileRow.name) == name, col(QueryFileRow.file) == SET_NAME)
    session.connection().execute(delete(QueryFileRow).where(*own))


def _rows(session: Session, name: str) -> list[GeneratedRow]:
    own = select(GeneratedRow).where(GeneratedRow.name == name)
    return list(session.exec(own.order_by(col(GeneratedRow.number))))


def _query(store: Store, row: GeneratedRow) -> GeneratedQuery:
    if row.state not in get_args(GeneratedState):
        raise damaged_row(store, f"generated_query row (key {row.key[:12]})", row.state)
    return of_row(GeneratedQuery, row)
