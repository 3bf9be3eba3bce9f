"""Finds servers implied by names (vendors or products) if a catalog names no servers.

Catalogs have two naming habits. Some put a vendor into every name at the same place
(``github_list_issues``, ``list_issues_github``); the place then shows whose tool it is. Others name
a vendor occasionally (``walmart.purchase``). In these, a word counts only if descriptions write it
as a name. An English word counts only if it and another replace each other in otherwise equal names
(``buy_stock_fidelity`` and ``buy_stock_robinhood``).

An implied server is a guess that people can see and change. It is not part of ids or fingerprints.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Literal

from toolscope_core.model.catalog import Catalog, ImpliedServer
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import tool_name_words
from toolscope_core.wording.vocabulary import action_classes, is_plain_verb
from toolscope_core.wording.wordnet import kinds_of
from toolscope_core.wording.words import is_english

_Place = Literal["front", "end", "middle"]
_Words = tuple[str, ...]

PLACED = 0.8
"""A catalog has the habit of a place if this share of the names with a product have it there, …"""
_COVERED = 0.5
"""… and if this share of all names have a product there."""
_ALIKE = 0.9
"""A product has one word more if the same word follows in this share of its names."""
_LONGEST = 3
"""The most words in a product's name."""
SWAPPED = 2
"""Two ordinary words are products if they replace each other in this many pairs of names."""

_TEXT = 400
_CAPITAL = re.compile(r"(?<=[^.!?\n:\-*•] )[A-Z][A-Za-z0-9]+")
_WORD = re.compile(r"(?<![\w/.@-])[A-Za-z][A-Za-z0-9]+(?!\w)")
_SHORT = frozenset(
    """ai api apis app apps args async auth btc ci cd config configs cpu crm crud csv css db dir dns
    doc docs doi env etc eth etf erp eur ftp gbp gps gpu html http https iban id ids info io ip ipo
    iso json jwt kpi kv llm mac metadata mfa ml mms nft oauth ocr os param params pdf pos pr prs qr
    ram regex repo repos roi rss seo sku sms sql ssh ssid ssl sso stats stt sync tax tls tts ttl ui
    uri url urls usd username utc ux uuid vat vm vms vpn webhook webhooks xml dataset datasets
    workflow workflows namespace timestamp login changelog bic isbn""".split()
)
"""Abbreviations and compounds that WordNet lacks and that are not products."""
_UNITS = frozenset("celsius fahrenheit kelvin centigrade".split())
_DECIDED = "decided by a person"
_SAYS: dict[_Place, str] = {"front": "begin with", "end": "end with", "middle": "contain"}


def implied_servers(tools: Sequence[Tool]) -> tuple[ImpliedServer, ...]:
    """The implied servers of tools without a server, by name; no tool is in two."""
    nameless = [tool for tool in tools if not tool.server]
    words = [tool_name_words(tool) for tool in nameless]
    products = _products(nameless, words)
    place = _habit(words, products)
    names = list(_scattered(nameless, words)) if place is None else list(_placed(words, place))
    owners = zip((tool.id for tool in nameless), names, strict=True)
    return tuple(
        ImpliedServer(name, ids, _reason(name, len(ids), place)) for name, ids in _by_owner(owners)
    )


def present_servers(tools: Sequence[Tool], owners: Mapping[str, str]) -> tuple[ImpliedServer, ...]:
    """The implied servers after people's changes, by name.

    ``owners`` maps the id of a tool to the server that people gave it; empty for none.
    """
    guessed = implied_servers(tools)
    reasons = {one.name: one.reason for one in guessed}
    owner_by_id = {tool_id: one.name for one in guessed for tool_id in one.tools}
    nameless = {tool.id for tool in tools if not tool.server}
    owner_by_id |= {tool_id: name for tool_id, name in owners.items() if tool_id in nameless}
    reasons |= dict.fromkeys(owners.values(), _DECIDED)
    tools_by_owner = _by_owner(owner_by_id.items())
    return tuple(ImpliedServer(name, ids, reasons[name]) for name, ids in tools_by_owner)


def with_implied_servers(catalog: Catalog, owners: Mapping[str, str]) -> Catalog:
    """The catalog with the implied server of each tool without a server.

    ``owners`` as in ``present_servers``.
    """
    servers = present_servers(catalog.tools, owners)
    implied = {tool_id: one.name for one in servers for tool_id in one.tools}
    tools = tuple(
        tool
        if tool.server or tool.implied_server == implied.get(tool.id, "")
        else replace(tool, implied_server=implied.get(tool.id, ""))
        for tool in catalog.tools
    )
    return catalog if all(map(is_, tools, catalog.tools)) else replace(catalog, tools=tools)


def _by_owner(owners: Iterable[tuple[str, str]]) -> list[tuple[str, tuple[str, ...]]]:
    """The tools of each server by name, both sorted. The argument pairs each tool with its owner,
    if any.
    """
    tools_by_name: dict[str, list[str]] = defaultdict(list)
    for tool_id, name in owners:
        if name:
            tools_by_name[name].append(tool_id)
    return sorted((name, tuple(sorted(ids))) for name, ids in tools_by_name.items())


def _reason(name: str, count: int, place: _Place | None) -> str:
    if place is None:
        return f"{count} names contain `{name}`, which is written like a name"
    return f"{count} names {_SAYS[place]} `{name}`, where names in this catalog put a product"


def _products(tools: Sequence[Tool], words: Sequence[_Words]) -> frozenset[str]:
    """Words that are in two or more names, and are written as names or are not English words."""
    capitals, small = _written(tools)
    counts = Counter(word for name in words for word in set(name))
    return frozenset(
        word
        for word, count in counts.items()
        if count > 1
        and _may_name(word)
        and (word in capitals or (len(word) > 2 and word not in small and not is_english(word)))
    )


def _written(tools: Iterable[Tool]) -> tuple[frozenset[str], frozenset[str]]:
    """Words that descriptions always capitalise inside sentences (in lower case), and words in
    lower case.
    """
    texts = [tool.description[:_TEXT] for tool in tools]
    small = {word for text in texts for word in _WORD.findall(text) if word.islower()}
    capitals = {word.lower() for text in texts for word in _CAPITAL.findall(text)}
    return frozenset(capitals - small), frozenset(small)


def _may_name(word: str) -> bool:
    """Whether a word could name a product: not a verb, language, unit or abbreviation."""
    if len(word) < 2 or word.isdigit() or word in _SHORT | _UNITS or "tongue" in kinds_of(word):
        return False
    return not is_plain_verb(word) and not action_classes(word)


def _inwards(name: _Words, place: _Place) -> _Words:
    """The words of a name from a place on; from the end they are read backwards."""
    return {"front": name, "end": name[::-1], "middle": name[1:]}[place]


def _habit(words: Sequence[_Words], products: frozenset[str]) -> _Place | None:
    """The place of the product in the catalog's names.

    ``None`` if there is no such habit, or if all have the same product.
    """
    having = [name for name in words if not products.isdisjoint(name)]
    places: tuple[_Place, ...] = ("front", "end", "middle")
    counts = {
        place: sum(not products.isdisjoint(_inwards(name, place)[:2]) for name in having)
        for place in places
    }
    place = max(places, key=lambda at: counts[at])
    if counts[place] < PLACED * len(having) or counts[place] < _COVERED * len(words):
        return None
    return place if len({name[:1] for name in (_inwards(n, place) for n in words)}) > 1 else None


def _placed(words: Sequence[_Words], place: _Place) -> Iterator[str]:
    """The word at the place of each name.

    It is extended while nearly all of its names continue with the same word, which few others have
    there.
    """
    inwards = [_inwards(name, place) for name in words]
    heads = Counter(name[:k] for name in inwards for k in range(1, _LONGEST + 1) if len(name) >= k)
    others = Counter((k, word) for name in inwards for k, word in enumerate(name[:_LONGEST]))

    def goes_on(name: _Words, k: int) -> bool:
        longer = heads[name[: k + 1]]
        own = longer > 1 and longer >= _ALIKE * heads[name[:k]]
        return own and 2 * longer > others[k, name[k]]

    for name in inwards:
        k = 1
        while k < min(_LONGEST, len(name) - 1) and goes_on(name, k):
            k += 1
        yield "_".join(reversed(name[:k]) if place == "end" else name[:k])


def _scattered(tools: Sequence[Tool], words: Sequence[_Words]) -> Iterator[str]:
    """The product in each name, preferring the one in most names."""
    capitals, _ = _written(tools)
    mixed = {
        word.lower()
        for tool in tools
        for word in _CAPITAL.findall(tool.description[:_TEXT])
        if not word.isupper()
    }
    counts = Counter(word for name in words for word in set(name))
    candidates = {word for word, n in counts.items() if n > 1 and word in capitals & mixed}
    swaps = _swaps(words, candidates)
    products = {
        word for word in candidates if _may_name(word) and (not is_english(word) or word in swaps)
    }
    for name in words:
        yield max(products.intersection(name), key=lambda word: (counts[word], word), default="")


def _swaps(words: Sequence[_Words], candidates: set[str]) -> set[str]:
    """The words that replace another candidate in two or more pairs of names."""
    frames: dict[tuple[_Words, _Words], set[str]] = defaultdict(set)
    for name in set(words):
        for at, word in enumerate(name):
            if word in candidates:
                frames[name[:at], name[at + 1 :]].add(word)
    swaps = Counter(word for swapped in frames.values() if len(swapped) > 1 for word in swapped)
    return {word for word, count in swaps.items() if count >= SWAPPED}
