"""The servers of clients' configuration files, or of addresses, as one configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolscope_core.files.whole_files import read_file
from toolscope_core.mcp.servers.server_definitions import (
    ClientConfiguration,
    ServerDefinition,
    configuration_of_url,
    read_configuration,
)
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.tool import JsonObject


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
