"""MCP's ``tools/list``, of one server or of many."""

from collections.abc import Sequence, Set
from dataclasses import replace

from toolscope_core.catalog.formats.mcp_records import readable_record, without_nulls
from toolscope_core.catalog.formats.record_format import RecordFormat, places
from toolscope_core.catalog.formats.target import DOTTED, Rules
from toolscope_core.model.catalog import Server
from toolscope_core.model.tool import JsonObject


class _Mcp(RecordFormat):
    def suits(
        self, records: Sequence[JsonObject], lists: Set[str], servers: Sequence[Server]
    ) -> bool:
        """Under ``tools`` a record that says nothing of its parameters still is an MCP tool."""
        listed = "" not in lists or any({"inputSchema", "arguments"} & r.keys() for r in records)
        return listed and not any(server.raw for server in servers)

    def sendable(self, record: JsonObject, is_new: bool) -> JsonObject:
        record = without_nulls(record)
        return readable_record(record).record if is_new else record

    def holder(self, server: Server) -> JsonObject:
        return super().holder(replace(server, raw={}))


MCP = _Mcp(
    name="mcp",
    title="MCP",
    goes="What each server answers to `tools/list`, for a server or gateway of your own.",
    rules=Rules(name_rule=DOTTED, longest_name=128, unique="server", mcp_record=True),
    source="https://modelcontextprotocol.io/specification/2025-11-25/server/tools",
    as_of="2026-11",
    offered=4,
    in_prompts=True,
    needs_schema=True,
    marks=lambda record: (
        "name" in record and isinstance(record.get("arguments"), (list, type(None)))
    ),
    template={"name": "", "description": "", "inputSchema": {"type": "object"}},
    list_key="tools",
    places=places(
        server="server server_name",
        name="name",
        description="description",
        schema="inputSchema arguments",
        returns="outputSchema",
        annotations="annotations",
    ),
)
