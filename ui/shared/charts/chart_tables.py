"""The table of every figure: the same facts in rows, for those who cannot use the figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from ui.shared.charts.figure_records import (
    Curve,
    Edge,
    Grid,
    Link,
    Network,
    Silhouettes,
    Sweep,
    ToolMap,
)

TableRow = dict[str, str | float | int]

LINKS: Mapping[Link, str] = {
    "merge": "merge (judge)",
    "joined": "merge (accepted by a person)",
    "family": "family: the same operation for another value",
    "unsure": "unsure (judge)",
    "never": "never merge (accepted by a person)",
}


def curve_rows(view: Curve) -> list[TableRow]:
    """A row for each threshold, ascending: the pairs of each variant, and how they changed."""
    columns: dict[str, list[int] | list[str]] = {}
    for place, variant in enumerate(view.variants):
        columns[f"pairs, {variant.name}"] = variant.pairs.tolist()
        if place:
            columns[f"change, {variant.name}"] = [_percent(x) for x in view.change(variant)]
    return [
        {"from": threshold, **{name: values[at] for name, values in columns.items()}}
        for at, threshold in enumerate(view.thresholds)
    ]


def grid_rows(grid: Grid) -> list[TableRow]:
    """The cells that can be chosen, in their order."""
    return [
        {
            "one": grid.rows[row],
            "other": grid.columns[column],
            grid.measure: round(float(grid.values[row, column]), 4),
        }
        for row, column in grid.cells.tolist()
    ]


def map_rows(tools: ToolMap) -> list[TableRow]:
    """A row for each tool of the first panel, with the point of each further one that holds it."""
    first, *others = tools.panels
    rows: list[TableRow] = [
        {"tool": name, "server": server, tools.by: group, "x": x, "y": y}
        for name, server, group, (x, y) in zip(
            first.names, first.servers, first.groups, first.points.round(3).tolist(), strict=True
        )
    ]
    if tools.by == "server":
        rows = [{key: row[key] for key in ("tool", "server", "x", "y")} for row in rows]
    for panel in others:
        for name, members in zip(panel.names, panel.members, strict=True):
            for member in members:
                merged = f"{name} ({len(members)} tools)" if len(members) > 1 else "as it is"
                rows[member] = {**rows[member], panel.title: merged}
    return rows


def silhouette_rows(view: Silhouettes) -> list[TableRow]:
    """A row for each number of clusters, ascending."""
    return [
        {
            "clusters": count,
            **{
                name: "" if np.isnan(values[at]) else round(float(values[at]), 4)
                for name, _, values in view.variants
            },
        }
        for at, count in enumerate(view.counts)
    ]


def network_rows(part: Network) -> list[TableRow]:
    """A row for each edge, in the order of ``doubtful_first``."""
    nodes = {node.id: node for node in part.nodes}
    return [
        {
            "tool A": nodes[edge.pair.left].name,
            "server A": nodes[edge.pair.left].server,
            "tool B": nodes[edge.pair.right].name,
            "server B": nodes[edge.pair.right].server,
            "relation": LINKS[edge.link],
            "probability": round(edge.probability, 3),
            "cutting it leaves": "{:,} and {:,}".format(*edge.parts) if edge.parts else "",
        }
        for edge in doubtful_first(part)
    ]


def doubtful_first(part: Network) -> tuple[Edge, ...]:
    """The edges: those kept apart, those in doubt, bridges, then the weakest; families last."""
    order: tuple[Link, ...] = ("never", "unsure")
    return tuple(
        sorted(
            part.edges,
            key=lambda e: (
                e.link != order[0],
                e.link != order[1],
                e.link == "family",
                not e.parts,
                e.probability,
                e.pair,
            ),
        )
    )


def node_rows(part: Network) -> list[TableRow]:
    """A row for each tool, in the order of the nodes."""
    joined = Counter(
        end for edge in part.edges if edge.joins for end in (edge.pair.left, edge.pair.right)
    )
    return [
        {"tool": n.name, "server": n.server, "state": n.state, "joined to": joined[n.id]}
        for n in part.nodes
    ]


def sweep_rows(view: Sweep) -> list[TableRow]:
    """A row for each value, ascending."""
    columns = zip(
        view.values,
        view.removed.tolist(),
        view.accepted.tolist(),
        view.rejected.tolist(),
        view.right.tolist(),
        strict=True,
    )
    return [
        {
            view.measure: value,
            "tools removed before correction": removed,
            "accepted pairs": accepted,
            "rejected pairs": rejected,
            "right": "" if np.isnan(right) else f"{right:.1%}",
        }
        for value, removed, accepted, rejected, right in columns
    ]


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{share:+.1%}"
