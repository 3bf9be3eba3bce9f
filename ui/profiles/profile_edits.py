"""Profiles of a catalog on the screen: made, saved, looked through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from toolscope_core.decisions.constraints import profiles
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.llm.requests.model_requests import Asker
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import StaleDecisionError
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.profile import Profile
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import JsonObject
from toolscope_core.profiles.intent_cover import PER_JOB, Cover, Intent, intents_of, smallest_cover
from toolscope_core.profiles.planned_intents import intents_by_model
from toolscope_core.profiles.profile_changes import profile_row
from toolscope_core.profiles.profile_effect import effect_lines, misses_of
from toolscope_core.profiles.profile_report import ProfileReport, profile_report
from toolscope_core.profiles.profile_tools import ProfileTools, profile_tools
from toolscope_core.retrieval.client_search import SearchableTools
from toolscope_core.store.decision_rows import append_decision
from toolscope_core.tool2vec.estimates import Estimates
from ui.shared.services.judging import Judging
from ui.shared.services.loaded_queries import LoadedQueries
from ui.shared.services.logs import admission, make_decision
from ui.shared.services.model_runs import ModelRuns
from ui.shared.services.page_service import PageService, Uses
from ui.shared.services.searches import Lookup, Searches
from ui.shared.services.usage_evidence import UsageEvidence

SEARCHED = Lookup("tools", accept=PlanConfig().accept, variants=False)


class ProfileEdits(PageService):
    """The profiles of analysed catalogs, in the toolset as it is merged so far."""

    _queries = Uses(LoadedQueries)
    _searches = Uses(Searches)
    _usage = Uses(UsageEvidence)
    _judging = Uses(Judging)
    _runs = Uses(ModelRuns)

    def plan(self, catalog_id: int) -> MergePlan:
        """The toolset that profiles select from. Raises ``JobError`` before the analysis."""
        return self._review.plan(catalog_id)

    def chosen(self, catalog_id: int) -> dict[str, ProfileTools]:
        """The tools of each profile, by its name."""
        plan, log = self.plan(catalog_id), self._review.log(catalog_id)
        return self._cached(
            ("chosen", catalog_id),
            (plan,),
            lambda: {
                name: profile_tools(plan, one) for name, one in profiles(plan.catalog, log).items()
            },
            state=len(log),
        )

    def tokens(self, catalog_id: int) -> dict[str, int]:
        """The tokens of each tool of the toolset, for the chosen client."""
        shape = self._catalogs.shape
        return {
            item.tool.id: self._catalogs.costs.of(item.tool, shape)
            for item in self.plan(catalog_id).tools
        }

    def size(self, chosen: ProfileTools) -> int:
        """The tokens of a profile's tools as its agent sees them, for the chosen client."""
        return sum(
            self._catalogs.costs.of(item.tool, self._catalogs.shape) for item in chosen.tools
        )

    def calls(self, catalog_id: int) -> dict[str, int]:
        """How often each tool of the toolset was called, its members together."""
        counts = self._usage.figures(catalog_id)
        return {
            item.tool.id: sum(counts.of(one).calls for one in item.members)
            for item in self.plan(catalog_id).tools
        }

    def save(self, catalog_id: int, profile: Profile, reviewer: str) -> Decision:
        """Record the profile as it is now. Raises ``StaleDecisionError`` where somebody else saved
        one of this name meanwhile, ``DecisionError`` for a name that cannot stand in an address.
        """
        row = profile_row(self.plan(catalog_id), profile)
        return self._record(catalog_id, profile, row["ids"], row["detail"], reviewer)

    def delete(self, catalog_id: int, profile: Profile, reviewer: str) -> Decision:
        """Record that the profile is no more. Raises as ``save``."""
        detail = {"profile": profile.name, "deleted": True}
        return self._record(catalog_id, profile, (), detail, reviewer)

    def waits(self, catalog_id: int, queries: Sequence[Query]) -> bool:
        """Whether one of the queries has to be searched and ``SEARCHED`` is not indexed yet."""
        has_search = any(not one.gold for one in queries)
        return has_search and self._searches.opened(catalog_id, SEARCHED) is None

    def queries(self, catalog_id: int, texts: Sequence[str]) -> list[Query]:
        """Requests as queries: with the answers of the catalog's query sets where one asks exactly
        that.
        """
        own = ((text, self._queries.of_text(catalog_id, text)) for text in texts)
        return [query or Query("", text) for text, query in own]

    def cover(
        self, catalog_id: int, queries: Sequence[Query], per_job: int | None, budget: int | None
    ) -> Cover:
        """The smallest set of tools for the queries: by their answers, else by a search; without
        ``per_job`` by what a model planned so far. Call it where nothing ``waits``.
        """
        plan, tokens = self.plan(catalog_id), self.tokens(catalog_id)
        asker = None if per_job else self._judging.known_answers()

        def make() -> Cover:
            retriever = partial(self._retriever, catalog_id)
            intents = (
                self._planned(catalog_id, queries)(asker)
                if asker
                else intents_of(queries, plan, retriever, per_job or PER_JOB, one_is_enough=False)
            )
            return smallest_cover(intents, tokens, budget)

        key = ("covers", catalog_id, tuple(queries), per_job, budget, self._catalogs.shape)
        runs = self._judging.runs(catalog_id) if asker else ()
        state = (asker and asker.name, [(one.id, one.ended_at) for one in runs])
        return self._cached(key, (plan,), make, state=state, most=8)

    def estimate(self, catalog_id: int, queries: Sequence[Query]) -> Estimates:
        """What it takes to have a model plan the queries. Raises ``ConfigError`` without one."""
        return self._runs.estimate_of(self._planned(catalog_id, queries))

    def ask(self, catalog_id: int, queries: Sequence[Query]) -> str:
        """Have a model plan the queries in the background; the job's id. Raises ``ConfigError``
        without one.
        """
        work = self._planned(catalog_id, queries)
        return self._runs.in_background(
            catalog_id, "plan", lambda progress: self._runs.ask(catalog_id, "plan", work, progress)
        )

    def report(self, catalog_id: int, chosen: ProfileTools) -> tuple[ProfileReport, Sequence[str]]:
        """What a profile comes to under its own requests, and how well those with answers find them
        in it, beside the whole toolset, in sentences. Call it where nothing ``waits``.
        """
        plan, profile = self.plan(catalog_id), chosen.profile
        queries, shape = self.queries(catalog_id, profile.intents), self._catalogs.shape

        def make() -> tuple[ProfileReport, Sequence[str]]:
            intents = intents_of(queries, plan, partial(self._retriever, catalog_id))
            analysis = self._analyses.required(catalog_id)
            ranker = self._searches.ranker(RetrievalConfig())
            effect = effect_lines(plan, chosen, queries, ranker, self._catalogs.costs)
            report = profile_report(analysis, plan, chosen, intents, self._catalogs.costs, shape)
            return replace(report, misses=misses_of(plan, chosen, queries, ranker)), effect

        key = ("reports", catalog_id, profile.name, shape)
        return self._cached(key, (plan, chosen), make, state=queries, most=16)

    def _planned(
        self, catalog_id: int, queries: Sequence[Query]
    ) -> Callable[[Asker], tuple[Intent, ...]]:
        """What plans the queries by asking."""
        return partial(
            intents_by_model, queries, self.plan(catalog_id), self._retriever(catalog_id)
        )

    def _retriever(self, catalog_id: int) -> SearchableTools:
        opened = self._searches.opened(catalog_id, SEARCHED)
        if opened is None:
            raise RuntimeError("the toolset is not indexed yet")
        return opened[1][-1].retriever

    def _record(
        self,
        catalog_id: int,
        profile: Profile,
        ids: Sequence[str],
        detail: JsonObject,
        reviewer: str,
    ) -> Decision:
        catalog = self._catalogs.open(catalog_id)
        decision = make_decision(catalog, "profile", ids, reviewer, detail)

        def admitted(log: tuple[Decision, ...]) -> Decision:
            standing = profiles(catalog, log).get(profile.name)
            if (standing.seq if standing else 0) != profile.seq:
                raise StaleDecisionError(
                    f"the profile {profile.name} was saved by somebody else meanwhile; look at it "
                    "again, or take another name"
                )
            return admission(catalog, decision)(log)

        return append_decision(self._store, catalog_id, admitted)


def lines_of(text: str) -> list[str]:
    """The requests in a text, one in each line, each once."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
