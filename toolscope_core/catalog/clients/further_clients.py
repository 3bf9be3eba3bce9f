"""Clients of which only the rules are known: no file of theirs switches tools off."""

from toolscope_core.catalog.formats.target import LETTERS, Rules, Target

CLAUDE_DESKTOP = Target(
    name="claude-desktop",
    title="Claude Desktop",
    rules=Rules(name_rule=LETTERS, longest_name=64, unique="server", mcp_record=True),
    source="https://github.com/evoila/meho/issues/2745",
    as_of="2026-08",
)
COPILOT_CLI = Target(
    name="copilot-cli",
    title="Copilot CLI",
    rules=Rules(
        name_rule=LETTERS,
        longest_name=64,
        prefix="{server}-",
        unique="server",
        mcp_record=True,
    ),
    source="https://github.com/microsoft/mcp/issues/842",
    as_of="2025-10",
)
GEMINI_CLI = Target(
    name="gemini-cli",
    title="Gemini CLI",
    rules=Rules(longest_name=64, prefix="mcp_{server}_", unique="server", mcp_record=True),
    source="https://github.com/google-gemini/gemini-cli/blob/main/docs/tools/mcp-server.md",
    as_of="2026-11",
)
KIRO = Target(
    name="kiro",
    title="Kiro",
    rules=Rules(longest_name=64, prefix="mcp_{server}_", unique="server", mcp_record=True),
    source="https://github.com/kirodotdev/Kiro/issues/7684",
    as_of="2026-04",
)
