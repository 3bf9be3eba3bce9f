"""Lists what servers offer: all pages of their tools as sent, and the number of their other
features.

Servers are listed in parallel, and the result is a document for the catalog reader.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import anyio

from toolscope_core.mcp.servers.launches import Launch, read_launch
from toolscope_core.mcp.servers.masked_words import cut_out
from toolscope_core.mcp.servers.server_definitions import ClientConfiguration, ServerDefinition
from toolscope_core.mcp.servers.server_failures import only_leaf
from toolscope_core.mcp.servers.sessions import OpenServer, connected, load_sdk
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import ConfigError, ServerConnectionError
from toolscope_core.model.numbers import plural, quantity
from toolscope_core.model.protocols import Progress, Step, silent
from toolscope_core.model.tool import JsonObject, with_texts

LISTING_TOOLS = "while it listed its tools"
COUNT_SECONDS = 10.0
"""The longest wait, in seconds, while features that are not read are counted."""
_OTHERS = {
    "resource": ("resources", "list_resources", "resources"),
    "resource template": ("resources", "list_resource_templates", "resource_templates"),
    "prompt": ("prompts", "list_prompts", "prompts"),
}
"""For each kind of feature that is counted: the capability that declares it, the method that lists
it, and the key of the list.
"""


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """The tools of one server and its other features, or why they could not be read.

    ``tools`` are the records as sent. ``others`` has the numbers of *resource*, *resource template*
    and *prompt* items, with ``None`` if a declared kind could not be counted. ``notes`` are
    sentences about what was cut. ``failure`` is the error with its remedy; it is empty if there was
    no error.
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

    @property
    def extras(self) -> str:
        """The features that the server offers besides tools, in words; they are counted but not
        read. Empty if the server offers nothing else.
        """
        counts = [
            f"{plural(what)} that could not be counted" if count is None else quantity(count, what)
            for what, count in self.others.items()
            if count != 0
        ]
        return ", ".join(counts)


async def read_offer(launch: Launch, limits: ConnectionLimits) -> ServerOffer:
    """Everything that a server offers. A failure does not raise an exception, but is part of the
    result.

    The server is stopped when this function returns or is cancelled.
    """
    load_sdk()
    started = time.monotonic()
    offer = ServerOffer(
        launch.name,
        failure=f"{launch.name} did not list all it offers within {limits.total_seconds:g} s; "
        "allow more time",
        kind="silent",
    )
    with anyio.move_on_after(limits.total_seconds):
        try:
            async with connected(launch, limits) as server:
                offer = await _offer(server, limits)
            offer = replace(offer, notes=(*offer.notes, *server.leftovers))
        except ServerConnectionError as error:
            offer = ServerOffer(launch.name, failure=str(error), kind=error.kind)
    return replace(offer, seconds=time.monotonic() - started)


async def read_tools(
    server: OpenServer, limits: ConnectionLimits
) -> tuple[tuple[JsonObject, ...], tuple[str, ...]]:
    """The records from all pages of tools, as sent, and notes on what was cut.

    Raises the exceptions of the SDK, which ``OpenServer.failure`` describes, and
    ``ServerConnectionError`` if a page has no list of tools.
    """
    server.record.doing = LISTING_TOOLS
    tools: list[JsonObject] = []
    cursors: set[str] = set()
    cursor: str | None = None
    before = server.record.bytes_in
    while True:
        page = await server.tools_page(cursor)
        records = page.get("tools")
        if not isinstance(records, list):
            raise ServerConnectionError(
                f"{server.name} did not return a list of tools; update the server", "protocol"
            )
        tools += records
        cursor = page.get("nextCursor")
        if len(tools) > limits.tools:
            note = (
                f"it lists more than {len(tools):,} tools; only the first {limits.tools:,} are read"
            )
            return tuple(tools[: limits.tools]), (note,)
        if not isinstance(cursor, str) or not cursor:
            return tuple(tools), ()
        if cursor in cursors:
            return tuple(tools), (
                f"it returned the page {cursor[:40]!r} twice; the rest is not read",
            )
        cursors.add(cursor)
        if most := _limit(limits, len(tools), len(cursors), server.record.bytes_in - before):
            note = f"it lists more than {len(tools):,} tools; at most {most} are read"
            return tuple(tools), (note,)


def _limit(limits: ConnectionLimits, tools: int, pages: int, size: int) -> str:
    """The limit that was reached, in words; empty if no limit was reached."""
    if size >= limits.listing_bytes:
        return f"{limits.listing_bytes:,} bytes"
    if pages >= limits.pages:
        return f"{limits.pages:,} pages"
    return f"{limits.tools:,} tools" if tools >= limits.tools else ""


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
    offer = ServerOffer(
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
    return _without_keys(offer, server.launch.keys)


def _without_keys(offer: ServerOffer, keys: frozenset[str]) -> ServerOffer:
    """The offer without the secrets that the server repeats, because these must not be stored.

    Other values, such as folders, stay, because tools mention them.
    """
    cut = replace(
        offer,
        tools=tuple(without_secrets(tool, keys) for tool in offer.tools),
        title=cut_out(offer.title, keys),
        instructions=cut_out(offer.instructions, keys),
    )
    changed = sum(a != b for a, b in zip(cut.tools, offer.tools, strict=True))
    if not changed:
        return cut
    note = (
        f"{quantity(changed, 'tool')} repeated a secret from the configuration; the secret was "
        "removed"
    )
    return replace(cut, notes=(*cut.notes, note))


def without_secrets(value: Any, keys: frozenset[str]) -> Any:
    """A JSON value with the ``keys`` removed from all its texts."""
    return with_texts(value, lambda text: cut_out(text, keys))


async def _count(server: OpenServer, method: str, place: str, pages: int) -> int | None:
    """The number of items that a server lists. ``None`` if the server does not answer in time or
    the list cannot be read.
    """
    from mcp import MCPError
    from mcp_types import METHOD_NOT_FOUND
    from pydantic import ValidationError

    server.record.doing = "while it listed what else it offers"
    count, cursor = 0, None
    with anyio.move_on_after(COUNT_SECONDS):
        for _ in range(pages):
            try:
                page = await getattr(server.client, method)(cursor=cursor)
            except MCPError as error:
                return 0 if error.code == METHOD_NOT_FOUND else None
            except ValidationError:
                return None
            count += len(getattr(page, place))
            cursor = page.next_cursor
            if not cursor:
                return count
    return None


LOOK_SECONDS = 0.2
STAGE = "servers"


def read_offers(
    servers: Sequence[ServerDefinition],
    configuration: ClientConfiguration,
    environ: Mapping[str, str],
    limits: ConnectionLimits,
    progress: Progress = silent,
) -> tuple[ServerOffer, ...]:
    """The offer of each server, in the given order; at most ``limits.parallel`` servers run at a
    time.

    A server that fails has an offer like the others. A server's values are read from
    ``configuration`` and ``environ`` when its turn comes. ``progress`` receives the number of
    servers that are done; if it raises, every server is stopped first. The calling thread must have
    no event loop.
    """
    load_sdk()
    offers: dict[int, ServerOffer] = {}

    async def read(number: int, server: ServerDefinition, room: anyio.CapacityLimiter) -> None:
        async with room:
            try:
                launch = read_launch(server, configuration.entries.get(server.name), environ)
                offers[number] = await read_offer(launch, limits)
            except ConfigError as error:
                offers[number] = ServerOffer(server.name, failure=str(error), kind="settings")

    async def survey() -> None:
        room = anyio.CapacityLimiter(limits.parallel)
        async with anyio.create_task_group() as group:
            for number, server in enumerate(servers):
                group.start_soon(read, number, server, room)
            while len(offers) < len(servers):
                progress(Step(STAGE, len(offers), len(servers)))
                await anyio.sleep(LOOK_SECONDS)
        progress(Step(STAGE, len(offers), len(servers)))

    try:
        anyio.run(survey)
    except BaseExceptionGroup as group:
        raise only_leaf(group) from None
    return tuple(_with_twins_noted([offers[at] for at in range(len(servers))], servers))


def _with_twins_noted(
    offers: Sequence[ServerOffer], servers: Sequence[ServerDefinition]
) -> Iterator[ServerOffer]:
    """The offers, with a note on each that equals an earlier one of another command.

    Packages with a module of the same name overwrite each other in one environment.
    """
    firsts: dict[str, int] = {}
    for place, one in enumerate(offers):
        at = firsts.setdefault(repr((one.title, one.version, one.tools)), place)
        is_twin = one.tools and servers[at].command_line != servers[place].command_line
        note = (
            f"it reports the same name, version and tools as {offers[at].name}; if they are "
            "different packages, install each in its own environment"
        )
        yield replace(one, notes=(*one.notes, note)) if is_twin else one


Kept = Mapping[str, Sequence[JsonObject]]


def catalog_document(
    offers: Sequence[ServerOffer],
    definitions: Mapping[str, ServerDefinition],
    at: str,
    earlier_records: Kept | None = None,
) -> dict[str, Any]:
    """The tools of all readable servers; each server has the origin of its tools.

    Records are as sent. ``at`` is the time of reading (ISO 8601). ``earlier_records`` has the
    records of unreadable servers from an earlier version.
    """
    rows = [_server(offer, definitions[offer.name], at) for offer in offers if not offer.failure]
    names = {server["name"] for server in rows}
    earlier = [
        {"name": name, "tools": list(records), "source": {"kept": "from an earlier version"}}
        for name, records in (earlier_records or {}).items()
        if name not in names
    ]
    return {"servers": sorted((*rows, *earlier), key=lambda server: str(server["name"]))}


def records_of(catalog: Catalog, servers: Sequence[str]) -> dict[str, list[JsonObject]]:
    """The original records of these servers in a catalog, keyed by server."""
    return {
        name: [tool.raw for tool in catalog.tools if tool.server == name]
        for name in servers
        if any(tool.server == name for tool in catalog.tools)
    }


def _server(offer: ServerOffer, definition: ServerDefinition, at: str) -> dict[str, Any]:
    source = {
        "at": at,
        "server": offer.title,
        "version": offer.version,
        "protocol": offer.protocol,
        "command": definition.command_line,
        "url": definition.url,
        "beside tools": dict(offer.others),
    }
    return {
        "name": offer.name,
        "description": offer.instructions,
        "source": {key: value for key, value in source.items() if value},
        "tools": list(offer.tools),
    }
