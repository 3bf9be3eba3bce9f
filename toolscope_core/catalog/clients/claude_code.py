"""Claude Code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolscope_core.catalog.clients.client import Client, Switch, json_text
from toolscope_core.catalog.formats.target import DOTTED, Rules
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of ``settings.json``: the permission rules that deny a tool, or all of a server, which
    is not started either.
    """
    denied: list[str] = []
    for switch in switches:
        server = f"mcp__{re.sub(r'[^a-zA-Z0-9_-]', '_', switch.server)}"
        denied += [server] if switch.is_off else [f"{server}__{name}" for name in switch.off]
    settings: JsonObject = {"permissions": {"deny": denied}}
    if servers := [{"serverName": switch.server} for switch in switches if switch.is_off]:
        settings = {**settings, "deniedMcpServers": servers}
    return json_text(settings)


CLAUDE_CODE = Client(
    name="claude-code",
    title="Claude Code",
    rules=Rules(
        name_rule=DOTTED,
        longest_name=64,
        prefix="mcp__{server}__",
        unique="server",
        mcp_record=True,
    ),
    file="clients/claude-code.json",
    write=_write,
)
