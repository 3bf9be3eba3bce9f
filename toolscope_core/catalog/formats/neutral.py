"""ToolScope's own format: every part of a tool, with the tools that a merged one stands for."""

from collections.abc import Sequence
from typing import Any

from toolscope_core.catalog.bundle_versions import TOOLSET
from toolscope_core.catalog.formats.record_format import RecordFormat, places
from toolscope_core.catalog.formats.target import ANY_NAMES
from toolscope_core.model.catalog import Server
from toolscope_core.model.plan import MergedTool
from toolscope_core.model.tool import JsonObject


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
