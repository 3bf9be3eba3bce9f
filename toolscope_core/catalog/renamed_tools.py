"""Finds tools that were renamed between two versions of a catalog."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import grouped
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool

RENAME_THRESHOLD = 0.75
"""The lowest similarity of a renamed tool, computed as 0.4 name + 0.4 description + 0.2 parameter
names.

It was measured on two collections of MCP servers. If one word of the name is replaced by a synonym,
98 and 99.7 % of the tools are found; if a third of the description is removed too, 83 and 91 %.
"""

MOST_PAIRS = 4_000_000
"""If there are more pairs of unmatched tools than this, renamed tools are not searched for."""

COMPARED_TEXT = 400
"""The number of characters of a description that are compared."""


def renames(removed: Sequence[Tool], added: Sequence[Tool]) -> list[tuple[Tool, Tool]]:
    """Pairs of a removed and an added tool that are one renamed tool, the most similar first.

    The matching is greedy and one to one, with ties broken by id. Swapping the sides gives the same
    pairs.
    """
    if not 0 < len(removed) * len(added) <= MOST_PAIRS:
        return []
    alike = _likeness(removed, added)
    rows, columns = np.nonzero(alike >= RENAME_THRESHOLD)
    ranked = sorted(
        zip(rows.tolist(), columns.tolist(), strict=True),
        key=lambda at: (-alike[at], Pair.of(removed[at[0]].id, added[at[1]].id)),
    )
    left, right = set(range(len(removed))), set(range(len(added)))
    pairs = []
    for row, column in ranked:
        if row in left and column in right:
            left.remove(row)
            right.remove(column)
            pairs.append((removed[row], added[column]))
    return pairs


def new_ids_of(earlier: Sequence[Tool], catalog: Catalog) -> dict[str, str]:
    """The ids that have changed, by old id, for the tools in ``earlier``, which are part of a
    catalog.

    The rest of the earlier catalog is unknown. Copies on other servers are nearly as similar as the
    renamed tool. So the new tool is searched for only on the same server, or if that server is
    gone, on servers that none of the ``earlier`` tools had.
    """
    ids, servers = {tool.id for tool in earlier}, {tool.server for tool in earlier}
    common_servers = {tool.server for tool in catalog.tools} & servers

    def home(tool: Tool) -> str | None:
        return tool.server if tool.server in common_servers else None

    removed = grouped((tool for tool in earlier if tool.id not in catalog.by_id), home)
    added = grouped((tool for tool in catalog.tools if tool.id not in ids), home)
    pairs = (pair for at, tools in removed.items() for pair in renames(tools, added.get(at, [])))
    return {old.id: new.id for old, new in pairs}


def _likeness(removed: Sequence[Tool], added: Sequence[Tool]) -> np.ndarray[Any, Any]:
    """The similarity in [0, 1] of every removed tool (rows) to every added tool (columns).

    Tools with the same name on the same server count as the same tool, whatever their ids.
    """
    from rapidfuzz import fuzz, process, utils

    def text(parts: Sequence[str], others: Sequence[str]) -> np.ndarray[Any, Any]:
        clean, match = ([utils.default_process(part) for part in p] for p in (parts, others))
        ratios = process.cdist(clean, match, scorer=fuzz.token_sort_ratio, dtype=np.float64) / 100
        blank = np.outer([not part for part in clean], [not part for part in match])
        return np.where(blank, 1.0, ratios)

    names = text([tool.name for tool in removed], [tool.name for tool in added])
    descriptions = text(
        [tool.description[:COMPARED_TEXT] for tool in removed],
        [tool.description[:COMPARED_TEXT] for tool in added],
    )
    old, new = ([{p.name for p in tool.parameters} for tool in side] for side in (removed, added))
    overlap = np.array([[len(a & b) / len(a | b) if a or b else 1.0 for b in new] for a in old])
    is_same = np.array([[(a.server, a.name) == (b.server, b.name) for b in added] for a in removed])
    return np.where(is_same, 1.0, np.round(0.4 * names + 0.4 * descriptions + 0.2 * overlap, 9))
