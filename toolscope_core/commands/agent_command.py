"""An agent at work on a query set, with a bundle's toolset and with what that was made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core import __version__
from toolscope_core.agent.agent_loop import Episode
from toolscope_core.agent.agent_report import AgentReport, agent_report
from toolscope_core.agent.agent_runs import AgentToolset, Assignment, run_agents
from toolscope_core.agent.episode_rows import EpisodeFile
from toolscope_core.agent.offered_tools import TARGET, Choice
from toolscope_core.agent.paid_turns import PaidTurns
from toolscope_core.backends import Progress, Step, silent
from toolscope_core.catalog.formats import PROMPT_SHAPES, target_named
from toolscope_core.catalog.tokens import Costs
from toolscope_core.commands.model_options import AskRequest, model_access
from toolscope_core.commands.serve_command import launches_of
from toolscope_core.config import AgentConfig, ConnectionLimits, Settings
from toolscope_core.datamodel import digest
from toolscope_core.errors import ConfigError, ModelStopError, PausedError
from toolscope_core.evaluation.query_sets import Query, read_queries, relabelled, with_gold_among
from toolscope_core.files import read_file
from toolscope_core.gateway.bundle_routes import (
    ServedBundle,
    read_served_bundle,
    read_unmerged_bundle,
)
from toolscope_core.gateway.running import GatewayConfig
from toolscope_core.llm.tool_calling import ToolCallingModel
from toolscope_core.relabelling import read_relabelling
from toolscope_core.unpacking import bundle_folder

AS_IT_IS, MERGED = "as it is", "merged"


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """The bundle, the configurations with its original servers (``servers`` as for ``serve``), and
    the queries: of those with gold answers the ``first`` so many. Episodes are kept in ``out``.
    """

    bundle: Path
    configurations: tuple[str, ...]
    queries: Path
    out: Path
    servers: tuple[str, ...] = ()
    first: int | None = None
    skip_unknown: bool = False
    config: AgentConfig = field(default_factory=AgentConfig)
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    ask: AskRequest = field(default_factory=AskRequest)


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
class _Prepared:
    """The two toolsets, and the queries with the gold answers of each."""

    bundles: dict[str, ServedBundle]
    queries: dict[str, tuple[Query, ...]]

    @property
    def sizes(self) -> dict[str, int]:
        return {name: len(bundle.table.routes) for name, bundle in self.bundles.items()}


def estimate_run(request: AgentRequest) -> AgentEstimate:
    """What ``run_agent`` may take; starts and sends nothing. Raises as that does."""
    prepared, costs = _prepared(request), Costs()
    queries = len(prepared.queries[AS_IT_IS])
    return AgentEstimate(
        queries=queries,
        most_calls=queries * len(prepared.bundles) * request.config.turns,
        tools=prepared.sizes,
        tokens={
            name: sum(costs.of(tool, PROMPT_SHAPES[0]) for tool in bundle.catalog.tools)
            for name, bundle in prepared.bundles.items()
        },
    )


def run_agent(
    request: AgentRequest,
    settings: Settings,
    notice: Callable[[str], None],
    progress: Progress = silent,
) -> AgentReport:
    """Start the original servers behind two gateways, and let the agent work on every query with
    both; what is in ``out`` already is not done again. ``notice`` gets sentences for the person who
    runs it.

    Raises ``ConfigError``, ``ExportError`` or ``CatalogError`` before anything is started;
    ``PausedError`` or ``ModelStopError`` where the model is not asked to the end.
    """
    prepared = _prepared(request)
    with model_access(request.ask, settings) as access:
        model = ToolCallingModel(access.model)
        file = EpisodeFile(request.out, _run_key(request, model))
        by_id = {query.id: query for query in prepared.queries[AS_IT_IS]}
        episodes = file.read(by_id)
        assignments = [
            Assignment(query, name)
            for query in by_id.values()
            for name in prepared.bundles
            if (query.id, name) not in episodes
        ]
        total = len(by_id) * len(prepared.bundles)

        def keep(query: Query, toolset: str, episode: Episode) -> None:
            file.add(query, toolset, episode)
            episodes[query.id, toolset] = episode
            progress(Step("requests", len(episodes), total))

        if assignments:
            toolsets = [
                _toolset(name, bundle, request, settings, notice)
                for name, bundle in prepared.bundles.items()
            ]
            turns = PaidTurns(model, access.ledger, access.terms)
            try:
                run_agents(toolsets, assignments, turns, request.config, __version__, keep)
            except (PausedError, ModelStopError) as error:
                kept = f"{len(episodes)} of {total} are kept in {request.out}"
                raise type(error)(f"{error}; {kept}: the same command goes on from there") from None
    return agent_report(prepared.queries, prepared.sizes, episodes)


def _prepared(request: AgentRequest) -> _Prepared:
    bundles = {
        AS_IT_IS: read_unmerged_bundle(request.bundle),
        MERGED: read_served_bundle(request.bundle),
    }
    most = target_named(TARGET).rules.most_tools
    for name, bundle in bundles.items():
        if request.config.k is None and most is not None and len(bundle.table.routes) > most:
            raise ConfigError(
                f"the toolset {name} has {len(bundle.table.routes)} tools, and endpoints take "
                f"{most} in a call; give --k 20, so that the agent gets the best 20 of each request"
            )
    judged = [query for query in read_queries(request.queries) if query.gold]
    kept = with_gold_among(judged, bundles[AS_IT_IS].catalog.by_id, request.skip_unknown)
    kept = kept[: request.first]
    if not kept:
        raise ConfigError(
            f"no query of {request.queries} has a gold answer in the bundle's catalog; give ids of "
            "its tools under `gold`"
        )
    phi = read_relabelling(request.bundle).phi
    return _Prepared(bundles, {AS_IT_IS: kept, MERGED: relabelled(kept, phi)})


def _toolset(
    name: str,
    bundle: ServedBundle,
    request: AgentRequest,
    settings: Settings,
    notice: Callable[[str], None],
) -> AgentToolset:
    _, launches = launches_of(bundle, request.configurations, request.servers)
    gateway = GatewayConfig(launches, request.limits, notice=notice)
    return AgentToolset(name, bundle, gateway, _choice(bundle, request.config.k, settings))


def _choice(bundle: ServedBundle, k: int | None, settings: Settings) -> Choice | None:
    if k is None:
        return None
    from toolscope_core.commands.served_search import tool_search

    search = tool_search(bundle.catalog.tools, settings)
    return lambda request: search(request, k)


def _run_key(request: AgentRequest, model: ToolCallingModel) -> str:
    """The same for runs whose episodes may stand side by side."""
    with bundle_folder(request.bundle) as folder:
        manifest = read_file(folder / "manifest.json").decode("utf-8", "replace")
    config = request.config
    return digest(manifest, model.name, model.origin, config.turns, config.k, config.changes)[:16]
