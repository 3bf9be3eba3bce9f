"""A bundle's toolset beside what it was made of: the agent works on the same queries with both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core.catalog.formats.format_table import PROMPT_SHAPES
from toolscope_core.catalog.formats.target_table import target_named
from toolscope_core.catalog.tokens import Costs
from toolscope_core.evaluation.agent.agent_loop import Episode, Turn
from toolscope_core.evaluation.agent.agent_report import AgentReport, agent_report
from toolscope_core.evaluation.agent.episode_rows import EpisodeFile
from toolscope_core.evaluation.agent.offered_tools import TARGET, Choice
from toolscope_core.evaluation.query_sets import Query, relabelled, with_gold_among
from toolscope_core.mcp.gateway.bundle_routes import (
    ServedBundle,
    read_served_bundle,
    read_unmerged_bundle,
)
from toolscope_core.mcp.gateway.configured_servers import launches_of
from toolscope_core.mcp.gateway.routing import Search
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration
from toolscope_core.merging.relabelling import read_relabelling
from toolscope_core.model.configuration import AgentConfig, ConnectionLimits
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import Tool

AS_IT_IS, MERGED = "as it is", "merged"


@dataclass(frozen=True, slots=True)
class AgentEstimate:
    """What a run may take: requests, calls of the model at most, and by toolset its number of
    tools and the tokens of all their definitions, with which every call begins unless ``k`` tools
    are chosen for it.
    """

    queries: int
    most_calls: int
    tools: dict[str, int]
    tokens: dict[str, int]


@dataclass(frozen=True, slots=True)
class OriginalsConfigured:
    """How the original servers are reached: ``keys`` says which server of the configuration is
    which of the catalog where their names differ; values that it refers to are in ``environ``.
    ``notice`` gets sentences for the person who runs it.
    """

    configuration: ClientConfiguration
    keys: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    notice: Callable[[str], None] = lambda text: None


@dataclass(frozen=True, slots=True)
class ConfiguredAgent:
    """An agent: the model's ``turn``, and what makes the search that finds ``config.k`` tools for
    a request among the tools of a toolset.
    """

    turn: Turn
    config: AgentConfig
    search_of: Callable[[Sequence[Tool]], Search]


@dataclass(frozen=True, slots=True)
class ToolsetPair:
    """The two toolsets by name, and the queries with the gold answers of each."""

    bundles: dict[str, ServedBundle]
    queries: dict[str, tuple[Query, ...]]

    @property
    def sizes(self) -> dict[str, int]:
        return {name: len(bundle.table.offered) for name, bundle in self.bundles.items()}

    @property
    def servers(self) -> tuple[str, ...]:
        """The catalog's names of the servers that calls may reach."""
        return self.bundles[AS_IT_IS].table.servers

    @property
    def by_id(self) -> dict[str, Query]:
        return {query.id: query for query in self.queries[AS_IT_IS]}

    def estimate(self, config: AgentConfig) -> AgentEstimate:
        """What ``work_with_both`` may take."""
        costs, queries = Costs(), len(self.queries[AS_IT_IS])
        return AgentEstimate(
            queries=queries,
            most_calls=queries * len(self.bundles) * config.turns,
            tools=self.sizes,
            tokens={
                name: sum(costs.of(tool, PROMPT_SHAPES[0]) for tool in bundle.catalog.tools)
                for name, bundle in self.bundles.items()
            },
        )


def read_toolset_pair(
    bundle: Path,
    queries: Iterable[Query],
    config: AgentConfig,
    first: int | None = None,
    skip_unknown: bool = False,
) -> ToolsetPair:
    """The toolsets of a bundle's folder or zip, and of the queries with gold answers the ``first``
    so many.

    Raises ``ConfigError`` where no query can be asked, one needs unknown tools (unless
    ``skip_unknown``), or a toolset has more tools than endpoints take; else as
    ``read_served_bundle``.
    """
    bundles = {AS_IT_IS: read_unmerged_bundle(bundle), MERGED: read_served_bundle(bundle)}
    most = target_named(TARGET).rules.most_tools
    for name, served in bundles.items():
        if config.k is None and most is not None and len(served.table.offered) > most:
            raise ConfigError(
                f"the toolset {name} has {len(served.table.offered)} tools, and endpoints take "
                f"{most} in a call; give --k 20, so that the agent gets the best 20 of each request"
            )
    judged = [query for query in queries if query.gold]
    kept = with_gold_among(judged, bundles[AS_IT_IS].catalog.by_id, skip_unknown)[:first]
    if not kept:
        raise ConfigError(
            "no query has a gold answer in the bundle's catalog; give ids of its tools under `gold`"
        )
    phi = read_relabelling(bundle).phi
    return ToolsetPair(bundles, {AS_IT_IS: kept, MERGED: relabelled(kept, phi)})


def work_with_both(
    pair: ToolsetPair,
    originals: OriginalsConfigured,
    agent: ConfiguredAgent,
    file: EpisodeFile,
    version: str,
    progress: Progress = silent,
) -> AgentReport:
    """Start the original servers behind two gateways, and let the agent work on every query with
    both; what is in ``file`` already is not done again.

    Raises ``ConfigError`` where a server is not configured, ``ConfigError`` or ``ExportError`` as
    the file does, and what a turn raises, with all that was done kept.
    """
    # with them comes MCP's SDK, for which nobody waits who only looks at a pair
    from toolscope_core.evaluation.agent.agent_runs import AgentToolset, Assignment, run_agents
    from toolscope_core.mcp.gateway.running import GatewayConfig

    by_id = pair.by_id
    episodes = file.read(by_id)
    assignments = [
        Assignment(query, name)
        for query in by_id.values()
        for name in pair.bundles
        if (query.id, name) not in episodes
    ]
    total = len(by_id) * len(pair.bundles)

    def keep(query: Query, toolset: str, episode: Episode) -> None:
        file.add(query, toolset, episode)
        episodes[query.id, toolset] = episode
        progress(Step("requests", len(episodes), total))

    if assignments:
        progress(Step("requests", len(episodes), total))
        toolsets = []
        for name, bundle in pair.bundles.items():
            _, launches = launches_of(
                bundle, originals.configuration, originals.keys, originals.environ
            )
            gateway = GatewayConfig(launches, originals.limits, notice=originals.notice)
            tools, k = bundle.catalog.tools, agent.config.k
            choice = _best(k, agent.search_of(tools)) if k and k < len(tools) else None
            toolsets.append(AgentToolset(name, bundle, gateway, choice))
        run_agents(toolsets, assignments, agent.turn, agent.config, version, keep)
    return agent_report(pair.queries, pair.sizes, episodes)


def _best(k: int, search: Search) -> Choice:
    """Finds the ids of the ``k`` tools that a request needs most."""
    return lambda request: search(request, k)
