"""Passes a call of a merged tool from the agent to the original, and the result back; also logs
calls.

The log has one JSON line for each call, with the called tool and the outcome.
"""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio
import mcp_types as types
from jsonschema_rs import Draft202012Validator

from toolscope_core.catalog.calls import call_refusals, map_call, takes, validator_of
from toolscope_core.catalog.formats.mcp_records import with_pages
from toolscope_core.catalog.scan.hidden import for_agent, visible
from toolscope_core.mcp.gateway import call_mapping
from toolscope_core.mcp.gateway.callers import Callers, Context, client_name
from toolscope_core.mcp.gateway.original_calls import McpResult, ask_original, plain_params
from toolscope_core.mcp.gateway.original_servers import OriginalServers
from toolscope_core.mcp.gateway.resource_addresses import ResourceAddresses
from toolscope_core.mcp.gateway.routing import OldName, Original, Route, RoutingTable
from toolscope_core.mcp.gateway.withheld_tools import WithheldTools
from toolscope_core.model.cluster import ArgumentMap
from toolscope_core.model.errors import ExportError, ToolScopeError
from toolscope_core.model.tool import JsonObject, canonical_json

_Outcome = Literal["ok", "error", "refused", "held", "failed", "cancelled"]
"""*error*: the original reported an error. *refused*: no original accepts the call. *held*: the
tool is held back. *failed*: the original's server did not answer.
"""


NAMELESS = "a client without a name"


@dataclass(slots=True)
class AgentCall:
    """One call, as far as it is known.

    ``tool`` is the name of the called tool, and ``client`` is the client's own name. ``original``
    is the tool that does the call (``None`` if none does). ``old_name`` is the former name by which
    the tool was called, if any.
    """

    tool: str
    arguments: JsonObject
    client: str = ""
    original: Original | None = None
    old_name: str = ""
    outcome: _Outcome = "cancelled"
    started: float = field(default_factory=time.monotonic)


class CallLog:
    """Counts calls. If there is a file, each call is written to it at once.

    ``unwritten`` counts the lines that could not be written. Arguments are written only if
    ``with_arguments`` is set. ``notice`` is called when a client uses an old name for the first
    time. Raises ``ExportError`` if the file cannot be opened.
    """

    def __init__(
        self,
        path: Path | None = None,
        with_arguments: bool = False,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._with_arguments, self._notice = with_arguments, notice
        self.outcomes: Counter[str] = Counter()
        self.old_names: Counter[tuple[str, str]] = Counter()
        """How often each client used each old name."""
        self.unwritten = 0
        self._descriptor: int | None = None
        if path is not None:
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
                self._descriptor = os.open(path, flags, 0o600)
            except OSError as error:
                raise ExportError(
                    f"the log {path} cannot be written: {error.strerror}; choose another with --log"
                ) from error

    def add(self, call: AgentCall) -> None:
        """Count a call that has just ended, and write its line."""
        self.outcomes[call.outcome] += 1
        if call.old_name:
            use = call.old_name, call.client
            self.old_names[use] += 1
            if self.old_names[use] == 1:
                with suppress(OSError, ValueError):  # nobody reads notices any more
                    self._notice(
                        f"{call.client or NAMELESS} calls {call.tool} by its old name "
                        f"{call.old_name}"
                    )
        self._write(self._row(call))

    def _write(self, row: JsonObject) -> None:
        if self._descriptor is not None:
            line = canonical_json(row) + "\n"
            try:
                os.write(self._descriptor, line.encode("utf-8", "backslashreplace"))
            except OSError:  # the result is worth more than its log line
                self.unwritten += 1

    def note(self, server: str, tools: Iterable[str], what: Literal["waiting", "changed"]) -> None:
        """Write a line for each of a server's tools that waits for a review, or that has changed
        and is still called.
        """
        for tool in tools:
            self._write({"at": _now(), "server": server, "tool": tool, "outcome": what})

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _row(self, call: AgentCall) -> dict[str, Any]:
        row: dict[str, Any] = {
            "at": _now(),
            "client": call.client,
            "tool": call.tool,
            "original": call.original.tool_id if call.original else "",
            "server": call.original.server if call.original else "",
            "ms": round(1_000 * (time.monotonic() - call.started), 1),
            "outcome": call.outcome,
        }
        if call.old_name:
            row["old_name"] = call.old_name
        if self._with_arguments:
            row["arguments"] = dict(call.arguments)
        return row


_READ_BYTES = 1_000_000


def calls_by_server(path: Path) -> Counter[str]:
    """The number of calls that each server answered, counted from the last ``_READ_BYTES`` of a log
    file. Empty if the file cannot be read.
    """
    counts: Counter[str] = Counter()
    with suppress(OSError), path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - _READ_BYTES))
        for line in log.read(_READ_BYTES).splitlines():
            with suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict) and row.get("outcome") in ("ok", "error"):
                    counts[str(row.get("server"))] += 1
    return counts


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


MOST_SENTENCES = 5
ORIGIN = "toolscope/origin"
"""The ``_meta`` key under which each tool names its bundle and originals."""

ALWAYS_LOAD = "anthropic/alwaysLoad"


class _RefusedCall(Exception):  # noqa: N818 - it is no error of the program
    """Says that the call is not passed on; the message is for the agent's model."""


class _WithheldCall(_RefusedCall):
    """Says that the tool is held back, so the call itself may be right."""


@dataclass(slots=True)
class ToolCalls:
    """Passes calls on. ``old_names`` says whether tools may also be called by
    their former names.
    """

    table: RoutingTable
    servers: OriginalServers
    withheld_tools: WithheldTools
    callers: Callers
    log: CallLog
    old_names: bool = False
    addresses: ResourceAddresses = field(default_factory=ResourceAddresses)
    _validators: dict[str, Draft202012Validator | None] = field(default_factory=dict)

    @property
    def records(self) -> list[JsonObject]:
        """The records of the listed tools, which are those that can be called. Each record has the
        tool's origin.
        """
        return self._listings(self.table.listed_routes)

    @property
    def eager_records(self) -> list[JsonObject]:
        """The listed tools that are in every prompt when clients search for the others."""
        eager = self.table.eager
        return self._listings(route for route in self.table.listed_routes if route.tool_id in eager)

    def _listings(self, routes: Iterable[Route]) -> list[JsonObject]:
        callable_routes = self.withheld_tools.callable_routes(routes)
        return [
            {**route.listing, **_title(route), "_meta": self._meta(route)}
            for route in callable_routes
        ]

    def _meta(self, route: Route) -> JsonObject:
        """The ``_meta`` of a tool.

        It has the original's own ``_meta`` and the list of originals. For Claude Code, it also says
        whether the tool is in every prompt; a server cannot tell other clients that.
        """
        meta = route.record.get("_meta")
        originals = [{"server": one.server, "tool": one.name} for one in route.originals]
        if isinstance(meta, dict) and route.pages:
            meta = with_pages(meta, partial(self.addresses.name_here, route.own_server))
        own: dict[str, Any] = {ORIGIN: {"bundle": self.table.bundle, "originals": originals}}
        if route.tool_id in self.table.eager:
            own[ALWAYS_LOAD] = True
        return {**(meta if isinstance(meta, dict) else {}), **own}

    def for_apps(self, records: Sequence[JsonObject]) -> list[JsonObject]:
        """The records for a client that shows apps, with the names by which the apps call their
        tools.

        Only apps see those names. No app may call a tool of a server without apps, or a tool whose
        name means another tool to the app. A search leaves some tools out of the ``records``. Of
        these, the tools with a page are listed, and the tools that apps may call are listed for
        apps alone.
        """
        apps, listed = self.table.apps, [self._for_apps(one) for one in records]
        if not apps.servers:
            return listed
        names, every = {one["name"] for one in records}, {one["name"]: one for one in self.records}
        for name, record in every.items():
            if name in names:
                continue
            if self.table.routes[name].pages:
                listed.append(self._for_apps(record))
            elif self._is_for_apps(name):
                listed.append(_app_record(name, record["inputSchema"]))
        for name, old in apps.names.items():
            if old.route in every:
                schema = {"type": "object"} if old.maps else every[old.route]["inputSchema"]
                listed.append(_app_record(name, schema))
        return listed

    def _is_for_apps(self, name: str) -> bool:
        """Whether apps may call the tool of this name."""
        apps, route = self.table.apps, self.table.routes.get(name)
        of_app = route is not None and any(one.server in apps.servers for one in route.originals)
        return of_app and name not in apps.contested

    def _for_apps(self, record: JsonObject) -> JsonObject:
        if not self.table.apps.servers or self._is_for_apps(str(record["name"])):
            return record
        meta = record.get("_meta")
        ui = meta.get("ui") if isinstance(meta, dict) else None
        own_ui = ui if isinstance(ui, dict) else {}
        visibility = [one for one in own_ui.get("visibility") or ("model",) if one != "app"]
        return {**record, "_meta": {**(meta or {}), "ui": {**own_ui, "visibility": visibility}}}

    async def call(self, context: Context, params: types.CallToolRequestParams) -> McpResult:
        """The original's unchanged result, or a tool error that says what to do.

        Raises ``MCPError`` if the original answers with one.
        """
        call = AgentCall(params.name, params.arguments or {}, client_name(context))
        try:
            result = await self._pass_on(call, context, params)
            call.outcome = "error" if result.get("isError") else "ok"
        except _RefusedCall as error:
            call.outcome = "held" if isinstance(error, _WithheldCall) else "refused"
            result = tool_error(str(error))
        except ToolScopeError as error:
            call.outcome, result = "failed", tool_error(str(error))
        except anyio.get_cancelled_exc_class():
            raise
        except Exception:
            call.outcome = "error"
            raise
        finally:
            self.log.add(call)
        return result

    def reasons_against(self, route: Route, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The merged schema's objections to the arguments."""
        if route.name not in self._validators:
            self._validators[route.name] = validator_of(route.schema)
        if takes(self._validators[route.name], arguments):
            return ()
        if not route.presets:
            return call_refusals(route.schema, arguments, MOST_SENTENCES)
        schema = route.listing["inputSchema"]
        own = {name: arguments[name] for name in arguments if name not in route.presets}
        return call_refusals(schema, own, MOST_SENTENCES) or call_refusals(
            route.schema, arguments, MOST_SENTENCES, call_mapping.FIXED
        )

    async def _pass_on(
        self, call: AgentCall, context: Context, params: types.CallToolRequestParams
    ) -> McpResult:
        route = self._route(call)
        preset_names = [name for name in route.presets if name in call.arguments]
        call.arguments = {**call.arguments, **dict.fromkeys(preset_names, call_mapping.FIXED)}
        _refuse_arguments(route, [f"{name!r} is fixed here; leave it out" for name in preset_names])
        defaults = call_mapping.default_choice(route)
        arguments = {**defaults, **call.arguments, **route.presets}
        original = call_mapping.chosen_original(route, arguments)
        if original is None:
            which = " or ".join(call_mapping.choices(route))
            raise _RefusedCall(f"{route.name} stands for several tools; choose one with {which}")
        against = self.reasons_against(route, arguments)
        _refuse_arguments(route, against)
        call.original = original
        requests = self.callers.requests(original.server, context)
        server = await self.servers.ready(original.server, requests)
        reason = self.withheld_tools.why_withheld(original)
        if reason:
            raise _WithheldCall(reason)
        definition = self.withheld_tools.tool(original)
        against = call_mapping.misplaced_arguments(route, original, arguments, definition)
        _refuse_arguments(route, against)
        mapped = call_mapping.original_call(route, original, arguments, definition)
        surplus = [f"{route.name} has no argument {name!r}; leave it out" for name in mapped.losses]
        _refuse_arguments(route, surplus)
        body = {**plain_params(params), "name": original.name, "arguments": dict(mapped.arguments)}
        can = context.session.client_capabilities
        with self.callers.calling(original.server, context), server.request(can) as request:
            try:
                sender = self.callers.sender(original.server)
                result = await ask_original(server, "tools/call", body, context, sender)
            except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer
                doing = f"while it ran {original.name}"
                failure = await self.servers.failure(original.server, server, error, doing, request)
                raise failure from None
        await self.callers.wait_for_delivery(
            original.server, context
        )  # logs and progress come before the result
        self.addresses.note_result(original.server, result)
        return _in_own_names(result, route.alphas.get(original.tool_id))

    @property
    def callable_names(self) -> list[str]:
        """The names by which tools may be called."""
        return [*self.table.routes, *(self.table.old_names if self.old_names else ())]

    def route_of(self, name: str) -> Route | None:
        """The tool with this name, which may be a former name; ``None`` if there is none."""
        old = self._old_name(name)
        return self.table.routes.get(name) or (self.table.routes[old.route] if old else None)

    def _old_name(self, name: str) -> OldName | None:
        """The tool that had this name before, or that a page of its server calls by this name."""
        old = self.table.old_names.get(name) if self.old_names else None
        return old or self.table.apps.names.get(name)

    def _route(self, call: AgentCall) -> Route:
        """The tool of a call. An old name is resolved, and the arguments are mapped."""
        old = self._old_name(call.tool)
        if call.tool not in self.table.routes and old is not None:
            call.old_name = call.tool
            for alpha in old.maps:
                mapped = map_call(alpha, call.arguments)
                if mapped.losses:
                    surplus = ", ".join(mapped.losses)
                    raise _RefusedCall(
                        f"{call.tool} is now {old.route}, which does not accept {surplus}"
                    )
                call.arguments = mapped.arguments
            call.tool = old.route
        route = self.table.routes.get(call.tool)
        if route is None:
            if waits := self.withheld_tools.why_new(call.tool):
                raise _WithheldCall(waits)
            similar = get_close_matches(call.tool, self.table.routes, n=3)
            meant = f"; did you mean {', '.join(similar)}?" if similar else ""
            raise _RefusedCall(f"there is no tool {call.tool!r}{meant}")
        if route.obstacle:
            raise _WithheldCall(f"{route.name} is held back: {route.obstacle}")
        return route


_MOST_SERVERS = 3
"""The most servers that a title names."""


def _title(route: Route) -> JsonObject:
    """The title of a tool, with the servers that its calls reach. Clients show the title when they
    ask for approval.

    Empty if the title or name that clients show already names these servers.
    """
    hints = route.record.get("annotations")
    titles = route.record.get("title"), hints.get("title") if isinstance(hints, dict) else None
    shown = next((one for one in titles if isinstance(one, str) and one.strip()), route.name)
    servers = list(dict.fromkeys(one.server for one in route.originals))
    unnamed = [one for one in servers if one and _words(one) not in _words(shown)]
    if not unnamed:
        return {}
    names = [" ".join(visible(one).split()) for one in unnamed[:_MOST_SERVERS]]
    names += [f"{len(unnamed) - _MOST_SERVERS:,} more"] if len(unnamed) > _MOST_SERVERS else []
    return {"title": f"{shown} ({', '.join(names)})"}


def _words(text: str) -> str:
    """The words of a text, with blanks around each."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} "


def tool_error(text: str) -> McpResult:
    """A result that tells the agent's model what went wrong, with hidden characters written out."""
    return {"content": [{"type": "text", "text": for_agent(text)}], "isError": True}


def _in_own_names(result: McpResult, alpha: ArgumentMap | None) -> McpResult:
    """The original's result. If it is an error that mentions arguments by the original's names, a
    note with the merged tool's names is added.
    """
    if not result.get("isError"):
        return result
    note = call_mapping.names_note(alpha, canonical_json(result.get("content")))
    if not note:
        return result
    return {**result, "content": [*result["content"], *tool_error(note)["content"]]}


def _refuse_arguments(route: Route, reasons: Sequence[str]) -> None:
    """Raises ``_RefusedCall`` if there are ``reasons`` against the arguments."""
    if reasons:
        raise _RefusedCall(f"{route.name} does not accept these arguments: {'; '.join(reasons)}")


def _app_record(name: str, schema: JsonObject) -> JsonObject:
    """The record of a tool that apps may call and that clients do not show to their model."""
    return {"name": name, "inputSchema": schema, "_meta": {"ui": {"visibility": ["app"]}}}
