"""Experiments on catalogs: what is measured, its configuration, and the result."""

from sqlalchemy import delete
from sqlalchemy.orm import defer
from sqlmodel import Session, col, select

from toolscope_core.model.plan import Experiment
from toolscope_core.model.tool import JsonObject, digest
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, found_row, now, of_row
from toolscope_core.store.tables import CatalogRow, ExperimentRow


def open_experiment(
    store: Store, catalog_id: int, kind: str, configuration: JsonObject
) -> Experiment:
    """Continue the newest unfinished experiment, or record a new one.

    An experiment is continued only if it has this catalog, this kind and exactly this
    configuration.
    """
    key = digest(kind, configuration)
    unfinished = (
        select(ExperimentRow)
        .where(
            ExperimentRow.catalog_id == catalog_id,
            ExperimentRow.key == key,
            col(ExperimentRow.is_done).is_(False),
        )
        .order_by(-col(ExperimentRow.number))
    )
    with store.write() as session:
        catalog_row(session, store, catalog_id)
        row = session.exec(unfinished).first()
        if row is None:
            row = ExperimentRow(
                catalog_id=catalog_id,
                key=key,
                kind=kind,
                configuration=dict(configuration),
                at=now(),
                result={},
            )
            session.add(row)
            session.flush()
        return of_row(Experiment, row)


def keep_result(
    store: Store, number: int, result: JsonObject, seconds: float, *, is_done: bool
) -> None:
    """Store what an experiment has measured so far, after ``seconds`` of work in total."""
    with store.write() as session:
        row = _row(session, store, number)
        row.result, row.seconds, row.is_done = dict(result), seconds, is_done


def list_experiments(store: Store, catalog_id: int) -> tuple[Experiment, ...]:
    """The experiments on all versions of a catalog, newest first, without their results."""
    light = defer(ExperimentRow.result)  # type: ignore[arg-type]
    with store.read() as session:
        name = catalog_row(session, store, catalog_id).name
        versions = select(CatalogRow.id).where(CatalogRow.name == name)
        rows = session.exec(
            select(ExperimentRow)
            .options(light)
            .where(col(ExperimentRow.catalog_id).in_(versions))
            .order_by(-col(ExperimentRow.number))
        )
        return tuple(of_row(Experiment, row, result=None) for row in rows)


def get_experiment(store: Store, number: int) -> Experiment:
    """An experiment with its result. Raises ``StoreError`` if there is none."""
    with store.read() as session:
        return of_row(Experiment, _row(session, store, number))


def delete_experiment(store: Store, number: int) -> None:
    """Delete an experiment, if it exists."""
    with store.write() as session:
        own = col(ExperimentRow.number) == number
        session.connection().execute(delete(ExperimentRow).where(own))


def _row(session: Session, store: Store, number: int) -> ExperimentRow:
    row = session.get(ExperimentRow, number)
    return found_row(store, row, f"experiment {number}; it was deleted, so run it again")
