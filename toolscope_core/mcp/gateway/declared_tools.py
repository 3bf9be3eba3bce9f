"""The tools that an original server declares now, against those that were exported."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolscope_core.catalog.readers import read_catalog
from toolscope_core.catalog.sources import Source
from toolscope_core.mcp.gateway.routing import Original
from toolscope_core.model.errors import CatalogError
from toolscope_core.model.tool import JsonObject, Tool


@dataclass(frozen=True, slots=True)
class DeclaredTools:
    """The tools of one server by name; of the ``originals`` on it, the ids of those that are
    ``changed`` or ``missing``; the names that are ``new``: no part of the toolset that came in.
    """

    by_name: Mapping[str, Tool] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    new: tuple[str, ...] = ()


def declared_tools(
    server: str, records: Sequence[JsonObject], originals: Sequence[Original]
) -> DeclaredTools:
    """What the server's own records say of ``originals``, all of that server's that came in.

    ``server`` is its name in the catalog, which is a part of the fingerprints. One of which
    the bundle has no fingerprint counts as *changed*.
    """
    by_name = {tool.name: tool for tool in _read(server, records)}
    return DeclaredTools(
        by_name,
        changed=frozenset(
            one.tool_id
            for one in originals
            if one.name in by_name and by_name[one.name].fingerprint != one.fingerprint
        ),
        missing=frozenset(one.tool_id for one in originals if one.name not in by_name),
        new=tuple(sorted(by_name.keys() - {one.name for one in originals})),
    )


def _read(server: str, records: Sequence[JsonObject]) -> tuple[Tool, ...]:
    """The records as tools of that server, without those that are none."""
    document = {"servers": [{"name": server, "tools": list(records)}]}
    content = json.dumps(document).encode("utf-8", "backslashreplace")
    try:
        return read_catalog([Source("tools/list", content)]).tools
    except CatalogError:
        return ()
