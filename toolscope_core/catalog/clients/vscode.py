"""VS Code."""

from collections.abc import Sequence

from toolscope_core.catalog.clients.client import Client, Switch, json_text
from toolscope_core.catalog.formats.target import Rules
from toolscope_core.catalog.splitting import split
from toolscope_core.model.plan import MergedTool, MergePlan

MOST_TOOLS = 128
ABOUT = "Tools that stay after merging"


def _write(switches: Sequence[Switch], plan: MergePlan) -> str:
    """A ``.toolsets.jsonc`` with what stays, as VS Code has no list of what goes: one tool set, or
    as many as its limit on tools asks for, of which one is on at a time.
    """
    on = {switch.server: switch.on for switch in switches}
    once = {
        (tool.server, tool.name): MergedTool(tool, (tool.id,))
        for tool in plan.catalog.tools
        if tool.name in on.get(tool.server, ())
    }
    parts = split(list(once.values()), MOST_TOOLS)
    sets, name = {}, plan.profile or "toolscope"
    for number, part in enumerate(parts, 1):
        names = sorted((item.tool.server, item.tool.name) for item in part)
        sets[name if len(parts) == 1 else f"{name}-{number}"] = {
            "tools": [f"{server}/{tool}" for server, tool in names],
            "description": f"Tools of the profile {name}" if plan.profile else ABOUT,
        }
    return json_text(sets)


VSCODE = Client(
    name="vscode",
    title="VS Code",
    goes=(
        "Run *Chat: Configure Tool Sets*, choose *Create new tool sets file* and paste it "
        "there. Then leave only its sets on in the tools picker."
    ),
    rules=Rules(unique="server", most_tools=MOST_TOOLS, typed_items=True),
    source="https://code.visualstudio.com/docs/copilot/customization/mcp-servers",
    as_of="2026-11",
    file="clients/vscode.json",
    write=_write,
)
