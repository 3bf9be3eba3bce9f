"""A client of a gateway in the same program."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client, MCPError
from pydantic import ValidationError

from toolscope_core.mcp.gateway.gateway_server import Gateway, gateway_server
from toolscope_core.model.tool import JsonObject


@asynccontextmanager
async def own_client(
    gateway: Gateway, version: str, mode: str = "legacy", **callbacks: Any
) -> AsyncIterator[Client]:
    """A client that is connected; ``mode`` and ``callbacks`` as the SDK's ``Client`` takes them."""
    server = gateway_server(gateway, version)
    async with Client(server, mode=mode, cache=None, **callbacks) as client:
        yield client


async def result_in_words(client: Client, name: str, arguments: JsonObject) -> tuple[str, bool]:
    """What a tool answers, as a text, and whether that is an error."""
    try:
        result = await client.call_tool(name, dict(arguments))
    except MCPError as error:
        return error.message, True
    except (RuntimeError, ValidationError) as error:  # the result is not what its schema says
        return f"{name} gave a result that cannot be read: {error}", True
    parts = [
        part.text if part.type == "text" else f"[{part.type} that is not shown]"
        for part in result.content
    ]
    return "\n".join(parts) or "done", bool(result.is_error)
