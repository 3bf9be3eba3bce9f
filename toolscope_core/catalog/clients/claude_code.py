"""Claude Code."""

import re
from collections.abc import Sequence

from toolscope_core.catalog.clients.client import Client, SearchFile, Switch, json_text
from toolscope_core.catalog.formats.target import DOTTED, Rules
from toolscope_core.model.plan import MergePlan
from toolscope_core.model.tool import JsonObject


def _write(switches: Sequence[Switch], _: MergePlan) -> str:
    """A part of ``settings.json``: the permission rules that deny a tool, or all of a server, which
    is not started either. Two that have one name there are denied only together.
    """
    staying = {_cleaned(switch.server) for switch in switches if not switch.is_off}
    used = {(_cleaned(switch.server), _cleaned(tool)) for switch in switches for tool in switch.on}
    denied, servers = list[str](), []
    for switch in switches:
        name = _cleaned(switch.server)
        if switch.is_off and name not in staying:
            denied.append(f"mcp__{name}")
            if name == switch.server:  # an odd name would make the settings invalid
                servers.append({"serverName": name})
        else:
            off = [tool for tool in switch.off if (name, _cleaned(tool)) not in used]
            denied += [f"mcp__{name}__{tool}" for tool in off]
    settings: JsonObject = {"permissions": {"deny": denied}}
    return json_text({**settings, "deniedMcpServers": servers} if servers else settings)


def _write_search(switches: Sequence[Switch]) -> str:
    """A part of ``.mcp.json``: the servers all of whose tools are in every prompt. The others are
    deferred as Claude Code defers tools by itself; it takes this by server, or from the server.
    """
    eager = {one.server: {"alwaysLoad": True} for one in switches if one.on and one.on == one.eager}
    return json_text({"mcpServers": eager}) if eager else ""


def _cleaned(server: str) -> str:
    """The name of a server or a tool as Claude Code writes it in the full names of tools."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", server)


CLAUDE_CODE = Client(
    name="claude-code",
    title="Claude Code",
    goes=(
        "Add its rules to `.claude/settings.json` of a project, or to "
        "`~/.claude/settings.json` for all of them. Keep the rules that are there."
    ),
    rules=Rules(
        name_rule=DOTTED,
        longest_name=128,
        prefix="mcp__{server}__",
        unique="server",
        longest_description=4096,
        whole_object=True,
        mcp_record=True,
        dots_fold=True,
    ),
    source="https://code.claude.com/docs/en/mcp",
    as_of="2026-11",
    file="clients/claude-code.json",
    write=_write,
    search=SearchFile(
        file="clients/claude-code-servers.json",
        goes="Add what it says of a server to its entry in `.mcp.json`. Single tools are in every"
        " prompt where `serve` offers them.",
        write=_write_search,
    ),
)
