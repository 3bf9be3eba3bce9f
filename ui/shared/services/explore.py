"""The first three pages: what a catalog holds, which tools overlap, the merge graph."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.formats.spreadsheets import tools_csv
from toolscope_core.catalog.sources import Source
from toolscope_core.catalog.tokens import Costs, tokenizer
from toolscope_core.decisions.constraints import constraints
from toolscope_core.merging.pair_graph import family_edges, joined_pairs, judged_edges, unsure_pairs
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.pair import Pair
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import digest
from toolscope_core.store import CatalogRecord
from ui.shared.cards import components
from ui.shared.charts.figure_records import Network
from ui.shared.pairs import pair_list
from ui.shared.services.analyses import Analyses
from ui.shared.services.catalogs import Catalogs
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.review import Review
from ui.shared.tools import catalog_tables
from ui.shared.tools.catalog_figures import (
    CatalogFigures,
    Closest,
    Forecast,
    PairCounts,
    pair_counts,
)

LISTS_KEPT = 8


class Explore:
    """Looks at catalogs and analyses; changes nothing but what ``add`` stores."""

    def __init__(self, catalogs: Catalogs, analyses: Analyses, review: Review) -> None:
        self._catalogs = catalogs
        self._analyses = analyses
        self._review = review
        self._counted = Costs()
        self._tokens: ResultCache[dict[str, int]] = ResultCache()
        self._rows: ResultCache[tuple[catalog_tables.ToolRow, ...]] = ResultCache()
        self._servers: ResultCache[tuple[catalog_tables.ServerRow, ...]] = ResultCache()
        self._graphs: ResultCache[components.Merging] = ResultCache()
        self._clusters: ResultCache[tuple[components.ClusterRow, ...]] = ResultCache()
        self._networks: ResultCache[ResultCache[Network]] = ResultCache()
        self._pairs: ResultCache[ResultCache[pair_list.PairList]] = ResultCache()
        self._pair_counts: ResultCache[PairCounts] = ResultCache()
        self._previewed: ResultCache[Catalog] = ResultCache(most=1)

    def preview(self, sources: Sequence[Source], forced: str | None = None) -> Catalog:
        """What these files would bring; read once for the same files.

        Raises ``CatalogError`` where no catalog can be made of them.
        """
        key = digest(
            forced, [(s.label, s.format, hashlib.sha256(s.data).hexdigest()) for s in sources]
        )
        return self._previewed.get(key, (), lambda: self._catalogs.preview(sources, forced))

    def add(self, name: str, sources: Sequence[Source], forced: str | None = None) -> CatalogRecord:
        """Store the previewed catalog and start its analysis."""
        record = self._catalogs.add(name, self.preview(sources, forced))
        if self._analyses.get(record.id) is None:
            self._analyses.start(record.id)
        return record

    def overview(self, catalog_id: int) -> CatalogFigures:
        """What is known without an analysis."""
        catalog = self._catalogs.open(catalog_id)
        return CatalogFigures(
            tools=len(catalog.tools),
            servers=len(catalog.servers),
            tokens=sum(self.tokens(catalog_id).values()),
            blocked=len(catalog.blocked),
            problems=len(catalog.problems),
            counted=tokenizer().label,
        )

    def forecast(self, catalog_id: int) -> Forecast:
        """What merging brings. Raises ``JobError`` before the analysis is finished."""
        costs = self.tokens(catalog_id)
        plan = self._review.plan(catalog_id, PlanConfig(accept="auto"))
        decided = {one.id for one in self._review.plan(catalog_id).applied}
        accepted = sum(one.id in decided for one in plan.applied)
        return Forecast(
            accepted=accepted,
            safe=len(plan.applied) - accepted,
            tools_after=len(plan.tools),
            tokens_after=sum(
                self._counted.of(item.tool, PROMPT_SHAPES[0])
                if len(item.members) > 1
                else costs[item.tool.id]
                for item in plan.tools
            ),
        )

    def tools(
        self,
        catalog_id: int,
        find: str = "",
        server: str | None = None,
        shape: str = PROMPT_SHAPES[0],
    ) -> tuple[catalog_tables.ToolRow, ...]:
        """Rows of the tools that hold every word of ``find``, of one server if given; tokens are
        those of ``shape``.
        """
        catalog = self._catalogs.open(catalog_id)
        rows = self._rows.get(
            (catalog_id, shape),
            (),
            lambda: catalog_tables.tool_rows(catalog, self.tokens(catalog_id, shape)),
        )
        return catalog_tables.matching(rows, find, server)

    def servers(
        self, catalog_id: int, shape: str = PROMPT_SHAPES[0]
    ) -> tuple[catalog_tables.ServerRow, ...]:
        """Rows of the servers, the largest first; tokens are those of ``shape``."""
        catalog = self._catalogs.open(catalog_id)
        return self._servers.get(
            (catalog_id, shape),
            (),
            lambda: catalog_tables.server_rows(catalog, self.tokens(catalog_id, shape)),
        )

    def tools_csv(self, catalog_id: int) -> bytes:
        """All tools as CSV, safe to open in a spreadsheet."""
        tools = self._catalogs.open(catalog_id).tools
        return tools_csv([MergedTool(tool, (tool.id,)) for tool in tools])

    def pairs(self, catalog_id: int, wanted: pair_list.PairFilter) -> pair_list.PairList:
        """The strongest candidate pairs that pass the filter; the last few lists are kept."""
        analysis = self._analyses.required(catalog_id)
        lists = self._pairs.get(catalog_id, (analysis,), lambda: ResultCache(LISTS_KEPT))
        return lists.get(
            wanted, (), lambda: pair_list.pair_list(analysis, wanted, self.tokens(catalog_id))
        )

    def pair_counts(self, catalog_id: int) -> PairCounts:
        """The candidate pairs by the offline judge's verdict, counted once."""
        analysis = self._analyses.required(catalog_id)
        return self._pair_counts.get(catalog_id, (analysis,), lambda: pair_counts(analysis))

    def closest(self, catalog_id: int) -> Closest | None:
        """The nearest two tools; ``None`` for a single tool."""
        analysis = self._analyses.required(catalog_id)
        closest = pair_list.closest(analysis)
        if closest is None:
            return None
        tools = [
            analysis.catalog.tools[analysis.rows[i]] for i in (closest[0].left, closest[0].right)
        ]
        return Closest(tools[0].name, tools[1].name, closest[1])

    def clusters(self, catalog_id: int) -> tuple[components.ClusterRow, ...]:
        """Rows of the merge graph, the largest cluster first."""
        merging = self._merging(catalog_id)
        return self._clusters.get(
            catalog_id, (merging,), lambda: components.cluster_rows(merging, self._counted)
        )

    def network(self, catalog_id: int, row_ids: Sequence[str] | None = None) -> Network:
        """The components that hold the given rows, or all, for drawing."""
        merging, wanted = self._merging(catalog_id), None if row_ids is None else tuple(row_ids)
        networks = self._networks.get(catalog_id, (merging,), ResultCache)
        return networks.get(wanted, (), lambda: components.network_of(merging, wanted))

    def bridge(self, catalog_id: int, pair: Pair) -> components.Bridge | None:
        """What falls apart without the edge of ``pair``, where it is a bridge."""
        return components.bridge_of(self._merging(catalog_id), pair)

    def tokens(self, catalog_id: int, shape: str = PROMPT_SHAPES[0]) -> dict[str, int]:
        """What each tool costs in every prompt, by id; catalogs never change."""
        tools = self._catalogs.open(catalog_id).tools
        return self._tokens.get(
            (catalog_id, shape), (), lambda: {t.id: self._counted.of(t, shape) for t in tools}
        )

    def _merging(self, catalog_id: int) -> components.Merging:
        """The merge graph with all that is drawn of it, under the decisions so far."""
        analysis, log = self._analyses.required(catalog_id), self._review.log(catalog_id)

        def make() -> components.Merging:
            links = constraints(analysis.catalog, log)
            return components.Merging(
                plan=self._review.plan(catalog_id),
                judged=judged_edges(analysis, log),
                joined=joined_pairs(analysis, links),
                copies=analysis.copies,
                links=links,
                unsure=unsure_pairs(analysis),
                families=family_edges(analysis),
            )

        return self._graphs.get(catalog_id, (analysis,), make, state=len(log))
