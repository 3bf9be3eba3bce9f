"""Clients of which only the rules are known: no file of theirs switches tools off."""

from toolscope_core.catalog.formats.target import LETTERS, Rules, Target


def _client(title: str, source: str, as_of: str, prefix: str = "", name_rule: str = "") -> Target:
    """A client that takes 64 characters with the prefix, and tells tools apart within a server."""
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
