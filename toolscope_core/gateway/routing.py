"""Where calls of a merged toolset go: for each tool the originals it stands for, and their α."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolscope_core.catalog.target_rules import unique_names
from toolscope_core.catalog.writers import write_record
from toolscope_core.datamodel import ArgumentMap, JsonObject, Tool

ANY_OBJECT: JsonObject = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Original:
    """A tool of an original server: ``server`` as the catalog calls it; ``fingerprint`` as it was
    when the toolset was exported, empty where the bundle does not say.
    """

    tool_id: str
    server: str
    name: str
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """A tool as agents see it. Of ``originals`` the first is called where no argument says
    otherwise; there are several only where all of them stay reachable (a router). ``alphas`` by
    the id of the original, of those that have one.
    """

    tool_id: str
    record: JsonObject
    originals: tuple[Original, ...]
    alphas: Mapping[str, ArgumentMap] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.record["name"])

    @property
    def schema(self) -> JsonObject:
        schema = self.record["inputSchema"]
        return schema if isinstance(schema, dict) else ANY_OBJECT


@dataclass(frozen=True, slots=True)
class OldName:
    """A name that a tool had before the merge, and the α of its calls (``None``: unchanged)."""

    route: str
    alpha: ArgumentMap | None


@dataclass(frozen=True, slots=True)
class BundleTool:
    """A tool of a bundle: ``raw`` its record as MCP writes it, empty where the bundle is in
    another shape; ``is_router`` where every member stays reachable.
    """

    tool: Tool
    members: tuple[str, ...]
    raw: JsonObject = field(default_factory=dict)
    is_router: bool = False


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """Every tool by the name that agents call it by, in the order of their ids; ``old_names`` are
    those of before that lead to one tool; ``renamed`` are the tools that got another name here,
    new by id, since two of them shared one.
    """

    routes: Mapping[str, Route]
    old_names: Mapping[str, OldName] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def servers(self) -> tuple[str, ...]:
        """The catalog's servers that calls may reach, sorted."""
        return tuple(sorted({one.server for one in self.originals}))

    @property
    def originals(self) -> tuple[Original, ...]:
        return tuple(one for route in self.routes.values() for one in route.originals)


def routing_table(
    tools: Sequence[BundleTool],
    originals: Mapping[str, Original],
    phi: Mapping[str, str | None],
    alphas: Mapping[str, ArgumentMap],
) -> RoutingTable:
    """The table of a bundle; ``originals`` by id, those that were merged away too.

    Names are unique by the rule of an export: the first by id keeps a shared name, another gets
    its server in front, and none takes a name that a tool had before.
    """
    ordered = sorted(tools, key=lambda item: item.tool.id)
    new = unique_names([item.tool for item in ordered], {one.name for one in originals.values()})
    routes = {}
    for item in ordered:
        name = new.get(item.tool.id, item.tool.name)
        routes[name] = _route(item, name, originals, alphas)
    return RoutingTable(routes, _old_names(routes, originals, phi, alphas), new)


def _route(
    item: BundleTool,
    name: str,
    originals: Mapping[str, Original],
    alphas: Mapping[str, ArgumentMap],
) -> Route:
    tool = item.tool
    others = tuple(one for one in item.members if one != tool.id) if item.is_router else ()
    called = (tool.id, *others)
    record = {**(item.raw or write_record(tool, "mcp")), "name": name}
    if not isinstance(record.get("inputSchema"), dict):
        record["inputSchema"] = ANY_OBJECT
    return Route(
        tool.id,
        record,
        tuple(originals[one] for one in called if one in originals),
        {one: alphas[one] for one in called if one in alphas},
    )


def _old_names(
    routes: Mapping[str, Route],
    originals: Mapping[str, Original],
    phi: Mapping[str, str | None],
    alphas: Mapping[str, ArgumentMap],
) -> dict[str, OldName]:
    """The names that one tool had, that lead somewhere, and that no tool has now."""
    uses = Counter(one.name for one in originals.values())
    by_id = {route.tool_id: name for name, route in routes.items()}
    old = {}
    for tool_id, original in originals.items():
        now = by_id.get(phi.get(tool_id) or "")
        if now is not None and uses[original.name] == 1 and original.name not in routes:
            old[original.name] = OldName(now, alphas.get(tool_id))
    return old
