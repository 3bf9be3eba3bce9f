"""Resources and prompts of the originals, each under its server's name."""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server import Server
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from toolscope_core.catalog.scan.hidden import for_agent
from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.mcp.gateway.announcements import Announcements
from toolscope_core.mcp.gateway.callers import Callers, Context, session_of
from toolscope_core.mcp.gateway.original_calls import (
    ANY_REQUEST,
    AS_IT_CAME,
    FRESH,
    McpResult,
    ask_original,
    plain_params,
)
from toolscope_core.mcp.gateway.original_servers import OriginalServers
from toolscope_core.mcp.gateway.resource_addresses import ResourceAddresses, matches
from toolscope_core.mcp.servers.sessions import OpenServer
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.tool import JsonObject

_LISTS = (
    ("resources/list", "resources", "uri"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ("prompts/list", "prompts", "name"),
)
"""For each list: the method, the key of the items in the answer, and the field with the name of an
item.
"""
MOST_PAGES, MOST_ITEMS = 100, 10_000
"""The most pages and items of a list that are passed on; the rest is reported as left out."""
LEAVING_SECONDS, _ASKING_SECONDS = 5.0, 10.0
READING = "while it gave what it offers besides tools"


@dataclass(slots=True)
class ServerFeatures:
    """Passes on the resources and prompts of the original servers.

    A server that cannot be reached is left out of lists and recorded in ``unreachable``. If
    ``passed`` is set, only the ``resources`` and ``prompts`` that it names are passed on, along
    with the resources that the toolset's tools and their results name.
    """

    servers: OriginalServers
    announcements: Announcements
    names: Sequence[str]
    notice: Callable[[str], None] = lambda text: None
    addresses: ResourceAddresses = field(default_factory=ResourceAddresses)
    passed: Mapping[str, Collection[str]] | None = None
    unreachable: dict[str, str] = field(default_factory=dict)
    _level: str = ""

    @property
    def callers(self) -> Callers:
        """The clients that call the gateway."""
        return self.announcements.callers

    def add_to(self, server: Server[Any]) -> None:
        """Register the handlers for resources, prompts and the log level with the server."""
        paged = types.PaginatedRequestParams
        add = server.add_request_handler
        for method, kind, key in _LISTS:
            add(method, paged, partial(self._list, method, kind, key))
        add("resources/read", types.ReadResourceRequestParams, self.read_resource)
        add("prompts/get", types.GetPromptRequestParams, self.get_prompt)
        add("completion/complete", types.CompleteRequestParams, self.complete)
        add("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
        add("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe)
        add("subscriptions/listen", types.SubscriptionsListenRequestParams, self.listen)
        add("logging/setLevel", types.SetLevelRequestParams, self.set_level)

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> McpResult:
        """Read a resource by the name that it has here, or by a plain address from a result or a
        tool.

        The resource is read from the server that offered it.
        """
        name, uri = self.addresses.split(str(params.uri))
        if name:
            await self._check(context, name, uri)
        else:
            name = await self._owner(context, uri)
        own_params = {**plain_params(params), "uri": uri}
        return await self._ask(context, name, "resources/read", own_params)

    async def get_prompt(self, context: Context, params: types.GetPromptRequestParams) -> McpResult:
        """Get a prompt by the name that it has here."""
        name, prompt = self.addresses.split(params.name)
        if not name or not self._passes("prompts", name, prompt):
            raise _unknown(f"there is no prompt {params.name!r}; use one from prompts/list")
        own_params = {**plain_params(params), "name": prompt}
        return await self._ask(context, name, "prompts/get", own_params)

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> McpResult:
        """Suggest values for an argument of a prompt or resource template, which is given by its
        name here.

        Empty if the server does not suggest values.
        """
        own_params = plain_params(params)
        key = "uri" if "uri" in own_params["ref"] else "name"
        name, own_params["ref"][key] = self.addresses.split(own_params["ref"][key])
        own = own_params["ref"][key]
        if not name or (key == "name" and not self._passes("prompts", name, own)):
            raise _unknown(f"there is no {params.ref.type} {own!r}; use a listed one")
        server = await self._ready(context, name)
        if key == "uri":
            await self._check(context, name, own)
        if server.client.server_capabilities.completions is None:
            return {"completion": {"values": []}, **FRESH}
        return await self._ask(context, name, "completion/complete", own_params)

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> McpResult:
        """Notify the client when a resource changes; the resource is given by its name here."""
        name, uri = self._named_resource(params.uri)
        self.callers.heard(context)
        await self._follow(context, session_of(context), name, uri)
        return {}

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> McpResult:
        """Stop notifying the client about a resource. The server is told if no other client follows
        the resource.
        """
        name, uri = self._named_resource(params.uri)
        if uri in self.announcements.followed(name):
            await self._unfollow(context, session_of(context), name, uri)
        return {}

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """A stream of the requested notifications until the client leaves, for clients with MCP
        2026-07-28.

        No notifications are sent for an address that names no resource here.
        """
        addresses = params.notifications.resource_subscriptions or ()
        followed: list[tuple[str, str]] = []
        stream = object()  # identifies the follower
        try:
            for name, uri in (self.addresses.split(str(one)) for one in addresses):
                if name:
                    with suppress(MCPError):
                        await self._follow(context, stream, name, uri)
                        followed.append((name, uri))
            return await self.announcements.stream(context, params)
        finally:
            with anyio.move_on_after(LEAVING_SECONDS, shield=True):
                for name, uri in followed:
                    with suppress(MCPError):
                        await self._unfollow(context, stream, name, uri)

    async def on_open(self, name: str, server: OpenServer) -> None:
        """Tell a server that was opened or inspected which resources clients follow and which logs
        they want.

        Requests that the server refuses or does not answer in time are dropped.
        """
        streams = self.servers.streams_of(name)
        with anyio.move_on_after(_ASKING_SECONDS):
            if self._level:
                await self._ask_for_logs(server)
            for uri in self.announcements.followed(name):
                with suppress(Exception):  # a resource that is gone is not followed
                    if streams is not None:
                        await streams.follow(uri)
                    else:
                        await _say(server, "resources/subscribe", {"uri": uri})

    async def pass_on_news(self, name: str, method: str, message: Any) -> None:
        """Pass on a server's notifications about its resources and prompts."""
        if method == "notifications/resources/updated":
            uri = str(message.params.uri)
            own_name = self.addresses.name_here(name, uri)
            await self.announcements.updated(name, uri, own_name)
        else:
            await self.announcements.list_changed(method)

    async def set_level(self, context: Context, params: types.SetLevelRequestParams) -> McpResult:
        """Ask every open server for logs at that level; closed servers are asked once they are
        opened.
        """
        self.callers.heard(context)
        self._level = params.level
        with anyio.move_on_after(_ASKING_SECONDS):
            async with anyio.create_task_group() as group:
                for server in self.servers.open_now.values():
                    group.start_soon(self._ask_for_logs, server)
        return {}

    async def _ask_for_logs(self, server: OpenServer) -> None:
        if server.client.server_capabilities.logging is not None:
            with suppress(Exception):  # missing logs are no failure
                await _say(server, "logging/setLevel", {"level": self._level})

    async def _follow(self, context: Context, client: Hashable, name: str, uri: str) -> None:
        await self._check(context, name, uri)
        self.announcements.follow(client, name, uri)
        streams = self.servers.streams_of(name)
        try:
            if streams is not None:
                await streams.follow(uri)
            else:
                await self._ask(context, name, "resources/subscribe", {"uri": uri})
        except BaseException:
            self.announcements.unfollow(client, name, uri)
            raise

    async def _unfollow(self, context: Context, client: Hashable, name: str, uri: str) -> None:
        if self.announcements.unfollow(client, name, uri):
            return
        streams = self.servers.streams_of(name)
        if streams is not None:
            streams.unfollow(uri)
        elif name in self.servers.open_now:
            await self._ask(context, name, "resources/unsubscribe", {"uri": uri})

    async def _list(
        self,
        method: str,
        kind: str,
        key: str,
        context: Context,
        params: types.PaginatedRequestParams,
    ) -> McpResult:
        """All items of a ``kind`` in one page. In each item, the server's prefix is put before the
        value of ``key``.
        """
        self.callers.heard(context)
        by_server = {
            name: await self._offered(context, name, method, kind, key)
            for name in await self._having(context, method.partition("/")[0])
        }
        return {
            kind: [
                {**item, key: self.addresses.name_here(name, str(item.get(key, "")))}
                for name, items in by_server.items()
                for item in items
            ],
            **FRESH,
        }

    async def _offered(
        self, context: Context, name: str, method: str, kind: str, key: str
    ) -> list[JsonObject]:
        """The items of a ``kind`` that a server lists and that are passed on. The addresses of the
        items are recorded.
        """
        listed, feature = await self._all(context, name, method, kind), method.partition("/")[0]
        items = [one for one in listed if self._passes(feature, name, str(one.get(key, "")))]
        keys = [str(item.get(key, "")) for item in items]
        if kind == "resources":
            self.addresses.note_listed(name, keys)
        elif kind == "resourceTemplates":
            self.addresses.note_templates(name, keys)
        return items

    def _passes(self, feature: str, server: str, own: str) -> bool:
        """Whether a server's resource or prompt is passed on."""
        return self.passed is None or any(
            matches(one, own) for name, one in self._names_passed(feature) if name == server
        )

    def _names_passed(self, feature: str) -> list[tuple[str, str]]:
        """For each resource or prompt that ``passed`` names, its server and the server's own name
        for it.
        """
        return [self.addresses.split(one) for one in (self.passed or {}).get(feature, ())]

    async def _look(self, context: Context, name: str, looked: set[str]) -> None:
        """Record the addresses that a server lists now, unless the listing takes longer than
        ``_ASKING_SECONDS``.
        """
        with anyio.move_on_after(_ASKING_SECONDS):
            for method, kind, key in _LISTS[:2]:
                await self._offered(context, name, method, kind, key)
            looked.add(name)

    async def _check(self, context: Context, name: str, uri: str) -> None:
        """Raises ``MCPError`` if the server has not offered the address, or cannot be opened."""
        server = await self._ready(context, name)
        if self.addresses.is_of(name, uri):
            return
        named = self.passed is not None and self._passes("resources", name, uri)
        if server.client.server_capabilities.resources is not None and self.passed is None:
            await self._look(context, name, set())
        if not (named or self.addresses.is_of(name, uri)):
            raise _unknown(f"{name} has no resource {uri!r}; use one from resources/list", uri)

    async def _owner(self, context: Context, uri: str) -> str:
        """The server to which a plain address belongs.

        Raises ``MCPError`` if no server or more than one server has the address.
        """
        names, looked = await self._having(context, "resources"), set[str]()
        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(self._look, context, name, looked)
        owners = self.addresses.owners(uri)
        if len(owners) == 1:
            return next(iter(owners))
        if owners:
            forms = (repr(self.addresses.name_here(name, uri)) for name in sorted(owners))
            raise _unknown(f"several servers have {uri!r}; read {' or '.join(forms)}", uri)
        raise _unknown(f"there is no resource {uri!r}; use one from resources/list", uri)

    async def _having(self, context: Context, capability: str) -> tuple[str, ...]:
        """The servers that declare a capability. Servers are opened to find out."""
        having: set[str] = set()
        names = set(self.names)
        if self.passed is not None:
            names &= {name for name, _ in self._names_passed(capability)}

        async def look(name: str) -> None:
            try:
                server = await self.servers.ready(name, self.callers.requests(name, context))
            except ToolScopeError as error:
                self.unreachable[name] = str(error)
                return
            self.unreachable.pop(name, None)
            if getattr(server.client.server_capabilities, capability) is not None:
                having.add(name)

        async with anyio.create_task_group() as group:
            for name in sorted(names):
                group.start_soon(look, name)
        return tuple(sorted(having))

    async def _all(self, context: Context, name: str, method: str, kind: str) -> list[JsonObject]:
        items: list[JsonObject] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            try:
                params = {"cursor": cursor} if cursor else {}
                page = await self._ask(context, name, method, params)
            except (MCPError, ToolScopeError):
                return items
            items += objects_of_list(page.get(kind))
            cursor = page.get("nextCursor")
            if not cursor or len(items) >= MOST_ITEMS:
                break
        if cursor:
            items = items[:MOST_ITEMS]
            these = f"{len(items):,} of its {kind} are passed on"
            self.notice(f"{name} has more pages of {method}; only the first {these}")
        return items

    async def _ask(self, context: Context, name: str, method: str, params: JsonObject) -> McpResult:
        """A server's answer. Raises ``MCPError`` with the server's error, or with a description of
        the failure.
        """
        server = await self._ready(context, name)
        can = context.session.client_capabilities
        with self.callers.calling(name, context), server.request(can) as request:
            try:
                sender = self.callers.sender(name)
                return {**FRESH, **await ask_original(server, method, params, context, sender)}
            except Exception as error:  # noqa: BLE001 - whatever it is becomes an answer
                failure = await self.servers.failure(name, server, error, READING, request)
                raise _for_client(failure) from None

    async def _ready(self, context: Context, name: str) -> OpenServer:
        """The open server. Raises ``MCPError`` if the server cannot be opened."""
        try:
            return await self.servers.ready(name, self.callers.requests(name, context))
        except ToolScopeError as error:
            raise _for_client(error) from None

    def _named_resource(self, uri: Any) -> tuple[str, str]:
        """The server of a resource, and the resource's own address on that server. Raises
        ``MCPError`` if the server cannot be told from the name.
        """
        name, own = self.addresses.split(str(uri))
        if not name:
            raise _unknown(f"there is no resource {own!r}; use one from resources/list", own)
        return name, own


async def _say(server: OpenServer, method: str, params: JsonObject) -> None:
    """Send a server a request that no particular client made."""
    request = ANY_REQUEST(method=method, params=dict(params))
    await server.client.session.send_request(request, AS_IT_CAME)


def _unknown(message: str, uri: str = "") -> Exception:
    return MCPError(INVALID_PARAMS, for_agent(message), {"uri": uri} if uri else None)


def _for_client(error: Exception) -> Exception:
    """The error for the client. An error of the server is unchanged; an error of ours becomes an
    ``MCPError``.
    """
    is_ours = isinstance(error, ToolScopeError)
    return MCPError(INTERNAL_ERROR, for_agent(str(error))) if is_ours else error
