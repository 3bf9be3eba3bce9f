"""Claude Code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from toolscope_core.catalog.clients.client import Client, Switch, json_text
from toolscope_core.catalog.formats.target import DOTTED, Rules
from toolscope_core.model.plan import MergePlan


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of ``settings.json``: the permission rules that deny a tool."""
    denied = [
        f"mcp__{re.sub(r'[^a-zA-Z0-9_-]', '_', switch.server)}__{name}"
        for switch in switches
        for name in switch.off
    ]
    return json_text({"permissions": {"deny": denied}})


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
