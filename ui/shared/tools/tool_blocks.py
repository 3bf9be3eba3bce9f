"""Tools in blocks: grouped by server, by a category field, or by cluster."""

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolscope_core.model.catalog import Catalog
from toolscope_core.model.plan import MergePlan

ToolRows = NDArray[np.int64]

SERVERS, CLUSTERS = "servers", "clusters"
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9 _-]{0,30}")
_NO_FIELDS = {SERVERS, CLUSTERS, "server"}
_LONGEST_VALUE = 120


@dataclass(frozen=True, slots=True, eq=False)
class ToolBlock:
    """Tools that belong together.

    ``rows`` (int64) are their rows in the catalog. ``key`` stays the same when the catalog is
    opened again.
    """

    key: str
    name: str
    rows: ToolRows

    def __len__(self) -> int:
        return len(self.rows)


def groupings(catalog: Catalog) -> tuple[str, ...]:
    """The ways to group the tools: servers, category fields of the records, and clusters of the
    plan.

    If fewer than half of the tools have a server, servers come last. A category field has a short
    text on most tools, and at most half as many different values as there are tools. For paths such
    as ``Science/Geology``, only the first step counts if the whole paths have too many values.
    """
    owned = sum(bool(tool.owner) for tool in catalog.tools)
    others = (*sorted(_categories(catalog)), CLUSTERS)
    if not owned:
        return others
    return (SERVERS, *others) if 2 * owned >= len(catalog.tools) else (*others, SERVERS)


def blocks_of(plan: MergePlan, field: str) -> tuple[ToolBlock, ...]:
    """The blocks of a grouping, sorted by key. A tool without a value is in no block."""
    tools = plan.catalog.tools
    if field == CLUSTERS:
        rows = {tool.id: row for row, tool in enumerate(tools)}
        groups = {c.id: (c.document.name, [rows[m] for m in c.members]) for c in plan.clusters}
    else:
        owners = [t.owner for t in tools] if field == SERVERS else _categories(plan.catalog)[field]
        groups = {}
        for row, key in enumerate(owners):
            if key:
                groups.setdefault(key, (key, []))[1].append(row)
    return tuple(
        ToolBlock(key, name, np.array(sorted(rows), dtype=np.int64))
        for key, (name, rows) in sorted(groups.items())
    )


def _categories(catalog: Catalog) -> dict[str, list[str]]:
    """The category fields, each with its value for every tool. The value is empty if the tool has
    none.
    """
    filled = Counter(
        key
        for tool in catalog.tools
        for key, value in tool.raw.items()
        if _text(value) and value not in {tool.name, tool.description}
    )
    fields = {}
    for key, count in filled.items():
        if count * 2 > len(catalog.tools) and _FIELD.fullmatch(key) and key not in _NO_FIELDS:
            values = [_text(tool.raw.get(key)) for tool in catalog.tools]
            heads = [value.partition("/")[0].strip() for value in values]
            for owners in (values, heads):
                if 2 <= len(set(owners) - {""}) <= len(owners) / 2:
                    fields[key] = owners
                    break
    return fields


def _text(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= _LONGEST_VALUE else ""
