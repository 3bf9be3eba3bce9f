"""Tools of a plan changed on the way out: φ, α and what cites them follow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from toolscope_core.merging.calls import renamed_inside
from toolscope_core.merging.clusters import find_dangling
from toolscope_core.merging.integrity import check_plan
from toolscope_core.model.argument_map import ArgumentMap, ArgumentMove, NestedRename
from toolscope_core.model.plan import MergePlan, Relabel
from toolscope_core.model.tool import JsonObject, Tool


@dataclass(frozen=True, slots=True)
class NewNames:
    """New names of a tool's parameters: ``top`` by old name, ``nested`` below, outer ones first.

    ``top`` may name a parameter that only an alternative at the top of the schema declares.
    """

    top: Mapping[str, str]
    nested: Sequence[NestedRename] = ()


def with_tools(
    plan: MergePlan, changed: Mapping[str, Tool], renamed: Mapping[str, NewNames] | None = None
) -> MergePlan:
    """The plan with some outgoing tools replaced by others of the same id, such as renamed ones.

    ``renamed`` says by the same id which parameters have new names: α of every tool that became
    this one is composed with that, and a tool that had none gets one.
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
                alpha = alphas.get(member) or _identity(item.tool)
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
    """α followed by new names for the parameters of the tool that it leads to."""
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
    """A nested rename under the new name of the argument it stands in."""

    def lifted(pointer: str) -> str:
        _, first, rest = pointer.split("/", 2)
        name = first.replace("~1", "/").replace("~0", "~")
        new = top.get(name, name).replace("~", "~0").replace("/", "~1")
        return f"/{new}/{rest}"

    return NestedRename(lifted(rename.source), lifted(rename.target))


def _identity(tool: Tool) -> ArgumentMap:
    moves = tuple(ArgumentMove(parameter.name, parameter.name) for parameter in tool.parameters)
    return ArgumentMap(tool.id, tool.id, moves)


def _renamed(row: Relabel, name: str) -> Relabel:
    if row.old_id != row.new_id:
        return replace(row, new_name=name)
    return replace(row, new_name=name, status="kept" if name == row.old_name else "renamed")
