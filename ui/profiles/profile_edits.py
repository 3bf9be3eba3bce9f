"""The profiles of a catalog on the screen: making, saving and viewing them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from toolscope_core.decisions.constraints import profiles
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.llm.estimates import Estimates
from toolscope_core.llm.model_requests import Asker
from toolscope_core.model.configuration import PlanConfig
from toolscope_core.model.decision import Decision
from toolscope_core.model.errors import StaleDecisionError
from toolscope_core.model.profile import Profile
from toolscope_core.model.search_configuration import RetrievalConfig
from toolscope_core.model.tool import JsonObject
from toolscope_core.profiles import intent_cover, profile_effect
from toolscope_core.profiles.profile_tools import ProfileTools, profile_tools
from toolscope_core.retrieval.client_search import SearchableTools
from toolscope_core.rps.planner import intents_by_model
from toolscope_core.store.decision_rows import append_decision
from ui.shared.kept import kept, kept_under
from ui.shared.services import judging, loaded_queries, model_runs, searches, usage_evidence
from ui.shared.services.review import admission, make_decision
from ui.shared.snapshot import Snapshot

SEARCHED = searches.Lookup("tools", merges=PlanConfig(), variants=False)


@kept()
def tools_by_profile(snapshot: Snapshot) -> dict[str, ProfileTools]:
    """The tools of each profile, keyed by the profile's name."""
    plan = snapshot.plan
    saved_profiles = profiles(plan.catalog, snapshot.log)
    return {name: profile_tools(plan, one) for name, one in saved_profiles.items()}


@kept()
def tokens(snapshot: Snapshot) -> dict[str, int]:
    """The tokens of each tool of the toolset, as the chosen client sends it."""
    costs, tools = snapshot.work.catalogs.costs, snapshot.plan.tools
    return {item.tool.id: costs.of(item.tool, snapshot.format) for item in tools}


def size(snapshot: Snapshot, toolset: ProfileTools) -> int:
    """The tokens of a profile's tools as the agent sees them in the chosen client."""
    return sum(
        snapshot.work.catalogs.costs.of(item.tool, snapshot.format) for item in toolset.tools
    )


def calls(snapshot: Snapshot) -> dict[str, int]:
    """How often each tool of the toolset was called, including calls to its members."""
    counts = usage_evidence.figures(snapshot)
    return {
        item.tool.id: sum(counts.of(one).calls for one in item.members)
        for item in snapshot.plan.tools
    }


def save(snapshot: Snapshot, profile: Profile, reviewer: str) -> Decision:
    """Record the profile as it is now.

    Raises ``StaleDecisionError`` if somebody else has saved a profile of this name in the meantime,
    and ``DecisionError`` if the name cannot be used in an address.
    """
    row = intent_cover.profile_row(snapshot.plan, profile)
    return _record(snapshot, profile, row["ids"], row["detail"], reviewer)


def delete(snapshot: Snapshot, profile: Profile, reviewer: str) -> Decision:
    """Record that the profile is deleted. Raises the errors of ``save``."""
    detail = {"profile": profile.name, "deleted": True}
    return _record(snapshot, profile, (), detail, reviewer)


def waits(snapshot: Snapshot, queries: Sequence[Query]) -> bool:
    """Whether a query needs a search and ``SEARCHED`` is not indexed yet."""
    has_search = any(not one.gold for one in queries)
    return has_search and searches.open_toolsets(snapshot, SEARCHED) is None


def queries(snapshot: Snapshot, texts: Sequence[str]) -> list[Query]:
    """Requests as queries. If a query of the catalog's query sets has the same text, its answers
    are taken.
    """
    own = ((text, loaded_queries.of_text(snapshot, text)) for text in texts)
    return [query or Query("", text) for text, query in own]


def cover(
    snapshot: Snapshot, queries: Sequence[Query], per_job: int | None, budget: int | None
) -> intent_cover.Cover:
    """The smallest set of tools that serves the queries, by their answers or, without answers, by a
    search.

    Without ``per_job``, the plans that a model has made so far are used. Call this only when
    nothing ``waits``.
    """
    plan, costs = snapshot.plan, tokens(snapshot)
    asker = None if per_job else judging.known_answers(snapshot)

    def make() -> intent_cover.Cover:
        retriever = partial(_retriever, snapshot)
        intents = (
            _planned(snapshot, queries)(asker)
            if asker
            else intent_cover.intents_of(
                queries, plan, retriever, per_job or intent_cover.PER_JOB, one_is_enough=False
            )
        )
        owners = {item.tool.id: item.tool.owner for item in plan.tools}
        return intent_cover.smallest_cover(intents, costs, budget, owners)

    runs = judging.runs(snapshot) if asker else ()
    as_of = (asker and asker.name, *((one.id, one.ended_at) for one in runs))
    return kept_under(snapshot, "covers", (tuple(queries), per_job, budget, as_of), make)


def estimate(snapshot: Snapshot, queries: Sequence[Query]) -> Estimates:
    """What it costs to have a model plan the queries. Raises ``ConfigError`` without a model."""
    return model_runs.estimate_of(snapshot, _planned(snapshot, queries))


def ask(snapshot: Snapshot, queries: Sequence[Query]) -> str:
    """Have a model plan the queries in the background. Returns the job's id.

    Raises ``ConfigError`` without a model.
    """
    return model_runs.ask_in_background(snapshot, "plan", _planned(snapshot, queries))


def report(
    snapshot: Snapshot, toolset: ProfileTools
) -> tuple[profile_effect.ProfileReport, Sequence[str]]:
    """The report on a profile with the profile's own requests, and sentences on how well these are
    found.

    Only requests with answers count, and they are compared with the whole toolset. Call this only
    when nothing ``waits``.
    """
    plan, profile, costs = snapshot.plan, toolset.profile, snapshot.work.catalogs.costs
    requests = tuple(queries(snapshot, profile.intents))

    def make() -> tuple[profile_effect.ProfileReport, Sequence[str]]:
        intents = intent_cover.intents_of(requests, plan, partial(_retriever, snapshot))
        ranker = searches.bench(snapshot).ranker(RetrievalConfig())
        effect = profile_effect.effect_lines(plan, toolset, requests, ranker, costs)
        figures = profile_effect.profile_report(
            snapshot.analysis, plan, toolset, intents, costs, snapshot.format
        )
        return replace(
            figures, misses=profile_effect.misses_of(plan, toolset, requests, ranker)
        ), effect

    return kept_under(snapshot, "reports", (profile.name, requests), make, limit=16)


def _planned(
    snapshot: Snapshot, queries: Sequence[Query]
) -> Callable[[Asker], tuple[intent_cover.Intent, ...]]:
    """A function that takes an asker and plans the queries with it."""
    return partial(intents_by_model, queries, snapshot.plan, _retriever(snapshot))


def _retriever(snapshot: Snapshot) -> SearchableTools:
    request_and_toolsets = searches.open_toolsets(snapshot, SEARCHED)
    if request_and_toolsets is None:
        raise RuntimeError("the toolset is not indexed yet")
    return request_and_toolsets[1][-1].retriever


def _record(
    snapshot: Snapshot, profile: Profile, ids: Sequence[str], detail: JsonObject, reviewer: str
) -> Decision:
    catalog = snapshot.catalog
    decision = make_decision(catalog, "profile", ids, reviewer, detail)

    def admitted(log: tuple[Decision, ...]) -> Decision:
        stored = profiles(catalog, log).get(profile.name)
        if (stored.seq if stored else 0) != profile.seq:
            raise StaleDecisionError(
                f"somebody else has saved the profile {profile.name} in the meantime; look at it "
                "again, or choose another name"
            )
        return admission(catalog, decision)(log)

    return append_decision(snapshot.work.store, snapshot.id, admitted)


def requests_in(text: str) -> list[str]:
    """The requests in a text with one request per line. Repeated requests are dropped."""
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
