"""Reads a bundle: its routing table, its withheld tools, and the servers' texts in it."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolscope_core.catalog.clients import client_table
from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.relabelling import (
    bundle_bytes,
    bundle_value,
    read_relabelling,
    with_members,
)
from toolscope_core.catalog.scan.hidden import cleaned, visible
from toolscope_core.catalog.scan.scanner import ToolNames, with_own_words
from toolscope_core.catalog.shards import join
from toolscope_core.catalog.sources import PROFILES, Source, files_of
from toolscope_core.files.archives import bundle_folder
from toolscope_core.files.json_lines import objects_of_list
from toolscope_core.mcp.gateway.resource_addresses import APP, SEPARATOR, prefixes_of
from toolscope_core.mcp.gateway.routing import BundleTool, Original, RoutingTable, routing_table
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.tool import JsonObject, Tool


@dataclass(frozen=True, slots=True)
class ServedBundle:
    """A bundle to serve.

    ``catalog`` contains the bundle's tools with their ids; ``came_in`` contains all original tools.
    ``withheld`` lists the gateway tools that were accepted but not exported, each as the ids of its
    members. ``notes`` are sentences about the parts of a profile that are not served. ``uses``
    counts the earlier calls of each server, as far as they are known. ``passed`` lists the
    resources and prompts that a profile passes on, under the keys ``resources`` and ``prompts``;
    with ``None``, all are passed on.
    """

    table: RoutingTable
    catalog: Catalog
    came_in: tuple[Original, ...]
    withheld: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    uses: Mapping[str, int] = field(default_factory=dict)
    passed: Mapping[str, tuple[str, ...]] | None = None


def read_served_bundle(path: Path, profile: str = "") -> ServedBundle:
    """The bundle made by ``merge`` or the Export page, from a folder or a zip file. If ``profile``
    is given, only the tools of that profile are served.

    Raises ``ExportError`` if a file is missing or damaged, ``ConfigError`` if the zip is damaged or
    the profile is unknown, and ``CatalogError`` if the toolset cannot be read.
    """
    with bundle_folder(path) as folder:
        profiles = _profiles(folder)
        if profile and profile not in profiles:
            names = ", ".join(profiles) or "none"
            raise ConfigError(f"the bundle has no profile {profile!r}; it has {names}")
        return _merged(folder, profiles.get(profile))


def profiles_of_bundle(path: Path) -> tuple[str, ...]:
    """The names of the profiles in a bundle, sorted. Raises the errors of
    ``read_served_bundle``.
    """
    with bundle_folder(path) as folder:
        return tuple(_profiles(folder))


def searched_tools(path: Path, bundle: ServedBundle) -> tuple[Tool, ...]:
    """The tools of the bundle at ``path`` as a search reads them, together with the tools that they
    replace.

    Raises the errors of ``read_served_bundle``.
    """
    with bundle_folder(path) as folder:
        phi = read_relabelling(folder).phi
        return with_members(bundle.catalog.tools, _catalog(folder, "original.json"), phi)


def read_original_catalog(path: Path) -> Catalog:
    """The original catalog of the bundle at ``path``. Raises the errors of
    ``read_served_bundle``.
    """
    with bundle_folder(path) as folder:
        return _catalog(folder, "original.json")


def read_unmerged_bundle(path: Path) -> ServedBundle:
    """The original tools of the bundle at ``path``, each served separately.

    Raises the errors of ``read_served_bundle``.
    """
    with bundle_folder(path) as folder:
        catalog = _catalog(folder, "original.json")
        originals = _originals(folder)
    tools = [BundleTool(tool, (tool.id,)) for tool in catalog.tools]
    return ServedBundle(routing_table(tools, originals, {}, {}), catalog, tuple(originals.values()))


def _merged(folder: Path, profile: JsonObject | None) -> ServedBundle:
    relabelling = read_relabelling(folder)
    clusters = objects_of_list(bundle_value(folder / "clusters.json", list))
    members = {
        row.get("id"): tuple(row.get("members") or ())
        for part in files_of(folder, "neutral.json")
        for row in objects_of_list(bundle_value(part, dict).get("tools"))
    }
    catalog = _catalog(folder, "neutral.json")
    accepted_rows = [row for row in clusters if row.get("state") == "accepted"]
    gateway = {
        frozenset(row["members"])
        for row in accepted_rows
        if row.get("kind") == "gateway" and isinstance(row.get("members"), list)
    }
    raw = _mcp_records(folder)
    tools = [
        BundleTool(
            tool,
            members.get(tool.id) or (tool.id,),
            raw.get((tool.server, tool.name), {}),
            frozenset(members.get(tool.id, ())) in gateway,
        )
        for tool in catalog.tools
    ]
    applied, notes = {frozenset(item.members) for item in tools}, list[str]()
    passed: Mapping[str, tuple[str, ...]] | None = None
    if profile is not None:
        rows = {str(one.get("id")): one for one in objects_of_list(profile.get("tools"))}
        named = {kind: profile.get(kind) for kind in PASSED}
        passed = {k: tuple(map(str, v)) if isinstance(v, list) else () for k, v in named.items()}
        tools = [one for one in tools if one.tool.id in rows]
        names = ToolNames.of([one.tool for one in tools])
        worded = [_in_profile(one, rows[one.tool.id], names) for one in tools]
        tools = [item for item, _ in worded]
        notes += [note for _, own in worded for note in own]
        catalog = replace(catalog, tools=tuple(one.tool for one in tools))
    originals = _originals(folder)
    table = routing_table(
        tools, originals, relabelling.phi, relabelling.arguments, catalog.former_names
    )
    heads = tuple(f"{one}{SEPARATOR}" for one in prefixes_of(table.servers).values())
    notes += [
        f"{one} is not passed on: the profile has no tool of its server"
        for names in (passed or {}).values()
        for one in names
        if not one.removeprefix(APP).startswith(heads)
    ]
    manifest = hashlib.sha256(bundle_bytes(folder / "manifest.json")).hexdigest()
    value = (bundle_value(folder / "manifest.json", dict).get("configuration") or {}).get("eager")
    eager = value if isinstance(value, list) else ()
    return ServedBundle(
        replace(table, bundle=manifest, eager=frozenset(map(str, eager))),
        catalog,
        tuple(originals.values()),
        tuple(sorted(tuple(sorted(one)) for one in gateway - applied)),
        tuple(notes),
        passed=passed,
    )


def _catalog(folder: Path, name: str) -> Catalog:
    """The catalog in a file of the bundle, or in the parts of that file."""
    sources = [Source(part.name, bundle_bytes(part), "neutral") for part in files_of(folder, name)]
    return join([read_catalog([source]) for source in sources])


PASSED = ("resources", "prompts")
"""What a profile passes on besides tools."""


def _profiles(folder: Path) -> dict[str, JsonObject]:
    """The row of each profile, keyed by name."""
    if not (folder / PROFILES).exists():
        return {}
    rows = objects_of_list(bundle_value(folder / PROFILES, dict).get("profiles"))
    return {str(row.get("name")): row for row in rows}


def _in_profile(
    item: BundleTool, row: JsonObject, names: ToolNames
) -> tuple[BundleTool, tuple[str, ...]]:
    """The tool with the profile's texts, and with the fixed arguments as presets. The second value
    says why some texts are blocked.
    """
    name, description = (str(row.get(key) or "") for key in ("name", "description"))
    worded = with_own_words(item.tool, name, description, names)
    fixed = row.get("fixed")
    presets = fixed if isinstance(fixed, dict) else {}
    return replace(item, tool=worded.tool, presets=presets), worded.notes


def _originals(folder: Path) -> dict[str, Original]:
    """Every original tool, keyed by id."""
    hashes = bundle_value(folder / "fingerprints.json", dict)
    rows = bundle_value(folder / "relabel.json", dict)["entries"]
    return {
        row["old_id"]: Original(
            row["old_id"],
            str(row.get("server") or ""),
            row["old_name"],
            str(hashes.get(row["old_id"], "")),
        )
        for row in rows
    }


def _mcp_records(folder: Path) -> dict[tuple[str, str], JsonObject]:
    """The toolset's MCP records, keyed by server and name. Empty if the toolset is in another
    format. If a server has two records with one name, both are left out.
    """
    manifest = bundle_value(folder / "manifest.json", dict)
    if (manifest.get("configuration") or {}).get("format") != "mcp":
        return {}
    records: dict[tuple[str, str], JsonObject] = {}
    twice = set()
    for part in manifest.get("toolsets") or ():
        for server, record in _with_servers(bundle_value(folder / str(part["file"]), object)):
            key = server, str(record.get("name"))
            if key in records:
                twice.add(key)
            records[key] = record
    return {key: record for key, record in records.items() if key not in twice}


def _with_servers(content: Any) -> Iterator[tuple[str, JsonObject]]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict):
            for record in objects_of_list(part.get("tools")):
                yield str(part.get("server") or ""), record


MOST_BYTES = client_table.CLAUDE_CODE.rules.longest_instructions or 0
"""Claude Code cuts instructions at this length, wherever that falls in the text; no other client is
known to accept less.
"""
FEWEST_BYTES = 60
"""A shorter part of a server's text would be of no use to an agent."""
NOTE_BYTES = 80
"""The space that is kept for the sentence about servers whose texts are left out."""


@dataclass(frozen=True, slots=True)
class ServerWords:
    """The instructions of a gateway. If a server's text is cut or left out, ``notes`` gives the
    reason, keyed by server.
    """

    text: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)


def words_of_servers(bundle: ServedBundle) -> ServerWords:
    """The texts of the servers that calls may reach, with the most used server first. They take at
    most ``MOST_BYTES`` in UTF-8.

    Each server gets a fair share, and unused space goes to the others. Blocked texts are left out.
    """
    blocking = [one for one in bundle.catalog.findings if one.severity == "block" and one.server]
    blocked = {one.server: one.message for one in blocking[::-1]}
    servers, notes, texts = set(bundle.table.servers), dict[str, str](), dict[str, str]()
    for server in sorted(bundle.catalog.servers, key=lambda one: -bundle.uses.get(one.name, 0)):
        if server.description.strip() and server.name in servers:
            if server.name in blocked:
                notes[server.name] = f"its description is left out: {blocked[server.name]}"
            else:
                texts[server.name] = _paragraph(server.name, server.description)
    sizes = {name: len(text.encode()) for name, text in texts.items()}
    most = MOST_BYTES - (NOTE_BYTES if notes or sum(sizes.values()) > MOST_BYTES else 0)
    rooms = _with_room(sizes, most)
    for name in sizes.keys() - rooms.keys():
        notes[name] = "its description is left out: there is no room for so many servers"
    lines = []
    for name, room in rooms.items():
        if room < sizes[name]:
            notes[name] = f"its description is cut: {sizes[name]:,} bytes, with room for {room:,}"
        lines.append(_cut(texts[name], room))
    if left_out := notes.keys() - rooms.keys():
        lines.append(f"[The descriptions of {quantity(len(left_out), 'server')} are left out.]")
    return ServerWords("\n\n".join(lines), notes)


def _paragraph(name: str, description: str) -> str:
    """The server's name and text as one paragraph. Later lines are indented, so no part of the text
    can pass for the text of another server.
    """
    lines = cleaned(description).replace("\r", "\n").split("\n")
    text = "\n  ".join(line for line in map(str.strip, lines) if line)
    return f"{' '.join(visible(name).split())}: {text}"


def _with_room(sizes: Mapping[str, int], most: int) -> dict[str, int]:
    """The number of bytes that each server's text may take, in order. Two bytes are kept for the
    break between texts.

    Servers for which less than ``FEWEST_BYTES`` each would be left get none.
    """
    names, total = list[str](), 0
    for name, size in sizes.items():
        total += min(size, FEWEST_BYTES) + 2
        if total > most:
            break
        names.append(name)
    rooms, room = dict[str, int](), most - 2 * len(names)
    for number, name in enumerate(sorted(names, key=lambda one: (sizes[one], one))):
        rooms[name] = min(sizes[name], room // (len(names) - number))
        room -= rooms[name]
    return {name: rooms[name] for name in names}


def _cut(text: str, room: int) -> str:
    """The text, cut to at most ``room`` bytes. A text that is cut ends with a note on how much is
    missing.
    """
    content = text.encode()
    if len(content) <= room:
        return text
    mark = f"… [{len(content) - room:,} bytes more]"
    start = content[: room - len(mark.encode())].decode("utf-8", "ignore").rstrip()
    return f"{start}{mark}"
