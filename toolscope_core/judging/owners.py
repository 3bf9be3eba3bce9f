"""Whose tools two tools are: products in the names of servers, proper names, what is kept behind.

*Delete a task* of two issue trackers is one operation for two owners of tasks; *take a screenshot*
of two browsers is one job. What tells them apart is whether both speak of one product, and whether
the thing is kept by somebody at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from toolscope_core.catalog.source_words import source_name
from toolscope_core.embedding.tool_text import split_name
from toolscope_core.judging.vocabulary import singular
from toolscope_core.model.tool import Tool

_COMMON = frozenset(
    """mcp server servers client js ts py python node api app apps tool tools the io com org
    ai""".split()
)
"""Words in names of servers that name no product."""

_KEPT = frozenset(
    """task todo issue ticket project board card label comment tag event calendar contact team
    member user organization workspace account customer order invoice payment deal lead campaign
    note document file folder drive bucket object table database schema column row index collection
    branch commit pull merge repository repo release pipeline job build deployment service server
    instance container pod cluster namespace node volume secret variable workflow execution webhook
    integration channel message thread conversation chat email inbox draft playlist cart reservation
    booking incident alert monitor dashboard report space list record item entity memory asset
    device page block milestone epic sprint group role permission policy subscription product
    inventory bookmark feed post meeting""".split()
)
"""Nouns of what somebody keeps: the one of another owner is another one."""

_FACTS = frozenset(
    """weather forecast news price stock crypto cryptocurrency market quote rate web website url dns
    whois ip uuid hash time timezone date transcript video youtube paper arxiv wikipedia package npm
    documentation think thought random math number color qr regex word dictionary map geocode place
    route direction distance""".split()
)
"""Words of public facts and sums."""

_ANYWHERE = _FACTS.union(
    """search site html screenshot browser click element navigate scroll lookup convert calculate
    translate text image generate command shell code json encode decode fetch scrape extract crawl
    pdf markdown""".split()
)
"""Words of what is the same wherever it is asked: facts, sums, the page in a browser."""

_TEXT = 400
_CAPITAL = re.compile(r"(?<=[^.!?\n:\-*•] )[A-Z][A-Za-z0-9]+")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")


@lru_cache(maxsize=16_384)
def product_words(server: str) -> frozenset[str]:
    """The words of a server's name that may name a product."""
    return frozenset(re.findall(r"[a-z0-9]{2,}", server.lower())) - _COMMON


def proper_names(tools: Sequence[Tool]) -> tuple[frozenset[str], ...]:
    """For each tool the names it mentions, lower case: what the catalog writes with a capital
    within sentences and never without, wherever it stands, and what the tool's server is called
    where the tool says it.
    """
    texts = [tool.description[:_TEXT] for tool in tools]
    written = [frozenset(_WORD.findall(text)) for text in texts]
    capital = {word.lower() for text in texts for word in _CAPITAL.findall(text)}
    names = capital.difference(*written)
    names_by_tool = []
    for tool, text, words in zip(tools, texts, written, strict=True):
        own = {word for word in product_words(tool.server) if word in text.lower()}
        own |= product_words(tool.server).intersection(split_name(source_name(tool)))
        mentioned = names.intersection((*split_name(source_name(tool)), *map(str.lower, words)))
        names_by_tool.append(mentioned | own)
    return tuple(map(frozenset, names_by_tool))


def keeps_things(words: Iterable[str]) -> bool:
    """Whether one of the words is for something that somebody keeps."""
    return not _KEPT.isdisjoint(map(singular, words))


def is_anywhere(words: Iterable[str]) -> bool:
    """Whether one of the words is for what is the same wherever it is asked."""
    return not _ANYWHERE.isdisjoint(map(singular, words))


def is_of_facts(words: Iterable[str]) -> bool:
    """Whether one of the words is for public facts or sums, which nobody keeps."""
    return not _FACTS.isdisjoint(map(singular, words))


def shared_product(one: str, other: str, rarity: Mapping[str, float]) -> float:
    """How rare, in [0, 1], the rarest product word is that two servers share, or begin alike."""
    ours, theirs = product_words(one), product_words(other)
    rarities = [rarity[word] for word in ours & theirs]
    rarities += [
        1.0
        for a in ours
        for b in theirs
        if a != b and len(a) > 3 and len(b) > 3 and (a.startswith(b) or b.startswith(a))
    ]
    return max(rarities, default=0.0)
