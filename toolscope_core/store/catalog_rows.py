"""Stores catalogs by name, with every version that was imported."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import groupby
from typing import Any

from sqlalchemy import delete, func, insert, update
from sqlalchemy.orm import defer
from sqlmodel import Session, col, select

from toolscope_core.model.catalog import Catalog, Finding, FormerName, Problem, Server
from toolscope_core.model.errors import StoreError
from toolscope_core.model.tool import JsonObject, Tool, digest
from toolscope_core.store.engine import Store, found_row, now, of_row, rebuilt, row_named
from toolscope_core.store.tables import (
    OF_A_NAME,
    OF_A_VERSION,
    CatalogRow,
    CatalogToolRow,
    JobRow,
    SettingRow,
)

_PARTS = {"servers": Server, "problems": Problem, "findings": Finding, "former_names": FormerName}
"""The parts of a catalog's body, and the class of their items."""
_EXPORTED = "exported_names"
"""A key in the body of the newest version: the names from all exports of the catalog."""
_RAW_FORMATS = "raw_formats"
"""A key in the body: the ``raw_format`` of each tool, in order."""
_LAST_ID = "last catalog id"
"""A setting: the largest id that any catalog had when one was deleted."""


@dataclass(frozen=True, slots=True)
class CatalogRecord:
    """A stored catalog without its content.

    ``number`` counts the versions of ``name`` from 1. ``version`` is ``Catalog.version``, and
    ``at`` is the time of import. ``tools`` and ``servers`` are counts.
    """

    id: int
    name: str
    number: int
    version: str
    at: str
    tools: int
    servers: int
    format: str


def save_catalog(
    store: Store, name: str, catalog: Catalog, new_ids: Mapping[str, str] | None = None
) -> CatalogRecord:
    """Store ``catalog`` as the newest version of ``name``, completely or not at all.

    ``new_ids`` gives the new id of each tool whose id has changed, by its id in the version before,
    so that decisions follow the tools. If the newest version is already this catalog, in any order
    of keys, nothing is written and the record of that version is returned. Raises ``StoreError`` if
    the name is blank.
    """
    if not name.strip():
        raise StoreError("the catalog name is blank; enter a name")
    body: dict[str, Any] = {name: list(map(asdict, getattr(catalog, name))) for name in _PARTS}
    names = [item.name for item in fields(Tool) if item.init]
    tools = [{name: getattr(tool, name) for name in names} for tool in catalog.tools]
    content = digest(catalog.format, body, tools)
    newest = select(CatalogRow).where(CatalogRow.name == name).order_by(-col(CatalogRow.number))
    with store.write() as session:
        newest_row = session.exec(newest).first()
        if newest_row is not None and newest_row.content == content:
            return of_row(CatalogRecord, newest_row)
        row = CatalogRow(
            id=_next_id(session),
            name=name,
            number=newest_row.number + 1 if newest_row else 1,
            version=catalog.version,
            content=content,
            at=now(),
            format=catalog.format,
            tools=len(tools),
            servers=len(catalog.servers),
            body={
                **body,
                _EXPORTED: newest_row.body.get(_EXPORTED, []) if newest_row else [],
                _RAW_FORMATS: [tool.raw_format for tool in catalog.tools],
            },
            renamed=dict(new_ids or {}),
        )
        session.add(row)
        session.flush()
        rows = [
            {"catalog_id": row.id, "position": position, "body": tool}
            for position, tool in enumerate(tools)
        ]
        if rows:
            session.connection().execute(insert(CatalogToolRow), rows)
        return of_row(CatalogRecord, row)


def rename_catalog(store: Store, name: str, new: str) -> None:
    """Rename all versions of ``name`` to ``new``, with their log of decisions, query sets and
    variants.

    Raises ``StoreError`` if the new name is blank or taken, or if there is no catalog called
    ``name``.
    """
    if not new.strip():
        raise StoreError(f"the new name {new!r} is blank; enter a name")
    with store.write() as session:
        _of_name(session, store, name)
        if session.exec(select(CatalogRow.id).where(CatalogRow.name == new)).first():
            raise StoreError(f"there is already a catalog {new}; choose another name")
        for table in (CatalogRow, *OF_A_NAME):
            statement = update(table).where(col(table.name) == name).values(name=new)
            session.connection().execute(statement)


def delete_catalog(store: Store, name: str) -> None:
    """Delete all versions of ``name`` and everything that belongs to them.

    That is decisions, query sets, variants, generated queries, jobs, runs, experiments and
    selections. Model answers stay, since other catalogs may contain the same tools. The ids of the
    versions are never used again. Raises ``StoreError`` while a job on one of them is running, or
    if there is no such catalog.
    """
    with store.write() as session:
        ids = _of_name(session, store, name)
        live_jobs = select(JobRow.id).where(col(JobRow.catalog_id).in_(ids))
        if session.exec(live_jobs.where(JobRow.state == "running")).first():
            raise StoreError(f"a job is running on {name}; cancel it, or wait until it ends")
        last = _next_id(session) - 1
        setting = session.get(SettingRow, _LAST_ID) or SettingRow(name=_LAST_ID, value={})
        setting.value = {"id": last}
        session.add(setting)
        for table in OF_A_VERSION:
            own = col(table.catalog_id).in_(ids)
            session.connection().execute(delete(table).where(own))
        for named in (*OF_A_NAME, CatalogRow):
            session.connection().execute(delete(named).where(col(named.name) == name))


def list_catalogs(store: Store) -> tuple[CatalogRecord, ...]:
    """All versions of all catalogs, sorted by name, newest version first."""
    with store.read() as session:
        return records_in(session)


def records_in(session: Session) -> tuple[CatalogRecord, ...]:
    """Like ``list_catalogs``, but inside a larger transaction."""
    heavy = (CatalogRow.body, CatalogRow.renamed)
    light = select(CatalogRow).options(*map(defer, heavy))  # type: ignore[arg-type]
    records = [of_row(CatalogRecord, row) for row in session.exec(light)]
    return tuple(sorted(records, key=lambda record: (record.name, -record.number)))


def newest_of(records: Iterable[CatalogRecord]) -> dict[str, CatalogRecord]:
    """The newest version of each catalog, by name; the records are in the order of
    ``list_catalogs``.
    """
    return {name: next(versions) for name, versions in groupby(records, lambda one: one.name)}


def load_catalog(store: Store, catalog_id: int) -> Catalog:
    """The catalog as it was saved. Raises ``StoreError`` if the id is unknown."""
    of_tools = (
        select(CatalogToolRow.body)
        .where(CatalogToolRow.catalog_id == catalog_id)
        .order_by(col(CatalogToolRow.position))
    )
    with store.read() as session:
        row = catalog_row(session, store, catalog_id)
        bodies = session.exec(of_tools).all()
    with row_named(store, f"catalog row (id {catalog_id})"):
        tools = tuple(_tool(store, catalog_id, *body) for body in enumerate(bodies))
        for tool, format in zip(tools, row.body.get(_RAW_FORMATS, ()), strict=False):
            tool.declared_in(format)
        parts: dict[str, Any] = {
            name: tuple(rebuilt(kind, item) for item in row.body[name])
            for name, kind in _PARTS.items()
        }
        return Catalog(tools, format=row.format, **parts)


def exported_names(store: Store, catalog_id: int) -> tuple[FormerName, ...]:
    """The tool names from earlier exports of a catalog, in any of its versions."""
    with store.read() as session:
        row = _newest(session, store, catalog_id)
        with row_named(store, f"catalog row (id {row.id})"):
            return tuple(rebuilt(FormerName, item) for item in row.body.get(_EXPORTED, []))


def keep_exported_names(store: Store, catalog_id: int, names: Iterable[FormerName]) -> None:
    """Store the names from a catalog's export. They replace the earlier names,
    which they include.
    """
    with store.write() as session:
        row = _newest(session, store, catalog_id)
        row.body = {**row.body, _EXPORTED: [asdict(item) for item in names]}
        session.add(row)


def _newest(session: Session, store: Store, catalog_id: int) -> CatalogRow:
    own = CatalogRow.name == catalog_row(session, store, catalog_id).name
    versions = select(CatalogRow).where(own).order_by(-col(CatalogRow.number))
    return session.exec(versions.limit(1)).one()


def _tool(store: Store, catalog_id: int, position: int, body: JsonObject) -> Tool:
    with row_named(store, f"tool row (catalog_id {catalog_id}, position {position})"):
        return rebuilt(Tool, body)


def catalog_row(session: Session, store: Store, catalog_id: int) -> CatalogRow:
    """The row of a catalog. Raises ``StoreError`` if there is none."""
    row = session.get(CatalogRow, catalog_id)
    return found_row(store, row, f"catalog {catalog_id}; import it or choose another")


def _of_name(session: Session, store: Store, name: str) -> list[int]:
    """The ids of all versions. Raises ``StoreError`` if there is none."""
    ids = session.exec(select(CatalogRow.id).where(CatalogRow.name == name)).all()
    if not ids:
        raise StoreError(f"{store.place} has no catalog {name} any more; choose another")
    return [one for one in ids if one is not None]


def _next_id(session: Session) -> int:
    """One more than any id that a catalog has or had; a deleted id is not reused, because other
    rows refer to it.
    """
    newest = session.exec(select(func.max(CatalogRow.id))).one() or 0
    setting = session.get(SettingRow, _LAST_ID)
    last = setting.value.get("id") if setting else 0
    return max(newest, last if isinstance(last, int) else 0) + 1
