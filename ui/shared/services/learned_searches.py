"""Models that learned from a catalog's query sets: trained as a job, shown, used, removed."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.model.configuration import LearningMethod, PlanConfig
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import digest
from toolscope_core.tool2vec.held_out import HeldOutFigures, figures_of_json
from toolscope_core.tool2vec.learned_model import LearnedModel
from toolscope_core.tool2vec.model_folder import read_model, write_model
from toolscope_core.tool2vec.training import LearnOptions, Trainer, trained_model
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.page_service import JobService, Uses
from ui.shared.services.reviewed_variants import Variants

Ranking = Literal["text", "usage", "learned"]
"""What tools are ranked by: their text, the queries that they served too, or all that is learned.
"""
SIDES = ("before", "after")


@dataclass(frozen=True, slots=True)
class TrainedSide:
    """A model of the toolset before or after the merge: what it reached on held-out queries, what
    it was trained on, and its bytes on disk. ``stale`` counts the tools of now that it does not
    know; ``helps`` is false where nothing learned clearly helps, so that the text ranks alone.
    """

    method: str
    figures: HeldOutFigures
    queries: int
    questions: int
    tools: int
    size: int
    stale: int
    helps: bool


@dataclass(frozen=True, slots=True)
class TrainedView:
    """A ranking's models of both sides; ``after`` is ``None`` where nothing is merged."""

    before: TrainedSide
    after: TrainedSide | None


class LearnedSearches(JobService):
    """One model a catalog and ranking, for each side of the merge, in the cache folder."""

    kind = "learn"
    _queries = Uses(LoadedQueries)
    _variants = Uses(Variants)

    def queries(self, catalog_id: int) -> tuple[Query, ...]:
        """The queries of all its sets that name a tool."""
        return tuple(one for one in self._queries.queries(catalog_id) if one.gold)

    def view(self, catalog_id: int, ranking: Ranking) -> TrainedView | None:
        """What was trained for a ranking; ``None`` for nothing. Raises ``ConfigError`` for a
        damaged model.
        """
        before = self._side(catalog_id, ranking, "before")
        if before is None:
            return None
        return TrainedView(before, self._side(catalog_id, ranking, "after"))

    def model(self, catalog_id: int, ranking: Ranking, side: str) -> LearnedModel | None:
        """The model of one side; ``None`` where there is none. Raises as ``view``."""
        folder = self._folder(catalog_id, ranking) / side
        manifest = folder / "manifest.json"
        if ranking == "text" or not manifest.is_file():
            return None
        written = manifest.stat().st_mtime_ns
        return self._cached(
            ("models", folder), (), lambda: read_model(folder), state=written, most=8
        )

    def run(self, catalog_id: int, method: LearningMethod, progress: Progress = silent) -> None:
        """Train here and now, for the toolset as it is and, where something is merged, as the merge
        leaves it with the queries relabelled by φ. Raises ``ConfigError`` where too few queries
        name a tool.
        """
        catalog = self._analyses.required(catalog_id).catalog
        plan = self._review.plan(catalog_id, PlanConfig(accept="auto"))
        variants, queries = self._variants.accepted(catalog_id), self.queries(catalog_id)
        ranking: Ranking = "usage" if method == "tool2vec" else "learned"
        trainer = Trainer(self._work.embedder, self._work.vectors, progress=progress)
        options = LearnOptions(method)
        model = trained_model(catalog.tools, queries, variants, options, trainer)
        folder = self._folder(catalog_id, ranking)
        write_model(model, folder / "before")
        merged = tuple(item.tool for item in plan.tools)
        if len(merged) == len(catalog.tools):
            shutil.rmtree(folder / "after", ignore_errors=True)
            return
        moved = relabelled(queries, plan.phi)
        own = {one: written for one, written in variants.items() if one in _ids(plan.phi)}
        after = trained_model(merged, moved, own, options, trainer)
        write_model(replace(after, variants=own), folder / "after")

    def delete(self, catalog_id: int, ranking: Ranking) -> None:
        """Remove what was trained for a ranking."""
        shutil.rmtree(self._folder(catalog_id, ranking), ignore_errors=True)

    def _side(self, catalog_id: int, ranking: Ranking, side: str) -> TrainedSide | None:
        model = self.model(catalog_id, ranking, side)
        if model is None:
            return None
        try:
            about, figures = model.about, figures_of_json(model.about["held_out"])
            queries, questions, tools = (
                int(about[name]) for name in ("queries", "questions", "tools")
            )
        except (LookupError, TypeError, ValueError) as error:
            raise ConfigError(
                "the trained model says nothing of what it reached; remove it and train again"
            ) from error
        folder = self._folder(catalog_id, ranking) / side
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        helps = any(model.blend.weights.values())
        stale = self._stale(catalog_id, model, side)
        return TrainedSide(model.method, figures, queries, questions, tools, size, stale, helps)

    def _stale(self, catalog_id: int, model: LearnedModel, side: str) -> int:
        catalog, learned = self._analyses.required(catalog_id).catalog, set(model.fingerprints)
        tools = catalog.tools
        if side == "after":
            plan = self._review.plan(catalog_id, PlanConfig(accept="auto"))
            tools = tuple(item.tool for item in plan.tools)
        return sum(tool.fingerprint not in learned for tool in tools)

    def _folder(self, catalog_id: int, ranking: Ranking) -> Path:
        name = self._catalogs.record(catalog_id).name
        return self._work.vectors.folder / "learned" / digest(name)[:32] / ranking


def _ids(phi: Mapping[str, str | None]) -> set[str]:
    return {one for one in phi.values() if one is not None}
