"""What the pictures show, without any drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from toolscope_core.datamodel import Pair

Measure = Literal["pairs", "mean", "max", "cosine"]
NodeState = Literal["proposed", "accepted", "rejected", "stale", "conflict", "alone"]


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A heatmap: ``values`` is float64 of shape (rows, columns), NaN for an empty cell.

    ``measure`` says what a cell holds: ``pairs`` a count from 1 (coloured by its logarithm),
    ``mean`` and ``max`` of the cosines between two blocks, ``cosine`` that of two tools. ``cells``
    is int64 of shape (k, 2): the cells that can be chosen, as (row, column), the highest first; of
    a ``symmetric`` grid each once, on or above the diagonal.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    measure: Measure
    cells: NDArray[np.int64]
    symmetric: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ToolMap:
    """Tools on a plane: ``points`` is float64 of shape (n, 2), the rest has one entry a tool.

    ``clustered`` is bool of shape (n,): whether the tool is in a cluster.
    """

    points: NDArray[np.float64]
    names: tuple[str, ...]
    servers: tuple[str, ...]
    clustered: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Node:
    """A tool in the merge graph, with the state of its cluster; ``alone`` where it has none."""

    id: str
    name: str
    server: str
    state: NodeState


@dataclass(frozen=True, slots=True)
class Edge:
    """Two tools joined with a merge probability, or kept apart by a person (``forbidden``)."""

    pair: Pair
    probability: float
    bridge: bool = False
    forbidden: bool = False


@dataclass(frozen=True, slots=True)
class Network:
    """A part of the merge graph; both ends of every edge are among the nodes.

    ``left_out`` tools did not fit beside the nodes.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How many pairs of tools (int64, one count a bin) have which cosine; θ is ``threshold``.

    ``edges`` ascend and have one entry more than ``counts``.
    """

    counts: NDArray[np.int64]
    edges: tuple[float, ...]
    threshold: float
