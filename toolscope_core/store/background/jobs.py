"""Long work off the caller's thread: one job after the other, watched through the store."""

import logging
import queue
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from toolscope_core.model.errors import (
    PausedError,
    StoreError,
    ToolScopeError,
    missing_packages_in_words,
)
from toolscope_core.model.protocols import Progress, Step
from toolscope_core.store.engine import Store
from toolscope_core.store.job_rows import (
    JobState,
    end_job,
    mark_orphans,
    record_step,
    renew_leases,
    start_job,
)

Work = Callable[[Progress], object]
"""Long work that reports each step, and stops when reporting raises; it stores its own results."""

WRITE_SECONDS = 0.5
BEAT_SECONDS = 5.0

logger = logging.getLogger(__name__)


class JobRunner:
    """Runs submitted work in one background thread, one job after the other; what must not wait
    for other work has a runner of its own.

    Progress, cancelling and the end of a job are in the store (``store.get_job``,
    ``store.request_cancel``), so that every tab and every process sees the same. A runner that
    starts marks the jobs of dead processes as interrupted.
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
        """Queue ``work`` and return the job's id; where one of this kind waits or runs on this
        catalog, that one's id.

        Raises ``StoreError`` for an unknown catalog, or when this runner is closed.
        """
        if self._closing.is_set():
            raise StoreError(f"{kind} cannot start because the program is ending; start it again")
        job_id = uuid.uuid4().hex
        job = start_job(self._store, job_id, catalog_id, kind)
        if job.id == job_id:
            self._mine.add(job_id)
            self._waiting.put(_Task(job_id, work))
        return job.id

    def close(self, timeout: float = 10.0) -> None:
        """Stop: the job at work ends as interrupted at its next step, waiting ones at once."""
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
                logger.exception("the end of job %s could not be stored", task.job_id)
            self._mine.discard(task.job_id)

    def _beat(self) -> None:
        while not self._closing.wait(BEAT_SECONDS):
            if not self._mine:
                continue
            try:
                renew_leases(self._store, tuple(self._mine))
            except StoreError:
                logger.exception("the leases of the running jobs could not be renewed")


@dataclass(frozen=True, slots=True)
class _Task:
    job_id: str
    work: Work


class _StopError(Exception):
    """Raised where the work reports a step. No ``ToolScopeError``, which work may handle."""


class _Reporter:
    """The ``Progress`` of one job: stores each new stage, and steps every half second."""

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
        """Store the latest step; false when the job has to stop. A busy store stops no work."""
        self._written = self._latest.stage
        self._due = time.monotonic() + WRITE_SECONDS
        try:
            return record_step(self._store, self._job_id, self._latest)
        except StoreError:
            logger.exception("the progress of job %s could not be stored", self._job_id)
            return True


def _outcome(task: _Task, report: _Reporter) -> tuple[JobState, str]:
    """The state in which the work ended, and the message for the user."""
    try:
        report(Step("", 0, 0))
        with missing_packages_in_words():
            task.work(report)
    except _StopError:
        if report.closing.is_set():
            return "interrupted", "the program ended before this was done; start it again"
        return "cancelled", "cancelled before it was done; start it again"
    except PausedError as error:
        return "paused", str(error)
    except ToolScopeError as error:
        return "failed", str(error)
    except Exception:
        error_id = uuid.uuid4().hex[:8]
        logger.exception("job %s failed (error %s)", task.job_id, error_id)
        return "failed", (
            f"this is a bug in ToolScope, not in your data; report it with error {error_id}, "
            "under which the log has the details"
        )
    return "done", ""
