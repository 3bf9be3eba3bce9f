"""The list of clients: a new one is a module beside this one and its name here."""

from toolscope_core.catalog.clients.anthropic_connector import ANTHROPIC_CONNECTOR
from toolscope_core.catalog.clients.claude_code import CLAUDE_CODE
from toolscope_core.catalog.clients.cursor import CURSOR
from toolscope_core.catalog.clients.fastmcp import FASTMCP
from toolscope_core.catalog.clients.further_clients import (
    CLAUDE_DESKTOP,
    COPILOT_CLI,
    GEMINI_CLI,
    KIRO,
)
from toolscope_core.catalog.clients.toolhive import TOOLHIVE
from toolscope_core.catalog.clients.vscode import VSCODE

CLIENTS = (CLAUDE_CODE, CURSOR, VSCODE, FASTMCP, TOOLHIVE, ANTHROPIC_CONNECTOR)
CLIENT_FILES = tuple(client.file for client in CLIENTS)
"""The files that a bundle has for clients, in their order."""
FURTHER_CLIENTS = (CLAUDE_DESKTOP, COPILOT_CLI, GEMINI_CLI, KIRO)
"""Clients for which no file is written."""
