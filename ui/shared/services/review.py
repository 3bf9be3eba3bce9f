"""Review on the screen: the plan as it stands, the queue, decisions, undo, the bundle."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from toolscope_core.catalog.document_variants import with_expanded
from toolscope_core.catalog.tokens import SizeChange
from toolscope_core.decisions.actions import WITH_RELATION
from toolscope_core.decisions.constraints import variants
from toolscope_core.decisions.log import active
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.group_syntheses import cluster_id
from toolscope_core.merging.merge_sizes import is_larger_router, merge_size
from toolscope_core.merging.model_verdicts import Disagreement, disagreements
from toolscope_core.merging.plan_making import Proposed, alone, plan_of, proposed
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Action, Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject, digest
from toolscope_core.store.catalog_rows import CatalogRecord
from toolscope_core.store.decision_rows import append_decision, append_decisions
from toolscope_core.store.engine import now
from ui.shared.cards.batches import ServerPairProposals, Taken, safe_batch, server_pairs
from ui.shared.cards.cards import Card, card_of
from ui.shared.cards.queue import (
    Order,
    Part,
    Progressed,
    Show,
    in_order,
    new_proposals,
    of_show,
    progressed,
    waits,
)
from ui.shared.services.logs import admission, make_decision, retraction
from ui.shared.services.page_service import PageService


class Review(PageService):
    """Decisions on one store. The plan is computed again whenever the log has grown."""

    def log(self, catalog_id: int) -> tuple[Decision, ...]:
        """Everything anybody decided, oldest first."""
        return self._work.logs.of(catalog_id)

    def plan(self, catalog_id: int, config: PlanConfig | None = None) -> MergePlan:
        """The merge as decided so far. Raises ``JobError`` before the analysis is finished."""
        config = config or PlanConfig()
        analysis = self._analyses.required(catalog_id)
        log = self.log(catalog_id)

        def make() -> MergePlan:
            start = self._proposed(catalog_id, analysis, log, config.correct)
            plan = plan_of(analysis, start, config)
            return with_expanded(plan, variants(plan.catalog, log)) if config.expanded else plan

        return self._cached(("plans", catalog_id, config), (analysis,), make, state=len(log))

    def _proposed(
        self, catalog_id: int, analysis: Analysis, log: Sequence[Decision], divide: bool
    ) -> Proposed:
        """What all accept policies start from."""
        return self._cached(
            ("proposals", catalog_id, divide),
            (analysis,),
            lambda: proposed(analysis, log, divide=divide),
            state=len(log),
        )

    def queue(
        self,
        catalog_id: int,
        order: Sequence[str] = (),
        by: Order = "risk",
        show: Show = "all",
        learned: Mapping[str, float] | None = None,
        calls: Mapping[str, int] | None = None,
    ) -> tuple[Cluster, ...]:
        """What waits for a person, accepted clusters with newcomers too, as ``in_order`` sorts
        it.

        ``learned`` are the probabilities of the order of this name, by cluster id, ``calls`` those
        of the order *used*, by tool id.
        Cluster ids in ``order`` come first and in that order, so that a queue which somebody works
        through does not move under the hand.
        """
        plan = self.plan(catalog_id)
        waiting = of_show(filter(waits, plan.clusters), show)
        saved = {one: -size.added for one, size in self.sizes(catalog_id).items()}
        gaps = self.gaps(catalog_id) if by == "disagreement" else {}
        ordered = in_order(waiting, by, saved, gaps, learned or {}, calls or {})
        place = {cluster: number for number, cluster in enumerate(order)}
        return tuple(sorted(ordered, key=lambda one: place.get(one.id, len(place))))

    def queue_part(self, record: CatalogRecord, part: Part) -> tuple[Cluster, ...]:
        """What a new version of a catalog brings into the queue. Raises ``JobError`` before the
        analysis is finished.
        """
        waiting, earlier = self.queue(record.id), self._catalogs.earlier(record)
        if part == "again":
            return tuple(one for one in waiting if one.state == "stale")
        if not earlier:
            return ()
        before, now = (self._catalogs.open(one.id) for one in (earlier[0], record))
        return new_proposals(waiting, now, before)

    def sizes(self, catalog_id: int) -> Mapping[str, SizeChange]:
        """By cluster id what merging it makes of what agents read, for the chosen client; only what
        a decision has changed is counted again.
        """
        plan, shape = self.plan(catalog_id), self._catalogs.shape
        costs, tools = self._analyses.required(catalog_id).syntheses.costs, plan.catalog.by_id

        def counted() -> dict[str, SizeChange]:
            return {
                one.id: self._cached(
                    ("size_of_one", one.id, shape),
                    (one.document,),
                    partial(merge_size, one, tools, shape, costs),
                )
                for one in plan.clusters
            }

        return self._cached(("sizes", catalog_id, shape), (plan,), counted, most=4)

    def larger_routers(self, catalog_id: int) -> frozenset[str]:
        """The ids of the proposals that are in no batch: see ``is_larger_router``."""
        sizes, clusters = self.sizes(catalog_id), self.plan(catalog_id).clusters
        return frozenset(one.id for one in clusters if is_larger_router(one, sizes[one.id]))

    def disagreements(self, catalog_id: int) -> tuple[Disagreement, ...]:
        """The pairs on which the model and the offline judge differ, the widest gap first."""
        analysis = self._analyses.required(catalog_id)
        model_verdicts = analysis.model_verdicts
        return self._cached(
            ("disagreements", catalog_id),
            (analysis,),
            lambda: disagreements(model_verdicts, analysis.offline) if model_verdicts else (),
        )

    def gaps(self, catalog_id: int) -> dict[str, float]:
        """How far the model and the offline judge differ, by tool: on the worst of its pairs."""
        gaps: dict[str, float] = {}
        for differ in self.disagreements(catalog_id):
            for tool in (differ.pair.left, differ.pair.right):
                gaps.setdefault(tool, differ.gap)  # the widest comes first
        return gaps

    def cluster(self, catalog_id: int, wanted: str | None) -> Cluster | None:
        """The cluster of this id in the plan as it stands, if there is one."""
        return next((c for c in self.plan(catalog_id).clusters if c.id == wanted), None)

    def alone(self, catalog_id: int, tool_id: str) -> Cluster:
        """A tool as a cluster of one: what is edited of a tool whether or not it is merged."""
        return alone(self._analyses.required(catalog_id), self.log(catalog_id), tool_id)

    def card(self, catalog_id: int, cluster: Cluster) -> Card:
        """Everything a person looks at before deciding on ``cluster``."""
        return card_of(self._analyses.required(catalog_id), cluster, self._catalogs.shape)

    def standing(self, catalog_id: int) -> tuple[Decision, ...]:
        """The decisions that hold, newest first."""
        return active(self.log(catalog_id))[::-1]

    def history(self, catalog_id: int) -> tuple[tuple[Decision, Decision | None], ...]:
        """Every decision, newest first, with the undo that took it back, if one did."""
        log = self.log(catalog_id)
        undone = {one.detail["retracts"]: one for one in log if one.action == "undo"}
        return tuple((one, undone.get(one.seq)) for one in log[::-1] if one.action != "undo")

    def progress(self, catalog_id: int) -> Progressed:
        """Counts for the header of the page."""
        return progressed(self.plan(catalog_id).clusters, active(self.log(catalog_id)))

    def decide(
        self,
        catalog_id: int,
        action: Action,
        cluster: Cluster,
        reviewer: str,
        detail: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Append what ``reviewer`` says of ``cluster`` as it was shown.

        ``detail`` names tools by id (see ``Decision``); the relation is the one shown, unless it
        says another, and so is what an accepted merge keeps, and that it is a prune. Raises
        ``StaleDecisionError`` when somebody else decided on the cluster meanwhile,
        ``DecisionError`` when the decision contradicts a standing one.
        """
        seen: dict[str, Any] = {"relation": cluster.relation} if action in WITH_RELATION else {}
        is_as_shown = "relation" not in (detail or {}) and cluster.canonical in cluster.members
        if action == "accept" and is_as_shown:
            seen["canonical"] = cluster.canonical
            seen |= {"kind": "prune"} if cluster.kind == "prune" else {}
        said = {**seen, **(detail or {})}
        return self.say(catalog_id, action, cluster.members, reviewer, said, cluster.version)

    def say(
        self,
        catalog_id: int,
        action: Action,
        ids: Iterable[str],
        reviewer: str,
        detail: JsonObject = MappingProxyType({}),
        version: str | None = None,
    ) -> Decision:
        """Append what ``reviewer`` decides on tools (ids) of this ``version``, if one was seen.
        Raises as ``decide`` does.
        """
        decision = make_decision(self._catalogs.open(catalog_id), action, ids, reviewer, detail)
        return self.record(catalog_id, decision, version)

    def record(self, catalog_id: int, decision: Decision, version: str | None = None) -> Decision:
        """Append a decision that was made on tools of this ``version``, if one was seen. Raises as
        ``decide`` does.
        """
        step = admission(self._catalogs.open(catalog_id), decision, version)
        return append_decision(self._store, catalog_id, step)

    def recut(
        self, catalog_id: int, cluster: Cluster, reviewer: str, groups: Sequence[Sequence[str]]
    ) -> tuple[str, ...]:
        """Take the proposal apart into ``groups`` of tool ids, and leave those of two or more
        open; the ids of what is left as proposals, the largest first. Raises as ``decide`` does.
        """
        self.decide(catalog_id, "recut", cluster, reviewer, {"groups": [list(g) for g in groups]})
        tools = self._catalogs.open(catalog_id).by_id
        left = sorted((group for group in groups if len(group) > 1), key=len, reverse=True)
        return tuple(cluster_id([tools[member] for member in group]) for group in left)

    def decide_each(
        self,
        catalog_id: int,
        reviewer: str,
        rows: Iterable[tuple[Action, Cluster, Mapping[str, Any]]],
    ) -> tuple[tuple[Decision, ...], tuple[DecisionError, ...]]:
        """A decision for each action, cluster as it was shown and detail, and why some could not
        be made: somebody else was faster. Each names the batch in its detail: nobody looked at it
        alone.
        """
        rows, made, refused = list(rows), [], []
        batch = {"batch": digest(reviewer, now(), [one.version for _, one, _ in rows])[:12]}
        for action, cluster, detail in rows:
            try:
                made.append(self.decide(catalog_id, action, cluster, reviewer, {**detail, **batch}))
            except DecisionError as error:
                refused.append(error)
        return tuple(made), tuple(refused)

    def server_pairs(self, catalog_id: int) -> tuple[ServerPairProposals, ...]:
        """The pairs of servers between which two or more duplicates wait; larger routers are left
        to the queue.
        """
        analysis, plan = self._analyses.required(catalog_id), self.plan(catalog_id)

        def made() -> tuple[ServerPairProposals, ...]:
            larger = self.larger_routers(catalog_id)
            return server_pairs(analysis, [c for c in self.queue(catalog_id) if c.id not in larger])

        return self._cached(("server_pairs", catalog_id, self._catalogs.shape), (plan,), made)

    def server_pair_of(self, catalog_id: int, cluster: Cluster) -> ServerPairProposals | None:
        """The pair of servers that the cluster is to be decided with, if there is one."""
        pairs = self.server_pairs(catalog_id)
        return next((pair for pair in pairs if cluster in pair.clusters), None)

    def safe(self, catalog_id: int) -> Taken:
        """What may be accepted without a look now: the list for ``accept_safe``."""
        plan = self.plan(catalog_id)
        return self._cached(
            ("safe", catalog_id, self._catalogs.shape),
            (plan,),
            lambda: safe_batch(plan.catalog, self.queue(catalog_id)),
        )

    def about(self, catalog_id: int, decision: Decision) -> str | None:
        """Id of the cluster that a decision was made on, as far as its tools are still there."""
        tools = self._catalogs.open(catalog_id).by_id
        left = [tools[tool_id] for tool_id in decision.ids if tool_id in tools]
        return cluster_id(left) if len(left) > 1 else None

    def answer_newcomers(
        self, catalog_id: int, cluster: Cluster, reviewer: str, welcome: bool
    ) -> Decision:
        """Let the newcomers into an accepted cluster, or keep them out of it for good.

        Raises as ``decide`` does.
        """
        everybody = tuple(sorted({*cluster.members, *cluster.newcomers}))
        union = replace(cluster, members=everybody, version=cluster.grown)
        if welcome:
            return self.decide(catalog_id, "accept", union, reviewer)
        detail = {"drop": list(cluster.newcomers)}
        return self.decide(catalog_id, "drop", union, reviewer, detail)

    def undo_all(self, catalog_id: int, reviewer: str, seqs: Sequence[int]) -> None:
        """Take back several decisions, the newest first, all or none. Raises as ``undo``."""
        steps = [retraction(seq, reviewer) for seq in sorted(seqs, reverse=True)]
        append_decisions(self._store, catalog_id, steps)

    def undo(self, catalog_id: int, reviewer: str, seq: int) -> Decision:
        """Take back decision ``seq``. Raises ``DecisionError`` where there is none, or later
        decisions build on it.
        """
        return append_decision(self._store, catalog_id, retraction(seq, reviewer))
