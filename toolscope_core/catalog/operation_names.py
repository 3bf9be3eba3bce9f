"""Makes tool names from OpenAPI operations; each tool keeps its operation."""

import re
from collections.abc import Mapping
from typing import Any

from toolscope_core.model.tool import Tool
from toolscope_core.model.unicode_forms import normalise

OPENAPI_META = "toolscope/openapi"
"""The key under ``_meta`` where a tool keeps its OpenAPI operation."""
NAME_LENGTH = 56
"""The longest name that is made from other words, as in FastMCP."""


def operation_of(tool: Tool) -> Mapping[str, Any] | None:
    """The kept parts of the OpenAPI operation from which a tool was read; ``None`` for other
    tools.
    """
    meta = tool.raw.get("_meta")
    operation = meta.get(OPENAPI_META) if isinstance(meta, Mapping) else None
    return operation if isinstance(operation, Mapping) else None


def name_source(operation: Mapping[str, Any]) -> str:
    """The text from which the name of a tool is made.

    It is the first text with a usable character among ``operationId`` (without FastAPI's addition
    after ``__``), summary, and method with path.
    """
    place = f"{operation_text(operation, 'method')} {operation_text(operation, 'path')}"
    texts = (
        operation_text(operation, "operationId").split("__")[0],
        operation_text(operation, "summary"),
        place,
    )
    return next((text for text in texts if identifier(text)), "")


def identifier(text: str) -> str:
    """The text as a tool name in FastMCP's style: letters, digits and single ``_``, cut at 56
    characters.

    Letters of other scripts, which FastMCP drops, are transliterated.
    """
    joined = re.sub(r"[\s\-.]+", "_", transliterated(text))
    plain = re.sub(r"_+", "_", re.sub(r"[^a-zA-Z0-9_]", "", joined)).strip("_")
    return plain[:NAME_LENGTH]


def transliterated(text: str) -> str:
    """The text in ASCII, without accents; other scripts are transliterated by their sound."""
    if text.isascii():
        return text
    from anyascii import anyascii

    return str(anyascii(normalise("NFKC", text)))


def operation_text(operation: Mapping[str, Any], key: str) -> str:
    """The text at a key of an operation; empty if the value is not a text."""
    value = operation.get(key)
    return value if isinstance(value, str) else ""
