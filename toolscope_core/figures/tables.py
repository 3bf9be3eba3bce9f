"""The table twin of every picture: the same facts in rows, for those who cannot use the picture."""

from __future__ import annotations

import numpy as np

from toolscope_core.figures.views import Grid, Histogram, Network, ToolMap

Row = dict[str, str | float | int]


def histogram_rows(view: Histogram) -> list[Row]:
    """The bins that hold pairs, the closest first."""
    return [
        {"from": view.edges[at], "to": view.edges[at + 1], "pairs": int(view.counts[at])}
        for at in np.flatnonzero(view.counts)[::-1].tolist()
    ]


def grid_rows(grid: Grid) -> list[Row]:
    """The cells that can be chosen, in their order."""
    return [
        {
            "one": grid.rows[row],
            "other": grid.columns[column],
            grid.measure: round(float(grid.values[row, column]), 4),
        }
        for row, column in grid.cells.tolist()
    ]


def map_rows(tools: ToolMap) -> list[Row]:
    """A row for each tool, in the order given."""
    columns = zip(tools.names, tools.servers, tools.clustered, tools.points.round(3), strict=True)
    return [
        {"tool": name, "server": server, "in a cluster": "yes" if inside else "", "x": x, "y": y}
        for name, server, inside, (x, y) in columns
    ]


def network_rows(part: Network) -> list[Row]:
    """A row for each edge: those kept apart first, then the weakest."""
    names = {node.id: node.name for node in part.nodes}
    servers = {node.id: node.server for node in part.nodes}
    return [
        {
            "one": names[edge.pair.left],
            "its server": servers[edge.pair.left],
            "other": names[edge.pair.right],
            "other's server": servers[edge.pair.right],
            "probability": round(edge.probability, 3),
            "note": "never merge" if edge.forbidden else "bridge" if edge.bridge else "",
        }
        for edge in sorted(part.edges, key=lambda e: (not e.forbidden, e.probability, e.pair))
    ]
