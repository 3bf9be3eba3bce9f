"""The toolsets that can be measured on a catalog, by what they are called."""

from dataclasses import replace

from toolscope_core.evaluation.measured_toolsets import (
    Toolset,
    as_it_is,
    augmented,
    of_plan,
    of_version,
)
from toolscope_core.evaluation.sweeps import plan_at, values_of
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.plan import MergePlan
from toolscope_core.rps.control import noise_matched
from toolscope_core.store.catalog_rows import list_catalogs
from toolscope_core.tool2vec.learned_model import LearnedModel
from ui.evaluation.uploaded_bundles import PREFIX, UploadedBundles
from ui.shared.services.experiments import ORIGINAL
from ui.shared.services.learned_searches import LearnedSearches, Ranking
from ui.shared.services.page_service import PageService, Uses
from ui.shared.services.reviewed_variants import Variants
from ui.shared.services.workspace import Workspace

POLICIES = {
    "accepted": PlanConfig(accept="none"),
    "accepted and safe": PlanConfig(accept="auto"),
    "all proposals": PlanConfig(accept="all"),
    "all, with gateway": PlanConfig(accept="all", routers=True),
}
"""Which merges are taken; only the last has those that need a gateway, as the paper always has."""
AUGMENTED = "with variants"
MERGED_AUGMENTED = "accepted and safe, with variants"
CONTROL = "with random words"
VARIANT_SIDES = (AUGMENTED, MERGED_AUGMENTED, CONTROL)
"""The toolsets that can be compared where document variants were accepted; the control has random
words of the same length in their place.
"""
LEARNED_SIDES: dict[str, tuple[str, Ranking, str]] = {
    "as it is, by usage": ("before", "usage", ORIGINAL),
    "as it is, learned": ("before", "learned", ORIGINAL),
    "accepted and safe, by usage": ("after", "usage", "accepted and safe"),
    "accepted and safe, learned": ("after", "learned", "accepted and safe"),
}
"""Toolsets that a trained model ranks: its side and ranking, and the toolset by itself. They are
asked only what the model did not learn from.
"""


class MeasuredSides(PageService):
    """The sides of a comparison: the catalog as it is, its merges, and what else may stand beside
    them.
    """

    _variants = Uses(Variants)
    _learned = Uses(LearnedSearches)

    def __init__(self, work: Workspace) -> None:
        super().__init__(work)
        self._bundles = UploadedBundles(work.vectors.folder)

    def names(self, catalog_id: int) -> tuple[str, ...]:
        """The toolsets that can be compared: as it is, under each accept policy, uploaded bundles,
        at each θ that is swept, and the other versions of the catalog.
        """
        analysis = self._analyses.required(catalog_id)
        thetas = (f"θ {value:g}" for value in values_of("theta", analysis))
        bundles = self._bundles.names(self._catalogs.record(catalog_id).name)
        written = VARIANT_SIDES if self._variants.accepted(catalog_id) else ()
        learned = [one for one in LEARNED_SIDES if self.model(catalog_id, one) is not None]
        others = (*bundles, *thetas, *self._versions(catalog_id))
        return (ORIGINAL, *POLICIES, *written, *learned, *others)

    def first_merge(self, catalog_id: int) -> str:
        """What *as it is* is measured against at first: all that is proposed as long as nobody has
        accepted any, then what would be exported.
        """
        decisions = self._review.standing(catalog_id)
        is_begun = any(one.action == "accept" for one in decisions)
        return "accepted and safe" if is_begun else "all proposals"

    def add_bundle(self, catalog_id: int, content: bytes, file: str) -> str:
        """Keep an exported bundle, as a zip, to be measured; its name in ``names``. Raises as
        ``UploadedBundles.add`` does.
        """
        catalog = self._analyses.required(catalog_id).catalog
        return self._bundles.add(catalog, self._catalogs.record(catalog_id).name, content, file)

    def side(self, catalog_id: int, side: str) -> tuple[Toolset, MergePlan | None]:
        """A toolset by its name in ``names``, with its plan where it is a merge.

        Raises ``ConfigError`` where there is none.
        """
        analysis = self._analyses.required(catalog_id)
        if side == ORIGINAL:
            return as_it_is(analysis.catalog), None
        if side in LEARNED_SIDES:
            model = self.model(catalog_id, side)
            if model is None:
                raise ConfigError(f"nothing is learned for {side!r}; train on the Retrieval page")
            toolset, _ = self.side(catalog_id, LEARNED_SIDES[side][2])
            return replace(augmented(toolset, model.variants), name=side), None
        if side in VARIANT_SIDES:
            return self._with_variants(catalog_id, side), None
        if side in POLICIES:
            plan = self._review.plan(catalog_id, POLICIES[side])
        elif side.startswith("θ "):
            log = self._review.log(catalog_id)
            plan = plan_at(analysis, log, float(side[2:]), PlanConfig(accept="auto"))
        elif side.startswith(PREFIX):
            bundle = self._bundles.toolset(
                analysis.catalog, self._catalogs.record(catalog_id).name, side
            )
            return replace(bundle, name=side), None
        elif side in (versions := self._versions(catalog_id)):
            other = self._catalogs.open(versions[side])
            return of_version(other, analysis.catalog, side), None
        else:
            raise ConfigError(f"there is no toolset {side!r}; choose another")
        return of_plan(plan, side), plan

    def model(self, catalog_id: int, side: str) -> LearnedModel | None:
        """The model that ranks a toolset; ``None`` where its texts do."""
        if side not in LEARNED_SIDES:
            return None
        which, ranking, _ = LEARNED_SIDES[side]
        return self._learned.model(catalog_id, ranking, which)

    def _with_variants(self, catalog_id: int, side: str) -> Toolset:
        """A toolset whose accepted variants are searched, or as many random words instead."""
        catalog = self._analyses.required(catalog_id).catalog
        written = self._variants.accepted(catalog_id)
        if side == CONTROL:
            written = noise_matched(catalog, written)
        if side != MERGED_AUGMENTED:
            return augmented(as_it_is(catalog, side), written)
        plan = self._review.plan(catalog_id, PlanConfig(accept="auto"))
        return augmented(of_plan(plan, side), written)

    def _versions(self, catalog_id: int) -> dict[str, int]:
        """The other versions of the catalog by what they are called."""
        records = {one.id: one for one in list_catalogs(self._store)}
        own = records[catalog_id]
        return {
            f"version {one.number}": one.id
            for one in records.values()
            if one.name == own.name and one.id != own.id
        }
