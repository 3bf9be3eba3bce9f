"""Two tools side by side: what is known of a pair."""

from __future__ import annotations

from toolscope_core.decisions.constraints import constraints
from toolscope_core.decisions.log import active, version_of
from toolscope_core.judging.relation_words import apart_of, relation_of, serving_of
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.pair_graph import unsure_pairs
from toolscope_core.model.address_keys import pair_key
from toolscope_core.model.catalog import Catalog, Finding
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import Tool
from ui.shared.cards.queue import cluster_with
from ui.shared.pairs.pair_view import (
    PairView,
    in_words,
    neighbours,
    other_lines,
    parameter_lines,
    waterfall_of,
)
from ui.shared.services.analyses import Analyses
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.review import Review


class Pairs:
    """Any two tools of a catalog, candidates or not."""

    def __init__(self, catalogs: Catalogs, analyses: Analyses, review: Review) -> None:
        self._catalogs = catalogs
        self._analyses = analyses
        self._review = review
        self._undecided: ResultCache[tuple[Pair, ...]] = ResultCache()

    def named(self, catalog_id: int, key: str) -> Pair | None:
        """The pair of a link; ``None`` where the catalog has not both of its tools."""
        ids = [self._catalogs.named(catalog_id, part) for part in key.split("~")]
        if len(ids) != 2 or ids[0] is None or ids[1] is None or ids[0] == ids[1]:
            return None
        return Pair.of(ids[0], ids[1])

    def undecided(self, catalog_id: int) -> tuple[Pair, ...]:
        """The pairs that the judge is unsure of and nobody decided on, the most probable first.

        Those of one cluster are decided on its card, and those of two are in merges already.
        Raises ``JobError`` before the analysis is finished.
        """
        analysis, plan = self._analyses.required(catalog_id), self._review.plan(catalog_id)
        return self._undecided.get(
            catalog_id, (analysis, plan), lambda: self._find_undecided(catalog_id, analysis, plan)
        )

    def _find_undecided(
        self, catalog_id: int, analysis: Analysis, plan: MergePlan
    ) -> tuple[Pair, ...]:
        apart = constraints(analysis.catalog, self._review.log(catalog_id)).cannot
        clustered = {tool for c in plan.clusters for tool in (*c.members, *c.newcomers)}
        unsure = {
            pair: probability
            for pair, probability in unsure_pairs(analysis).items()
            if pair not in apart and not {pair.left, pair.right} <= clustered
        }
        return tuple(sorted(unsure, key=lambda pair: (-unsure[pair], pair)))

    def view(self, catalog_id: int, pair: Pair) -> PairView:
        """Everything on two tools. Raises ``JobError`` before the analysis is finished."""
        analysis = self._analyses.required(catalog_id)
        log = self._review.log(catalog_id)
        tools = _both(analysis.catalog, pair)
        one, other = tools
        plan = self._review.plan(catalog_id)
        prints = {tool.fingerprint for tool in tools}
        (offline,) = analysis.offline([pair])
        verdict = analysis.effective_verdict(offline)
        return PairView(
            key=pair_key(pair),
            verdict=verdict,
            offline=offline,
            tools=tools,
            waterfall=waterfall_of(analysis, offline),
            parameters=tuple(parameter_lines(one, other)),
            maps=(in_words(one, other), in_words(other, one)),
            rest=tuple(other_lines(one, other)),
            findings=(_findings(analysis, one), _findings(analysis, other)),
            neighbours=(neighbours(analysis, one), neighbours(analysis, other)),
            decisions=tuple(d for d in active(log)[::-1] if prints <= set(d.members)),
            card=cluster_with(plan, (pair.left, pair.right)),
            version=version_of([tool.fingerprint for tool in tools], log),
            relation=tuple(
                filter(
                    None,
                    (
                        relation_of(verdict, tools),
                        serving_of(verdict, tools),
                        *apart_of(verdict, tools),
                    ),
                )
            ),
            family_at=analysis.judge.weights.family_at,
        )


def _both(catalog: Catalog, pair: Pair) -> tuple[Tool, Tool]:
    tools = catalog.by_id
    return tools[pair.left], tools[pair.right]


def _findings(analysis: Analysis, tool: Tool) -> tuple[Finding, ...]:
    return tuple(finding for finding in analysis.catalog.findings if finding.tool_id == tool.id)
