"""The words in which a tool was declared, the words of its names, and the text that is embedded.

An operation of an OpenAPI document is named for agents: ``actions/add-labels`` becomes
``actionsadd_labels``, which says less. People and judges read what the document says.
"""

import re
from functools import lru_cache

from toolscope_core.catalog.operation_names import (
    identifier,
    name_source,
    operation_of,
    operation_text,
)
from toolscope_core.model.tool import Tool

_DESCRIPTION = 220
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])|[\W_]+")


def source_name(tool: Tool) -> str:
    """The text that the tool's name was made of: ``operationId``, summary, or method and path.

    The name itself for any other tool, and for one that has been renamed since.
    """
    operation = operation_of(tool)
    if operation is None:
        return tool.name
    text = name_source(operation)
    generated = re.escape(identifier(text))
    return text if re.fullmatch(rf"{generated}(_\d+)?", tool.name) else tool.name


def source_text(tool: Tool) -> str:
    """The tool's description after the summary of its operation, unless it says that itself."""
    operation = operation_of(tool) or {}
    summary = operation_text(operation, "summary").strip()
    if not summary or summary.rstrip(".").casefold() in tool.description.casefold():
        return tool.description
    return f"{summary}{'' if summary.endswith(('.', '!', '?')) else '.'} {tool.description}"


def declared_as(tool: Tool) -> str:
    """The source's name and summary, ``actions/add-labels · Add labels to a runner``, each only
    where it says more than the tool's own name and description; empty where neither does.
    """
    name, summary = source_name(tool), operation_text(operation_of(tool) or {}, "summary").strip()
    is_more = source_text(tool) != tool.description and summary != name
    return " · ".join([*([name] if name != tool.name else []), *([summary] if is_more else [])])


@lru_cache(maxsize=1 << 16)
def split_name(name: str) -> tuple[str, ...]:
    """The words of a tool or parameter name, lower case: ``getUser.byIDs`` → get user by ids."""
    return tuple(split_text(name))


def split_text(text: str) -> list[str]:
    """The same of a text of any length; nothing is remembered."""
    return [word.lower() for word in _WORD_BORDER.split(text) if word]


def tool_name_words(tool: Tool) -> tuple[str, ...]:
    """The words of the name in which a tool was declared."""
    return split_name(source_name(tool))


def snake_name(tool: Tool) -> str:
    """The same joined by underscores; the name itself where it has no word."""
    return "_".join(tool_name_words(tool)) or tool.name


def encodable(text: str) -> str:
    """The text without what UTF-8 cannot say."""
    return text.encode("utf-8", "replace").decode("utf-8")


def tool_text(tool: Tool) -> str:
    """The text that is embedded: ``snake_case_name: description``, descriptions cut near 220.

    Joining the words by underscores ranks labelled merges higher than spaces do, and so does
    cutting long descriptions on MCP servers (benchmarks/judge_quality.py).
    """
    return encodable(f"{snake_name(tool)}: {_shorten(' '.join(source_text(tool).split()))}")


def _shorten(description: str) -> str:
    if len(description) <= _DESCRIPTION:
        return description
    return description[:_DESCRIPTION].rsplit(" ", 1)[0]
