"""FastMCP, a gateway with tool transforms."""

from collections.abc import Sequence
from typing import Any

from toolscope_core.catalog.clients.client import Client, Switch, json_text
from toolscope_core.model.plan import MergePlan

_NO_TOOL = "toolscope:none"


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of an MCP configuration with FastMCP's tool transforms; commands are the user's. Of a
    server that goes only tools with a tag are let through that none has.
    """
    servers: dict[str, Any] = {}
    for switch in switches:
        if switch.is_off:
            servers[switch.server] = {"include_tags": [_NO_TOOL]}
            continue
        tools: dict[str, Any] = {name: {"enabled": False} for name in switch.off}
        tools |= {name: {"description": text} for name, text in sorted(switch.described.items())}
        if tools:
            servers[switch.server] = {"tools": tools}
    return json_text({"mcpServers": servers})


FASTMCP = Client(
    name="fastmcp",
    title="FastMCP",
    goes=(
        "Add what it says of each server to that server's entry in the configuration that you"
        " give to `fastmcp run`."
    ),
    file="clients/fastmcp.json",
    write=_write,
)
