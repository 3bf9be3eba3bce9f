"""The first page: the worst collisions nobody has settled, and what to do next."""

from __future__ import annotations

from toolscope_core.catalog.formats.target_rules import BrokenRules
from toolscope_core.decisions.constraints import constraints
from ui.catalog.next_steps import (
    Collision,
    NextStep,
    export_steps,
    reading_steps,
    review_steps,
    worst_collisions,
)
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace


class Overview:
    """What the first page says beside its figures. Remembers what a plan was found to need."""

    def __init__(self, work: Workspace) -> None:
        self._catalogs = work.catalogs
        self._analyses = work.analyses
        self._review = work.review
        self._pairs = work.pairs
        self._worst: ResultCache[tuple[Collision, ...]] = ResultCache()
        self._steps: ResultCache[tuple[NextStep, ...]] = ResultCache()
        self._broken: dict[int, BrokenRules] = {}

    def worst(self, catalog_id: int) -> tuple[Collision, ...]:
        """The five worst collisions. Raises ``JobError`` before the analysis is finished."""
        plan = self._review.plan(catalog_id)

        def make() -> tuple[Collision, ...]:
            analysis = self._analyses.required(catalog_id)
            links = constraints(analysis.catalog, self._review.log(catalog_id))
            return worst_collisions(analysis, plan, links.cannot)

        return self._worst.get(catalog_id, (plan,), make)

    def known_steps(self, catalog_id: int) -> tuple[NextStep, ...]:
        """What waits in the catalog itself; needs no analysis."""
        catalog = self._catalogs.open(catalog_id)
        return tuple(reading_steps(len(catalog.problems), len(catalog.blocked)))

    def steps(self, catalog_id: int) -> tuple[NextStep, ...]:
        """What waits after the analysis, the first to do first; where nothing does, the export.

        Raises ``JobError`` before the analysis is finished.
        """
        plan = self._review.plan(catalog_id)

        def make() -> tuple[NextStep, ...]:
            broken = self._broken.setdefault(catalog_id, {})
            progress = self._review.progress(catalog_id)
            waiting = progress.clusters.duplicates.waiting
            unsure = 0 if waiting else len(self._pairs.undecided(catalog_id))
            return (*review_steps(progress, unsure), *export_steps(plan, broken))

        return self._steps.get(catalog_id, (plan,), make)
