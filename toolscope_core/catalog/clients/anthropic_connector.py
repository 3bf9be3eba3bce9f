"""The MCP connector of Anthropic's messages: the API reaches the servers itself."""

from collections.abc import Sequence
from typing import Any

from toolscope_core.catalog.clients.client import Client, SearchFile, Switch, json_text
from toolscope_core.catalog.formats.anthropic import TOOL_SEARCH
from toolscope_core.model.plan import MergePlan

_FILE = "clients/anthropic-connector.json"
_GOES = (
    "Pass its list as `tools` to `beta.messages.create`, with each server under its name in"
    " `mcp_servers` and the beta `mcp-client-2025-11-20`."
)


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """One toolset a server of which a tool stays."""
    return json_text([_toolset(switch) for switch in switches if switch.on])


def _write_search(switches: Sequence[Switch]) -> str:
    """The same, all deferred but for what is in every prompt, and the search that returns them."""
    toolsets = [_toolset(switch) for switch in switches if switch.on]
    return json_text([dict(TOOL_SEARCH), *toolsets]) if toolsets else ""


def _toolset(switch: Switch) -> dict[str, Any]:
    configs: dict[str, Any] = {name: {"enabled": False} for name in switch.off}
    deferred: dict[str, Any] = {}
    if switch.eager is not None:
        configs |= {name: {"defer_loading": False} for name in switch.eager}
        deferred = {"default_config": {"defer_loading": True}}
    return {
        **{"type": "mcp_toolset", "mcp_server_name": switch.server},
        **deferred,
        **({"configs": configs} if configs else {}),
    }


ANTHROPIC_CONNECTOR = Client(
    name="anthropic-connector",
    title="Anthropic MCP connector",
    goes=_GOES,
    file=_FILE,
    write=_write,
    search=SearchFile(_FILE, _GOES, _write_search),
)
