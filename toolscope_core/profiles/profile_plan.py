"""A plan with the tools of one profile alone, so that every export is one of a profile too."""

from __future__ import annotations

from dataclasses import replace

from toolscope_core.merging.clusters import find_dangling
from toolscope_core.merging.integrity import check_plan
from toolscope_core.model.argument_map import ArgumentMap, ArgumentMove
from toolscope_core.model.cluster import Cluster, Document
from toolscope_core.model.plan import MergePlan, Relabel
from toolscope_core.model.tool import JsonObject, Tool
from toolscope_core.profiles.profile_tools import ProfileTools

FIXED = "its value is fixed in this profile"


def profile_plan(plan: MergePlan, chosen: ProfileTools) -> MergePlan:
    """The plan of which only the tools of a profile leave, in its words: all others are removed in
    φ, and α drops the arguments that are fixed.
    """
    tools = {item.tool.id: item for item in chosen.tools}
    relabels = tuple(_relabel(row, tools[row.new_id].tool if row.new_id in tools else None)
                     for row in plan.relabels)  # fmt: skip
    alphas = {one.tool_id: one for one in plan.arguments if one.to in tools}
    for tool_id, fixed in chosen.fixed.items():
        before = next(item.tool for item in plan.tools if item.tool.id == tool_id)
        for member in tools[tool_id].members:
            alphas[member] = _without(alphas.get(member) or _as_it_is(before), fixed)
    own = plan.catalog.by_id
    texts = {
        tool_id: item.tool.description
        for tool_id, item in tools.items()
        if item.tool.description != own[tool_id].description
    }
    edited = {one.canonical: one for one in plan.edited if one.canonical in tools}
    edited |= {
        tool_id: edited.get(tool_id) or _alone(own[tool_id])
        for tool_id in texts
        if len(tools[tool_id].members) == 1
    }
    made = replace(
        plan,
        clusters=tuple(_worded(one, texts) for one in plan.clusters),
        tools=chosen.tools,
        relabels=relabels,
        arguments=tuple(alpha for _, alpha in sorted(alphas.items())),
        dangling=find_dangling(chosen.tools, relabels),
        eager=None if plan.eager is None else plan.eager & chosen.ids,
        profile=chosen.profile.name,
        edited=tuple(_worded(one, texts) for _, one in sorted(edited.items())),
    )
    check_plan(made)
    return made


def _relabel(row: Relabel, tool: Tool | None) -> Relabel:
    if tool is None:
        return replace(row, new_id=None, new_name=None, status="removed")
    if row.old_id != tool.id:
        return replace(row, new_name=tool.name)
    return replace(
        row, new_name=tool.name, status="kept" if tool.name == row.old_name else "renamed"
    )


def _without(alpha: ArgumentMap, fixed: JsonObject) -> ArgumentMap:
    gone = {move.source: FIXED for move in alpha.moves if move.target in fixed}
    return replace(
        alpha,
        moves=tuple(move for move in alpha.moves if move.target not in fixed),
        constants={key: value for key, value in alpha.constants.items() if key not in fixed},
        dropped={**alpha.dropped, **gone},
        waived=(*alpha.waived, *gone),
    )


def _as_it_is(tool: Tool) -> ArgumentMap:
    moves = tuple(ArgumentMove(parameter.name, parameter.name) for parameter in tool.parameters)
    return ArgumentMap(tool.id, tool.id, moves)


def _worded(cluster: Cluster, texts: dict[str, str]) -> Cluster:
    """The cluster with the description that its tool has in the profile."""
    text = texts.get(cluster.canonical, cluster.document.description)
    return replace(cluster, document=replace(cluster.document, description=text))


def _alone(tool: Tool) -> Cluster:
    """A tool under a description of its own, as a cluster of one."""
    document = Document(tool.name, tool.description, tool.schema, tool.returns, tool.annotations)
    return Cluster(f"p-{tool.id}", (tool.id,), tool.id, "prune", "accepted", 1.0, document, ())
