"""The table of clients: how each client lists its servers, and how tools are switched off in it."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolscope_core.catalog.formats.foreign_formats import TOOL_SEARCH
from toolscope_core.catalog.formats.record_format import DOTTED, LETTERS, Rules, Target
from toolscope_core.catalog.splitting import split
from toolscope_core.model.cluster import grouped
from toolscope_core.model.plan import MergedTool, MergePlan
from toolscope_core.model.tool import JsonObject, digest
from toolscope_core.model.unicode_forms import plain_name


@dataclass(frozen=True, slots=True)
class Switch:
    """The changes to the tools of one server: names switched off, names kept, and new descriptions.

    Names are sorted. ``descriptions`` has new descriptions by name. A server without remaining
    tools is switched off as a whole (``is_off``). ``eager`` are the kept names that are in every
    prompt, or ``None`` if clients do not search.
    """

    server: str
    off: tuple[str, ...]
    on: tuple[str, ...]
    descriptions: Mapping[str, str]
    eager: tuple[str, ...] | None = None

    @property
    def is_off(self) -> bool:
        return bool(self.off) and not self.on


@dataclass(frozen=True, slots=True)
class SearchFile:
    """A file in the bundle that tells a client which tools are in every prompt.

    The client searches for all other tools. ``goes`` says in Markdown where the file belongs.
    ``write`` makes the text of the file, which is empty if no file is needed.
    """

    file: str
    goes: str
    write: Callable[[Sequence[Switch]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Client(Target):
    """A client and its files in a bundle.

    ``write`` makes ``file``, which switches off the replaced tools. ``search`` is for clients whose
    model searches for tools. If the client has rules, a toolset is checked against them. ``effect``
    says what happens to tools that are switched off, in case agents may still see them.
    """

    file: str
    write: Callable[[Sequence[Switch], MergePlan], str]
    search: SearchFile | None = None
    effect: str = ""

    @property
    def can_defer(self) -> bool:
        """Whether a file can tell the client to leave tools to a search."""
        return self.search is not None

    def goes_to(self, file: str) -> str:
        """Where this file of the client must be put, in Markdown."""
        return self.search.goes if self.search and file == self.search.file else self.goes

    @property
    def is_checked(self) -> bool:
        """Whether the client has rules of its own."""
        return self.rules != Rules()


def json_text(value: object) -> str:
    """A value as the text of a client's file."""
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n"


_MOST_TOOLS, _OWN_TOOLS = 128, 33
"""VS Code's limit on tools, and the number of its own tools in its reference of chat tools,
which count towards the limit.
"""
_ABOUT = "Tools that remain after merging"


def _write_vscode(switches: Sequence[Switch], plan: MergePlan) -> str:
    """A ``.toolsets.jsonc`` with the kept tools, since VS Code has no list of excluded ones.

    The file has one tool set, or as many as the limit on tools requires. Only one set is on at a
    time.
    """
    on = {switch.server: switch.on for switch in switches}
    once = {
        (tool.server, tool.name): MergedTool(tool, (tool.id,))
        for tool in plan.catalog.tools
        if tool.name in on.get(tool.server, ())
    }
    parts = split(list(once.values()), _MOST_TOOLS - _OWN_TOOLS)
    sets, name = {}, plan.profile or "toolscope"
    for number, part in enumerate(parts, 1):
        names = sorted((item.tool.server, item.tool.name) for item in part)
        sets[name if len(parts) == 1 else f"{name}-{number}"] = {
            "tools": [f"{server}/{tool}" for server, tool in names],
            "description": f"Tools of the profile {name}" if plan.profile else _ABOUT,
        }
    return json_text(sets)


VSCODE = Client(
    name="vscode",
    title="VS Code",
    goes=(
        "Run *Chat: Configure Tool Sets*, choose *Create new tool sets file* and paste it there. "
        "Then enable only its sets in the tools picker."
    ),
    rules=Rules(unique="server", most_tools=_MOST_TOOLS, own_tools=_OWN_TOOLS, typed_items=True),
    source="https://code.visualstudio.com/docs/copilot/reference/copilot-vscode-features",
    as_of="2026-11",
    file="clients/vscode.json",
    write=_write_vscode,
)


def _client(title: str, source: str, as_of: str, prefix: str = "", name_rule: str = "") -> Target:
    """A client that allows 64 characters including the prefix, and requires unique names on a
    server.
    """
    rules = Rules(name_rule, 64, prefix, unique="server", mcp_record=True)
    return Target(title.lower().replace(" ", "-"), title, rules, source=source, as_of=as_of)


CLAUDE_DESKTOP = _client(
    "Claude Desktop", "https://github.com/evoila/meho/issues/2745", "2026-08", "", LETTERS
)
COPILOT_CLI = _client(
    "Copilot CLI", "https://github.com/microsoft/mcp/issues/842", "2025-10", "{server}-", LETTERS
)
GEMINI_CLI = _client(
    "Gemini CLI",
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
    "2026-11",
    "mcp_{server}_",
)
KIRO = _client("Kiro", "https://github.com/kirodotdev/Kiro/issues/7684", "2026-04", "mcp_{server}_")


def _write_claude_code(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of ``settings.json`` with permission rules that deny a tool, or all tools of a server.

    A server that is denied as a whole is not started. Two tools that have the same name in Claude
    Code can only be denied together.
    """
    servers_on = {plain_name(switch.server) for switch in switches if not switch.is_off}
    staying = {
        (plain_name(switch.server), plain_name(tool)) for switch in switches for tool in switch.on
    }
    deny, servers = list[str](), []
    for switch in switches:
        name = plain_name(switch.server)
        if switch.is_off and name not in servers_on:
            deny.append(f"mcp__{name}")
            if name == switch.server:  # an odd name would make the settings invalid
                servers.append({"serverName": name})
        else:
            off = [tool for tool in switch.off if (name, plain_name(tool)) not in staying]
            deny += [f"mcp__{name}__{tool}" for tool in dict.fromkeys(map(plain_name, off))]
    settings: JsonObject = {"permissions": {"deny": deny}}
    return json_text({**settings, "deniedMcpServers": servers} if servers else settings)


def _write_search_claude_code(switches: Sequence[Switch]) -> str:
    """A part of ``.mcp.json`` with the servers whose tools are all in every prompt.

    Claude Code defers the tools of other servers by default. It accepts this setting for each
    server, or from the server itself.
    """
    eager = {one.server: {"alwaysLoad": True} for one in switches if one.on and one.on == one.eager}
    return json_text({"mcpServers": eager}) if eager else ""


CLAUDE_CODE = Client(
    name="claude-code",
    title="Claude Code",
    goes=(
        "Add its rules to a project's `.claude/settings.json`, or to `~/.claude/settings.json` for "
        "all projects. Keep your existing rules. Calls to a denied tool are refused, but it may "
        "still cost tokens, because denied tools have been reported to stay in the context "
        "(claude-code#6320, #30839). Check with `/context`."
    ),
    effect="Calls to these tools are refused, but they may still cost tokens (see `/context`).",
    rules=Rules(
        name_rule=DOTTED,
        longest_name=128,
        prefix="mcp__{server}__",
        unique="server",
        longest_description=4096,
        longest_instructions=2_000,
        whole_object=True,
        mcp_record=True,
        dots_fold=True,
    ),
    source="https://code.claude.com/docs/en/mcp",
    as_of="2026-11",
    file="clients/claude-code.json",
    write=_write_claude_code,
    search=SearchFile(
        file="clients/claude-code-servers.json",
        goes="Add each server's settings to its entry in `.mcp.json`. With `serve`, they say "
        "which single tools are in every prompt.",
        write=_write_search_claude_code,
    ),
)


def _write_toolhive(switches: Sequence[Switch], _: MergePlan) -> str:
    """One ``MCPToolConfig`` for each server that loses tools or gets new texts.

    An empty filter lets everything through. So a server that loses all its tools gets no filter; a
    comment says that the server should be stopped.
    """
    import yaml

    parts = []
    names = _resource_names([switch.server for switch in switches])
    for switch in switches:
        if switch.is_off:
            parts.append(f"# The server {json.dumps(switch.server)} has no tools left: stop it.\n")
        elif switch.off or switch.descriptions:
            spec: dict[str, Any] = {"toolsFilter": list(switch.on)} if switch.off else {}
            if switch.descriptions:
                spec["toolsOverride"] = {
                    name: {"description": text}
                    for name, text in sorted(switch.descriptions.items())
                }
            document = {
                "apiVersion": "toolhive.stacklok.dev/v1alpha1",
                "kind": "MCPToolConfig",
                "metadata": {
                    "name": names[switch.server],
                    "annotations": {"toolscope/server": switch.server},
                },
                "spec": spec,
            }
            parts.append(f"---\n{yaml.safe_dump(document, sort_keys=False, allow_unicode=True)}")
    return "".join(parts)


def _resource_names(servers: Sequence[str]) -> dict[str, str]:
    """A name for each server, with a hash if several servers would have the same name.

    A second resource with the same name would replace the first.
    """
    uses = Counter(map(_resource_name, servers))
    return {
        server: name if uses[name] == 1 else f"{digest(server)[:8]}-{name}"
        for server in servers
        for name in (_resource_name(server),)
    }


def _resource_name(server: str) -> str:
    """A name that Kubernetes accepts: lower-case letters, digits and hyphens, at most 63
    characters.
    """
    name = re.sub(r"[^a-z0-9]+", "-", server.casefold()).strip("-")[:48].strip("-")
    return f"{name or 'server'}-tools"


TOOLHIVE = Client(
    name="toolhive",
    title="ToolHive",
    goes=(
        "Run `kubectl apply -f toolhive.yaml`, then name each resource in "
        "`spec.toolConfigRef` of its server."
    ),
    file="clients/toolhive.yaml",
    write=_write_toolhive,
)


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


def _write_fastmcp(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of an MCP configuration with FastMCP's tool transforms; the user must add the
    commands.

    A server that is switched off lets through only tools with a tag that none of its tools has.
    """
    servers: dict[str, Any] = {}
    for switch in switches:
        if switch.is_off:
            servers[switch.server] = {"include_tags": [_NO_TOOL]}
            continue
        tools: dict[str, Any] = {name: {"enabled": False} for name in switch.off}
        tools |= {name: {"description": text} for name, text in sorted(switch.descriptions.items())}
        if tools:
            servers[switch.server] = {"tools": tools}
    return json_text({"mcpServers": servers})


def _write_search_fastmcp(switches: Sequence[Switch]) -> str:
    """A program for ``fastmcp run``, which adds the server's name as a prefix if there are several.

    Names are written as ASCII literals in Python, so none of them can act as code.
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
        "Add each server's settings to its entry in the configuration that you pass to "
        "`fastmcp run`."
    ),
    file="clients/fastmcp.json",
    write=_write_fastmcp,
    search=SearchFile(
        file="clients/fastmcp_search.py",
        goes="Put it next to the `mcp.json` with the servers, and run it with `fastmcp run`.",
        write=_write_search_fastmcp,
    ),
)


def _write_cursor(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of ``.cursor/cli.json`` with permission rules that deny a tool, or all tools of a
    server.
    """
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
        "Add these rules to `.cursor/cli.json` of a project, or to "
        "`~/.cursor/cli-config.json`; Cursor's command line reads them. In the editor, "
        "switch the same tools off by hand."
    ),
    rules=Rules(
        longest_name=60, prefix="{server}", unique="server", most_tools=80, mcp_record=True
    ),
    source="https://github.com/sparfenyuk/mcp-proxy/issues/45",
    as_of="2025-04",
    file="clients/cursor.json",
    write=_write_cursor,
)


_FILE = "clients/anthropic-connector.json"
_GOES = (
    "Pass its list as `tools` to `beta.messages.create`. Pass each server under its name in "
    "`mcp_servers`, with the beta `mcp-client-2025-11-20`."
)


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """One toolset for each server that has tools left."""
    return json_text([_toolset(switch) for switch in switches if switch.on])


def _write_search(switches: Sequence[Switch]) -> str:
    """A list in which all tools except those in every prompt are deferred, with the search for
    them.
    """
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


CLIENTS = (CLAUDE_CODE, CURSOR, VSCODE, FASTMCP, TOOLHIVE, ANTHROPIC_CONNECTOR)
CLIENT_FILES = tuple(client.file for client in CLIENTS)
"""The names of a bundle's files for clients, in order."""
FURTHER_CLIENTS = (CLAUDE_DESKTOP, COPILOT_CLI, GEMINI_CLI, KIRO)
"""Clients that have no file of their own in a bundle."""


def client_files(plan: MergePlan) -> dict[str, bytes]:
    """The contents of the clients' files by name, in the order of ``CLIENT_FILES``.

    Empty if no server loses a tool. There is one exception: VS Code gets its file if there are more
    tools than VS Code allows at once. If tools are left to a search, the files of searching clients
    are included. Some clients can only list the tools that stay on. Their files do so, since the
    catalog has all tools of the servers.
    """
    switches = switches_of(plan)
    clients: tuple[Client, ...] = CLIENTS
    if not any(switch.off for switch in switches):
        stay = sum(len(switch.on) for switch in switches)
        clients = (VSCODE,) if stay > _MOST_TOOLS - _OWN_TOOLS else ()
    texts = {client.file: client.write(switches, plan) for client in clients}
    if plan.eager is not None:
        searches = (client.search for client in CLIENTS if client.search)
        texts |= {search.file: search.write(switches) for search in searches}
    return {file: text.encode("utf-8", "backslashreplace") for file, text in texts.items() if text}


def switches_of(plan: MergePlan) -> tuple[Switch, ...]:
    """The changes for each server with a name, sorted by the server's name.

    A name is not switched off if a kept tool shares it, as exact copies do.
    """
    drop_ins = [cluster for cluster in plan.applied if cluster.kind == "drop_in"]
    off_ids = {m for cluster in drop_ins for m in cluster.members if m != cluster.canonical}
    off_ids |= set(plan.removed)
    new_texts = {
        cluster.canonical: cluster.document.description
        for cluster in (*drop_ins, *(one for one in plan.edited if one.kind == "drop_in"))
        if cluster.document.description != plan.catalog.by_id[cluster.canonical].description
    }
    phi, eager = plan.phi, plan.eager
    by_server = grouped(plan.catalog.tools, lambda tool: tool.server)
    switches = []
    for server in sorted(by_server.keys() - {""}):
        tools = by_server[server]
        on = {tool.name for tool in tools if tool.id not in off_ids}
        off = {tool.name for tool in tools} - on
        texts = {tool.name: new_texts[tool.id] for tool in tools if tool.id in new_texts}
        names = eager and {tool.name for tool in tools if tool.name in on and phi[tool.id] in eager}
        shown_names = None if names is None else tuple(sorted(names))
        switches.append(Switch(server, tuple(sorted(off)), tuple(sorted(on)), texts, shown_names))
    return tuple(switches)
