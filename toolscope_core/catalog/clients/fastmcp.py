"""FastMCP, a gateway with tool transforms."""

from collections.abc import Sequence
from typing import Any

from toolscope_core.catalog.clients.client import Client, SearchFile, Switch, json_text
from toolscope_core.model.plan import MergePlan

_NO_TOOL = "toolscope:none"
_SEARCHING = '''"""The servers of mcp.json: some tools in every prompt, a search for the others."""

import json
from pathlib import Path

from fastmcp.server import create_proxy
from fastmcp.server.transforms.search import BM25SearchTransform

ALWAYS_VISIBLE = {names}

mcp = create_proxy(json.loads(Path(__file__).with_name("mcp.json").read_text("utf-8")))
mcp.add_transform(BM25SearchTransform(always_visible=ALWAYS_VISIBLE))
'''


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


def _write_search(switches: Sequence[Switch]) -> str:
    """A program for ``fastmcp run``, which puts the server's name in front where it has several.
    Names are Python's literals in ASCII, so that none of them can be code.
    """
    several = len(switches) > 1
    names = [
        f"{switch.server}_{name}" if several else name
        for switch in switches
        for name in switch.eager or ()
    ]
    return _SEARCHING.format(names=ascii(names)) if switches else ""


FASTMCP = Client(
    name="fastmcp",
    title="FastMCP",
    goes=(
        "Add what it says of each server to that server's entry in the configuration that you"
        " give to `fastmcp run`."
    ),
    file="clients/fastmcp.json",
    write=_write,
    search=SearchFile(
        file="clients/fastmcp_search.py",
        goes="Put it beside the `mcp.json` that has the servers, and run it with `fastmcp run`.",
        write=_write_search,
    ),
)
