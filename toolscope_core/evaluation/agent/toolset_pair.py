"""Runs the agent on the same queries with a bundle's toolset and with the original tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolscope_core.catalog.formats.format_table import PROMPT_FORMATS, target_named
from toolscope_core.catalog.relabelling import Relabelling, read_relabelling
from toolscope_core.catalog.tokens import Costs
from toolscope_core.evaluation.agent.agent_loop import Episode, Turn
from toolscope_core.evaluation.agent.agent_report import AgentReport, EpisodeFile, agent_report
from toolscope_core.evaluation.agent.expected_answers import check_expected
from toolscope_core.evaluation.agent.offered_tools import TARGET, ToolChooser
from toolscope_core.evaluation.query_sets import Query, judged_queries
from toolscope_core.mcp.gateway.bundle_routes import (
    ServedBundle,
    read_served_bundle,
    read_unmerged_bundle,
    searched_tools,
)
from toolscope_core.mcp.gateway.routing import OldName, Search
from toolscope_core.mcp.servers.launches import launches_of
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.model.configuration import AgentConfig, ConnectionLimits
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import Tool

if TYPE_CHECKING:
    from toolscope_core.evaluation.agent.agent_runs import AgentToolset

AS_IT_IS, _MERGED = "as it is", "merged"


@dataclass(frozen=True, slots=True)
class AgentEstimate:
    """The maximum cost of a run.

    ``queries`` is the number of requests, ``most_calls`` the maximum number of model calls.
    ``tools`` and ``tokens`` have for each toolset the number of tools and the tokens of all
    definitions. Every call begins with these definitions unless ``k`` tools are chosen.
    """

    queries: int
    most_calls: int
    tools: dict[str, int]
    tokens: dict[str, int]


@dataclass(frozen=True, slots=True)
class OriginalsConfigured:
    """The configuration through which the original servers are reached.

    ``keys`` maps servers of the configuration to servers of the catalog if the names differ.
    ``environ`` has the values that the configuration refers to. ``notice`` receives sentences for
    the user.
    """

    configuration: ClientConfiguration
    keys: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    notice: Callable[[str], None] = lambda text: None


@dataclass(frozen=True, slots=True)
class ConfiguredAgent:
    """An agent: the model's ``turn``, and the search that finds ``config.k`` tools per request.

    ``judge`` has the turns of the model that grades answers to queries without expectations.
    """

    turn: Turn
    config: AgentConfig
    search_of: Callable[[Sequence[Tool]], Search]
    judge: Turn | None = None


@dataclass(frozen=True, slots=True)
class ToolsetPair:
    """The two toolsets by name, or only one of them.

    ``queries`` have, for each toolset, the originals that serve each need. ``ways`` says for each
    toolset how each original tool is called.
    """

    bundles: dict[str, ServedBundle]
    queries: dict[str, tuple[Query, ...]]
    ways: dict[str, dict[str, OldName]]

    @property
    def sizes(self) -> dict[str, int]:
        return {name: len(bundle.table.listed_routes) for name, bundle in self.bundles.items()}

    @property
    def servers(self) -> tuple[str, ...]:
        """The names, in the catalog, of the servers that calls may reach."""
        return next(iter(self.bundles.values())).table.servers

    @property
    def by_id(self) -> dict[str, Query]:
        return {query.id: query for query in next(iter(self.queries.values()))}

    def estimate(self, config: AgentConfig) -> AgentEstimate:
        """The maximum cost of running ``work_with_both``."""
        costs, queries = Costs(), len(self.by_id)
        return AgentEstimate(
            queries=queries,
            most_calls=queries * len(self.bundles) * config.turns,
            tools=self.sizes,
            tokens={
                name: sum(costs.of(tool, PROMPT_FORMATS[0]) for tool in bundle.catalog.tools)
                for name, bundle in self.bundles.items()
            },
        )


def read_toolset_pair(
    bundle: Path,
    queries: Iterable[Query],
    config: AgentConfig,
    first: int | None = None,
    skip_unknown: bool = False,
    side: str | None = None,
) -> ToolsetPair:
    """The toolsets of a bundle's folder or zip (or only ``side``), and the ``first`` queries with
    gold.

    Raises ``ConfigError`` if no query can be asked, if a query needs unknown tools (unless
    ``skip_unknown`` is true) or has an invalid expectation, or if a toolset has more tools than
    endpoints accept. Otherwise raises the same errors as ``read_served_bundle``.
    """
    before, after = read_unmerged_bundle(bundle), read_served_bundle(bundle)
    searched = replace(after.catalog, tools=searched_tools(bundle, after))
    after = replace(after, catalog=searched)
    sides = {AS_IT_IS: before, _MERGED: after}
    bundles = {name: one for name, one in sides.items() if side in (None, name)}
    most = target_named(TARGET).rules.most_tools
    for name, ours in bundles.items():
        if config.k is None and most is not None and len(ours.table.listed_routes) > most:
            raise ConfigError(
                f"the toolset {name} has {len(ours.table.listed_routes)} tools, but endpoints "
                f"accept at most {most} per call; use --k 20, for example, so that the agent gets "
                "the 20 best tools for each request"
            )
    query_set = judged_queries(queries, before.catalog.tools, skip_unknown)[:first]
    if not query_set:
        raise ConfigError(
            "no query has a gold answer in the bundle's catalog; use ids of its tools under `gold`"
        )
    for query in query_set:
        check_expected(query, before.catalog.by_id)
    relabelling = read_relabelling(bundle)
    ways = {
        AS_IT_IS: {route.tool_id: OldName(name) for name, route in before.table.routes.items()},
        _MERGED: _ways(after, relabelling),
    }
    behind = {
        name: tuple(_with_originals(query, one, ways[name]) for query in query_set)
        for name, one in bundles.items()
    }
    return ToolsetPair(bundles, behind, ways)


def work_with_both(
    pair: ToolsetPair,
    originals: OriginalsConfigured,
    agent: ConfiguredAgent,
    file: EpisodeFile,
    version: str,
    progress: Progress = silent,
) -> AgentReport:
    """Run the agent on every query with each toolset in turn, each behind a gateway.

    The gateways start the original servers. Work already in ``file`` is not repeated. Raises
    ``ConfigError`` if a server is not configured, and any error that the file or a turn raises.
    Finished work is stored even then.
    """
    # this loads MCP's SDK, which is not needed just to look at a pair
    from toolscope_core.evaluation.agent.agent_runs import AgentModels, Assignment, run_agents

    by_id = pair.by_id
    episodes = file.read(by_id)
    missing = [
        (query, name)
        for query in by_id.values()
        for name in pair.bundles
        if (query.id, name) not in episodes
    ]
    total = len(by_id) * len(pair.bundles)

    def keep(query: Query, toolset: str, episode: Episode) -> None:
        file.add(query, toolset, episode)
        episodes[query.id, toolset] = episode
        progress(Step("requests", len(episodes), total))

    if missing:
        progress(Step("requests", len(episodes), total))
        toolsets = {name: _toolset(name, pair, originals, agent) for name in pair.bundles}
        assignments = [Assignment(query, toolsets[name]) for query, name in missing]
        models = AgentModels(agent.turn, agent.judge)
        run_agents(assignments, models, agent.config, version, keep)
    return agent_report(pair.queries, pair.sizes, episodes)


def _toolset(
    name: str, pair: ToolsetPair, originals: OriginalsConfigured, agent: ConfiguredAgent
) -> AgentToolset:
    from toolscope_core.evaluation.agent.agent_runs import AgentToolset
    from toolscope_core.mcp.gateway.running import GatewayConfig

    bundle = pair.bundles[name]
    _, launches = launches_of(
        bundle.table.servers, originals.configuration, originals.keys, originals.environ
    )
    gateway = GatewayConfig(launches, originals.limits, notice=originals.notice)
    tools, k = bundle.catalog.tools, agent.config.k
    choice = _best(k, agent.search_of(tools)) if k and k < len(tools) else None
    return AgentToolset(name, bundle, gateway, pair.ways[name], choice)


def _ways(bundle: ServedBundle, relabelling: Relabelling) -> dict[str, OldName]:
    """How a merged toolset calls each input tool that it still serves."""
    names = {route.tool_id: name for name, route in bundle.table.routes.items()}
    maps = {old: (alpha,) for old, alpha in relabelling.arguments.items()}
    return {
        old: OldName(names[new], maps.get(old, ()))
        for old, new in relabelling.phi.items()
        if new in names
    }


def _with_originals(query: Query, bundle: ServedBundle, ways: Mapping[str, OldName]) -> Query:
    """The query with the originals that its calls reach, in place of the tools that it names.

    A tool that was merged away is replaced by the original that the merged tool calls.
    """
    original_ids = {one.tool_id for one in bundle.table.originals}

    def originals(ids: frozenset[str]) -> frozenset[str]:
        routes = [ways[one].route for one in ids - original_ids if one in ways]
        others = (one.tool_id for name in routes for one in bundle.table.routes[name].originals)
        return (ids & original_ids).union(others) or ids

    gold = tuple(dict.fromkeys(map(originals, query.gold)))
    return replace(query, gold=gold, allowed=originals(query.allowed))


def _best(k: int, search: Search) -> ToolChooser:
    """A function that chooses the ids of the ``k`` best tools for a request."""
    return lambda request: search(request, k).ids
