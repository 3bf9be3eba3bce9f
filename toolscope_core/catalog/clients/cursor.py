"""Cursor."""

from collections.abc import Sequence

from toolscope_core.catalog.clients.client import Client, Switch, json_text
from toolscope_core.catalog.formats.target import Rules
from toolscope_core.model.plan import MergePlan


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of ``.cursor/cli.json``: the permission rules that deny a tool, or all of a server."""
    denied = [
        f"Mcp({switch.server}:{name})"
        for switch in switches
        for name in (("*",) if switch.is_off else switch.off)
    ]
    return json_text({"permissions": {"allow": [], "deny": denied}})


CURSOR = Client(
    name="cursor",
    title="Cursor",
    goes=(
        "Add its rules to `.cursor/cli.json` of a project, or to `~/.cursor/cli-config.json`:"
        " Cursor's command line reads them. In the editor, switch the same tools off by hand."
    ),
    rules=Rules(
        longest_name=60, prefix="{server}", unique="server", most_tools=80, mcp_record=True
    ),
    source="https://github.com/sparfenyuk/mcp-proxy/issues/45",
    as_of="2025-04",
    file="clients/cursor.json",
    write=_write,
)
