"""Removes text that most tools of a server share: the first or last word of names, or a sentence.

*API-patch-block-children* becomes *patch block children*. Twenty tools that all end with "This API
is rate limited" are not more similar because of it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from toolscope_core.model.cluster import grouped
from toolscope_core.model.tool import Tool
from toolscope_core.wording.products import product_words
from toolscope_core.wording.tool_text import (
    named_text,
    snake_name,
    source_name,
    source_text,
    tool_name_words,
)
from toolscope_core.wording.vocabulary import action_classes
from toolscope_core.wording.wordnet import is_word
from toolscope_core.wording.words import sentences

_MOST = 0.6
"""Words used by this share of a server's tools distinguish none of them."""
_FEWEST = 3
_SHORTEST = 15
"""The shortest length of a first sentence, in characters."""
_END = re.compile(r"(?<=[.!?])\s(?![a-z])")


def without_boilerplate(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """The tools in the given order, with their declared words but without their server's
    boilerplate.

    Only servers with three or more tools have boilerplate. The result depends only on a tool and
    its own server.
    """
    return _plain_tools(tuple(tools))


@lru_cache(maxsize=2)
def _plain_tools(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """The plain tools; cached, because the embedded texts and the signals both use them."""
    plain: dict[str, Tool] = {}
    for server, own in grouped(tools, lambda tool: tool.server).items():
        plain |= {tool.id: text for tool, text in zip(own, _plain(server, own), strict=True)}
    return tuple(plain[tool.id] for tool in tools)


def compared_texts(tools: Sequence[Tool]) -> list[str]:
    """The text of each tool that is embedded to compare it with the others.

    The text is the tool's name and its first sentence that is not boilerplate of its server. Later
    sentences say how to call the tool, not what it does: of the pairs of servers with one job, 482
    instead of 471 of 557 are near enough, with a seventh fewer pairs.
    """
    return [
        named_text(snake_name(tool), _first_sentence(tool)) for tool in without_boilerplate(tools)
    ]


def _first_sentence(tool: Tool) -> str:
    text = " ".join(source_text(tool).split())
    end = next((m.start() for m in _END.finditer(text) if m.start() >= _SHORTEST), len(text))
    return text[:end]


def _plain(server: str, tools: Sequence[Tool]) -> Iterator[Tool]:
    names = [tool_name_words(tool) for tool in tools]
    if not server or len(tools) < _FEWEST:
        yield from map(_as_declared, tools)
        return
    long_names = [name for name in names if len(name) > 1]
    first = _usual((name[0] for name in long_names), len(tools))
    first = {word for word in first if not action_classes(word)}
    first |= {word for word in product_words(server) if not is_word(word)}
    last = _usual((name[-1] for name in long_names), len(tools))
    texts_of = [sentences(source_text(tool)) for tool in tools]
    common = _usual((text for texts in texts_of for text in set(texts)), len(tools))
    for tool, name, texts in zip(tools, names, texts_of, strict=True):
        short = name[1:] if len(name) > 1 and name[0] in first else name
        short = short[:-1] if len(short) > 1 and short[-1] in last else short
        own_texts = [text for text in texts if text not in common]
        if short == name and len(own_texts) == len(texts):
            yield _as_declared(tool)
        else:
            description = " ".join(own_texts) or source_text(tool)
            yield replace(tool, name="_".join(short), description=description, raw={})


def _as_declared(tool: Tool) -> Tool:
    name, text = source_name(tool), source_text(tool)
    if name == tool.name and text == tool.description:
        return tool
    return replace(tool, name=name, description=text, raw={})


def _usual(texts: Iterable[str], tools: int) -> set[str]:
    return {text for text, n in Counter(texts).items() if n >= _MOST * tools}
