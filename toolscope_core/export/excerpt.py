"""A part of a large bundle for review: the proposals that save most, or the tools of some
servers.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from toolscope_core.catalog.formats.writers import write_toolset
from toolscope_core.catalog.shards import read_original
from toolscope_core.catalog.sources import is_bundle
from toolscope_core.catalog.tokens import tool_tokens
from toolscope_core.files.folders import DAMAGE, read_file
from toolscope_core.model.catalog import Catalog
from toolscope_core.model.errors import ConfigError, ExportError
from toolscope_core.model.numbers import quantity
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject

_WAITING = ("proposed", "stale")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Input tools by id; ``proposals`` of the bundle's ``all_proposals`` are contained
    completely.
    """

    toolset: JsonObject
    tools: int
    proposals: int
    all_proposals: int


def excerpt(folder: Path, most: int, servers: Collection[str] = ()) -> Excerpt:
    """The tools in the ``most`` proposals of a bundle that save most tokens, and all in
    ``servers``.

    If savings are equal, the least certain proposal comes first. Raises ``ExportError`` for a
    missing or damaged bundle, ``ConfigError`` for an unknown server and if there is nothing to
    write, and ``CatalogError`` for a bundle of another version.
    """
    if not is_bundle(folder):
        raise ExportError(f"{folder} is not a bundle; use a folder that merge wrote")
    try:
        catalog = read_original(folder)
        proposals = _queue(json.loads(read_file(folder / "clusters.json")), catalog)
    except DAMAGE as error:
        raise ExportError(f"the bundle {folder} is damaged ({error}); export it again") from error
    if unknown := set(servers) - {server.name for server in catalog.servers}:
        raise ConfigError(f"{folder} has no server {min(unknown)!r}; inspect lists its servers")
    members = {one for row in proposals[:most] for one in _members(row)}
    if not members and not servers:
        raise ConfigError(
            f"{most} of {quantity(len(proposals), 'proposal')} in {folder} would leave nothing to "
            "review; raise --most, or name a --server"
        )
    tools = [tool for tool in catalog.tools if tool.id in members or tool.server in servers]
    ids, owners = {tool.id for tool in tools}, {tool.server for tool in tools}
    return Excerpt(
        write_toolset(
            [MergedTool(tool, (tool.id,)) for tool in tools],
            [server for server in catalog.servers if server.name in owners],
            "neutral",
        ),
        len(tools),
        sum(ids.issuperset(_members(row)) for row in proposals),
        len(proposals),
    )


def _queue(clusters: list[JsonObject], catalog: Catalog) -> list[JsonObject]:
    """The open proposals; those that save most come first."""
    proposals = [row for row in clusters if row["state"] in _WAITING]
    return sorted(
        proposals,
        key=lambda row: (-_saving(row, catalog), row["weakest_edge"] or 0.0, row["cluster_id"]),
    )


def _members(row: JsonObject) -> list[str]:
    return [*row["members"], *row["newcomers"]]


def _saving(row: JsonObject, catalog: Catalog) -> int:
    """The approximate number of tokens that a merge saves: those of all its tools except the
    largest.
    """
    tokens = [tool_tokens(catalog.by_id[one]) for one in _members(row)]
    return sum(tokens) - max(tokens)
