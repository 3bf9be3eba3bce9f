"""Names of tools made of what an operation of an OpenAPI document says, which they keep."""

import re
from collections.abc import Mapping
from typing import Any

from toolscope_core.model.tool import Tool
from toolscope_core.model.unicode_forms import normalise

OPENAPI_META = "toolscope/openapi"
"""Where a tool of an OpenAPI document keeps what its operation said, under ``_meta``."""
NAME_LENGTH = 56
"""The most characters of a name that is made of other words, as FastMCP has it."""


def operation_of(tool: Tool) -> Mapping[str, Any] | None:
    """What is kept of the OpenAPI operation that the tool was read from; ``None`` for others."""
    meta = tool.raw.get("_meta")
    operation = meta.get(OPENAPI_META) if isinstance(meta, Mapping) else None
    return operation if isinstance(operation, Mapping) else None


def name_source(operation: Mapping[str, Any]) -> str:
    """The first of ``operationId`` (without what FastAPI adds after ``__``), summary, and method
    and path that has a character which a name may have.
    """
    place = f"{operation_text(operation, 'method')} {operation_text(operation, 'path')}"
    texts = (
        operation_text(operation, "operationId").split("__")[0],
        operation_text(operation, "summary"),
        place,
    )
    return next((text for text in texts if identifier(text)), "")


def identifier(text: str) -> str:
    """The text as a tool name in FastMCP's way: letters, digits and single ``_``, cut at 56; what
    FastMCP drops of other scripts is transliterated.
    """
    joined = re.sub(r"[\s\-.]+", "_", transliterated(text))
    plain = re.sub(r"_+", "_", re.sub(r"[^a-zA-Z0-9_]", "", joined)).strip("_")
    return plain[:NAME_LENGTH]


def transliterated(text: str) -> str:
    """The text in ASCII: without accents, letters of other scripts as they sound."""
    if text.isascii():
        return text
    from anyascii import anyascii

    return str(anyascii(normalise("NFKC", text)))


def operation_text(operation: Mapping[str, Any], key: str) -> str:
    """What an operation says under a key; empty where that is no text."""
    value = operation.get(key)
    return value if isinstance(value, str) else ""
