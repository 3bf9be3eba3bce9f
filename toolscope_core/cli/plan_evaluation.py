"""``evaluate --plan``: the plans of a query set, before and after a merge."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.isolation import read_files
from toolscope_core.catalog.tokens import Costs
from toolscope_core.cli.searcher import Searcher, SearchOptions, searched_catalog
from toolscope_core.cli.terminal import progress, say, say_json, spent_json, spent_text
from toolscope_core.evaluation.measured_toolsets import with_merged
from toolscope_core.evaluation.query_sets import read_queries, relabelled, with_gold_among, with_ids
from toolscope_core.merging.model_verdicts import Spent
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import interval_text, quantity
from toolscope_core.model.tool import JsonObject
from toolscope_core.rps.plan_figures import PlanFigures, plan_figures
from toolscope_core.rps.planner import PlanOptions


@dataclass(frozen=True, slots=True)
class PlannedSide:
    """The plans of the queries on one toolset, and what questions to a model ``spent``."""

    name: str
    figures: PlanFigures
    spent: tuple[Spent, ...]

    def as_json(self) -> JsonObject:
        return {"toolset": self.name, **self.figures.as_json(), **spent_json(self.spent)}


def plan_evaluation(
    catalogs: Sequence[Path],
    queries: Path,
    search: SearchOptions,
    plan_options: PlanOptions,
    bundle: Path | None = None,
    skip_unknown: bool = False,
) -> list[PlannedSide]:
    """The plans of a query set, on the toolset of a bundle too, with gold answers moved by φ.
    Raises ``ConfigError`` where gold answers are not in the catalog, or no query has any.
    """
    searched = searched_catalog(read_files(catalogs), search)
    query_set = with_ids(read_queries(queries), searched.catalog.tools)
    judged = [query for query in query_set if query.gold]
    kept = with_gold_among(judged, searched.catalog.by_id, skip_unknown)
    if not kept:
        raise ConfigError(f"no query of {queries} has a gold answer here; give ids under `gold`")
    costs, sides = Costs(), []
    for toolset in with_merged(searched.catalog, searched.variants.by_id, bundle):
        catalog = Catalog(toolset.tools) if toolset.phi else searched.catalog
        searcher = Searcher(catalog, search, progress(), toolset.phi, searched.catalog)
        plans = searcher.plans(searcher.requests(kept), plan_options)
        golds = [query.gold for query in relabelled(kept, toolset.phi)]
        figures = plan_figures(plans, golds, lambda tool: costs.of(tool, PROMPT_SHAPES[0]))
        sides.append(PlannedSide(toolset.name, figures, searcher.spent))
    return sides


def tell_plans(sides: Sequence[PlannedSide], *, as_json: bool) -> None:
    """Print the figures of each toolset."""
    if as_json:
        say_json({"sides": [side.as_json() for side in sides]})
        return
    for side in sides:
        own = side.figures
        say(f"{side.name}: {quantity(own.queries, 'query')}")
        for name in ("precision", "recall", "f1", "exact"):
            say(f"  {name:10} {interval_text(*astuple(getattr(own, name)))}")
        say(
            f"  a query: {own.jobs:.1f} jobs, {own.searches:.1f} rankings, {own.tools_called:.1f} "
            f"tools called of {own.tools_shown:.1f} shown ({own.tokens_shown:,.0f} tokens)"
        )
        say(f"  {spent_text(spent_json(side.spent))}")
    say("[95 % bootstrap intervals over queries]")
