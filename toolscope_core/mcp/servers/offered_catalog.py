"""What servers offer as a document that the reader of catalogs reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolscope_core.mcp.servers.offers import ServerOffer
from toolscope_core.mcp.servers.server_definitions import ServerDefinition
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.tool import JsonObject

Kept = Mapping[str, Sequence[JsonObject]]


def catalog_document(
    offers: Sequence[ServerOffer],
    definitions: Mapping[str, ServerDefinition],
    at: str,
    kept: Kept | None = None,
) -> dict[str, Any]:
    """The tools of all servers that could be read, each server with where they come from.

    Tool records stand as the servers sent them. ``at`` is the time of reading (ISO 8601).
    ``kept`` has the records of servers that could not be read, from an earlier version.
    """
    read = [_server(offer, definitions[offer.name], at) for offer in offers if not offer.failure]
    names = {server["name"] for server in read}
    earlier = [
        {"name": name, "tools": list(records), "source": {"kept": "from an earlier version"}}
        for name, records in (kept or {}).items()
        if name not in names
    ]
    return {"servers": sorted((*read, *earlier), key=lambda server: str(server["name"]))}


def records_of(catalog: Catalog, servers: Sequence[str]) -> dict[str, list[JsonObject]]:
    """The records of those servers in a catalog as they were read, by server."""
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
