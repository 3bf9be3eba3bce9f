"""Offers new names for tools that share a name, or whose names a target refuses."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, count
from types import MappingProxyType

from toolscope_core.catalog.formats.mcp_records import MCP
from toolscope_core.catalog.formats.record_format import Rule, Target
from toolscope_core.catalog.operation_names import transliterated
from toolscope_core.model.catalog import FormerName
from toolscope_core.model.cluster import grouped
from toolscope_core.model.tool import Tool, digest
from toolscope_core.model.unicode_forms import comparable_name

HASH_DIGITS = 8
TOOL_ROOM = 40
"""The number of characters that a shortened server name leaves for the names of its tools."""
SHORT_NAME = 64
"""The length up to which every API accepts a name."""


def new_names(
    tools: Sequence[Tool],
    target: Target,
    reserved: Iterable[str],
    blocked: Set[str],
    own: Mapping[str, Set[str]] = MappingProxyType({}),
) -> dict[str, tuple[str, Rule]]:
    """A new name for each tool whose name the target refuses, by id, and the rule that is broken.

    If tools share a name, the first by id keeps it (a blocked tool only if all are blocked). The
    others get their server in the name, or a hash of their id. The name is empty if no name fits.
    ``own`` has reserved names, by the server whose tools may use them.
    """
    wrong = wrong_names(tools, target, blocked)
    keys = {comparable_name(name) for name in reserved}
    used: defaultdict[str, set[str]] = defaultdict(set)
    for tool in tools:
        if tool.id not in wrong and target.rules.unique != "none":
            used[_scope(tool, target)].add(_key(tool.name, target))
    offers: dict[str, tuple[str, Rule]] = {}
    for tool in tools:
        if tool.id in wrong:
            scope = used[_scope(tool, target)]
            name = offered_name(tool, target, scope, keys, own.get(tool.server, frozenset()))
            scope.add(_key(name, target))
            offers[tool.id] = (name, wrong[tool.id])
    return offers


def wrong_names(
    tools: Sequence[Tool], target: Target, blocked: Set[str] = frozenset()
) -> dict[str, Rule]:
    """The ids of tools (in id order) whose names the target refuses, and the rule that is broken.

    If tools share a name, the first keeps it. A blocked tool that copies the name of another tool
    keeps it only if all are blocked.
    """
    owners: dict[tuple[str, str], str] = {}
    wrong: dict[str, Rule] = {}
    for tool in sorted(tools, key=lambda tool: tool.id in blocked):
        if not _fits(tool.name, tool, target):
            wrong[tool.id] = "name"
        elif target.rules.unique != "none":
            key = (_scope(tool, target), _key(tool.name, target))
            if owners.setdefault(key, tool.id) != tool.id:
                wrong[tool.id] = "unique"
    return wrong


def repeated_names(tools: Iterable[Tool], target: Target) -> frozenset[str]:
    """The names that the target refuses because several tools have them, compared in the
    target's way.
    """
    ordered = sorted(tools, key=lambda tool: tool.id)
    wrong = wrong_names(ordered, target)
    return frozenset(
        comparable_name(tool.name) for tool in ordered if wrong.get(tool.id) == "unique"
    )


def unique_names(
    tools: Sequence[Tool], reserved: Iterable[str] = (), former: Sequence[FormerName] = ()
) -> dict[str, str]:
    """A new name, by id, for each tool whose name MCP refuses or another tool has.

    If the other tool is on another server, all of them get their server in the name. Names in
    ``reserved`` are never used. No tool may have a ``former`` name of another server's tool. Among
    tools that share a name, the tool that had the name before keeps it.
    """
    row = replace(MCP, rules=replace(MCP.rules, unique="toolset"))
    ordered = sorted(tools, key=lambda tool: tool.id)
    servers: defaultdict[str, set[str]] = defaultdict(set)
    for tool in ordered:
        servers[comparable_name(tool.name)].add(tool.server)
    had = grouped(former, lambda one: comparable_name(one.name))
    own: defaultdict[str, set[str]] = defaultdict(set)
    for name, rows in had.items():
        if len({one.server for one in rows}) == 1:
            own[rows[0].server].add(name)
    shared = {
        tool.id
        for tool in ordered
        if (key := comparable_name(tool.name)) not in had and len(servers[key]) > 1
    } | named_as_others(ordered, former)
    keys = servers.keys() | set(map(comparable_name, reserved)) | had.keys()
    candidates = [
        replace(tool, name=_with_server(tool, row, keys, own.get(tool.server, set())))
        if tool.id in shared
        else tool
        for tool in ordered
    ]
    new = new_names(candidates, row, (*reserved, *had), shared, own)
    names = {tool.id: tool.name for tool in candidates if tool.id in shared}
    return names | {tool_id: name for tool_id, (name, _) in new.items()}


def named_as_others(tools: Iterable[Tool], former: Iterable[FormerName]) -> set[str]:
    """The ids of the tools whose name is a former name of another tool."""
    had = grouped(former, lambda one: comparable_name(one.name))
    return {
        tool.id
        for tool in tools
        if (rows := had.get(comparable_name(tool.name)))
        and (
            any(one.tool_id != tool.id and one.server != tool.server for one in rows)
            or all(one.tool_id not in ("", tool.id) for one in rows)
        )
    }


def names_among(tools: Iterable[Tool], former: Iterable[FormerName]) -> tuple[FormerName, ...]:
    """The former names, each with the tool that it means among these tools.

    If a tool came in with a name, that name means this tool again, unless an export made the name
    from the name of another tool that still exists.
    """
    by_id, own = {tool.id: tool for tool in tools}, {}
    for tool in by_id.values():
        own[tool.server, tool.name] = tool.id
    rows = []
    for one in former:
        meant, native = by_id.get(one.tool_id), own.get((one.server, one.name), "")
        is_lost = meant is None or (native and not _is_made_of(one.name, meant))
        rows.append(
            replace(one, tool_id=native, maps="") if is_lost and native != one.tool_id else one
        )
    return tuple(rows)


def _is_made_of(name: str, tool: Tool) -> bool:
    """Whether an export could have made the name from the tool's own name."""
    made = (tool.name, f"{tool.server}_{tool.name}")
    return name != tool.name and name in [plain_name(one, MCP) for one in made]


def shared_names(tools: Iterable[Tool]) -> tuple[tuple[Tool, ...], ...]:
    """Groups of tools that share a name across servers, so that clients cannot tell them apart
    by name.
    """
    by_name = grouped(tools, lambda tool: comparable_name(tool.name))
    groups = (tuple(by_name[name]) for name in sorted(by_name))
    return tuple(same for same in groups if len({tool.server for tool in same}) > 1)


def offered_name(
    tool: Tool,
    target: Target,
    used: Set[str] = frozenset(),
    reserved: Set[str] = frozenset(),
    former: Set[str] = frozenset(),
) -> str:
    """A free name that the target accepts: the tool's own name, or a repaired form of it.

    A ``reserved`` name is allowed only if it is the tool's own or a ``former`` name of its server.
    """
    own = comparable_name(tool.name)

    def free(name: str) -> bool:
        key = comparable_name(name)
        is_own = key == own or key in former
        return _key(name, target) not in used and (is_own or key not in reserved)

    room = (target.rules.longest_name or 128) - len(name_prefix(tool, target))
    if room < HASH_DIGITS + 2:
        return ""
    plain = plain_name(tool.name, target)
    with_server = [plain_name(f"{tool.server}_{tool.name}", target)] if tool.server else []
    for name in (plain, *with_server):
        if len(name) <= room and free(name):
            return name
    cut = plain[:room].rstrip("_-")
    stem = plain[: room - HASH_DIGITS - 1]
    hashed = (f"{stem}_{digest(tool.id, n)[:HASH_DIGITS]}" for n in count())
    return next(name for name in chain([cut], hashed) if free(name))


def name_prefix(tool: Tool, target: Target) -> str:
    """The prefix that the target puts before the tool's name; empty for a tool without a server."""
    return target.rules.prefix.format(server=tool.server) if tool.server else ""


def plain_name(name: str, target: Target) -> str:
    """The name in characters that every rule allows; it also begins with an allowed letter.

    Unchanged if the target has no rule for names.
    """
    return spelled_name(name, "tool", "_-") if target.rules.name_rule else name


def spelled_name(name: str, stem: str, others: str) -> str:
    """The name in plain letters, digits and ``others``; if it begins otherwise, ``stem`` is put in
    front.

    Other scripts are transliterated. A name without letters becomes a hash.
    """
    plain = transliterated(name).replace("'", "")
    spelling = re.sub(rf"[^A-Za-z0-9{others}]+", "_", plain).strip("_")
    if not re.search("[A-Za-z0-9]", spelling):
        return f"{stem}_{digest(name)[:HASH_DIGITS]}"
    return spelling if re.match("[A-Za-z]", spelling) else f"{stem}_{spelling}"


def cut_text(text: str, most: int | None) -> str:
    """The text, cut to ``most`` characters; an ellipsis marks the cut."""
    return text if most is None or len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _with_server(tool: Tool, target: Target, keys: Set[str], own: Set[str]) -> str:
    """The tool's name with the server in front: free, and short enough for every API.

    It may be one of the former names in ``own``, which belong to the same server.
    """
    name = plain_name(f"{tool.server}_{tool.name}", target)
    key = comparable_name(name)
    if len(name) <= SHORT_NAME and (key not in keys or key in own):
        return name
    room = SHORT_NAME - HASH_DIGITS - 1
    return f"{name[:room]}_{digest(tool.server, tool.name)[:HASH_DIGITS]}"


def _fits(name: str, tool: Tool, target: Target) -> bool:
    if target.rules.name_rule and not re.fullmatch(target.rules.name_rule, name):
        return False
    return target.rules.longest_name is None or (
        len(name_prefix(tool, target)) + len(name) <= target.rules.longest_name
    )


def _key(name: str, target: Target) -> str:
    """The form of a name that the target compares."""
    key = comparable_name(name)
    return key.replace(".", "_") if target.rules.dots_fold else key


def _scope(tool: Tool, target: Target) -> str:
    return tool.server if target.rules.unique == "server" else ""
