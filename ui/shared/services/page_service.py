"""What the services of the pages have in common: the workspace, values kept, one kind of job."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ui.shared.services.result_cache import ResultCache

if TYPE_CHECKING:
    from toolscope_core.store.job_rows import Job
    from ui.shared.services.review import Review
    from ui.shared.services.workspace import Workspace

S = TypeVar("S")


class PageService:
    """What a service of a page uses of the workspace, and what it found out before."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._store, self._catalogs, self._analyses = work.store, work.catalogs, work.analyses
        self._results: dict[str, ResultCache[Any]] = {}

    @property
    def _review(self) -> Review:
        return self._work.review

    def _cached(
        self,
        key: tuple[str, *tuple[Hashable, ...]],
        sources: tuple[object, ...],
        make: Callable[[], S],
        *,
        state: object = None,
        most: int | None = None,
    ) -> S:
        """The value of a key, kept as ``ResultCache`` does; the key begins with what the value is,
        and ``most`` counts the values of that kind.
        """
        kind, *place = key
        results = self._results.setdefault(kind, ResultCache(most))
        value: S = results.get(tuple(place), sources, make, state=state)
        return value


class Uses(Generic[S]):
    """Another service that a service uses, made when it is first asked for."""

    def __init__(self, kind: Callable[[Workspace], S]) -> None:
        self._kind = kind

    def __get__(self, service: PageService, owner: type[PageService]) -> S:
        return service._work.service(self._kind)


class JobService(PageService, ABC):
    """A service with one ``kind`` of long work, which ``run`` does here and now."""

    kind: str

    @abstractmethod
    def run(self, catalog_id: int, *inputs: Any, **options: Any) -> object:
        """Do the work; ``progress`` is among the options."""

    def start(self, catalog_id: int, *inputs: Any) -> str:
        """Do what ``run`` does in the background; returns the job's id (that of a running one, if
        any).
        """
        return self._analyses.background(
            catalog_id, self.kind, lambda progress: self.run(catalog_id, *inputs, progress=progress)
        )

    def job(self, catalog_id: int, *inputs: Any) -> Job | None:
        """The latest such work on the catalog, whatever its ``inputs``."""
        return self._analyses.job(catalog_id, self.kind)
