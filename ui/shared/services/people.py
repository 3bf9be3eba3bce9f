"""Several people on one store: shares of the queue, progress, second looks."""

from __future__ import annotations

from dataclasses import asdict

from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.store import setting_as, write_setting
from ui.shared.cards.queue import waits
from ui.shared.cards.reviewers import (
    Agreement,
    Progress,
    Shares,
    agreement,
    disagreements,
    progress_of,
    shared_out,
    to_look_at,
)
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace


class People:
    """Who reviews what of a catalog, and how far they agree."""

    def __init__(self, work: Workspace) -> None:
        self._store = work.store
        self._analyses = work.analyses
        self._review = work.review
        self._toolsets = work.toolsets
        self._owners: ResultCache[dict[str, str]] = ResultCache(most=4)

    def shares(self, catalog_id: int) -> Shares | None:
        """Who the queue is divided among; ``None`` where it is everybody's."""
        return setting_as(
            self._store,
            _name(catalog_id),
            lambda saved: Shares(tuple(map(str, saved["people"])), saved["by"]),
        )

    def divide(self, catalog_id: int, shares: Shares | None) -> None:
        """Divide the queue from now on, or with ``None`` no longer. Raises ``DecisionError`` for
        fewer than two people.
        """
        if shares is not None and len(set(shares.people)) < 2:
            raise DecisionError(
                f"the queue is divided among {', '.join(shares.people) or 'nobody'}; name two "
                "people or more"
            )
        write_setting(self._store, _name(catalog_id), asdict(shares) if shares else None)

    def owners(self, catalog_id: int) -> dict[str, str]:
        """By id of each cluster that waits the person who has it; empty where nothing is divided.
        Raises ``JobError`` before the analysis is finished.
        """
        shares = self.shares(catalog_id)
        if shares is None:
            return {}
        plan = self._review.plan(catalog_id)
        tools = self._analyses.required(catalog_id).catalog.by_id
        return self._owners.get(
            catalog_id,
            (plan,),
            lambda: shared_out(filter(waits, plan.clusters), tools, shares),
            state=shares,
        )

    def progress(self, catalog_id: int) -> tuple[Progress, ...]:
        """How far everybody is, by name."""
        shares = self.shares(catalog_id)
        people = shares.people if shares else ()
        return progress_of(self._review.log(catalog_id), self.owners(catalog_id), people)

    def to_look_at(self, catalog_id: int, reviewer: str, size: int) -> tuple[Decision, ...]:
        """What is left of the sample of others' decisions for a second look. Raises ``JobError``
        before the analysis is finished.
        """
        tools = self._analyses.required(catalog_id).catalog.by_id
        return to_look_at(self._review.log(catalog_id), tools, reviewer, size)

    def look(self, catalog_id: int, decision: Decision, one_job: bool, reviewer: str) -> Decision:
        """Keep what a second look says of the tools of a decision; it changes no merge."""
        right = (decision.action == "accept") == one_job
        note = f"Second look: {'one job' if one_job else 'not one job'}"
        detail = {"audited": decision.seq, "right": right, "blind": True}
        return self._toolsets.flag(catalog_id, decision.ids, reviewer, note, detail)

    def agreement(self, catalog_id: int) -> Agreement:
        """How far second looks agree with the decisions that stand."""
        return agreement(self._review.log(catalog_id))

    def disagreements(self, catalog_id: int) -> tuple[tuple[Decision, Decision], ...]:
        """Standing decisions with the second look that sees them otherwise, newest first."""
        return disagreements(self._review.log(catalog_id))


def _name(catalog_id: int) -> str:
    return f"shares/{catalog_id}"
