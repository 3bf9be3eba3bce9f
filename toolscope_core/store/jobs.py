"""Long work in a background thread, one job after another, tracked in the store."""

import logging
import queue
import threading
import time
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import update
from sqlmodel import Session, col, select

from toolscope_core.model.errors import (
    PausedError,
    StoreError,
    ToolScopeError,
    missing_packages_in_words,
)
from toolscope_core.model.protocols import Progress, Step
from toolscope_core.store.catalog_rows import catalog_row
from toolscope_core.store.engine import Store, found_row, of_row
from toolscope_core.store.tables import JobRow

JobState = Literal["running", "done", "paused", "failed", "cancelled", "interrupted"]
LEASE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Job:
    """A job in the store; ``message`` says why it failed or ended early.

    A waiting job is ``running``, with an empty ``stage``.
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
    """Record the start of a job, or return a running job of the same kind on this catalog.

    Only a new job gets the id ``job_id``. ``lease`` is in seconds.
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
    """Store the progress of a running job; false if the job has to stop.

    It has to stop if it was cancelled or is no longer running.
    """
    with store.write() as session:
        row = _row(session, store, job_id)
        if row.state != "running":
            return False
        row.stage, row.done, row.total = step.stage, step.done, step.total
        row.updated_at = store.time(session)
        return not row.cancel


def renew_leases(store: Store, job_ids: Collection[str], lease: float = LEASE_SECONDS) -> None:
    """Extend the leases of this process's jobs by ``lease`` seconds."""
    with store.write() as session:
        renewal = update(JobRow).where(col(JobRow.id).in_(job_ids), col(JobRow.state) == "running")
        session.connection().execute(renewal.values(lease_until=store.time(session, lease)))


def request_cancel(store: Store, job_id: str) -> Job:
    """Ask a job to stop at its next step. A finished job stays unchanged."""
    with store.write() as session:
        row = _row(session, store, job_id)
        if row.state == "running":
            row.cancel = True
        return _job(row)


def end_job(store: Store, job_id: str, state: JobState, message: str = "") -> Job:
    """Record how a running job ended. A finished job stays unchanged."""
    with store.write() as session:
        row = _row(session, store, job_id)
        if row.state == "running":
            row.state, row.message, row.updated_at = state, message, store.time(session)
        return _job(row)


def get_job(store: Store, job_id: str) -> Job:
    """The job with this id. Raises ``StoreError`` if the id is not in the store."""
    with store.read() as session:
        return _job(_row(session, store, job_id))


def latest_job(store: Store, catalog_id: int, kind: str | None = None) -> Job | None:
    """The most recent job on this catalog, of this kind if one is given; ``None``
    if there is none.
    """
    with store.read() as session:
        jobs = select(JobRow).where(JobRow.catalog_id == catalog_id)
        if kind is not None:
            jobs = jobs.where(JobRow.kind == kind)
        row = session.exec(jobs.order_by(-col(JobRow.number))).first()
        return None if row is None else _job(row)


def mark_orphans(store: Store) -> None:
    """Mark running jobs with expired leases as interrupted, because their process has died."""
    with store.write() as session:
        _interrupt_orphans(store, session)


def _interrupt_orphans(store: Store, session: Session) -> None:
    time = store.time(session)
    orphans = update(JobRow).where(col(JobRow.state) == "running", col(JobRow.lease_until) < time)
    message = "the program stopped before this finished; start it again"
    statement = orphans.values(state="interrupted", message=message, updated_at=time)
    session.connection().execute(statement)


def _row(session: Session, store: Store, job_id: str) -> JobRow:
    row = session.exec(select(JobRow).where(JobRow.id == job_id)).first()
    return found_row(store, row, f"job {job_id!r}; reload the page")


def _job(row: JobRow) -> Job:
    return of_row(Job, row, cancel_requested=row.cancel)


Work = Callable[[Progress], object]
"""Long work that reports each step and stores its own results. It stops when reporting raises."""

WRITE_SECONDS = 0.5
BEAT_SECONDS = 5.0

_logger = logging.getLogger(__name__)


class JobRunner:
    """Runs submitted work in one background thread, one job after another.

    Work that must not wait for other work has a runner of its own. Progress, cancelling and the end
    of a job are recorded in the store (``store.get_job``, ``store.request_cancel``), so every tab
    and process sees the same. A new runner marks the jobs of dead processes as interrupted.
    """

    def __init__(self, store: Store) -> None:
        mark_orphans(store)
        self._store = store
        self._waiting: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._mine: set[str] = set()
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(target=target, name=f"toolscope-{target.__name__}", daemon=True)
            for target in (self._run, self._beat)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, catalog_id: int, kind: str, work: Work) -> str:
        """Queue ``work`` and return its job id.

        If a job of this kind is already pending on this catalog, its id is returned instead. Raises
        ``StoreError`` if the catalog is unknown, or if this runner is closed.
        """
        if self._closing.is_set():
            raise StoreError(
                f"{kind} cannot start while the program is stopping; start it again later"
            )
        job_id = uuid.uuid4().hex
        job = start_job(self._store, job_id, catalog_id, kind)
        if job.id == job_id:
            self._mine.add(job_id)
            self._waiting.put(_Task(job_id, work))
        return job.id

    def close(self, timeout: float = 10.0) -> None:
        """Stop the runner.

        The current job ends as interrupted at its next step, and waiting jobs end at once.
        """
        self._closing.set()
        self._waiting.put(None)
        for thread in self._threads:
            thread.join(timeout)

    def _run(self) -> None:
        while (task := self._waiting.get()) is not None:
            report = _Reporter(self._store, task.job_id, self._closing)
            state, message = _outcome(task, report)
            report.write()
            try:
                end_job(self._store, task.job_id, state, message)
            except StoreError:
                _logger.exception("the end of job %s could not be saved", task.job_id)
            self._mine.discard(task.job_id)

    def _beat(self) -> None:
        while not self._closing.wait(BEAT_SECONDS):
            if not self._mine:
                continue
            try:
                renew_leases(self._store, tuple(self._mine))
            except StoreError:
                _logger.exception("the leases of the running jobs could not be renewed")


@dataclass(frozen=True, slots=True)
class _Task:
    job_id: str
    work: Work


class _StopError(Exception):
    """Stops work at its next step. This is not a ``ToolScopeError``, because the work might catch
    that.
    """


class _Reporter:
    """The ``Progress`` of one job. It stores a new stage at once, and other steps every half
    second.
    """

    def __init__(self, store: Store, job_id: str, closing: threading.Event) -> None:
        self.closing = closing
        self._store = store
        self._job_id = job_id
        self._latest = Step("", 0, 0)
        self._written: str | None = None
        self._due = 0.0

    def __call__(self, step: Step) -> None:
        self._latest = step
        due = step.stage != self._written or time.monotonic() >= self._due
        if self.closing.is_set() or (due and not self.write()):
            raise _StopError

    def write(self) -> bool:
        """Store the latest step; false if the job has to stop. A busy store does
        not stop the work.
        """
        self._written = self._latest.stage
        self._due = time.monotonic() + WRITE_SECONDS
        try:
            return record_step(self._store, self._job_id, self._latest)
        except StoreError:
            _logger.exception("the progress of job %s could not be saved", self._job_id)
            return True


def _outcome(task: _Task, report: _Reporter) -> tuple[JobState, str]:
    """The final state of the work, and the message for the user."""
    try:
        report(Step("", 0, 0))
        with missing_packages_in_words():
            task.work(report)
    except _StopError:
        if report.closing.is_set():
            return "interrupted", "the program stopped before this finished; start it again"
        return "cancelled", "cancelled before it finished; start it again"
    except PausedError as error:
        return "paused", str(error)
    except ToolScopeError as error:
        return "failed", str(error)
    except Exception:
        error_id = uuid.uuid4().hex[:8]
        _logger.exception("job %s failed (error %s)", task.job_id, error_id)
        return "failed", (
            f"this is a bug in ToolScope, not in your data; report it with error {error_id}, "
            "which is in the log with all details"
        )
    return "done", ""
