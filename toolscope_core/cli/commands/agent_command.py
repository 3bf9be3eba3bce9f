"""An agent at work on a query set, with a bundle's toolset and with what that was made of."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolscope_core import __version__
from toolscope_core.cli.asking import AskRequest, model_access
from toolscope_core.cli.commands.connect_command import read_configurations
from toolscope_core.cli.commands.serve_command import keys_given
from toolscope_core.evaluation.agent.agent_report import AgentReport
from toolscope_core.evaluation.agent.episode_rows import EpisodeFile
from toolscope_core.evaluation.agent.paid_turns import PaidTurns
from toolscope_core.evaluation.agent.toolset_pair import (
    AgentEstimate,
    ConfiguredAgent,
    OriginalsConfigured,
    ToolsetPair,
    read_toolset_pair,
    work_with_both,
)
from toolscope_core.evaluation.query_sets import read_queries
from toolscope_core.files.archives import bundle_folder
from toolscope_core.files.whole_files import read_file
from toolscope_core.llm.tool_calling import ToolCallingModel
from toolscope_core.mcp.gateway.tool_search import Search
from toolscope_core.model.configuration import AgentConfig, ConnectionLimits
from toolscope_core.model.environment import Settings
from toolscope_core.model.errors import ModelStopError, PausedError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import Tool, digest


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


def estimate_run(request: AgentRequest) -> AgentEstimate:
    """What ``run_agent`` may take; starts and sends nothing. Raises as that does."""
    return _pair(request).estimate(request.config)


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
    pair = _pair(request)
    originals = OriginalsConfigured(
        read_configurations(request.configurations),
        keys_given(request.servers),
        os.environ,
        request.limits,
        notice,
    )
    with model_access(request.ask, settings) as access:
        model = ToolCallingModel(access.model)
        file = EpisodeFile(request.out, _run_key(request, model))
        turns = PaidTurns(model, access.ledger, access.terms)

        def search_of(tools: Sequence[Tool]) -> Search:
            from toolscope_core.cli.commands.served_search import tool_search

            return tool_search(tools, settings)

        agent = ConfiguredAgent(turns, request.config, search_of)
        try:
            return work_with_both(pair, originals, agent, file, __version__, progress)
        except (PausedError, ModelStopError) as error:
            kept, total = len(file.read(pair.by_id)), len(pair.by_id) * len(pair.bundles)
            raise type(error)(
                f"{error}; {kept} of {total} are kept in {request.out}: the same command goes on "
                "from there"
            ) from None


def _pair(request: AgentRequest) -> ToolsetPair:
    queries = read_queries(request.queries)
    return read_toolset_pair(
        request.bundle, queries, request.config, request.first, request.skip_unknown
    )


def _run_key(request: AgentRequest, model: ToolCallingModel) -> str:
    """The same for runs whose episodes may stand side by side."""
    with bundle_folder(request.bundle) as folder:
        manifest = read_file(folder / "manifest.json").decode("utf-8", "replace")
    config = request.config
    return digest(manifest, model.name, model.origin, config.turns, config.k, config.changes)[:16]
