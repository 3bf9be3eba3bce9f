"""The text of a tool that is embedded, and the words of its names."""

import re
from functools import lru_cache

from toolscope_core.catalog.source_words import source_name, source_text
from toolscope_core.model.tool import Tool

_DESCRIPTION = 220
_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])|[\W_]+")


@lru_cache(maxsize=1 << 16)
def split_name(name: str) -> tuple[str, ...]:
    """The words of a tool or parameter name, lower case: ``getUser.byIDs`` → get user by ids."""
    return tuple(split_text(name))


def split_text(text: str) -> list[str]:
    """The same of a text of any length; nothing is remembered."""
    return [word.lower() for word in _WORD_BORDER.split(text) if word]


def name_words(tool: Tool) -> tuple[str, ...]:
    """The words of the name in which a tool was declared."""
    return split_name(source_name(tool))


def snake_name(tool: Tool) -> str:
    """The same joined by underscores; the name itself where it has no word."""
    return "_".join(name_words(tool)) or tool.name


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
