"""Tools in blocks: by server, by a category field, or by cluster."""

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

    ``rows`` (int64) are those of the catalog; ``key`` stays the same when the catalog is opened
    again.
    """

    key: str
    name: str
    rows: ToolRows

    def __len__(self) -> int:
        return len(self.rows)


def groupings(catalog: Catalog) -> tuple[str, ...]:
    """The possible groupings of tools: servers, category fields of records, clusters of the plan.

    Servers implied for less than half of the tools come last. A category field has a short text on
    most tools, with at most half as many different values as tools; for paths such as
    ``Science/Geology`` the first step counts if that helps.
    """
    owned = sum(bool(tool.owner) for tool in catalog.tools)
    others = (*sorted(_categories(catalog)), CLUSTERS)
    if not owned:
        return others
    return (SERVERS, *others) if 2 * owned >= len(catalog.tools) else (*others, SERVERS)


def blocks_of(plan: MergePlan, field: str) -> tuple[ToolBlock, ...]:
    """The blocks of a grouping, by key; tools without a value are in none."""
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
    """The category fields, each with its value for every tool, empty if it has none."""
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
