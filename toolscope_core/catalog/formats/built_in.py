"""Tools that an API runs itself: they are records of that API alone, and functions nowhere.

What they take is known to the API, so that they say no parameters, and some not even a name.
"""

import re
from typing import Any

from toolscope_core.model.tool import JsonObject

KEPT = "built_in"
"""Where the neutral format has the record of such a tool."""
_OPENAI = re.compile(
    r"(?:web_search|file_search|code_interpreter|computer|computer_use|image_generation|mcp|"
    r"local_shell|shell|apply_patch|tool_search)(?:_preview)?(?:_20\d\d_\d\d_\d\d)?"
)
_ANTHROPIC = re.compile(r"[a-z0-9_]+_20\d{6}|mcp_toolset")
_SCHEMAS = ("parameters", "input_schema", "inputSchema", "function")
_GEMINI = frozenset(
    "googleSearch google_search googleSearchRetrieval google_search_retrieval codeExecution "
    "code_execution urlContext url_context googleMaps google_maps computerUse computer_use "
    "fileSearch file_search".split()
)


def built_in_record(record: Any) -> JsonObject | None:
    """The record of a built-in tool as its API takes it; ``None`` for any other record."""
    if not isinstance(record, dict):
        return None
    kept = record.get(KEPT)
    if isinstance(kept, dict) and home_of(kept):
        return kept
    return record if home_of(record) else None


def home_of(record: JsonObject) -> str:
    """The format of the API that runs a record as its own tool; empty for any other record."""
    kind = record.get("type")
    if not isinstance(kind, str):
        is_switch = len(record) == 1 and _GEMINI.issuperset(record)
        return "gemini" if is_switch and isinstance(next(iter(record.values())), dict) else ""
    if any(key in record for key in _SCHEMAS):
        return ""
    if _ANTHROPIC.fullmatch(kind):
        return "anthropic"
    is_free_text = kind == "custom" and ("format" in record or "custom" in record)
    is_own = "name" not in record and _OPENAI.fullmatch(kind)
    if is_free_text or (is_own and (kind != "mcp" or "server_label" in record)):
        return "openai-responses"
    return ""


def built_in_name(record: JsonObject) -> str:
    """The name of a built-in tool: its own, else that of its kind, with the server it reaches."""
    own = record.get("name")
    if isinstance(own, str) and own.strip():
        return own
    kind = record.get("type") or next(iter(record), "")
    server = record.get("mcp_server_name") or record.get("server_label")
    return f"{kind}_{server}" if isinstance(server, str) and server else str(kind)
