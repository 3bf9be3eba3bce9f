"""The servers in configuration files, each listed once, with the clients that configure it and the
names that they use.

Only files are opened; nothing is started.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from toolscope_core.catalog.clients.configurations import server_entries
from toolscope_core.files.folders import read_file
from toolscope_core.mcp.servers.client_places import Origin, origin_at
from toolscope_core.mcp.servers.same_servers import Identity, differences, identity
from toolscope_core.mcp.servers.server_definitions import (
    LARGEST,
    ClientConfiguration,
    ServerDefinition,
    configuration_of_url,
    definition_of,
    parsed_configuration,
    url_of,
)
from toolscope_core.model.cluster import grouped
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import enumerated
from toolscope_core.model.tool import JsonObject, with_texts

_ROOT = re.compile(r"\$\{(?:workspaceFolder|CLAUDE_PLUGIN_ROOT|CLAUDE_PROJECT_DIR|extensionPath)\}")
"""The placeholders that clients use for the folder of a project, a plugin or an extension."""


@dataclass(frozen=True, slots=True)
class ConfiguredPart:
    """The servers that one file configures for one origin.

    ``problem`` says why the file cannot be read; it is empty if the file can be read.
    """

    origin: Origin
    configuration: ClientConfiguration
    problem: str = ""

    @property
    def is_telling(self) -> bool:
        """Whether the part configures anything, even if it is broken."""
        return bool(self.configuration.servers or self.configuration.odd or self.problem)


@dataclass(frozen=True, slots=True)
class ServerUse:
    """A place where a server is configured, the server's name there, and whether the server is
    switched off there.
    """

    origin: Origin
    name: str
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """One server with a unique name, however often it is configured."""

    definition: ServerDefinition
    uses: tuple[ServerUse, ...]
    entry: JsonObject = field(repr=False, compare=False)
    identity: Identity = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def places_in_words(self) -> str:
        """The places in words, such as ``Claude Code [~/app], Cursor as notes``."""
        return ", ".join(
            f"{use.origin.in_words}{f' as {use.name}' if use.name != self.uses[0].name else ''}"
            for use in self.uses
        )

    @property
    def of_project_only(self) -> bool:
        """Whether the server is configured only in files that belong to a project, which others may
        have written.
        """
        return all(use.origin.with_project for use in self.uses)


@dataclass(frozen=True, slots=True)
class AlikeServers:
    """Several servers with the same program or name, and their differences.

    Differences are the names of variables, headers and arguments, not their values.
    """

    servers: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The servers and their differences, such as ``a and b: variable TOKEN differs``."""
        names = enumerated(self.servers)
        if not self.differences:
            return f"{names}: only the names differ"
        verb = "differs" if len(self.differences) == 1 else "differ"
        return f"{names}: {enumerated(self.differences)} {verb}"


def configured_servers_of(parts: Sequence[ConfiguredPart]) -> tuple[ConfiguredServer, ...]:
    """The servers of all parts, each once, in order of first appearance.

    Two names for a server in one part count as two servers, because somebody wanted both. If
    servers share a name, the client and folder are put after it.
    """
    uses: defaultdict[tuple[Identity, int], list[ServerUse]] = defaultdict(list)
    first: dict[tuple[Identity, int], tuple[ServerDefinition, JsonObject]] = {}
    for part in parts:
        repeats = Counter[Identity]()
        for definition in part.configuration.servers:
            entry = part.configuration.entries[definition.name]
            own = identity(entry, part.origin.root)
            key = own, repeats[own]
            repeats[own] += 1
            first.setdefault(key, (definition, entry))
            uses[key].append(ServerUse(part.origin, definition.name, definition.disabled))
    names = _own_names([uses[key][0] for key in first])
    return tuple(
        ConfiguredServer(
            replace(definition, name=name, disabled=all(use.disabled for use in uses[key])),
            tuple(uses[key]),
            entry,
            key[0],
        )
        for (key, (definition, entry)), name in zip(first.items(), names, strict=True)
    )


def alike_servers(servers: Sequence[ConfiguredServer]) -> tuple[AlikeServers, ...]:
    """Servers that a person may take for the same one: either they have one program and other
    values, or they share a name.
    """
    by_program: defaultdict[object, list[ConfiguredServer]] = defaultdict(list)
    by_name: defaultdict[object, list[ConfiguredServer]] = defaultdict(list)
    for server in servers:
        by_program[server.identity.program].append(server)
        for name in dict.fromkeys(use.name for use in server.uses):
            by_name[name].append(server)
    groups = {
        tuple(one.name for one in group): tuple(one.identity for one in group)
        for group in (*by_program.values(), *by_name.values())
        if len(group) > 1
    }
    return tuple(AlikeServers(names, differences(group)) for names, group in groups.items())


def joined_configuration(
    label: str, servers: Sequence[ConfiguredServer], odd: Mapping[str, str] | None = None
) -> ClientConfiguration:
    """The servers as one configuration, from which they can be started."""
    definitions = tuple(server.definition for server in servers)
    entries = {server.name: server.entry for server in servers}
    return ClientConfiguration(label, definitions, entries, odd or {})


def read_configuration(label: str, data: bytes) -> ClientConfiguration:
    """The servers in a client's configuration, in order, each once.

    Claude Desktop, Claude Code (also below ``projects``), Cursor and Windsurf have them under
    ``mcpServers``, and VS Code under ``servers``. The spellings of other clients, and flat maps by
    name, are also read. Comments and trailing commas are allowed, as in VS Code, and so are YAML
    and TOML. Raises ``ConfigError`` if the configuration defines no server. Nothing is started or
    opened.
    """
    return _one_configuration(label, list(configured_parts(label, data, Origin(label, label))))


def read_configurations(places: Sequence[str]) -> ClientConfiguration:
    """The servers of configuration files and addresses, in order, each once; nothing is started.

    Raises ``ConfigError`` if a place cannot be read or if no server is named.
    """
    return _one_configuration(
        ", ".join(places), [part for place in places for part in _parts_at(place)]
    )


def configured_parts(
    label: str, data: bytes, origin: Origin, shown: Callable[[str], str] = str
) -> Iterator[ConfiguredPart]:
    """The parts of a configuration: its own servers, and the servers of each project in Claude
    Code.

    ``shown`` makes the path of a folder readable for people. Raises ``ConfigError`` if the
    configuration cannot be read.
    """
    for folder, listing in server_entries(parsed_configuration(label, data)).items():
        own = replace(origin, part=shown(folder), root=folder) if folder else origin
        servers, entries, odd = [], {}, dict(listing.odd)
        for name, raw_entry in listing.entries.items():
            entry = _in_folder(raw_entry, own.root)
            try:
                definition = definition_of(name, entry)
            except ConfigError as error:
                odd[name] = f"is left out: {error}"
                continue
            servers.append(replace(definition, disabled=definition.disabled or own.disabled))
            entries[name] = entry
        yield ConfiguredPart(own, ClientConfiguration(label, tuple(servers), entries, odd))


def _one_configuration(label: str, parts: Sequence[ConfiguredPart]) -> ClientConfiguration:
    odd = {name: why for part in parts for name, why in part.configuration.odd.items()}
    servers = configured_servers_of(parts)
    if not servers:
        reasons = "".join(f"\n  {name} {why}" for name, why in odd.items())
        raise ConfigError(
            f"{label} names no MCP server that can be started; use an MCP client's "
            "configuration, with `mcpServers` (Claude, Cursor), `servers` (VS Code), or as "
            f"Codex, Zed, opencode and Goose write it{reasons}"
        )
    return joined_configuration(label, servers, odd)


def _parts_at(place: str) -> Iterator[ConfiguredPart]:
    if place.startswith(("http://", "https://")):
        configuration = configuration_of_url(place)
        yield ConfiguredPart(Origin(place, configuration.servers[0].host), configuration)
        return
    path = Path(place)
    try:
        data = read_file(path, LARGEST)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{place} cannot be read: {why}; use a client's configuration, or an address"
        ) from error
    yield from configured_parts(path.name, data, origin_at(path))


def _in_folder(entry: JsonObject, root: str) -> JsonObject:
    """The entry with the folder of its project or plugin filled in. If the entry has no start
    folder, this folder is its start folder.
    """
    if not root:
        return entry
    filled: JsonObject = with_texts(entry, lambda text: _ROOT.sub(lambda _: root, text))
    return filled if url_of(filled) or filled.get("cwd") else {**filled, "cwd": root}


def _own_names(uses: Sequence[ServerUse]) -> list[str]:
    """A unique name for each use of a server.

    If several uses share a name, the client and part are put after it. The only use without a part
    keeps the plain name.
    """
    groups = grouped(uses, lambda use: use.name)
    plain = {
        name: group[0] if len(group) == 1 else whole[0]
        for name, group in groups.items()
        for whole in [[use for use in group if not use.origin.part]]
        if len(group) == 1 or len(whole) == 1
    }
    taken, names = set(plain), []
    for use in uses:
        spellings = [_with_label(use, groups[use.name], is_short) for is_short in (True, False)]
        spellings += [f"{spellings[-1]} {number}" for number in range(2, len(uses) + 2)]
        is_plain = plain.get(use.name) is use
        own = use.name if is_plain else next(one for one in spellings if one not in taken)
        taken.add(own)
        names.append(own)
    return names


def _with_label(use: ServerUse, group: Sequence[ServerUse], is_short: bool) -> str:
    """The name with the client and part after it.

    A file that belongs to no client is identified by its name. If other such files have the same
    name, its folder is added.
    """
    origin = use.origin
    clients = Counter(one.origin.client for one in group)
    is_clients_own = origin.client != PurePath(origin.path).name
    part = origin.short_part if is_short else origin.part
    words = (
        origin.client if is_clients_own or len(clients) > 1 else "",
        part if is_clients_own or clients[origin.client] > 1 else "",
    )
    label = ", ".join(filter(None, words))
    return f"{use.name} ({label})" if label else use.name
