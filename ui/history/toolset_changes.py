"""Two states of a merged toolset side by side: what is unchanged, merged, split, new and gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import networkx as nx

from toolscope_core.model.plan import MergedTool, MergePlan

Kind = Literal["merged", "split", "regrouped", "reworded", "new", "gone", "unchanged"]
KINDS: tuple[Kind, ...] = ("merged", "split", "regrouped", "reworded", "new", "gone", "unchanged")
"""In the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class ToolsetChange:
    """Tools of the toolset before and after that stand for the same original tools, in id order.

    *merged*: fewer stand for them, or one for more; *split*: the other way round; *regrouped*:
    several before, several after; *reworded*: the same originals under another id, name,
    description or schema; *new* and *gone*: on one side only.
    """

    kind: Kind
    before: tuple[MergedTool, ...]
    after: tuple[MergedTool, ...]


def toolset_changes(before: MergePlan, after: MergePlan) -> tuple[ToolsetChange, ...]:
    """Every tool of both toolsets once, in the order of ``KINDS`` and then of ids."""
    sides = nx.Graph()
    for side, plan in enumerate((before, after)):
        for place, tool in enumerate(plan.tools):
            sides.add_edges_from(((side, place), member) for member in tool.members)
    changes = []
    for part in nx.connected_components(sides):
        places = sorted(node for node in part if isinstance(node, tuple))
        old = tuple(before.tools[place] for side, place in places if side == 0)
        new = tuple(after.tools[place] for side, place in places if side == 1)
        changes.append(ToolsetChange(_kind(old, new), old, new))
    return tuple(sorted(changes, key=lambda one: (KINDS.index(one.kind), _first_id(one))))


def counted(changes: Iterable[ToolsetChange]) -> str:
    """How many of each kind, in one phrase, without the unchanged; empty where nothing changed."""
    counts = Counter(change.kind for change in changes)
    return ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS[:-1] if counts[kind])


def change_rows(changes: Iterable[ToolsetChange]) -> list[dict[str, str]]:
    """A row for each change: what became what."""
    return [
        {
            "change": one.kind,
            "before": _listed(one.before),
            "after": _listed(one.after),
            "what": ", ".join(_reworded(one)),
        }
        for one in changes
    ]


def _kind(old: tuple[MergedTool, ...], new: tuple[MergedTool, ...]) -> Kind:
    if not old:
        return "new"
    if not new:
        return "gone"
    if len(old) > 1 and len(new) > 1:
        return "regrouped"
    if len(old) != len(new):
        return "merged" if len(old) > len(new) else "split"
    was, now = old[0], new[0]
    if was.members != now.members:
        return "merged" if len(now.members) > len(was.members) else "split"
    return "reworded" if _read_by_agents(was) != _read_by_agents(now) else "unchanged"


def _read_by_agents(item: MergedTool) -> dict[str, object]:
    tool = item.tool
    return {
        "id": tool.id,
        "name": tool.name,
        "description": tool.description,
        "parameters": replace(tool, id="", name="", description="").fingerprint,
    }


def _reworded(change: ToolsetChange) -> list[str]:
    """The fields that agents read otherwise, where one tool became one."""
    if len(change.before) != 1 or len(change.after) != 1:
        return []
    was, now = _read_by_agents(change.before[0]), _read_by_agents(change.after[0])
    return [name for name in was if was[name] != now[name]]


def _listed(tools: tuple[MergedTool, ...]) -> str:
    return "; ".join(
        item.tool.id
        if item.members == (item.tool.id,)
        else f"{item.tool.id} ← {', '.join(one for one in item.members if one != item.tool.id)}"
        for item in tools
    )


def _first_id(change: ToolsetChange) -> str:
    return min(item.tool.id for item in (*change.before, *change.after))
