"""A query set worked on by an agent, with several toolsets, each behind a gateway of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from toolscope_core.evaluation.agent.agent_loop import AgentTools, Episode, Turn, carry_out
from toolscope_core.evaluation.agent.offered_tools import Choice, OfferedTools
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.mcp.gateway.bundle_routes import ServedBundle
from toolscope_core.mcp.gateway.call_log import CallLog
from toolscope_core.mcp.gateway.own_client import own_client, result_in_words
from toolscope_core.mcp.gateway.running import GatewayConfig, open_gateway
from toolscope_core.model.configuration import AgentConfig

Keep = Callable[[Query, str, Episode], None]
"""Gets each episode as it ends, with the name of its toolset."""


@dataclass(frozen=True, slots=True)
class AgentToolset:
    """A toolset under its name; ``choice`` says which of it the agent is given for a request."""

    name: str
    bundle: ServedBundle
    gateway: GatewayConfig
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """A request that is to be worked on with a toolset."""

    query: Query
    toolset: str


def run_agents(
    toolsets: Sequence[AgentToolset],
    assignments: Sequence[Assignment],
    turn: Turn,
    config: AgentConfig,
    version: str,
    keep: Keep,
) -> None:
    """Let the agent work on every assignment. Have no event loop in this thread.

    Raises what ``turn`` does, once those under way have ended or been given up; whatever has ended
    was kept before.
    """
    import anyio

    async def run() -> None:
        async with AsyncExitStack() as stack:
            tools: dict[str, AgentTools] = {}
            for toolset in toolsets:
                gateway = await stack.enter_async_context(
                    open_gateway(toolset.bundle, toolset.gateway, CallLog())
                )
                client = await stack.enter_async_context(own_client(gateway, version))
                tools[toolset.name] = OfferedTools(
                    partial(result_in_words, client),
                    toolset.bundle.table.offered,
                    toolset.bundle.catalog.tools,
                    toolset.choice,
                    config.changes,
                )
            waiting = iter(assignments)

            async def work_through() -> None:
                for one in waiting:
                    episode = await carry_out(
                        one.query.text, turn, tools[one.toolset], config.turns
                    )
                    keep(one.query, one.toolset, episode)

            async with anyio.create_task_group() as group:
                for _ in range(config.concurrency):
                    group.start_soon(work_through)

    try:
        anyio.run(run)
    except BaseExceptionGroup as group:
        raise _first_of(group) from None


def _first_of(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error in a group, however deep."""
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first
