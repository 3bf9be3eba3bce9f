"""Background jobs: their catalog, their progress, and whether their process still lives."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import update
from sqlmodel import Session, col, select

from toolscope_core.model.protocols import Step
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, found_row, of_row
from toolscope_core.store.tables import JobRow

JobState = Literal["running", "done", "paused", "failed", "cancelled", "interrupted"]
LEASE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the store knows it; ``message`` says why it failed or ended early.

    A job that waits for its turn is ``running`` with an empty ``stage``.
    """

    id: str
    catalog_id: int
    kind: str
    state: JobState
    stage: str
    done: int
    total: int
    message: str
    cancel_requested: bool
    started_at: str

    @property
    def live(self) -> bool:
        return self.state == "running"


def start_job(
    store: Store, job_id: str, catalog_id: int, kind: str, lease: float = LEASE_SECONDS
) -> Job:
    """Record the start of a job, unless one of its kind runs on this catalog: then that one is
    returned.

    Its id is ``job_id`` only for a new job. ``lease`` is in seconds.
    """
    with store.write() as session:
        catalog_row(session, store, catalog_id)
        _interrupt_orphans(store, session)
        same = select(JobRow).where(JobRow.catalog_id == catalog_id, JobRow.kind == kind)
        row = session.exec(same.where(JobRow.state == "running")).first()
        if row is None:
            time = store.time(session)
            row = JobRow(
                id=job_id,
                catalog_id=catalog_id,
                kind=kind,
                started_at=time,
                updated_at=time,
                lease_until=store.time(session, lease),
            )
            session.add(row)
            session.flush()
        return _job(row)


def record_step(store: Store, job_id: str, step: Step) -> bool:
    """Write the progress of a running job; false when it has to stop.

    It has to when cancelling was requested, or when it is not running any more.
    """
    with store.write() as session:
        row = _row(session, store, job_id)
        if row.state != "running":
            return False
        row.stage, row.done, row.total = step.stage, step.done, step.total
        row.updated_at = store.time(session)
        return not row.cancel


def renew_leases(store: Store, job_ids: Collection[str], lease: float = LEASE_SECONDS) -> None:
    """Say that the process which runs these jobs still lives, for ``lease`` more seconds."""
    with store.write() as session:
        running = update(JobRow).where(col(JobRow.id).in_(job_ids), col(JobRow.state) == "running")
        session.connection().execute(running.values(lease_until=store.time(session, lease)))


def request_cancel(store: Store, job_id: str) -> Job:
    """Ask a job to stop; it does so at its next step. A job that has ended stays as it is."""
    with store.write() as session:
        row = _row(session, store, job_id)
        if row.state == "running":
            row.cancel = True
        return _job(row)


def end_job(store: Store, job_id: str, state: JobState, message: str = "") -> Job:
    """Record how a running job ended; one that has ended already stays as it is."""
    with store.write() as session:
        row = _row(session, store, job_id)
        if row.state == "running":
            row.state, row.message, row.updated_at = state, message, store.time(session)
        return _job(row)


def get_job(store: Store, job_id: str) -> Job:
    """Raises ``StoreError`` for an id that is not in the store."""
    with store.read() as session:
        return _job(_row(session, store, job_id))


def latest_job(store: Store, catalog_id: int, kind: str | None = None) -> Job | None:
    """The job started last on this catalog (of this kind, if given), if there was one."""
    with store.read() as session:
        jobs = select(JobRow).where(JobRow.catalog_id == catalog_id)
        if kind is not None:
            jobs = jobs.where(JobRow.kind == kind)
        row = session.exec(jobs.order_by(-col(JobRow.number))).first()
        return None if row is None else _job(row)


def mark_orphans(store: Store) -> None:
    """Mark running jobs whose lease ran out, because their process died, as interrupted."""
    with store.write() as session:
        _interrupt_orphans(store, session)


def _interrupt_orphans(store: Store, session: Session) -> None:
    time = store.time(session)
    orphans = update(JobRow).where(col(JobRow.state) == "running", col(JobRow.lease_until) < time)
    message = "the program ended before this was done; start it again"
    changed = orphans.values(state="interrupted", message=message, updated_at=time)
    session.connection().execute(changed)


def _row(session: Session, store: Store, job_id: str) -> JobRow:
    row = session.exec(select(JobRow).where(JobRow.id == job_id)).first()
    return found_row(store, row, f"job {job_id!r}; reload the page")


def _job(row: JobRow) -> Job:
    return of_row(Job, row, cancel_requested=row.cancel)
