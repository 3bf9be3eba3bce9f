"""Server against server for the pages: coverage, advice, and switching a whole server off."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from toolscope_core.merging.coverage import Coverage, ServerCoverage, server_coverage
from toolscope_core.merging.server_choice import Advice, advise
from toolscope_core.merging.switched_off import kept_by, merges_of
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import DecisionError
from toolscope_core.model.tool import digest
from toolscope_core.store import now
from ui.shared.cards.batches import ServerPairProposals, server_pairs
from ui.shared.services.logs import make_decision
from ui.shared.services.result_cache import ResultCache
from ui.shared.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ToolMatch:
    """One row of two servers side by side: a tool of each, or of one alone (the other is empty);
    ``way`` and ``lost`` as in ``Served``, ``alone`` where nothing is like it.
    """

    one: str
    other: str
    way: str
    lost: tuple[str, ...]


class ServerAdvice:
    """What the servers of a catalog can do without each other, under its decisions."""

    def __init__(self, work: Workspace) -> None:
        self._analyses = work.analyses
        self._review = work.review
        self._coverages: ResultCache[ServerCoverage] = ResultCache()
        self._advice: ResultCache[Advice] = ResultCache()
        self._pairs: ResultCache[tuple[ServerPairProposals, ...]] = ResultCache()

    def coverage(self, catalog_id: int) -> ServerCoverage:
        """The servers against each other; made again after a decision."""
        analysis, plan = self._analyses.required(catalog_id), self._review.plan(catalog_id)
        log = self._review.log(catalog_id)
        return self._coverages.get(
            catalog_id, (plan,), lambda: server_coverage(analysis, plan.clusters, log)
        )

    def advice(self, catalog_id: int) -> Advice:
        """The advice on all servers."""
        servers = self.coverage(catalog_id)
        return self._advice.get(catalog_id, (servers,), lambda: advise(servers))

    def pairs(self, catalog_id: int) -> tuple[ServerPairProposals, ...]:
        """The pairs of servers between which two or more proposals wait, or of which one does some
        of the other's work.
        """
        analysis, plan = self._analyses.required(catalog_id), self._review.plan(catalog_id)

        def make() -> tuple[ServerPairProposals, ...]:
            covered = self.coverage(catalog_id).of_pairs()
            near = {
                (min(one.server, other), max(one.server, other))
                for one in covered
                for other in one.others
            }
            return server_pairs(analysis, self._review.queue(catalog_id), near)

        return self._pairs.get(catalog_id, (plan,), make)

    def matches(self, catalog_id: int, one: str, other: str) -> tuple[ToolMatch, ...]:
        """Every tool of two servers: the matched ones first, in the order of the first server."""
        servers = self.coverage(catalog_id)
        ours, theirs = servers.of(one, [other]), servers.of(other, [one])
        rows = [
            ToolMatch(match.tool, match.by, match.way, match.lost)
            for match in sorted((*ours.served, *ours.alike), key=lambda match: match.way == "alike")
        ]
        shown = {row.other for row in rows}
        rows += [
            ToolMatch(match.by, match.tool, match.way, match.lost)
            for match in (*theirs.served, *theirs.alike)
            if match.tool not in shown
        ]
        rows += [ToolMatch(tool, "", "alone", ()) for tool in ours.alone]
        rows += [ToolMatch("", tool, "alone", ()) for tool in theirs.alone]
        return tuple(rows)

    def switch_off(self, catalog_id: int, gone: Coverage, reviewer: str) -> tuple[Decision, ...]:
        """Let all tools of a server go, as one batch: those that one of the ``others`` takes every
        call of become merges with it, the rest is left out. Raises ``DecisionError`` as
        ``Review.record`` does; what was decided until then stays.
        """
        catalog = self._analyses.required(catalog_id).catalog
        batch = {"batch": digest(reviewer, now(), gone.server)[:12]}
        made: list[Decision] = []
        merged: set[str] = set()
        for stays, members in merges_of([gone], self._review.plan(catalog_id).clusters):
            detail = {**kept_by(stays), **batch}
            accepted = make_decision(catalog, "accept", members, reviewer, detail)
            with suppress(DecisionError):  # people keep it apart, or in another merge: it goes
                made.append(self._review.record(catalog_id, accepted))
                merged.update(members)
        rest = [t.id for t in catalog.tools if t.server == gone.server and t.id not in merged]
        if rest:
            detail = {"reason": gone.why_off, **batch}
            omitted = make_decision(catalog, "omit", rest, reviewer, detail)
            made.append(self._review.record(catalog_id, omitted))
        return tuple(made)
