"""What leaves: the bundle of a plan, its figures, and each policy beside a target's limit."""

from __future__ import annotations

from toolscope_core.catalog.tokens import Costs
from toolscope_core.export.bundle import bundle_files
from toolscope_core.model.configuration import AcceptPolicy, PlanConfig
from ui.shared.cards.export_figures import (
    Download,
    ExportFigures,
    Way,
    download_of,
    figures_of,
    way_of,
)
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

POLICIES: tuple[AcceptPolicy, ...] = ("none", "auto", "all")
"""From the one that merges least."""


class Exports:
    """Bundles of analysed catalogs; changes nothing."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._costs = Costs()
        self._figures: ResultCache[ExportFigures] = ResultCache()

    def figures(
        self, catalog_id: int, config: PlanConfig, shape: str | None = None, fix: bool = False
    ) -> ExportFigures:
        """What the bundle would hold, in figures; ``shape`` defaults to the input's."""
        plan = self._review.plan(catalog_id, config)
        return self._figures.get(
            (catalog_id, config, shape, fix),
            (plan,),
            lambda: figures_of(plan, shape, fix, self._costs),
        )

    def ways(self, catalog_id: int, routers: bool, target: str) -> tuple[Way, ...]:
        """What each accept policy means for the limit of ``target`` on tools."""
        configs = [PlanConfig(accept=accept, routers=routers) for accept in POLICIES]
        return tuple(way_of(self._review.plan(catalog_id, c), c.accept, target) for c in configs)

    def bundle(
        self, catalog_id: int, config: PlanConfig, shape: str | None = None, fix: bool = False
    ) -> dict[str, bytes]:
        """The files of the export bundle. Raises ``ExportError`` where the target refuses it."""
        analysis, plan = self._analyses.required(catalog_id), self._review.plan(catalog_id, config)
        return bundle_files(analysis, plan, self._review.log(catalog_id), config, shape, fix)

    def download(
        self,
        catalog_id: int,
        name: str,
        config: PlanConfig,
        shape: str | None = None,
        fix: bool = False,
    ) -> Download:
        """The bundle as one file; ``name`` is the catalog's."""
        return download_of(self.bundle(catalog_id, config, shape, fix), name)
