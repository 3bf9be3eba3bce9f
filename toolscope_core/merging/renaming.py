"""Tools of a plan changed on the way out: φ and what cites them follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolscope_core.datamodel import MergePlan, Relabel, Tool
from toolscope_core.merging.integrity import check_plan
from toolscope_core.merging.plan import find_dangling


def with_tools(plan: MergePlan, changed: Mapping[str, Tool]) -> MergePlan:
    """The plan with some outgoing tools replaced by others of the same id, such as renamed ones.

    Argument maps stay: parameters are not renamed here.
    """
    tools = tuple(replace(item, tool=changed.get(item.tool.id, item.tool)) for item in plan.tools)
    names = {item.tool.id: item.tool.name for item in tools}
    relabels = tuple(_renamed(row, names[row.new_id]) for row in plan.relabels)
    amended = replace(plan, tools=tools, relabels=relabels, dangling=find_dangling(tools, relabels))
    check_plan(amended)
    return amended


def _renamed(row: Relabel, name: str) -> Relabel:
    if row.old_id != row.new_id:
        return replace(row, new_name=name)
    return replace(row, new_name=name, status="kept" if name == row.old_name else "renamed")
