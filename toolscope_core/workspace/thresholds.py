"""The live threshold: what another cut would bring, from the scores that are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from toolscope_core.config import Cut
from toolscope_core.datamodel import Constraints
from toolscope_core.decision_log import constraints
from toolscope_core.errors import JobError
from toolscope_core.figures.views import Sweep
from toolscope_core.merging.threshold_cuts import (
    changes,
)
from toolscope_core.pipeline import Analysis, cut_of, own_cut
from toolscope_core.views.threshold_preview import (
    Effect,
    Measure,
    Moved,
    effect,
    next_to_fall,
    sweep,
)
from toolscope_core.workspace.analyses import Analyses
from toolscope_core.workspace.review import Review

_Basis = tuple[Analysis, Constraints, Effect]
"""What every cut is compared with: the effect of the plan's under people's decisions."""


class Thresholds:
    """Looks at other cuts of an analysis under the standing decisions; changes nothing."""

    def __init__(
        self, analyses: Analyses, review: Review, tokens: Callable[[int], Mapping[str, int]]
    ) -> None:
        self._analyses = analyses
        self._review = review
        self._tokens = tokens
        self._plans: dict[int, _Basis] = {}
        self._moved: dict[int, tuple[_Basis, Effect]] = {}
        self._sweeps: dict[int, tuple[Analysis, tuple[Constraints, Measure, float], Sweep]] = {}

    def cut(self, catalog_id: int) -> Cut:
        """What the plan is made with: what people applied last, or ``own``."""
        return cut_of(self._analysis(catalog_id), self._review.log(catalog_id))

    def own(self, catalog_id: int) -> Cut:
        """What the plan is made with before anybody applies another cut; its similarity is the
        least that can be asked for.
        """
        return own_cut(self._analysis(catalog_id))

    def effects(self, catalog_id: int, cut: Cut) -> tuple[Effect, Effect]:
        """The effect of a cut and of the plan's: what ``moved`` begins with, known the sooner."""
        basis = self._basis(catalog_id)
        return self._effect(catalog_id, basis, cut), basis[2]

    def moved(self, catalog_id: int, cut: Cut) -> Moved:
        """All that another cut would bring, against the plan's."""
        analysis, links, plan = basis = self._basis(catalog_id)
        now = self._effect(catalog_id, basis, cut)
        falls = next_to_fall(analysis, links, now)
        return Moved(now, plan, changes(plan.groups, now.groups), falls)

    def sweep(self, catalog_id: int, cut: Cut, measure: Measure) -> Sweep:
        """Every value of one measure, the other held where ``cut`` has it; the last is kept."""
        analysis = self._analysis(catalog_id)
        links = constraints(analysis.catalog, self._review.log(catalog_id))
        held = cut.probability if measure == "similarity" else cut.similarity
        known, wanted = self._sweeps.get(catalog_id), (links, measure, held)
        if known is None or known[0] is not analysis or known[1] != wanted:
            known = (analysis, wanted, sweep(analysis, links, cut, measure))
            self._sweeps[catalog_id] = known
        return replace(known[2], at=getattr(cut, measure))

    def _basis(self, catalog_id: int) -> _Basis:
        analysis = self._analysis(catalog_id)
        log = self._review.log(catalog_id)
        links, cut = constraints(analysis.catalog, log), cut_of(analysis, log)
        known = self._plans.get(catalog_id)
        if known is None or known[0] is not analysis or (known[1], known[2].cut) != (links, cut):
            plan = effect(analysis, links, cut, self._tokens(catalog_id))
            known = self._plans[catalog_id] = (analysis, links, plan)
        return known

    def _effect(self, catalog_id: int, basis: _Basis, cut: Cut) -> Effect:
        """The last one is kept: ``effects`` and ``moved`` ask for the same."""
        analysis, links, plan = basis
        if cut == plan.cut:
            return plan
        known = self._moved.get(catalog_id)
        if known is None or known[0] is not basis or known[1].cut != cut:
            now = effect(analysis, links, cut, self._tokens(catalog_id))
            known = self._moved[catalog_id] = (basis, now)
        return known[1]

    def _analysis(self, catalog_id: int) -> Analysis:
        analysis = self._analyses.get(catalog_id)
        if analysis is None:
            raise JobError("the catalog is not analysed yet; start the analysis on its page")
        return analysis
