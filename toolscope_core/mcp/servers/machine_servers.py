"""The servers of all clients on a machine, and their tools as last listed.

``machine_servers`` opens only the files that clients document. The lists of tools are a catalog in
the user's cache, which any command can read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from toolscope_core.catalog.schema.walking import list_at, object_at
from toolscope_core.files.folders import put, read_file
from toolscope_core.mcp.servers import client_places
from toolscope_core.mcp.servers.configured_servers import (
    AlikeServers,
    ConfiguredPart,
    ConfiguredServer,
    alike_servers,
    configured_parts,
    configured_servers_of,
    joined_configuration,
)
from toolscope_core.mcp.servers.server_definitions import (
    LARGEST,
    ClientConfiguration,
    ServerDefinition,
)
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import JsonObject, digest

CATALOG = "this-machine.json"


@dataclass(frozen=True)
class MachineServers:
    """The servers that the clients of a machine configure."""

    parts: tuple[ConfiguredPart, ...]

    @cached_property
    def servers(self) -> tuple[ConfiguredServer, ...]:
        return configured_servers_of(self.parts)

    @cached_property
    def alike(self) -> tuple[AlikeServers, ...]:
        return alike_servers(self.servers)

    @property
    def clients(self) -> tuple[str, ...]:
        """The clients that configure something, even if it is broken, in the order in which their
        files are read.
        """
        return tuple(dict.fromkeys(one.origin.client for one in self.parts if one.is_telling))

    @property
    def clients_without(self) -> tuple[str, ...]:
        """The clients whose files name no server."""
        clients = dict.fromkeys(one.origin.client for one in self.parts)
        return tuple(client for client in clients if client not in self.clients)

    @property
    def shared(self) -> tuple[ConfiguredServer, ...]:
        """The servers that several clients, or several parts of one client, configure."""
        return tuple(server for server in self.servers if len(server.uses) > 1)

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems, one sentence each. A problem is about a file or about an
        entry in a file.
        """
        return tuple(
            sentence
            for part in self.parts
            for sentence in (
                *([part.problem] if part.problem else []),
                *(
                    f"{part.origin.path}: {name} {why}"
                    for name, why in part.configuration.odd.items()
                ),
            )
        )

    @property
    def configuration(self) -> ClientConfiguration:
        """All servers as one configuration, from which they can be started."""
        return joined_configuration("this machine", self.servers)

    @property
    def headline(self) -> str:
        """A headline such as ``On this machine: 3 clients, 14 servers``."""
        clients, servers = len(self.clients), len(self.servers)
        return f"On this machine: {quantity(clients, 'client')}, {quantity(servers, 'server')}"


def machine_servers(machine: client_places.Machine) -> MachineServers:
    """The servers in the files of clients. A file that cannot be read becomes a part with a
    problem.
    """
    paths = set[Path]()
    parts = list[ConfiguredPart]()
    for path, origin in client_places.configuration_files(machine):
        parts += _parts(machine, path, origin, paths)
        if origin.client == client_places.CLAUDE_CODE and path.name == ".claude.json":
            folders = [Path(one.origin.root) for one in parts if one.origin.root]
            for folder in folders:
                for file, own in client_places.project_files(
                    machine, client_places.CLIENT_PATHS[0], folder
                ):
                    parts += _parts(machine, file, own, paths)
    return MachineServers(tuple(parts))


def _parts(
    machine: client_places.Machine, path: Path, origin: client_places.Origin, paths: set[Path]
) -> Iterator[ConfiguredPart]:
    if path in paths:
        return
    paths.add(path)
    nothing = ClientConfiguration(origin.path, ())
    try:
        yield from configured_parts(origin.path, read_file(path, LARGEST), origin, machine.shown)
    except OSError as error:
        why = error.strerror or error
        yield ConfiguredPart(origin, nothing, f"{origin.path} cannot be read: {why}")
    except ConfigError as error:
        yield ConfiguredPart(origin, nothing, str(error))


def kept_records(cache: Path, servers: Sequence[ConfiguredServer]) -> dict[str, JsonObject]:
    """The stored records of exactly these servers, keyed by name, in the form of
    ``catalog_document``.

    Records of other servers are ignored, and so is an unreadable file.
    """
    document: Any = None
    with suppress(OSError, ValueError, RecursionError):
        document = json.loads(read_file(cache / CATALOG))
    wanted = {server.name: _mark(server.definition) for server in servers}
    return {
        name: record
        for record in map(object_at, list_at(document, "servers"))
        for name in [str(record.get("name"))]
        if name in wanted and wanted[name] == object_at(record, "source").get("configured")
    }


def keep_records(
    cache: Path, servers: Sequence[ConfiguredServer], records: Mapping[str, JsonObject]
) -> Path:
    """Store the records, which are keyed by server name, so that only this user can read them;
    returns the catalog's file.

    Raises ``ConfigError`` if the file cannot be written.
    """
    marks = {server.name: _mark(server.definition) for server in servers}
    rows = [
        {**record, "source": {**object_at(record, "source"), "configured": marks[name]}}
        for name, record in records.items()
    ]
    text = json.dumps({"servers": rows}, ensure_ascii=False) + "\n"
    path = cache / CATALOG
    try:
        cache.mkdir(parents=True, exist_ok=True)
        put(path, text.encode("utf-8", "backslashreplace"), 0o600)
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(
            f"{path} cannot be written: {reason}; set XDG_CACHE_HOME to a writable folder"
        ) from error
    return path


def _mark(definition: ServerDefinition) -> str:
    return digest(replace(definition, disabled=False).as_json())
