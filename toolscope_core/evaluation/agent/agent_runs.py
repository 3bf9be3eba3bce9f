"""Runs an agent on a query set with several toolsets, each behind its own gateway."""

import shlex
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from toolscope_core.catalog.calls import map_call
from toolscope_core.evaluation.agent.agent_loop import AgentTools, Episode, Turn, carry_out
from toolscope_core.evaluation.agent.expected_answers import CheckCall, graded
from toolscope_core.evaluation.agent.offered_tools import OfferedTools, ToolChooser
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.mcp.gateway.bundle_routes import ServedBundle
from toolscope_core.mcp.gateway.gateway_server import own_client, result_in_words
from toolscope_core.mcp.gateway.routing import OldName
from toolscope_core.mcp.gateway.running import GatewayConfig, open_gateway
from toolscope_core.mcp.gateway.tool_calls import CallLog
from toolscope_core.model.configuration import AgentConfig
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject

Keep = Callable[[Query, str, Episode], None]
"""A function that receives each finished episode with its query and the name of its toolset."""


@dataclass(frozen=True, slots=True)
class AgentToolset:
    """A toolset with a name; ``choice`` picks the tools that the agent gets for a request.

    ``ways`` says under which name and with which α each original tool is called.
    """

    name: str
    bundle: ServedBundle
    gateway: GatewayConfig
    ways: Mapping[str, OldName]
    choice: ToolChooser | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """A request, and the toolset with which to handle it."""

    query: Query
    toolset: AgentToolset


@dataclass(frozen=True, slots=True)
class AgentModels:
    """The turns of the agent's model, and of the model that grades answers, if there is one."""

    agent: Turn
    judge: Turn | None = None


@dataclass(frozen=True, slots=True)
class _Open:
    """A toolset whose servers are running."""

    tools: AgentTools
    check: CheckCall


def run_agents(
    assignments: Sequence[Assignment],
    models: AgentModels,
    config: AgentConfig,
    version: str,
    keep: Keep,
) -> None:
    """Run the agent on every assignment; the thread must have no event loop.

    Raises any error that a turn raises, after the turns in progress have ended or been given up.
    Raises ``ConfigError`` if the reset command fails. Finished episodes are stored first.
    """
    import anyio

    async def work(assignment: Assignment, place: _Open) -> None:
        limits = config.turns, config.seconds
        episode = await carry_out(assignment.query.text, models.agent, place.tools, *limits)
        episode = await graded(assignment.query, episode, place.check, models.judge)
        keep(assignment.query, assignment.toolset.name, episode)

    async def run() -> None:
        if config.reset:
            for assignment in assignments:
                await _reset(config)
                async with _open(assignment.toolset, config, version) as place:
                    await work(assignment, place)
            return
        async with AsyncExitStack() as stack:
            places: dict[str, _Open] = {}
            for toolset in {one.toolset.name: one.toolset for one in assignments}.values():
                places[toolset.name] = await stack.enter_async_context(
                    _open(toolset, config, version)
                )
            queue = iter(assignments)

            async def work_through() -> None:
                for assignment in queue:
                    await work(assignment, places[assignment.toolset.name])

            async with anyio.create_task_group() as group:
                for _ in range(config.concurrency):
                    group.start_soon(work_through)

    try:
        anyio.run(run)
    except BaseExceptionGroup as group:
        raise _first_of(group) from None


@asynccontextmanager
async def _open(toolset: AgentToolset, config: AgentConfig, version: str) -> AsyncIterator[_Open]:
    """The toolset behind its own gateway while this context is open."""
    async with (
        open_gateway(toolset.bundle, toolset.gateway, CallLog()) as gateway,
        own_client(gateway, version) as client,
    ):
        call = partial(result_in_words, client)
        table, tools = toolset.bundle.table, toolset.bundle.catalog.tools
        agent_tools = OfferedTools(call, table.listed_routes, tools, toolset.choice, config.changes)

        async def check(tool_id: str, arguments: JsonObject) -> tuple[str, bool]:
            way = toolset.ways.get(tool_id)
            if way is None:
                raise LookupError(f"no tool of {toolset.name} replaces {tool_id}")
            for alpha in way.maps:
                arguments = map_call(alpha, arguments).arguments
            return await call(way.route, arguments)

        yield _Open(agent_tools, check)


async def _reset(config: AgentConfig) -> None:
    """Run the reset command within the time limit of a request.

    Raises ``ConfigError`` if the command fails.
    """
    import anyio

    command = config.reset
    try:
        with anyio.fail_after(config.seconds):
            process = await anyio.run_process(shlex.split(command), check=False)
    except (OSError, ValueError) as error:
        reason = str(error) or f"it did not end within {config.seconds:g} seconds"
        raise ConfigError(f"--reset {command!r} failed: {reason}; correct the command") from error
    if process.returncode:
        words = process.stderr.decode("utf-8", "replace").strip()[-200:]
        raise ConfigError(
            f"--reset {command!r} failed with exit status {process.returncode}: "
            f"{words or 'no output'}; correct the reset command, then start agent-run again"
        )


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in a group; groups inside groups are searched too."""
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first
