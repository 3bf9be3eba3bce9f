"""The first page: the worst collisions nobody has settled, and what to do next."""

from __future__ import annotations

from toolscope_core.catalog.target_rules import BrokenRules
from toolscope_core.datamodel import MergePlan
from toolscope_core.decision_log import constraints
from toolscope_core.errors import JobError
from toolscope_core.pipeline import Analysis, family_edges, unsure_pairs
from toolscope_core.views.next_steps import (
    Collision,
    Findings,
    NextStep,
    _proposals,
    export_steps,
    findings_of,
    reading_steps,
    review_steps,
    worst_collisions,
)
from toolscope_core.views.pair_list import siblings_in
from toolscope_core.workspace.analyses import Analyses
from toolscope_core.workspace.catalogs import Catalogs
from toolscope_core.workspace.review import Review


class Overview:
    """What the first page says beside its figures. Remembers what a plan was found to need."""

    def __init__(self, catalogs: Catalogs, analyses: Analyses, review: Review) -> None:
        self._catalogs = catalogs
        self._analyses = analyses
        self._review = review
        self._worst: dict[int, tuple[MergePlan, tuple[Collision, ...]]] = {}
        self._steps: dict[int, tuple[MergePlan, tuple[NextStep, ...]]] = {}
        self._findings: dict[int, tuple[MergePlan, Findings]] = {}
        self._broken: dict[int, BrokenRules] = {}

    def worst(self, catalog_id: int) -> tuple[Collision, ...]:
        """The five worst collisions. Raises ``JobError`` before the analysis is finished."""
        plan = self._review.plan(catalog_id)
        known = self._worst.get(catalog_id)
        if known is None or known[0] is not plan:
            analysis = self._analysis(catalog_id)
            links = constraints(analysis.catalog, self._review.log(catalog_id))
            known = (plan, worst_collisions(analysis, plan, links.cannot))
            self._worst[catalog_id] = known
        return known[1]

    def findings(self, catalog_id: int) -> Findings:
        """Duplicates, families and siblings, counted apart. Raises ``JobError`` before the
        analysis is finished.
        """
        plan, cached = self._review.plan(catalog_id), self._findings.get(catalog_id)
        if cached is None or cached[0] is not plan:
            siblings = siblings_in(self._analysis(catalog_id))
            again = len(self._review.look_again(catalog_id))
            cached = self._findings[catalog_id] = (plan, findings_of(plan, siblings, again))
        return cached[1]

    def known_steps(self, catalog_id: int) -> tuple[NextStep, ...]:
        """What waits in the catalog itself; needs no analysis."""
        catalog = self._catalogs.open(catalog_id)
        return tuple(reading_steps(len(catalog.problems), len(catalog.blocked)))

    def steps(self, catalog_id: int) -> tuple[NextStep, ...]:
        """What waits after the analysis, the first to do first; where nothing does, the export.

        Raises ``JobError`` before the analysis is finished.
        """
        plan = self._review.plan(catalog_id)
        entry = self._steps.get(catalog_id)
        if entry is None or entry[0] is not plan:
            broken = self._broken.setdefault(catalog_id, {})
            unsure = 0 if _proposals(plan) else self._unsure(catalog_id)
            again = len(self._review.look_again(catalog_id))
            entry = plan, (*review_steps(plan, unsure, again), *export_steps(plan, broken))
            self._steps[catalog_id] = entry
        return entry[1]

    def _unsure(self, catalog_id: int) -> int:
        """How many pairs the judge is unsure of, that nobody said never to merge."""
        analysis = self._analysis(catalog_id)
        apart = constraints(analysis.catalog, self._review.log(catalog_id)).cannot
        return len(unsure_pairs(analysis).keys() - family_edges(analysis).keys() - apart)

    def _analysis(self, catalog_id: int) -> Analysis:
        analysis = self._analyses.get(catalog_id)
        if analysis is None:
            raise JobError("the catalog is not analysed yet; start the analysis on its page")
        return analysis
