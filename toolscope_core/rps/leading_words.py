"""A description that begins with what sets a tool apart from one that it is taken for.

Only words that the tool itself says are moved; nothing is written. Of its sibling's text nothing
comes in: to name what a tool is not brings the two closer.
"""

import re
from collections.abc import Sequence

from toolscope_core.embedding.tool_text import split_name
from toolscope_core.judging.wordnet import kinds_of
from toolscope_core.judging.words import STOP_WORDS, stem
from toolscope_core.model.tool import Tool

MOST_WORDS = 3
MOST_IN_CLAUSE = 4
_FRONT = 2
"""A word that is among the first two is at the front already."""


def leading(tool: Tool, words: Sequence[str], by_server: bool = False) -> str:
    """The description with those ``words`` in front that are of the tool's own job: words of its
    name, and of its server where the two tools are told apart ``by_server``. As it is where it is
    empty or there are none: any other word that only this tool says may be an aside (*important*,
    *comprehensive*). Only words in Latin letters can be moved. Parameters are not named: it costs
    more requests than it wins.
    """
    description = " ".join(tool.description.split())
    front = [stem(word.lower()) for word in re.findall(r"\w+", description)[:_FRONT]]
    lead = [word for word in _own_words(tool, words, by_server) if stem(word) not in front]
    if not lead or not description:
        return tool.description
    return f"{', '.join(lead).capitalize()}: {description}"


def leading_clause(tool: Tool, words: Sequence[str], by_server: bool = False) -> str:
    """The description after *Use for* the first of ``words`` that are nouns or as ``leading`` has
    them. As it is where it is empty or there are none. The other tool is not named: *use it instead
    for …* brings the two closer.
    """
    own_words = {stem(word) for word in _job_words(tool, by_server)}
    named = [word for word in _plain(words) if kinds_of(word) or stem(word) in own_words]
    description = " ".join(tool.description.split())
    if not named or not description:
        return tool.description
    return f"Use for {', '.join(named[:MOST_IN_CLAUSE])}: {description}"


def _own_words(tool: Tool, words: Sequence[str], by_server: bool) -> list[str]:
    by_stem: dict[str, str] = {}
    for word in _plain(words):
        by_stem.setdefault(stem(word), word)
    own_words = {stem(word) for word in _job_words(tool, by_server)}
    return [word for own, word in by_stem.items() if own in own_words][:MOST_WORDS]


def _job_words(tool: Tool, by_server: bool) -> Sequence[str]:
    return split_name(f"{tool.name} {tool.server}" if by_server else tool.name)


def _plain(words: Sequence[str]) -> list[str]:
    return [w for w in words if w.isascii() and not w.isdigit() and w not in STOP_WORDS]
