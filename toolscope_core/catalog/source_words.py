"""The words in which a tool was declared, where its name and description were made from others.

An operation of an OpenAPI document is named for agents: ``actions/add-labels`` becomes
``actionsadd_labels``, which says less. People and judges read what the document says.
"""

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


def source_name(tool: Tool) -> str:
    """The text that the tool's name was made of: ``operationId``, summary, or method and path.

    The name itself for any other tool, and for one that has been renamed since.
    """
    operation = operation_of(tool)
    if operation is None:
        return tool.name
    text = name_source(operation)
    made = re.escape(identifier(text))
    return text if re.fullmatch(rf"{made}(_\d+)?", tool.name) else tool.name


def source_text(tool: Tool) -> str:
    """The tool's description after the summary of its operation, unless it says that itself."""
    operation = operation_of(tool) or {}
    summary = _text(operation, "summary").strip()
    if not summary or summary.rstrip(".").casefold() in tool.description.casefold():
        return tool.description
    return f"{summary}{'' if summary.endswith(('.', '!', '?')) else '.'} {tool.description}"


def declared_as(tool: Tool) -> str:
    """The source's name and summary, ``actions/add-labels · Add labels to a runner``, each only
    where it says more than the tool's own name and description; empty where neither does.
    """
    name, summary = source_name(tool), _text(operation_of(tool) or {}, "summary").strip()
    rest = source_text(tool) != tool.description and summary != name
    return " · ".join([*([name] if name != tool.name else []), *([summary] if rest else [])])


def name_source(operation: Mapping[str, Any]) -> str:
    """The first of ``operationId`` (without what FastAPI adds after ``__``), summary, and method
    and path that has a character which a name may have.
    """
    place = f"{_text(operation, 'method')} {_text(operation, 'path')}"
    texts = (_text(operation, "operationId").split("__")[0], _text(operation, "summary"), place)
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


def _text(operation: Mapping[str, Any], key: str) -> str:
    value = operation.get(key)
    return value if isinstance(value, str) else ""
