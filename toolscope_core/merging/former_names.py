"""The names under which agents called each server's tools, after this export and all earlier ones.

A bundle contains these names and can be loaded again, so they persist from round to round. A name
never comes to mean another server's tool.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolscope_core.catalog.calls import renamed_inside
from toolscope_core.catalog.formats.neutral import former_names_in
from toolscope_core.catalog.formats.offered_names import names_among, unique_names
from toolscope_core.catalog.relabelling import names_now
from toolscope_core.catalog.sources import files_of
from toolscope_core.files.folders import DAMAGE, read_file
from toolscope_core.merging.clusters import check_plan, find_dangling
from toolscope_core.model.catalog import Catalog, FormerName
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove, NestedRename, grouped
from toolscope_core.model.plan import MergePlan, Relabel
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.model.unicode_forms import comparable_name


def names_after(plan: MergePlan) -> tuple[FormerName, ...]:
    """The former names, sorted by name and then by server.

    These are the names in the input, its former names, and the names that are exported and served
    now. Each comes with the tool of the plan that it means now.
    """
    outgoing, earlier = [item.tool for item in plan.tools], plan.catalog.former_names
    came_in = [FormerName(tool.name, tool.server, tool.id) for tool in plan.catalog.tools]
    alphas = {alpha.tool_id: alpha for alpha in plan.arguments}
    leaving = [FormerName(tool.name, tool.server, tool.id) for tool in outgoing]
    before = names_now(earlier, plan.phi, alphas)
    now = [*names_now(came_in, plan.phi, alphas), *leaving]
    rows = _joined(before, _of_nobody_else(now, before))
    new_names = unique_names(outgoing, (tool.name for tool in plan.catalog.tools), rows)
    by_id = {tool.id: tool for tool in outgoing}
    return _joined(rows, [FormerName(new_names[one], by_id[one].server, one) for one in new_names])


def served_names(plan: MergePlan, tools: Sequence[Tool]) -> dict[str, str]:
    """The name under which a bundle of the plan serves each of these tools, by id."""
    own = {tool.id: tool.name for tool in tools}
    came_in = (tool.name for tool in plan.catalog.tools)
    return own | unique_names(tools, came_in, names_after(plan))


def with_names_of(catalog: Catalog, folder: Path) -> Catalog:
    """The catalog with the names from the bundle in ``folder``, if there is one; the catalog's own
    bundle will replace it.
    """
    try:
        parts = [json.loads(read_file(path)) for path in files_of(folder, "neutral.json")]
    except DAMAGE:
        return catalog
    return with_earlier_names(catalog, [one for part in parts for one in former_names_in(part)])


def with_earlier_names(catalog: Catalog, names: Iterable[FormerName]) -> Catalog:
    """The catalog with those ``names`` of an earlier export that mean one of its tools."""
    earlier = names_among(catalog.tools, names)
    return replace(catalog, former_names=_joined(earlier, catalog.former_names))


def _of_nobody_else(names: Iterable[FormerName], earlier: Iterable[FormerName]) -> list[FormerName]:
    """The names that no other tool had before; a new tool with such a name gets another one."""
    owners = grouped(earlier, lambda one: comparable_name(one.name))

    def is_free(name: FormerName) -> bool:
        rows = owners.get(comparable_name(name.name), [name])
        meant = {one.tool_id for one in rows} - {""}
        is_own = not meant or not name.tool_id or name.tool_id in meant
        return is_own and {one.server for one in rows} == {name.server}

    return [one for one in names if is_free(one)]


def _joined(earlier: Iterable[FormerName], now: Iterable[FormerName]) -> tuple[FormerName, ...]:
    """The names ``now``, together with the earlier ones that a server no longer uses."""
    rows = set(now)
    names_in_use = {(one.name, one.server) for one in rows}
    rows |= {one for one in earlier if (one.name, one.server) not in names_in_use}
    return tuple(sorted(rows, key=lambda one: (one.name, one.server, one.tool_id, one.maps)))


@dataclass(frozen=True, slots=True)
class NewNames:
    """New names of a tool's parameters: ``top`` by old name, and ``nested`` ones, outermost first.

    ``top`` may include a parameter that is declared only in an alternative at the top of the
    schema.
    """

    top: Mapping[str, str]
    nested: Sequence[NestedRename] = ()


def with_tools(
    plan: MergePlan, changed: Mapping[str, Tool], renamed: Mapping[str, NewNames] | None = None
) -> MergePlan:
    """The plan with some outgoing tools replaced by others with the same id, such as renamed ones.

    ``renamed`` gives the new parameter names for each id. The α of every tool that was merged into
    such a tool is composed with them, and created if there was none.
    """
    renamed = renamed or {}
    tools = tuple(replace(item, tool=changed.get(item.tool.id, item.tool)) for item in plan.tools)
    names = {item.tool.id: item.tool.name for item in tools}
    relabels = tuple(
        _renamed(row, names[row.new_id]) if row.new_id is not None else row for row in plan.relabels
    )
    alphas = {alpha.tool_id: alpha for alpha in plan.arguments}
    for item in plan.tools:
        if item.tool.id in renamed:
            for member in item.members:
                alpha = alphas.get(member) or identity_map(item.tool)
                alphas[member] = composed(alpha, renamed[item.tool.id])
    amended = replace(
        plan,
        tools=tools,
        relabels=relabels,
        arguments=tuple(alpha for _, alpha in sorted(alphas.items())),
        dangling=find_dangling(tools, relabels),
    )
    check_plan(amended)
    return amended


def composed(alpha: ArgumentMap, new: NewNames) -> ArgumentMap:
    """α, followed by the new parameter names of its target tool."""
    moves = [replace(move, target=new.top.get(move.target, move.target)) for move in alpha.moves]
    spoken_of = {name for move in alpha.moves for name in (move.source, move.target)}
    spoken_of |= alpha.constants.keys() | alpha.dropped.keys()
    moves += [ArgumentMove(old, name) for old, name in new.top.items() if old not in spoken_of]
    constants: JsonObject = {new.top.get(key, key): value for key, value in alpha.constants.items()}
    for rename in new.nested:
        constants = renamed_inside(constants, rename.source, rename.target, [])
    older = [_lifted(rename, new.top) for rename in alpha.nested]
    return replace(alpha, moves=tuple(moves), constants=constants, nested=(*older, *new.nested))


def _lifted(rename: NestedRename, top: Mapping[str, str]) -> NestedRename:
    """A nested rename, with the new name of the argument that contains it."""

    def lifted(pointer: str) -> str:
        _, first, rest = pointer.split("/", 2)
        name = first.replace("~1", "/").replace("~0", "~")
        new = top.get(name, name).replace("~", "~0").replace("/", "~1")
        return f"/{new}/{rest}"

    return NestedRename(lifted(rename.source), lifted(rename.target))


def identity_map(tool: Tool) -> ArgumentMap:
    """The argument map of a tool that takes its calls as they are."""
    moves = tuple(ArgumentMove(parameter.name, parameter.name) for parameter in tool.parameters)
    return ArgumentMap(tool.id, tool.id, moves)


def _renamed(row: Relabel, name: str) -> Relabel:
    if row.old_id != row.new_id:
        return replace(row, new_name=name)
    return replace(row, new_name=name, status="kept" if name == row.old_name else "renamed")
