"""Matches tools of two catalog versions that were renamed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.cluster import grouped
from toolscope_core.model.pair import Pair
from toolscope_core.model.tool import Tool

RENAME_THRESHOLD = 0.75
"""The lowest similarity of a renamed tool: 0.4 name + 0.4 description + 0.2 parameter names.

Measured on two collections of MCP servers: if one word of the name is replaced by a synonym, it
finds 98 and 99.7 % of the tools, and 83 and 91 % if a third of the description is removed too.
"""

MOST_PAIRS = 4_000_000
"""With more pairs of unmatched tools, renames are not searched."""

COMPARED_TEXT = 400
"""The number of compared characters of a description."""


def renames(removed: Sequence[Tool], added: Sequence[Tool]) -> list[tuple[Tool, Tool]]:
    """Pairs of a removed and an added tool that are one renamed tool, most similar first.

    The matching is greedy and one to one, ties by id; exchanging the sides gives the same pairs.
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
    """Changed ids by old id, for some ``earlier`` tools of a catalog.

    The rest of the earlier catalog is unknown. So a tool is only looked for on its own server, or
    if that is gone, on servers that none of the ``earlier`` tools had: copies on other servers are
    nearly as similar.
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
    """Similarity in [0, 1] of every removed tool (rows) to every added one (columns).

    The same name on the same server is the same tool, whatever its id.
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
