"""What a server offers: all pages of its tools as it sent them, and how much it has beside."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolscope_core.config import ConnectionLimits
from toolscope_core.connections.launches import Launch
from toolscope_core.connections.sessions import OpenServer, connected, load_sdk
from toolscope_core.datamodel import JsonObject
from toolscope_core.errors import ServerConnectionError

TOOLS = "while it listed its tools"
_OTHERS = {
    "resources": ("resources", "list_resources", "resources"),
    "resource templates": ("resources", "list_resource_templates", "resource_templates"),
    "prompts": ("prompts", "list_prompts", "prompts"),
}
"""What is counted: the capability that declares it, the method that lists it, where it stands."""


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """The tools of one server and what it offers beside them, or why that could not be read.

    ``tools`` are the records as the server sent them; ``others`` counts *resources*, *resource
    templates* and *prompts*, ``None`` for one that is declared and could not be counted.
    ``notes`` are sentences about what was cut; ``failure`` says what went wrong, with the remedy,
    and is empty where nothing did.
    """

    name: str
    tools: tuple[JsonObject, ...] = ()
    others: Mapping[str, int | None] = field(default_factory=dict)
    title: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""
    notes: tuple[str, ...] = ()
    stderr: str = ""
    failure: str = ""
    kind: str = ""
    seconds: float = 0.0


async def read_offer(launch: Launch, limits: ConnectionLimits) -> ServerOffer:
    """All that a server offers; a failure is in the result. The server has been ended when this
    returns, also where it is cancelled.
    """
    import anyio

    load_sdk()
    started = time.monotonic()
    offer = ServerOffer(
        launch.name,
        failure=f"{launch.name} did not list all that it offers within {limits.total_seconds:g} s; "
        "allow more time",
        kind="silent",
    )
    with anyio.move_on_after(limits.total_seconds):
        try:
            async with connected(launch, limits) as server:
                offer = await _offer(server, limits)
        except ServerConnectionError as error:
            offer = ServerOffer(launch.name, failure=str(error), kind=error.kind)
    return replace(offer, seconds=time.monotonic() - started)


async def read_tools(
    server: OpenServer, limits: ConnectionLimits
) -> tuple[tuple[JsonObject, ...], tuple[str, ...]]:
    """The records of all pages of tools, as the server sent them, and notes on what was cut.

    Raises what the SDK raises, ``OpenServer.failure`` has it in words.
    """
    from pydantic import ValidationError

    server.record.doing = "while it listed its tools"
    tools: list[JsonObject] = []
    cursors: set[str] = set()
    cursor: str | None = None
    while True:
        server.pages.last = None
        try:
            await server.client.list_tools(cursor=cursor)
        except ValidationError:
            if server.pages.last is None:
                raise
        page: Mapping[str, Any] = server.pages.last or {}
        tools += page.get("tools", [])
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return tuple(tools), ()
        if cursor in cursors:
            return tuple(tools), (f"it gave the page {cursor[:40]!r} twice; what follows is left",)
        cursors.add(cursor)
        if len(tools) >= limits.tools or len(cursors) >= limits.pages:
            most = f"{limits.tools:,} tools or {limits.pages:,} pages are the most that is read"
            return tuple(tools), (f"it goes on after {len(tools):,} tools; {most}",)


async def _offer(server: OpenServer, limits: ConnectionLimits) -> ServerOffer:
    client = server.client
    capabilities = client.server_capabilities
    tools, notes = await read_tools(server, limits) if capabilities.tools else ((), ())
    others = {
        what: await _count(server, method, place, limits.pages)
        for what, (capability, method, place) in _OTHERS.items()
        if getattr(capabilities, capability) is not None
    }
    info = client.server_info
    return ServerOffer(
        server.name,
        tools=tools,
        others=others,
        title=(info.title or info.name) if info else "",
        version=info.version if info else "",
        protocol=client.protocol_version,
        instructions=client.instructions or "",
        notes=notes,
        stderr=server.stderr,
    )


async def _count(server: OpenServer, method: str, place: str, pages: int) -> int | None:
    """How many a server lists; ``None`` where it does not answer that question."""
    from mcp import MCPError
    from pydantic import ValidationError

    server.record.doing = "while it listed what it offers beside tools"
    count, cursor = 0, None
    for _ in range(pages):
        try:
            page = await getattr(server.client, method)(cursor=cursor)
        except (MCPError, ValidationError):
            return None
        count += len(getattr(page, place))
        cursor = page.next_cursor
        if not cursor:
            break
    return count
