"""The files that go into each client's configuration so that pruned tools are no longer offered.

Only merges of kind *prune* need nothing else: one member's own schema serves every call, so the
others can be switched off where they are. So can the tools that people left out. Each file
uses the names that the servers give their tools.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolscope_core.catalog.formats.format_table import FORMATS
from toolscope_core.catalog.splitting import split
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.tool import Tool

_VSCODE = FORMATS["vscode"]


@dataclass(frozen=True, slots=True)
class Switch:
    """The tools of a server: names switched off, names that stay, texts that changed.

    Names are sorted; ``described`` holds the new description by name.
    """

    server: str
    off: tuple[str, ...]
    on: tuple[str, ...]
    described: Mapping[str, str]


def client_files(plan: MergePlan) -> dict[str, bytes]:
    """File name → content in the order of ``CLIENT_FILES``; empty where no tool of a server goes,
    but for VS Code's where there are more tools than it takes at once.

    Where a client can only list what stays on, its file does so: all tools of the servers are in
    the catalog.
    """
    switches = switches_of(plan)
    clients = [row for row in FORMATS.values() if row.client_file]
    if not any(switch.off for switch in switches):
        many = sum(len(switch.on) for switch in switches) > (_VSCODE.rules.most_tools or 0)
        clients = [_VSCODE] if many else []
    return {
        row.client_file: WRITERS[row.name](switches, plan).encode("utf-8", "backslashreplace")
        for row in clients
    }


def switches_of(plan: MergePlan) -> tuple[Switch, ...]:
    """The switches of each named server, by server name.

    A name that a tool which stays has too, as with exact copies, is not switched off.
    """
    prunes = [cluster for cluster in plan.applied if cluster.kind == "prune"]
    gone = {m for cluster in prunes for m in cluster.members if m != cluster.canonical}
    gone |= set(plan.removed)
    edited = {
        cluster.canonical: cluster.document.description
        for cluster in (*prunes, *(one for one in plan.edited if one.kind == "prune"))
        if cluster.document.description != plan.catalog.by_id[cluster.canonical].description
    }
    held: defaultdict[str, list[Tool]] = defaultdict(list)
    for tool in plan.catalog.tools:
        if tool.server:
            held[tool.server].append(tool)
    switches = []
    for server, tools in sorted(held.items()):
        on = {tool.name for tool in tools if tool.id not in gone}
        off = {tool.name for tool in tools} - on
        described = {tool.name: edited[tool.id] for tool in tools if tool.id in edited}
        switches.append(Switch(server, tuple(sorted(off)), tuple(sorted(on)), described))
    return tuple(switches)


def _claude_code(switches: Sequence[Switch]) -> dict[str, Any]:
    """A part of ``settings.json``: the permission rules that deny a tool."""
    denied = [
        f"mcp__{re.sub(r'[^a-zA-Z0-9_-]', '_', switch.server)}__{name}"
        for switch in switches
        for name in switch.off
    ]
    return {"permissions": {"deny": denied}}


def _cursor(switches: Sequence[Switch]) -> dict[str, Any]:
    """A part of ``.cursor/cli.json``: the permission rules that deny a tool."""
    denied = [f"Mcp({switch.server}:{name})" for switch in switches for name in switch.off]
    return {"permissions": {"allow": [], "deny": denied}}


def _vscode(switches: Sequence[Switch], tools: Sequence[Tool]) -> dict[str, Any]:
    """A ``.toolsets.jsonc`` with what stays, as VS Code has no list of what goes: one tool set, or
    as many as its limit on tools asks for, of which one is on at a time.
    """
    on = {switch.server: switch.on for switch in switches}
    kept = [MergedTool(tool, (tool.id,)) for tool in tools if tool.name in on.get(tool.server, ())]
    once = {(item.tool.server, item.tool.name): item for item in kept}
    parts = split(list(once.values()), _VSCODE.rules.most_tools)
    sets = {}
    for number, part in enumerate(parts, 1):
        names = sorted((item.tool.server, item.tool.name) for item in part)
        sets["toolscope" if len(parts) == 1 else f"toolscope-{number}"] = {
            "tools": [f"{server}/{name}" for server, name in names],
            "description": "Tools that stay after merging",
        }
    return sets


def _fastmcp(switches: Sequence[Switch]) -> dict[str, Any]:
    """A part of an MCP configuration with FastMCP's tool transforms; commands are the user's."""
    servers = {}
    for switch in switches:
        tools: dict[str, Any] = {name: {"enabled": False} for name in switch.off}
        tools |= {name: {"description": text} for name, text in sorted(switch.described.items())}
        if tools:
            servers[switch.server] = {"tools": tools}
    return {"mcpServers": servers}


def _toolhive(switches: Sequence[Switch]) -> str:
    """One ``MCPToolConfig`` a server that loses tools or gets texts.

    An empty filter lets everything through, so a server that loses all its tools has none: it is
    named in a comment, to be stopped.
    """
    import yaml

    parts = []
    for switch in switches:
        if not switch.on:
            parts.append(f"# No tool of the server {json.dumps(switch.server)} stays: stop it.\n")
        elif switch.off or switch.described:
            spec: dict[str, Any] = {"toolsFilter": list(switch.on)} if switch.off else {}
            if switch.described:
                spec["toolsOverride"] = {
                    name: {"description": text} for name, text in sorted(switch.described.items())
                }
            document = {
                "apiVersion": "toolhive.stacklok.dev/v1alpha1",
                "kind": "MCPToolConfig",
                "metadata": {
                    "name": _resource_name(switch.server),
                    "annotations": {"toolscope/server": switch.server},
                },
                "spec": spec,
            }
            parts.append(f"---\n{yaml.safe_dump(document, sort_keys=False, allow_unicode=True)}")
    return "".join(parts)


def _resource_name(server: str) -> str:
    """A name that Kubernetes takes: small letters, digits and hyphens, at most 63."""
    name = re.sub(r"[^a-z0-9]+", "-", server.casefold()).strip("-")[:52].strip("-")
    return f"{name or 'server'}-tools"


def _json(value: object) -> str:
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n"


WRITERS: dict[str, Callable[[Sequence[Switch], MergePlan], str]] = {
    "claude-code": lambda switches, _: _json(_claude_code(switches)),
    "cursor": lambda switches, _: _json(_cursor(switches)),
    "vscode": lambda switches, plan: _json(_vscode(switches, plan.catalog.tools)),
    "fastmcp": lambda switches, _: _json(_fastmcp(switches)),
    "toolhive": lambda switches, _: _toolhive(switches),
}
"""The writer of each client's file, by the name of its row in the table of formats."""
