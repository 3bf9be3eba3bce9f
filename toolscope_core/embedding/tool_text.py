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
    return tuple(word.lower() for word in _WORD_BORDER.split(name) if word)


def tool_text(tool: Tool) -> str:
    """The text that is embedded: ``snake_case_name: description``, descriptions cut near 220.

    Joining the words by underscores ranks labelled merges higher than spaces do, and so does
    cutting long descriptions on MCP servers (benchmarks/judge_quality.py).
    """
    name = "_".join(split_name(source_name(tool))) or tool.name
    text = f"{name}: {_shorten(' '.join(source_text(tool).split()))}"
    return text.encode("utf-8", "replace").decode("utf-8")


def _shorten(description: str) -> str:
    if len(description) <= _DESCRIPTION:
        return description
    return description[:_DESCRIPTION].rsplit(" ", 1)[0]
