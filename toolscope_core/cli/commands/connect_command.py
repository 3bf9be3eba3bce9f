"""Tools read from servers that run, or are started, and written as a catalog."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from toolscope_core.catalog import Source, read_isolated
from toolscope_core.files.json_lines import write_whole
from toolscope_core.files.whole_files import read_file
from toolscope_core.mcp.servers.offered_catalog import catalog_document
from toolscope_core.mcp.servers.offers import ServerOffer
from toolscope_core.mcp.servers.server_definitions import (
    ClientConfiguration,
    ServerDefinition,
    configuration_of_url,
    read_configuration,
)
from toolscope_core.mcp.servers.survey import read_offers
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.configuration import ConnectionLimits
from toolscope_core.model.errors import CatalogError, ConfigError
from toolscope_core.model.protocols import Progress, silent
from toolscope_core.model.tool import JsonObject


@dataclass(frozen=True, slots=True)
class ConnectReport:
    """What each server offered, in the order asked, and the catalog of those that answered."""

    offers: tuple[ServerOffer, ...]
    catalog: Catalog

    @property
    def failed(self) -> tuple[ServerOffer, ...]:
        return tuple(offer for offer in self.offers if offer.failure)


def read_configurations(places: Sequence[str]) -> ClientConfiguration:
    """The servers of configuration files and addresses, in their order; nothing is started.

    A name that two of them use gets the file's name behind it. Raises ``ConfigError``.
    """
    configurations = [_configuration(place) for place in places]
    uses = Counter(server.name for one in configurations for server in one.servers)
    servers: list[ServerDefinition] = []
    entries: dict[str, JsonObject] = {}
    for one in configurations:
        for server in one.servers:
            name = f"{server.name} ({one.label})" if uses[server.name] > 1 else server.name
            if name in entries:
                raise ConfigError(f"two servers are called {name!r}; rename one of them")
            servers.append(replace(server, name=name))
            entries[name] = one.entries[server.name]
    return ClientConfiguration(", ".join(places), tuple(servers), entries)


def connect_servers(
    configuration: ClientConfiguration,
    names: Sequence[str],
    out: Path,
    limits: ConnectionLimits,
    progress: Progress = silent,
) -> ConnectReport:
    """List the tools of the servers named and write them as a catalog, if any server answers.

    Raises ``CatalogError`` where not one does; then nothing is written.
    """
    servers = chosen(configuration, names)
    if not out.resolve().parent.is_dir():
        raise ConfigError(f"{str(out.parent)!r} is no folder; give another file with --out")
    offers = read_offers(servers, configuration, os.environ, limits, progress)
    if all(offer.failure for offer in offers):
        reasons = "".join(f"\n  {offer.failure}" for offer in offers)
        raise CatalogError(f"no server could be read:{reasons}")
    by_name = {server.name: server for server in servers}
    document = catalog_document(offers, by_name, datetime.now(UTC).isoformat(timespec="seconds"))
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    catalog = read_isolated([Source(out.name, text.encode("utf-8", "backslashreplace"))])
    write_whole(out, text.encode("utf-8", "backslashreplace"), "--out")
    return ConnectReport(offers, catalog)


def chosen(configuration: ClientConfiguration, names: Sequence[str]) -> list[ServerDefinition]:
    """The servers of those names. Raises ``ConfigError`` for one that is not configured."""
    by_name = {server.name: server for server in configuration.servers}
    unknown = [name for name in names if name not in by_name]
    if unknown or not names:
        raise ConfigError(
            f"{configuration.label} has no server {', '.join(map(repr, unknown))}; it has "
            f"{', '.join(by_name)}"
            if unknown
            else "no server was chosen, so none was started"
        )
    return [by_name[name] for name in dict.fromkeys(names)]


def _configuration(place: str) -> ClientConfiguration:
    if place.startswith(("http://", "https://")):
        return configuration_of_url(place)
    try:
        data = read_file(Path(place))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{place} cannot be read: {why}; give a client's configuration, or an address"
        ) from error
    return read_configuration(Path(place).name, data)
