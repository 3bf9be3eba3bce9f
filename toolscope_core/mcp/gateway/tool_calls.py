"""A call of a merged tool, from the agent to the original and back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from toolscope_core.mcp.gateway.call_log import CallLog, CallRecord, Outcome
from toolscope_core.mcp.gateway.call_mapping import (
    choices,
    chosen_original,
    misplaced_arguments,
    original_call,
)
from toolscope_core.mcp.gateway.callers import Callers
from toolscope_core.mcp.gateway.held_tools import HeldTools
from toolscope_core.mcp.gateway.original_calls import call_original
from toolscope_core.mcp.gateway.original_servers import OriginalServers
from toolscope_core.mcp.gateway.routing import Original, Route, RoutingTable
from toolscope_core.merging.call_validity import refusals, takes, validator_of
from toolscope_core.merging.calls import map_call
from toolscope_core.model.errors import ToolScopeError

if TYPE_CHECKING:
    import mcp_types as types
    from jsonschema_rs import Draft202012Validator
    from mcp.server.context import ServerRequestContext

    from toolscope_core.mcp.servers.sessions import OpenServer

MOST_SENTENCES = 5


class _Refused(Exception):  # noqa: N818 - it is no error of the program
    """The call is not passed on; the message is for the agent's model."""


@dataclass(slots=True)
class _Call:
    """What is known of a call so far, for the log."""

    tool: str
    arguments: Mapping[str, Any]
    original: Original | None = None
    old_name: str = ""


@dataclass(slots=True)
class ToolCalls:
    """Passes calls on. ``old_names`` says whether names of before the merge answer too."""

    table: RoutingTable
    servers: OriginalServers
    held_tools: HeldTools
    callers: Callers
    log: CallLog
    old_names: bool = False
    _validators: dict[str, Draft202012Validator | None] = field(default_factory=dict)

    async def call(
        self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> dict[str, Any]:
        """The original's result as it sent it; or a tool error that says what to do.

        Raises ``MCPError`` where the original answers with one.
        """
        import anyio

        started = time.monotonic()
        call = _Call(params.name, params.arguments or {})
        outcome: Outcome = "cancelled"
        try:
            result = await self._passed_on(call, context, params)
            outcome = "error" if result.get("isError") else "ok"
        except _Refused as error:
            outcome, result = "refused", tool_error(str(error))
        except ToolScopeError as error:
            outcome, result = "failed", tool_error(str(error))
        except anyio.get_cancelled_exc_class():
            raise
        except Exception:
            outcome = "error"
            raise
        finally:
            self._write(call, outcome, time.monotonic() - started)
        return result

    def reasons_against(self, route: Route, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """What the merged schema says against the arguments."""
        if route.name not in self._validators:
            self._validators[route.name] = validator_of(route.schema)
        if takes(self._validators[route.name], arguments):
            return ()
        return refusals(route.schema, arguments, MOST_SENTENCES)

    async def _passed_on(
        self,
        call: _Call,
        context: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
    ) -> dict[str, Any]:
        route = self._route(call)
        original = chosen_original(route, call.arguments)
        if original is None:
            which = " or ".join(choices(route))
            raise _Refused(f"{route.name} does several tools' work; say whose is meant: {which}")
        against = self.reasons_against(route, call.arguments)
        if against:
            raise _Refused(_sentences(f"{route.name} does not take these arguments", against))
        call.original = original
        server = await self._server(original, context)
        held = self.held_tools.why_held(original)
        if held:
            raise _Refused(held)
        declared = self.held_tools.tool(original)
        against = misplaced_arguments(route, original, call.arguments, declared)
        if against:
            raise _Refused(_sentences(f"{route.name} does not take these arguments", against))
        there = original_call(route, original, call.arguments, declared)
        if there.lost:
            names = (f"{route.name} has no argument {name!r}; leave it out" for name in there.lost)
            raise _Refused(_sentences(f"{route.name} does not take these arguments", names))
        arguments = dict(there.arguments)
        with self.callers.calling(original.server, context), server.request() as request:
            try:
                result = await call_original(server, original.name, arguments, context, params)
            except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer
                doing = f"while it ran {original.name}"
                failure = await self.servers.failure(original.server, server, error, doing, request)
                raise failure from None
        await self.callers.wait_for_delivery(context)  # logs and progress come before the result
        return result

    def _route(self, call: _Call) -> Route:
        """The tool that is meant; an old name is followed, and its arguments mapped."""
        old = self.table.old_names.get(call.tool) if self.old_names else None
        if call.tool not in self.table.routes and old is not None:
            call.old_name = call.tool
            if old.alpha is not None:
                mapped = map_call(old.alpha, call.arguments)
                if mapped.lost:
                    lost = ", ".join(mapped.lost)
                    raise _Refused(f"{call.tool} is {old.route} now, which does not take {lost}")
                call.arguments = mapped.arguments
            call.tool = old.route
        route = self.table.routes.get(call.tool)
        if route is None:
            near = get_close_matches(call.tool, self.table.routes, n=3)
            meant = f"; did you mean {', '.join(near)}?" if near else ""
            raise _Refused(f"there is no tool {call.tool!r}{meant}")
        if route.obstacle:
            raise _Refused(f"{route.name} is held back: {route.obstacle}")
        return route

    async def _server(
        self, original: Original, context: ServerRequestContext[Any, Any]
    ) -> OpenServer:
        requests = self.callers.requests(original.server, context)
        return await self.servers.ready(original.server, requests)

    def _write(self, call: _Call, outcome: Outcome, seconds: float) -> None:
        original = call.original
        self.log.add(
            CallRecord(
                call.tool,
                outcome,
                seconds,
                original.tool_id if original else "",
                original.server if original else "",
                call.old_name,
                call.arguments,
            )
        )


def tool_error(text: str) -> dict[str, Any]:
    """A result that tells the agent's model what went wrong."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _sentences(what: str, parts: Any) -> str:
    return f"{what}: {'; '.join(parts)}"
