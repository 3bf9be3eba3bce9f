"""The live threshold: what another cut would bring, from the scores that are stored."""

from __future__ import annotations

from dataclasses import replace

from toolscope_core.decisions.log import constraints
from toolscope_core.merging.pipeline import Analysis, cut_of, own_cut
from toolscope_core.merging.threshold_cuts import (
    changes,
)
from toolscope_core.model.configuration import Cut
from toolscope_core.model.datamodel import Constraints
from ui.overlap.threshold_preview import Effect, Measure, Moved, effect, next_to_fall, sweep
from ui.shared.charts.figure_records import Sweep
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

_Basis = tuple[Analysis, Constraints, Effect]
"""What every cut is compared with: the effect of the plan's under people's decisions."""


class Thresholds:
    """Looks at other cuts of an analysis under the standing decisions; changes nothing."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._tokens = work.explore.tokens
        self._plans: ResultCache[_Basis] = ResultCache()
        self._moved: ResultCache[Effect] = ResultCache()
        self._sweeps: ResultCache[Sweep] = ResultCache()

    def cut(self, catalog_id: int) -> Cut:
        """What the plan is made with: what people applied last, or ``own``."""
        return cut_of(self._analyses.required(catalog_id), self._review.log(catalog_id))

    def own(self, catalog_id: int) -> Cut:
        """What the plan is made with before anybody applies another cut; its similarity is the
        least that can be asked for.
        """
        return own_cut(self._analyses.required(catalog_id))

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
        analysis = self._analyses.required(catalog_id)
        links = constraints(analysis.catalog, self._review.log(catalog_id))
        held = cut.probability if measure == "similarity" else cut.similarity
        whole = self._sweeps.get(
            catalog_id,
            (analysis,),
            lambda: sweep(analysis, links, cut, measure),
            state=(links, measure, held),
        )
        return replace(whole, at=getattr(cut, measure))

    def _basis(self, catalog_id: int) -> _Basis:
        analysis = self._analyses.required(catalog_id)
        log = self._review.log(catalog_id)
        links, cut = constraints(analysis.catalog, log), cut_of(analysis, log)
        return self._plans.get(
            catalog_id,
            (analysis,),
            lambda: (analysis, links, effect(analysis, links, cut, self._tokens(catalog_id))),
            state=(links, cut),
        )

    def _effect(self, catalog_id: int, basis: _Basis, cut: Cut) -> Effect:
        """The last one is kept: ``effects`` and ``moved`` ask for the same."""
        analysis, links, plan = basis
        if cut == plan.cut:
            return plan
        return self._moved.get(
            catalog_id,
            (basis,),
            lambda: effect(analysis, links, cut, self._tokens(catalog_id)),
            state=cut,
        )
