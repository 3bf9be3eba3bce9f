"""The live threshold: what other thresholds would bring, from the scores that are stored."""

from __future__ import annotations

from dataclasses import replace

from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.analysis import Analysis, own_thresholds, thresholds_of
from toolscope_core.merging.threshold_changes import changes
from toolscope_core.model.configuration import MergeThresholds
from toolscope_core.model.decision import Constraints, Decision
from ui.overlap.figures import Sweep
from ui.overlap.threshold_preview import Effect, Measure, Moved, effect, next_to_fall, sweep
from ui.shared.services.logs import make_decision
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace

_Basis = tuple[Analysis, Constraints, Effect]
"""What all thresholds are compared with: the effect of the plan's under people's decisions."""


class Thresholds:
    """Looks at other thresholds of an analysis under the standing decisions, and applies them."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._tokens = work.catalogs.tokens
        self._plans: ResultCache[_Basis] = ResultCache()
        self._moved: ResultCache[Effect] = ResultCache()
        self._sweeps: ResultCache[Sweep] = ResultCache()

    def in_use(self, catalog_id: int) -> MergeThresholds:
        """What the plan is made with: what people applied last, or ``own``."""
        return thresholds_of(self._analyses.required(catalog_id), self._review.log(catalog_id))

    def own(self, catalog_id: int) -> MergeThresholds:
        """What the plan is made with before anybody applies other thresholds; its similarity is the
        least that can be asked for.
        """
        return own_thresholds(self._analyses.required(catalog_id))

    def apply(self, catalog_id: int, thresholds: MergeThresholds, reviewer: str) -> Decision:
        """Make the plan with these thresholds from now on; undo takes it back."""
        detail = {"similarity": thresholds.similarity, "probability": thresholds.probability}
        catalog = self._analyses.required(catalog_id).catalog
        return self._review.record(
            catalog_id, make_decision(catalog, "threshold", (), reviewer, detail)
        )

    def effects(self, catalog_id: int, thresholds: MergeThresholds) -> tuple[Effect, Effect]:
        """The effect of thresholds and of the plan's: what ``moved`` begins with."""
        basis = self._basis(catalog_id)
        return self._effect(catalog_id, basis, thresholds), basis[2]

    def moved(self, catalog_id: int, thresholds: MergeThresholds) -> Moved:
        """All that other thresholds would bring, against the plan's."""
        analysis, links, plan = basis = self._basis(catalog_id)
        now = self._effect(catalog_id, basis, thresholds)
        falls = next_to_fall(analysis, links, now)
        return Moved(now, plan, changes(plan.groups, now.groups), falls)

    def sweep(self, catalog_id: int, thresholds: MergeThresholds, measure: Measure) -> Sweep:
        """Every value of one measure, the other as ``thresholds`` has it; the last is kept."""
        analysis = self._analyses.required(catalog_id)
        links = constraints(analysis.catalog, self._review.log(catalog_id))
        held = thresholds.probability if measure == "similarity" else thresholds.similarity
        whole = self._sweeps.get(
            catalog_id,
            (analysis,),
            lambda: sweep(analysis, links, thresholds, measure),
            state=(links, measure, held),
        )
        return replace(whole, at=getattr(thresholds, measure))

    def _basis(self, catalog_id: int) -> _Basis:
        analysis = self._analyses.required(catalog_id)
        log = self._review.log(catalog_id)
        links, thresholds = constraints(analysis.catalog, log), thresholds_of(analysis, log)
        return self._plans.get(
            catalog_id,
            (analysis,),
            lambda: (
                analysis,
                links,
                effect(analysis, links, thresholds, self._tokens(catalog_id)),
            ),
            state=(links, thresholds),
        )

    def _effect(self, catalog_id: int, basis: _Basis, thresholds: MergeThresholds) -> Effect:
        """The last one is kept: ``effects`` and ``moved`` ask for the same."""
        analysis, links, plan = basis
        if thresholds == plan.thresholds:
            return plan
        return self._moved.get(
            catalog_id,
            (basis,),
            lambda: effect(analysis, links, thresholds, self._tokens(catalog_id)),
            state=thresholds,
        )
