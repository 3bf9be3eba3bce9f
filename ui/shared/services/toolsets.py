"""What a person says of any set of tools, whether or not a cluster holds them."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Literal

from toolscope_core.decisions.constraints import omitted
from toolscope_core.decisions.forms import id_list
from toolscope_core.decisions.log import admit, version_of
from toolscope_core.merging.plan_making import plan_merge
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.pair import Pair, Relation
from toolscope_core.model.tool import JsonObject
from ui.shared.cards.queue import cluster_with
from ui.shared.services.logs import make_decision
from ui.shared.services.page_service import PageService

MOST_ON_A_CARD = 30
"""A person who accepts a card has looked at each of its tools."""

MOST_APART = 100
"""4,950 pairs; each is checked against what stands, and again whenever the plan is made."""


class ToolSets(PageService):
    """Decisions on sets of tools that somebody put together by hand."""

    def version(self, catalog_id: int, ids: Sequence[str]) -> str:
        """What a decision on these tools must carry."""
        tools = self._catalogs.open(catalog_id).by_id
        return version_of([tools[i].fingerprint for i in ids], self._review.log(catalog_id))

    def card(self, catalog_id: int, ids: Sequence[str]) -> Cluster | None:
        """The cluster that holds them all in the plan as it stands, if there is one."""
        return cluster_with(self._review.plan(catalog_id), ids)

    def never_merge(
        self, catalog_id: int, ids: Sequence[str], version: str, reviewer: str
    ) -> Decision:
        """Keep each of them apart from each other for good, until it is undone.

        Raises ``StaleDecisionError`` where somebody decided meanwhile, ``DecisionError`` where a
        standing decision says the opposite, or for more than ``MOST_APART``.
        """
        if len(ids) > MOST_APART:
            raise DecisionError(
                f"{len(ids):,} tools are {len(ids) * (len(ids) - 1) // 2:,} pairs to be kept "
                f"apart, each for good; select at most {MOST_APART} tools"
            )
        return self._review.say(catalog_id, "reject", ids, reviewer, version=version)

    def send_to_review(
        self, catalog_id: int, ids: Sequence[str], version: str, reviewer: str
    ) -> Decision:
        """Ask for a card that holds them all, whatever the judge says. Nothing is merged by it.

        Raises as ``never_merge`` does (beyond ``MOST_ON_A_CARD``), and ``DecisionError`` where no
        card may hold them all.
        """
        if len(ids) > MOST_ON_A_CARD:
            raise DecisionError(
                f"nobody could look through a card of {len(ids):,} tools; select at most "
                f"{MOST_ON_A_CARD}"
            )
        analysis, log = self._analyses.required(catalog_id), self._review.log(catalog_id)
        proposal = admit(log, make_decision(analysis.catalog, "propose", ids, reviewer))
        if cluster_with(plan_merge(analysis, (*log, proposal), PlanConfig()), ids) is None:
            all_tools = f"both {ids[0]} and {ids[1]}" if len(ids) == 2 else f"all of {id_list(ids)}"
            raise DecisionError(
                f"no card can hold {all_tools}: they are in more than one accepted merge, or tools "
                "merged with them are never to merge; undo one of those first"
            )
        return self._review.say(catalog_id, "propose", ids, reviewer, version=version)

    def relate(
        self,
        catalog_id: int,
        pair: Pair,
        answer: Literal["duplicate", "parametric", "apart"],
        version: str,
        reviewer: str,
    ) -> Decision:
        """Record what two tools are to each other: one job (*duplicate*, or *subsumes* where one
        serves the other and not the other way round), a family (*parametric*), or to be kept apart.

        Raises as ``never_merge`` does, and ``DecisionError`` where both are in merges already.
        """
        ids = (pair.left, pair.right)
        if answer == "apart":
            return self.never_merge(catalog_id, ids, version, reviewer)
        relation: Relation = answer
        if answer == "duplicate":
            verdict = self._analyses.required(catalog_id).verdict(pair)
            relation = "subsumes" if verdict.serves in ("left", "right") else "duplicate"
        if all(self._is_merged(catalog_id, tool_id) for tool_id in ids):
            raise DecisionError(
                f"{ids[0]} and {ids[1]} are in accepted merges already; undo one of those first"
            )
        detail = {"relation": relation}
        return self._review.say(catalog_id, "accept", ids, reviewer, detail, version)

    def _is_merged(self, catalog_id: int, tool_id: str) -> bool:
        clusters = self._review.plan(catalog_id).clusters
        return any(c.state == "accepted" and tool_id in c.members for c in clusters)

    def leave_out(
        self, catalog_id: int, ids: Sequence[str], reviewer: str, reason: str
    ) -> Decision:
        """Leave these tools out of the toolset. Raises ``DecisionError`` without a reason."""
        return self._review.say(catalog_id, "omit", ids, reviewer, {"reason": reason.strip()})

    def flag(
        self,
        catalog_id: int,
        ids: Sequence[str],
        reviewer: str,
        note: str,
        detail: JsonObject = MappingProxyType({}),
    ) -> Decision:
        """Keep a note on these tools; it changes no merge. Raises ``DecisionError`` without one."""
        noted = {"note": note.strip(), **detail}
        return self._review.say(catalog_id, "flag", ids, reviewer, noted)

    def left_out(self, catalog_id: int) -> dict[str, Decision]:
        """The decision that left each tool out, by tool id."""
        return omitted(self._catalogs.open(catalog_id), self._review.log(catalog_id))
