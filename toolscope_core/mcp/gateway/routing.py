"""The routes for calls of a merged toolset: the originals of each tool, and their α."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from toolscope_core.catalog.formats.mcp_records import pages_of, readable_record
from toolscope_core.catalog.formats.offered_names import unique_names
from toolscope_core.catalog.formats.writers import write_record
from toolscope_core.catalog.relabelling import argument_maps, names_now
from toolscope_core.catalog.scan.cleaning import with_clean_texts
from toolscope_core.catalog.schema.walking import properties_of, without_arguments
from toolscope_core.model.catalog import FormerName
from toolscope_core.model.cluster import ArgumentMap, grouped
from toolscope_core.model.tool import JsonObject, Tool, canonical_json
from toolscope_core.model.unicode_forms import comparable_name


@dataclass(frozen=True, slots=True)
class FoundTools:
    """The results of a search: ids of tools, the best first.

    If none of them does what is asked, ``note`` says so in a sentence.
    """

    ids: Sequence[str]
    note: str = ""


Search = Callable[[str, int], FoundTools]
"""Takes a request in words and a number, and returns at most that many tools."""
ANY_OBJECT: JsonObject = {"type": "object"}
REWRITTEN = (
    "Its parameters are not JSON Schema 2020-12, or contain a broken reference. The gateway "
    "lists them in that dialect, and the server checks the rest."
)


@dataclass(frozen=True, slots=True)
class Original:
    """A tool of an original server.

    ``server`` is the server's name in the catalog. ``fingerprint`` is from the export; it is empty
    if the bundle has no fingerprint for the tool.
    """

    tool_id: str
    server: str
    name: str
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """A tool as agents see it.

    A tool has several ``originals`` only if all of them stay reachable (a gateway tool); the
    arguments of a call then say which original is called. ``alphas`` are keyed by the id of the
    original, and an original may have none. ``presets`` are arguments that are added to every call;
    no call may name them. ``mended`` has sentences about parts of the record that some clients
    could not read. ``obstacle`` says why no client gets the tool; it is empty if all clients get
    it.
    """

    tool_id: str
    record: JsonObject
    originals: tuple[Original, ...]
    alphas: Mapping[str, ArgumentMap] = field(default_factory=dict)
    presets: JsonObject = field(default_factory=dict)
    mended: tuple[str, ...] = ()
    obstacle: str = ""

    @property
    def name(self) -> str:
        return str(self.record["name"])

    @property
    def server(self) -> str:
        """The server of the first original; empty if the tool has no originals."""
        return self.originals[0].server if self.originals else ""

    @property
    def own_server(self) -> str:
        """The server from which the tool's record comes; empty if calls do not
        reach that original.
        """
        own = (one.server for one in self.originals if one.tool_id == self.tool_id)
        return next(own, "")

    @property
    def pages(self) -> tuple[str, ...]:
        """The addresses of the pages that the tool's own server shows with results."""
        return pages_of(self.record) if self.own_server else ()

    @property
    def listing(self) -> JsonObject:
        """The record for clients. Presets are left out, and so are arguments that only originals
        excluded by the presets take.
        """
        if not self.presets:
            return self.record
        alphas = self.alphas.values()
        used = {move.target for one in alphas for move in one.moves}
        used |= {name for one in alphas for name in one.constants}
        every = len(self.alphas) < len(self.originals)
        unused = set() if every else set(properties_of(self.schema)) - used
        schema = without_arguments(self.schema, unused | self.presets.keys())
        return {**self.record, "inputSchema": schema}

    @property
    def schema(self) -> JsonObject:
        schema = self.record["inputSchema"]
        return schema if isinstance(schema, dict) else ANY_OBJECT


@dataclass(frozen=True, slots=True)
class OldName:
    """The tool to which a former name leads, and the maps for the arguments of
    calls by that name.
    """

    route: str
    maps: tuple[ArgumentMap, ...] = ()


@dataclass(frozen=True, slots=True)
class AppNames:
    """The names by which the apps of ``servers`` call tools.

    ``names`` are former names on these servers that no tool has here any more. ``contested`` are
    names that belong to another tool here, so no app may use them.
    """

    servers: frozenset[str] = frozenset()
    names: Mapping[str, OldName] = field(default_factory=dict)
    contested: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class BundleTool:
    """A tool of a bundle.

    ``raw`` is the tool's MCP record; it is empty if the bundle is in another format. ``is_gateway``
    says whether every member stays reachable. ``presets`` are the same as in a route.
    """

    tool: Tool
    members: tuple[str, ...]
    raw: JsonObject = field(default_factory=dict)
    is_gateway: bool = False
    presets: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """All tools, keyed by their names for agents, in the order of ids.

    ``old_names`` are former names that lead to one tool. ``renamed`` maps the id of each renamed
    tool to a sentence about its new name and the reason. ``bundle`` is the hash of the bundle's
    manifest, which contains the hashes of the bundle's files. ``eager`` are the ids of the tools
    that are in every prompt when clients search for the others. ``apps`` has the names by which the
    servers' pages call tools.
    """

    routes: Mapping[str, Route]
    old_names: Mapping[str, OldName] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    bundle: str = ""
    eager: frozenset[str] = frozenset()
    apps: AppNames = AppNames()

    @property
    def listed_routes(self) -> tuple[Route, ...]:
        """The routes of the tools whose records clients can read."""
        return tuple(route for route in self.routes.values() if not route.obstacle)

    def renamed_of(self, server: str) -> tuple[str, ...]:
        """Sentences about a server's renamed tools, with the reasons for the new names."""
        ids = [one.tool_id for one in self._routes_of(server)]
        return tuple(self.renamed[one] for one in ids if one in self.renamed)

    def mended_of(self, server: str) -> tuple[str, ...]:
        """Sentences about a server's tools that are listed in a changed form."""
        return tuple(
            sentence
            for route in self._routes_of(server)
            for sentence in route.mended
            if not route.obstacle
        )

    def withheld_of(self, server: str) -> tuple[str, ...]:
        """The server's tools that are not listed, each as its name and the reason."""
        return tuple(
            f"{route.name}: {route.obstacle}" for route in self._routes_of(server) if route.obstacle
        )

    def _routes_of(self, server: str) -> list[Route]:
        return [one for one in self.routes.values() if one.originals and one.server == server]

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
    former: Sequence[FormerName] = (),
) -> RoutingTable:
    """The routing table of a bundle.

    ``originals`` are keyed by id and include merged tools. ``former`` are the names of tools in all
    exports up to this one; by default, they are the names in the input. If tools of several servers
    share a name, each of these tools gets its server's name in front. No tool takes a name that
    another tool had before. Every record is readable for all clients, or its route has an
    ``obstacle``.
    """
    ordered = sorted(tools, key=lambda item: item.tool.id)
    own_tools = [item.tool for item in ordered]
    new = unique_names(own_tools, {one.name for one in originals.values()}, former)
    routes = {}
    for item in ordered:
        name = new.get(item.tool.id, item.tool.name)
        routes[name] = _route(item, name, originals, alphas)
    came_in = [FormerName(one.name, one.server, one.tool_id) for one in originals.values()]
    names = former or names_now(came_in, phi, alphas)
    return RoutingTable(
        routes,
        _old_names(routes, names),
        _reasons(own_tools, new, {comparable_name(one.name) for one in former}),
        apps=_app_names(routes, names),
    )


def _reasons(tools: Sequence[Tool], new: Mapping[str, str], former: Set[str]) -> dict[str, str]:
    """A sentence about each renamed tool, keyed by the tool's id."""
    owners: defaultdict[str, list[str]] = defaultdict(list)
    for tool in tools:
        owners[comparable_name(tool.name)].append(tool.server)
    sentences = {}
    for tool in tools:
        if tool.id in new:
            servers = sorted({*owners[comparable_name(tool.name)]} - {tool.server})
            others = " and ".join(server or "no server" for server in servers)
            if others:
                have = "have" if len(servers) > 1 else "has"
                why = f"because {others} {have} a tool of that name too"
            elif len(owners[comparable_name(tool.name)]) > 1:
                why = "because its server has two tools of that name"
            elif comparable_name(tool.name) in former:
                why = "because another server's tool once had that name"
            else:
                why = "because not every client accepts its name"
            sentences[tool.id] = f"{tool.name!r} of {tool.server} is now {new[tool.id]!r} {why}"
    return sentences


def _route(
    item: BundleTool,
    name: str,
    originals: Mapping[str, Original],
    alphas: Mapping[str, ArgumentMap],
) -> Route:
    as_it_came = replace(item.tool, name=name, raw=item.raw or item.tool.raw)
    tool = with_clean_texts(as_it_came)
    others = tuple(one for one in item.members if one != tool.id) if item.is_gateway else ()
    original_ids = [one for one in (tool.id, *others) if _agrees(alphas.get(one), item.presets)]
    record, sendable = write_record(tool, "mcp"), write_record(tool, "mcp", sendable=True)
    readable = readable_record(sendable)
    faults = readable.faults if item.raw else readable_record(record).faults
    mended = [f"{fault.message} Here it is {fault.fix}." for fault in faults if fault.fix]
    if "inputSchema" in record and record["inputSchema"] != sendable["inputSchema"]:
        mended.append(REWRITTEN)
    if tool != as_it_came:
        mended.append("Its texts contain hidden characters. The gateway removes them.")
    return Route(
        tool.id,
        readable.record,
        tuple(originals[one] for one in original_ids if one in originals),
        {one: alphas[one] for one in original_ids if one in alphas},
        item.presets,
        tuple(f"{name}: {sentence}" for sentence in mended),
        readable.obstacle,
    )


def _agrees(alpha: ArgumentMap | None, presets: JsonObject) -> bool:
    """Whether a call with these presets may be meant for the original with this α."""
    constants = alpha.constants if alpha else {}
    common = constants.keys() & presets.keys()
    return all(canonical_json(constants[one]) == canonical_json(presets[one]) for one in common)


def _old_names(routes: Mapping[str, Route], former: Sequence[FormerName]) -> dict[str, OldName]:
    """The former names that no tool has now and that stand for one tool only.

    A name is left out if its tool is gone or cannot be reached here.
    """
    by_id = {route.tool_id: name for name, route in routes.items()}
    old = {}
    for name, rows in grouped(former, lambda one: one.name).items():
        meanings = {(row.tool_id, row.maps) for row in rows}
        tool_id, texts = next(iter(meanings))
        maps = argument_maps(texts)
        if name not in routes and len(meanings) == 1 and tool_id in by_id and maps is not None:
            old[name] = OldName(by_id[tool_id], maps)
    return old


def _app_names(routes: Mapping[str, Route], former: Sequence[FormerName]) -> AppNames:
    servers = frozenset(route.own_server for route in routes.values() if route.pages)
    own = [one for one in former if one.server in servers]
    contested = {
        one.name for one in own if one.name in routes and routes[one.name].tool_id != one.tool_id
    }
    return AppNames(servers, _old_names(routes, own), frozenset(contested))
