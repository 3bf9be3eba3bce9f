"""The first page in figures, the worst collisions nobody has settled, and what to do next."""

from __future__ import annotations

from dataclasses import dataclass

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.formats.target_rules import BrokenRules
from toolscope_core.catalog.tokens import tokenizer
from toolscope_core.decisions.constraints import constraints
from toolscope_core.model.configuration import PlanConfig
from ui.catalog.next_steps import (
    Collision,
    NextStep,
    export_steps,
    reading_steps,
    review_steps,
    worst_collisions,
)
from ui.shared.pairs.pair_view import Pairs
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class CatalogFigures:
    """A catalog in numbers; ``counted`` says whether ``tokens`` is an estimate, ``blocked`` counts
    tools with a *block* finding, ``problems`` the records that could not be read.
    """

    tools: int
    servers: int
    tokens: int
    blocked: int
    problems: int
    counted: str


@dataclass(frozen=True, slots=True)
class Forecast:
    """The toolset once its ``accepted`` and ``safe`` merges are made, but for those that need a
    gateway: how many of each there are, and the tools and tokens left.
    """

    accepted: int
    safe: int
    tools_after: int
    tokens_after: int


class Overview:
    """What the first page says beside its figures. Remembers what a plan was found to need."""

    def __init__(self, work: Workspace) -> None:
        self._catalogs = work.catalogs
        self._analyses = work.analyses
        self._review = work.review
        self._pairs = work.service(Pairs)
        self._worst: ResultCache[tuple[Collision, ...]] = ResultCache()
        self._steps: ResultCache[tuple[NextStep, ...]] = ResultCache()
        self._broken: dict[int, BrokenRules] = {}

    def figures(self, catalog_id: int) -> CatalogFigures:
        """What is known without an analysis."""
        catalog = self._catalogs.open(catalog_id)
        return CatalogFigures(
            tools=len(catalog.tools),
            servers=len(catalog.servers),
            tokens=sum(self._catalogs.tokens(catalog_id).values()),
            blocked=len(catalog.blocked),
            problems=len(catalog.problems),
            counted=tokenizer().label,
        )

    def forecast(self, catalog_id: int) -> Forecast:
        """What merging brings. Raises ``JobError`` before the analysis is finished."""
        costs = self._catalogs.tokens(catalog_id)
        plan = self._review.plan(catalog_id, PlanConfig(accept="auto"))
        decided = {one.id for one in self._review.plan(catalog_id).applied}
        accepted = sum(one.id in decided for one in plan.applied)
        return Forecast(
            accepted=accepted,
            safe=len(plan.applied) - accepted,
            tools_after=len(plan.tools),
            tokens_after=sum(
                self._catalogs.costs.of(item.tool, PROMPT_SHAPES[0])
                if len(item.members) > 1
                else costs[item.tool.id]
                for item in plan.tools
            ),
        )

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
