"""Analyses on the screen: started as a job, watched, cached in memory, and rebuilt from cached
vectors.
"""

import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from toolscope_core.embedding.vector_cache import VectorCache
from toolscope_core.merging.analysis import Analysis
from toolscope_core.model.configuration import AnalysisConfig
from toolscope_core.model.errors import JobError, PausedError
from toolscope_core.model.protocols import Embedder, Progress, Step, Vectors, silent
from toolscope_core.store.engine import Store
from toolscope_core.store.jobs import Job, JobRunner, Work, get_job, latest_job, request_cancel
from ui.shared.services.catalogs import Catalogs

LOOK_SECONDS = 75.0
"""How many seconds one look counts. A browser lets a background tab look only once a minute."""
AWAY_SECONDS = 15.0
"""How many seconds a page has until it must look again, after a start or when it is drawn again."""
LEFT = "you left the page before this work was done; it restarts when you come back"


class WatchedJobs:
    """Long work, such as maps, that stops when nobody watches it.

    This work has its own thread, so that no other work waits for it. The panel that shows its
    progress looks at it every second. When a page has been drawn without that panel, it has left
    the work. A page that starts to be drawn again looks away for a moment. A closed tab stops
    looking.
    """

    def __init__(self, store: Store) -> None:
        self._runner = JobRunner(store)
        self._until: dict[tuple[str, int, str], float] = {}
        self._lock = threading.Lock()

    def start(self, catalog_id: int, kind: str, work: Work) -> str:
        """Start work that is paused when nobody watches it. Returns the job's id.

        If such a job is running, its id is returned.
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
        """Record that a visitor watches the job."""
        self._look(visitor, job.catalog_id, job.kind, LOOK_SECONDS)
        with self._lock:
            self._until.pop(("", job.catalog_id, job.kind), None)  # a visitor is watching now

    def look_away(self, visitor: str) -> None:
        """Record that a visitor's page is being drawn again.

        Work that the page still shows is then watched again.
        """
        soon = time.monotonic() + AWAY_SECONDS
        with self._lock:
            for watched, until in self._until.items():
                if watched[0] == visitor:
                    self._until[watched] = min(until, soon)

    def leave(self, visitor: str) -> None:
        """Record that a visitor's page is completely drawn. Work that the page does not show is
        left.
        """
        again = time.monotonic() + AWAY_SECONDS
        with self._lock:
            self._until = {
                watched: until
                for watched, until in self._until.items()
                if watched[0] != visitor or until > again
            }

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
    """Whether a job ended because nobody watched it."""
    return job.state == "paused" and job.message == LEFT


KEPT = 4
"""The maximum number of analyses in memory. With 40,000 tools, each takes about 200 MB."""

REBUILT_AT_ONCE = 5_000
"""Up to this many tools, an analysis is rebuilt from cached vectors while a page waits."""

COLLECTED = 2_000
"""For catalogs with more tools than this, the garbage collector ignores the analysis."""

POLL_SECONDS = 0.1

JOB_KIND = "analyse"


class Analyses:
    """One analysis for each catalog version, with the default configuration.

    The jobs of these analyses are recorded as ``kind``.
    """

    def __init__(
        self,
        store: Store,
        catalogs: Catalogs,
        embedder: Embedder,
        cache: VectorCache,
        kind: str = JOB_KIND,
    ) -> None:
        self._store = store
        self._catalogs = catalogs
        self._embedder = embedder
        self._kind = kind
        self._cache = cache
        self._runner, self._background = JobRunner(store), JobRunner(store)
        self.watched = WatchedJobs(store)
        self._kept: OrderedDict[int, Analysis] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, catalog_id: int) -> str:
        """Analyse in the background. Returns the id of the job, or of one that is
        already running.
        """
        return self._runner.submit(
            catalog_id, self._kind, lambda progress: self.run(catalog_id, progress)
        )

    def run(self, catalog_id: int, progress: Progress = silent) -> Analysis:
        """Analyse now."""
        # The judge is loaded only here. Code that reads an analysis needs no more than the judge's
        # type.
        from toolscope_core.merging.analysing import analyse, judge_at_lowest_thresholds

        catalog = self._catalogs.open(catalog_id)
        analysis = analyse(catalog, AnalysisConfig(), self._embedder, self._cache, progress)
        judge_at_lowest_thresholds(analysis)
        with self._lock:
            self._kept[catalog_id] = analysis
            self._kept.move_to_end(catalog_id)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        if len(catalog.tools) > COLLECTED:
            _out_of_the_collection()
        return analysis

    def offline(self, catalog_id: int) -> Analysis | None:
        """The finished analysis by the program's own judge; ``None`` if one has to be started.

        After a restart, the analysis of a small catalog is rebuilt at once from the cached vectors.
        """
        with self._lock:
            if catalog_id in self._kept:
                self._kept.move_to_end(catalog_id)
                return self._kept[catalog_id]
        job = self.job(catalog_id)
        if job is None or job.state != "done":
            return None
        if len(self._catalogs.open(catalog_id).tools) > REBUILT_AT_ONCE:
            return None
        return self.run(catalog_id)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The texts embedded in the same way as the tools: float32 (n, d), cached. Loads the model
        if needed.
        """
        from toolscope_core.embedding.vector_cache import embed_cached

        return embed_cached(texts, self._embedder, self._cache)

    def background(self, catalog_id: int, kind: str, work: Work) -> str:
        """Start other long work on an analysed catalog, like ``start``.

        Analyses do not wait for this work: a run with a model may take minutes, and pages wait for
        analyses. Maps use ``watched``, because nothing waits for them.
        """
        return self._background.submit(catalog_id, kind, work)

    def job(self, catalog_id: int, kind: str | None = None) -> Job | None:
        """The latest job of this kind on the catalog. Without a ``kind``, the latest analysis."""
        return latest_job(self._store, catalog_id, kind or self._kind)

    def watch(self, job_id: str) -> Job:
        """The progress of a job. Raises ``StoreError`` for an unknown id."""
        return get_job(self._store, job_id)

    def wait(self, job_id: str, progress: Progress = silent) -> None:
        """Return when the job is done. Raises ``JobError`` if it ends in any other way."""
        while (job := self.watch(job_id)).live:
            if job.stage:
                progress(Step(job.stage, job.done, job.total))
            time.sleep(POLL_SECONDS)
        if job.state != "done":
            raise JobError(job.message or f"the analysis was {job.state}; start it again")

    def cancel(self, job_id: str) -> Job:
        """Ask a job to stop at its next step."""
        return request_cancel(self._store, job_id)

    def close(self) -> None:
        """Stop the background threads."""
        self._runner.close()
        self._background.close()
        self.watched.close()


def _out_of_the_collection() -> None:
    """Exclude the objects that exist now from later garbage collections, which pause all threads.

    Objects that a dropped analysis leaves behind are collected when this is called the next time.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
