"""Long work that only who looks at it waits for: maps, and what is made like them.

It has a thread of its own, so that no other work waits for it, and ends when its page is left: a
panel that shows its progress looks every second, and a page that is drawn without it looks away. A
tab that was closed looks no more.
"""

import threading
import time

from toolscope_core.model.errors import PausedError
from toolscope_core.model.protocols import Progress, Step
from toolscope_core.store.engine import Store
from toolscope_core.store.jobs import Job, JobRunner, Work

LOOK_SECONDS = 75.0
"""How long one look holds: a browser lets a tab in the background look once a minute."""
AWAY_SECONDS = 15.0
"""How long a page may take until it looks again, after a start or when it is drawn anew."""
LEFT = "its page was left before this was done; it starts again when you come back"


class WatchedJobs:
    """Work by catalog and kind, and the visitors that look at it."""

    def __init__(self, store: Store) -> None:
        self._runner = JobRunner(store)
        self._until: dict[tuple[str, int, str], float] = {}
        self._lock = threading.Lock()

    def start(self, catalog_id: int, kind: str, work: Work) -> str:
        """Start work that ends as paused when nobody looks at it; returns the job's id (that of a
        running one, if any).
        """
        self._look("", catalog_id, kind, AWAY_SECONDS)

        def run(progress: Progress) -> None:
            def report(step: Step) -> None:
                progress(step)
                if not self._is_watched(catalog_id, kind):
                    raise PausedError(LEFT)

            work(report)

        return self._runner.submit(catalog_id, kind, run)

    def look(self, visitor: str, job: Job) -> None:
        """Say that a visitor looks at the job."""
        self._look(visitor, job.catalog_id, job.kind, LOOK_SECONDS)

    def look_away(self, visitor: str) -> None:
        """Say that what a visitor sees is drawn anew; what is still shown is looked at again."""
        soon = time.monotonic() + AWAY_SECONDS
        with self._lock:
            for watched, until in self._until.items():
                if watched[0] == visitor:
                    self._until[watched] = min(until, soon)

    def close(self) -> None:
        """Stop the thread."""
        self._runner.close()

    def _look(self, visitor: str, catalog_id: int, kind: str, seconds: float) -> None:
        now = time.monotonic()
        with self._lock:
            self._until = {one: until for one, until in self._until.items() if until > now}
            self._until[visitor, catalog_id, kind] = now + seconds

    def _is_watched(self, catalog_id: int, kind: str) -> bool:
        now = time.monotonic()
        with self._lock:
            looks = [until for one, until in self._until.items() if one[1:] == (catalog_id, kind)]
        return any(until > now for until in looks)


def was_left(job: Job) -> bool:
    """Whether a job ended because nobody looked at it."""
    return job.state == "paused" and job.message == LEFT
