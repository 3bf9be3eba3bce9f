"""FastMCP, a gateway with tool transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolscope_core.catalog.clients.client import Client, Switch, json_text
from toolscope_core.model.plan import MergePlan


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of an MCP configuration with FastMCP's tool transforms; commands are the user's."""
    servers = {}
    for switch in switches:
        tools: dict[str, Any] = {name: {"enabled": False} for name in switch.off}
        tools |= {name: {"description": text} for name, text in sorted(switch.described.items())}
        if tools:
            servers[switch.server] = {"tools": tools}
    return json_text({"mcpServers": servers})


FASTMCP = Client(name="fastmcp", title="FastMCP", file="clients/fastmcp.json", write=_write)
