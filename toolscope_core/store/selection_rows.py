"""Selections of tools, kept so that a link can name them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import delete
from sqlmodel import Session, col, select

from toolscope_core.model.tool import digest
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store
from toolscope_core.store.tables import SelectionRow

KEPT = 200
"""Selections that a catalog keeps; the one kept longest ago goes first."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Tools of one catalog, and in words the view that chose them (``source``).

    ``key`` is a hash of all of it, so it names the same tools forever.
    """

    catalog_id: int
    source: str
    tool_ids: frozenset[str] = field(repr=False)
    key: str


def keep_selection(store: Store, catalog_id: int, source: str, ids: Iterable[str]) -> Selection:
    """Keep these tools as the newest selection of the catalog; the same again stays one."""
    ranked = sorted(set(ids))
    key = digest(catalog_id, source, ranked)[:16]
    with store.write() as session:
        catalog_row(session, store, catalog_id)
        own = col(SelectionRow.catalog_id) == catalog_id
        session.connection().execute(delete(SelectionRow).where(own, col(SelectionRow.key) == key))
        session.add(SelectionRow(catalog_id=catalog_id, key=key, source=source, ids=ranked))
        session.flush()
        _trim(session, catalog_id)
    return Selection(catalog_id, source, frozenset(ranked), key)


def get_selection(store: Store, catalog_id: int, key: str) -> Selection | None:
    """The selection of this key; ``None`` where the catalog has none, or no longer."""
    if not key.isalnum():  # of a link that somebody typed
        return None
    wanted = select(SelectionRow).where(
        SelectionRow.catalog_id == catalog_id, SelectionRow.key == key
    )
    with store.read() as session:
        row = session.exec(wanted).first()
        return None if row is None else Selection(catalog_id, row.source, frozenset(row.ids), key)


def _trim(session: Session, catalog_id: int) -> None:
    own = col(SelectionRow.catalog_id) == catalog_id
    newest = col(SelectionRow.number).desc()
    oldest = select(SelectionRow.number).where(own).order_by(newest).offset(KEPT)
    session.connection().execute(delete(SelectionRow).where(col(SelectionRow.number).in_(oldest)))
