"""What people have decided already: accepted merges and rejected ones, as clusters to look at."""

from dataclasses import dataclass, replace
from typing import Literal

from toolscope_core.decisions.actions import JOINING
from toolscope_core.decisions.constraints import flags
from toolscope_core.decisions.log import active
from toolscope_core.merging.analysis import Analysis
from toolscope_core.merging.plan_making import supposed
from toolscope_core.model.cluster import Cluster
from toolscope_core.model.decision import Decision
from ui.shared.services.page_service import PageService

SettledState = Literal["accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class SettledCluster:
    """A cluster with the decision that settled it, the latest; ``None`` where none stands."""

    cluster: Cluster
    decision: Decision | None


class Settled(PageService):
    """Decided clusters, and the flags that people put on tools."""

    def clusters(self, catalog_id: int, state: SettledState) -> tuple[SettledCluster, ...]:
        """The accepted clusters by name, or the rejected ones, newest first. Rejected tools that
        have changed or are gone are left out.
        """
        if state == "accepted":
            return self._accepted(catalog_id)
        analysis, log = self._analyses.required(catalog_id), self._review.log(catalog_id)
        return self._cached(
            ("rejected", catalog_id),
            (analysis,),
            lambda: tuple(
                SettledCluster(_as_rejected(analysis, one), one)
                for one in active(log)[::-1]
                if one.action == "reject" and _is_unchanged(analysis, one)
            ),
            state=len(log),
            most=8,
        )

    def _accepted(self, catalog_id: int) -> tuple[SettledCluster, ...]:
        latest: dict[str, Decision] = {}
        for one in active(self._review.log(catalog_id)):
            if one.action in JOINING:
                latest |= dict.fromkeys(one.ids, one)
        accepted = [c for c in self._review.plan(catalog_id).clusters if c.state == "accepted"]
        accepted.sort(key=lambda c: (c.document.name.casefold(), c.id))
        return tuple(
            SettledCluster(
                c,
                max(
                    (latest[m] for m in c.members if m in latest),
                    key=lambda one: one.seq,
                    default=None,
                ),
            )
            for c in accepted
        )

    def flags(self, catalog_id: int) -> dict[str, tuple[Decision, ...]]:
        """By tool id the flags that stand on it, oldest first."""
        catalog, log = self._catalogs.open(catalog_id), self._review.log(catalog_id)
        return self._cached(
            ("flags", catalog_id), (catalog,), lambda: flags(catalog, log), state=len(log), most=8
        )

    def flags_on(self, catalog_id: int, cluster: Cluster) -> tuple[Decision, ...]:
        """The flags on a member of the cluster, each once, oldest first."""
        own = self.flags(catalog_id)
        standing = {one.seq: one for member in cluster.members for one in own.get(member, ())}
        return tuple(standing[seq] for seq in sorted(standing))


def _is_unchanged(analysis: Analysis, decision: Decision) -> bool:
    tools = analysis.catalog.by_id
    return all(
        tool_id in tools and tools[tool_id].fingerprint == member
        for tool_id, member in zip(decision.ids, decision.members, strict=True)
    )


def _as_rejected(analysis: Analysis, decision: Decision) -> Cluster:
    family = decision.detail.get("relation") == "parametric"
    return replace(supposed(analysis, decision.ids, family), state="rejected")
