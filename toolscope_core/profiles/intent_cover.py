"""Finds the smallest set of tools for an agent's requests, and the requests that a set serves.

The method is weighted set cover: tools are chosen greedily by needs served per token (Chvátal
1979). Then tools that later ones make redundant are removed, and servers that others can replace.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from toolscope_core.decisions.profile_decisions import MOST_INTENTS, profile_detail
from toolscope_core.evaluation.query_sets import Query, relabelled
from toolscope_core.evaluation.selection import jobs_of
from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.profile import Profile, ProfileTool
from toolscope_core.model.tool import JsonObject
from toolscope_core.profiles.profile_tools import profile_tools, profile_words
from toolscope_core.retrieval.assembly import ToolRequest
from toolscope_core.retrieval.client_search import SearchableTools
from toolscope_core.retrieval.decomposition import decompose

_DEARER = 1.25
"""To avoid a server, a set may cost up to this many times as many tokens."""
PER_JOB = 3
"""The number of tools for each job. With these, 20 of the example's 26 queries are served; with
one, 13.
"""


@dataclass(frozen=True, slots=True)
class Intent:
    """A request that an agent has to serve.

    Each need is the set of the ids of all tools that can serve it alone; the set is empty if no
    tool in the toolset can. ``is_doubtful`` says that for some part of the request, even the
    closest tool is distant.
    """

    text: str
    needs: tuple[frozenset[str], ...]
    is_doubtful: bool = False

    def is_served_by(self, ids: Collection[str]) -> bool:
        return bool(self.needs) and all(not need.isdisjoint(ids) for need in self.needs)

    def tools_of(self, ids: Collection[str]) -> tuple[str, ...]:
        """The tools in ``ids`` that serve at least one of the needs, sorted."""
        return tuple(sorted({one for need in self.needs for one in need if one in ids}))


@dataclass(frozen=True, slots=True)
class Addition:
    """A tool in a cover, its tokens, and how many ``intents`` are fully served once it is added."""

    tool_id: str
    tokens: int
    intents: int


@dataclass(frozen=True, slots=True)
class Cover:
    """The tools chosen for a list of intents, in the order in which they were added.

    ``too_large`` are tools that would serve another need but do not fit into the budget.
    """

    intents: tuple[Intent, ...]
    additions: tuple[Addition, ...]
    too_large: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(one.tool_id for one in self.additions)


def smallest_cover(
    intents: Sequence[Intent],
    tokens: Mapping[str, int],
    budget: int | None = None,
    servers: Mapping[str, str] = MappingProxyType({}),
) -> Cover:
    """The tools that serve the needs of all intents within the ``budget``.

    ``tokens`` gives the tokens of each tool id; equally good tools are taken in the order of their
    ids. With ``servers`` (the server of each tool id), a server is left out if tools from the other
    servers serve the same needs for at most a quarter more tokens.
    """
    room = sum(tokens.values()) if budget is None else budget
    cover = _filled(intents, [], tokens, room)

    def price(ids: Iterable[str]) -> int:
        return sum(tokens[one] for one in ids)

    def owner(tool_id: str) -> str:
        return servers.get(tool_id, "")

    prices = {server: price(ids) for server, ids in grouped(cover, owner).items()}
    for server in sorted(prices, key=lambda one: (prices[one], one)):
        others = set(map(owner, cover)) - {server}
        on_others = {one: cost for one, cost in tokens.items() if owner(one) in others}
        kept = [one for one in cover if one in on_others]
        trial = _filled(intents, kept, on_others, room - price(kept))
        is_whole = all(_rest_serves(intent, trial, cover) for intent in intents)
        if others and is_whole and price(trial) <= _DEARER * price(cover):
            cover = trial
    steps = [cover[: place + 1] for place in range(len(cover))]
    additions = tuple(
        Addition(ids[-1], tokens[ids[-1]], sum(one.is_served_by(ids) for one in intents))
        for ids in steps
    )
    return Cover(tuple(intents), additions, tuple(sorted(_gains(intents, cover))))


def _filled(
    intents: Sequence[Intent], taken: Sequence[str], tokens: Mapping[str, int], room: int
) -> list[str]:
    """The ``taken`` tools and those tools in ``tokens`` that serve open needs. Redundant tools are
    removed.
    """
    cover = [*taken]
    while True:
        gains = _gains(intents, cover)
        fitting = [one for one in gains if one in tokens and tokens[one] <= room]
        if not fitting:
            break
        best = min(fitting, key=lambda one: (-gains[one] / max(1, tokens[one]), one))
        cover.append(best)
        room -= tokens[best]
    for one in [*cover]:
        rest = [other for other in cover if other != one]
        if all(_rest_serves(intent, rest, cover) for intent in intents):
            cover = rest
    return cover


def _rest_serves(intent: Intent, rest: Collection[str], cover: Collection[str]) -> bool:
    """Whether the ``rest`` serves every need of the intent that the whole ``cover`` serves."""
    return all(need.isdisjoint(cover) or not need.isdisjoint(rest) for need in intent.needs)


def not_asked_for(intents: Iterable[Intent], ids: Iterable[str]) -> tuple[str, ...]:
    """The tools in ``ids`` that serve no need of any intent, sorted."""
    useful = {one for intent in intents for need in intent.needs for one in need}
    return tuple(sorted(set(ids) - useful))


def intents_of(
    queries: Sequence[Query],
    plan: MergePlan,
    retriever_of: Callable[[], SearchableTools],
    per_job: int = PER_JOB,
    one_is_enough: bool = True,
) -> tuple[Intent, ...]:
    """The queries as intents, with their needs in the plan's toolset.

    The needs come from gold answers. Without these, the query is split into jobs by rule, and a
    search finds the ``per_job`` best tools for each job; other tools that do the same job serve as
    well. With ``one_is_enough``, these tools count as alternatives, as when an existing profile is
    checked. The retriever searches the plan's tools and is made only when it is needed.
    """
    ids, queries = {item.tool.id for item in plan.tools}, relabelled(queries, plan.phi)
    jobs = [
        () if one.gold else jobs_of(ToolRequest(one.text, decompose(one.text))) for one in queries
    ]
    distinct_jobs = list(dict.fromkeys(job for own in jobs for job in own))
    requests = list(map(ToolRequest, distinct_jobs))
    answers = retriever_of().answers(requests, per_job) if requests else ()
    found, equal = dict(zip(distinct_jobs, answers, strict=True)), same_job(plan)

    def needs(query: Query, own: Sequence[str]) -> Iterator[frozenset[str]]:
        yield from (need & ids for need in query.gold)
        for job in own:
            sets = [equal.get(one.tool_id, frozenset({one.tool_id})) for one in found[job].places]
            yield from [frozenset().union(*sets)] if one_is_enough else sets

    return tuple(
        Intent(
            one.text, tuple(dict.fromkeys(needs(one, own))), any(found[job].is_none for job in own)
        )
        for one, own in zip(queries, jobs, strict=True)
    )


def same_job(plan: MergePlan) -> dict[str, frozenset[str]]:
    """For each outgoing tool, the tools that do the same job according to a merge that is open or
    was not applied.
    """
    ids = {item.tool.id for item in plan.tools}
    return {
        one: frozenset(cluster.members) & ids
        for cluster in plan.clusters
        if cluster.relation != "family" and cluster.state != "kept_apart"
        for one in cluster.members
        if one in ids
    }


def _gains(intents: Iterable[Intent], cover: Collection[str]) -> dict[str, int]:
    """For each tool, how many open needs it would serve."""
    gains: dict[str, int] = {}
    for intent in intents:
        for need in intent.needs:
            if need.isdisjoint(cover):
                for one in need:
                    gains[one] = gains.get(one, 0) + 1
    return gains


def with_choice(plan: MergePlan, profile: Profile, ids: Iterable[str], is_in: bool) -> Profile:
    """The profile after outgoing tools were added or removed by hand.

    A removed tool is listed as excluded only if a rule would include it.
    """
    outgoing_ids, words = set(ids), profile_words(plan, profile)
    items = [item for item in plan.tools if item.tool.id in outgoing_ids]
    of_these = {member for item in items for member in item.members}
    others = {old: tool for old, tool in profile.tools.items() if old not in of_these}
    if is_in:
        own_tools = {
            member: replace(
                words.get(item.tool.id, ProfileTool("hand")), origin="hand", called=item.tool.name
            )
            for item in items
            for member in item.members
        }
        return replace(profile, tools={**others, **own_tools})
    out = replace(profile, tools=others)
    still = profile_tools(plan, out).ids
    kept_out = {
        member: ProfileTool("kept out")
        for item in items
        if item.tool.id in still
        for member in item.members
    }
    return replace(profile, tools={**others, **kept_out})


def with_cover(plan: MergePlan, profile: Profile, cover: Cover) -> Profile:
    """The profile with the cover's intents, where exactly the cover's tools count as chosen by
    hand.
    """
    with_tools, cover_ids = with_choice(plan, profile, cover.ids, is_in=True), set(cover.ids)
    tools = {
        old: tool
        for old, tool in with_tools.tools.items()
        if tool.origin != "hand" or plan.phi.get(old) in cover_ids
    }
    intents = tuple(dict.fromkeys(one.text for one in cover.intents))
    return replace(with_tools, tools=tools, intents=intents[:MOST_INTENTS])


def profile_row(plan: MergePlan, profile: Profile) -> JsonObject:
    """The decision that saves a profile, as a row without a reviewer.

    The row has the profile's tools with their current names. It also has the tools that were chosen
    or excluded by hand but are not among these, without a name.
    """
    toolset, words = profile_tools(plan, profile), profile_words(plan, profile)
    called = {member: item.tool.name for item in plan.tools for member in item.members}
    tools = {
        member: replace(
            words.get(item.tool.id, ProfileTool("rule")),
            origin=toolset.ways[item.tool.id],
            called=called[member],
        )
        for item in toolset.tools
        for member in item.members
    }
    for old, tool in profile.tools.items():
        if tool.origin != "rule" and old in called:
            tools.setdefault(old, replace(tool, called=""))
    ids = sorted(tools)
    return {
        "action": "profile",
        "ids": ids,
        "detail": profile_detail(profile, [tools[one] for one in ids]),
    }
