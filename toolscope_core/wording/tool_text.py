"""A tool's declared words, the words of its names, and the embedded text.

FastMCP renames an OpenAPI operation for agents: ``actions/add-labels`` becomes
``actionsadd_labels``, which says less. People and judges read the words in the document instead.
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
    """The text from which the tool's name was made: ``operationId``, summary, or method and path.

    For a tool that is not an OpenAPI operation, and for a renamed tool, the text is the name
    itself.
    """
    operation = operation_of(tool)
    if operation is None:
        return tool.name
    text = name_source(operation)
    generated = re.escape(identifier(text))
    return text if re.fullmatch(rf"{generated}(_\d+)?", tool.name) else tool.name


def source_text(tool: Tool) -> str:
    """The tool's description, preceded by the summary of its operation unless the description
    repeats it.
    """
    operation = operation_of(tool) or {}
    summary = operation_text(operation, "summary").strip()
    if not summary or summary.rstrip(".").casefold() in tool.description.casefold():
        return tool.description
    return f"{summary}{'' if summary.endswith(('.', '!', '?')) else '.'} {tool.description}"


def declared_as(tool: Tool) -> str:
    """The source's name and summary: ``actions/add-labels · Add labels to a runner``.

    The name and the summary are each included only if they add something to the tool's own name and
    description. Empty if neither does.
    """
    name, summary = source_name(tool), operation_text(operation_of(tool) or {}, "summary").strip()
    is_more = source_text(tool) != tool.description and summary != name
    return " · ".join([*([name] if name != tool.name else []), *([summary] if is_more else [])])


@lru_cache(maxsize=1 << 16)
def split_name(name: str) -> tuple[str, ...]:
    """The words in the name of a tool or parameter, in lower case: ``getUser.byIDs`` → get user by
    ids.
    """
    return tuple(split_text(name))


def split_text(text: str) -> list[str]:
    """The words of a text of any length, split like names. Unlike in ``split_name``, results are
    not cached.
    """
    return [word.lower() for word in _WORD_BORDER.split(text) if word]


def tool_name_words(tool: Tool) -> tuple[str, ...]:
    """The words of a tool's declared name."""
    return split_name(source_name(tool))


def snake_name(tool: Tool) -> str:
    """The words of a tool's name joined by underscores; the name itself if it has no words."""
    return "_".join(tool_name_words(tool)) or tool.name


def encodable(text: str) -> str:
    """The text without characters that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")


def tool_text(tool: Tool) -> str:
    """The embedded text: ``snake_case_name: description``, with descriptions cut near 220
    characters.

    Joining words by underscores ranks labelled merges higher than spaces do, and so does cutting
    long descriptions on MCP servers (benchmarks/judge_quality.py).
    """
    return named_text(snake_name(tool), source_text(tool))


def named_text(name: str, description: str) -> str:
    """The embedded text of a name and a description, as in ``tool_text``."""
    return encodable(f"{name}: {_shorten(' '.join(description.split()))}")


def _shorten(description: str) -> str:
    if len(description) <= _DESCRIPTION:
        return description
    return description[:_DESCRIPTION].rsplit(" ", 1)[0]
