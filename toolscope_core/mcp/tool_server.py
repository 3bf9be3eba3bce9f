"""An MCP server over standard input and output. Its tools are functions of ToolScope that change
nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.server import Server

from toolscope_core.catalog.calls import call_refusals
from toolscope_core.catalog.scan.hidden import for_agent
from toolscope_core.mcp.gateway.callers import Context
from toolscope_core.mcp.gateway.gateway_server import NAME, RequestsUnderWay
from toolscope_core.mcp.gateway.original_calls import FRESH, McpResult
from toolscope_core.mcp.gateway.running import answer_on_stdio
from toolscope_core.mcp.gateway.tool_calls import tool_error
from toolscope_core.model.errors import ToolScopeError
from toolscope_core.model.numbers import enumerated
from toolscope_core.model.tool import JsonObject, with_texts


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool. ``values`` match the tool's output schema, and ``text`` says in a few
    lines what matters.
    """

    text: str
    values: JsonObject


@dataclass(frozen=True, slots=True)
class ReadingTool:
    """A tool that reads and changes nothing.

    ``answer`` receives arguments that are valid under the JSON Schema ``arguments``. It raises
    ``ToolScopeError`` for errors that the caller can fix.
    """

    name: str
    title: str
    description: str
    arguments: JsonObject
    result: JsonObject
    answer: Callable[[JsonObject], ToolAnswer] = field(repr=False)

    @property
    def record(self) -> JsonObject:
        hints = {"title": self.title, "readOnlyHint": True, "openWorldHint": False}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.arguments,
            "outputSchema": self.result,
            "annotations": hints,
        }

    def call(self, arguments: JsonObject) -> McpResult:
        """The result in the form that MCP uses, with hidden characters in catalog texts written
        out.
        """
        if against := call_refusals(self.arguments, arguments):
            reasons = "; ".join(against)
            return tool_error(f"{self.name} does not accept this: {reasons}; see its input schema")
        try:
            answer = self.answer(arguments)
        except ToolScopeError as error:
            return tool_error(str(error))
        text = {"type": "text", "text": for_agent(answer.text)}
        values = with_texts(answer.values, for_agent)
        return {"content": [text], "structuredContent": values, "isError": False}


def tool_server(tools: Sequence[ReadingTool], instructions: str, version: str) -> Server[Any]:
    """An MCP server with these tools; calls run in a thread, one at a time."""
    by_name = {tool.name: tool for tool in tools}
    turn = anyio.CapacityLimiter(1)

    async def list_tools(
        context: Context, params: types.PaginatedRequestParams | None
    ) -> McpResult:
        return {"tools": [dict(tool.record) for tool in tools], **FRESH}

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> McpResult:
        tool = by_name.get(params.name)
        if tool is None:
            names = enumerated(by_name)
            return {**FRESH, **tool_error(f"there is no tool {params.name!r}; call {names}")}
        result = await to_thread.run_sync(tool.call, params.arguments or {}, limiter=turn)
        return {**FRESH, **result}

    server: Server[Any] = Server(
        NAME,
        version=version,
        instructions=instructions,
        on_list_tools=list_tools,  # type: ignore[arg-type]
        on_call_tool=call_tool,  # type: ignore[arg-type]
    )
    server.middleware += [RequestsUnderWay()]
    return server


def serve_tools(tools: Sequence[ReadingTool], instructions: str, version: str) -> None:
    """Answer on standard input and output until the input ends or the program is stopped."""

    async def run() -> None:
        await answer_on_stdio(tool_server(tools, instructions, version))

    anyio.run(run)
