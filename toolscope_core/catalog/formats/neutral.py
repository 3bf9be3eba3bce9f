"""ToolScope's own format: every part of a tool, with the tools that a merged one stands for."""

from collections.abc import Sequence
from typing import Any

from toolscope_core.catalog.bundle_versions import TOOLSET
from toolscope_core.catalog.formats.record_format import RecordFormat, places
from toolscope_core.catalog.formats.target import ANY_NAMES
from toolscope_core.model.catalog import FormerName, Server
from toolscope_core.model.groups import grouped
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject

NAMES = "former_names"
"""By name the servers whose tools agents called so: with the id of the tool now, and the maps."""


def names_written(names: Sequence[FormerName]) -> JsonObject:
    """The names as they stand beside the tools. Nothing in it looks like a tool."""
    rows = grouped(names, lambda one: one.name)
    listed = {
        name: [[one.server, one.tool_id, one.maps] for one in own] for name, own in rows.items()
    }
    return {NAMES: listed} if listed else {}


def names_in(document: Any) -> tuple[FormerName, ...]:
    """The names in a document in this shape; what is of another form is left out."""
    listed = document.get(NAMES) if isinstance(document, dict) else None
    return tuple(
        FormerName(name, *row)
        for name, rows in (listed.items() if isinstance(listed, dict) else ())
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, list) and len(row) == 3 and all(isinstance(text, str) for text in row)
    )


class _Neutral(RecordFormat):
    def document(
        self, records: Sequence[JsonObject], tools: Sequence[MergedTool], servers: Sequence[Server]
    ) -> Any:
        return {
            "version": TOOLSET,
            "servers": [
                {"name": server.name, "description": server.description} for server in servers
            ],
            "tools": [
                {**record, "members": list(item.members)}
                for record, item in zip(records, tools, strict=True)
            ],
        }


NEUTRAL = _Neutral(
    name="neutral",
    title="Neutral",
    goes="One JSON object for programs of your own; ToolScope reads it again as a catalog.",
    rules=ANY_NAMES,
    offered=6,
    marks=lambda record: {"id", "server", "name", "parameters", "members"} <= record.keys(),
    template={
        **{"id": "", "server": "", "name": "", "description": "", "parameters": None},
        **{"returns": None, "annotations": {}},
    },
    places=places(
        id="id",
        server="server",
        name="name",
        description="description",
        schema="parameters",
        returns="returns",
        annotations="annotations",
    ),
)
