"""The products for which tools are made, from a list of well-known ones.

*Delete a task* in two issue trackers is one operation for two owners of tasks; *take a screenshot*
by two programs that control a browser is one job. The product is read from the server's name and
the tool's own name and description, or else from what the server's other tools mention.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Literal

from toolscope_core.model.cluster import grouped
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import split_name, tool_name_words
from toolscope_core.wording.vocabulary import word_weight
from toolscope_core.wording.wordnet import is_word
from toolscope_core.wording.words import stem

PRODUCTS = Path(__file__).with_name("data") / "products.json"
"""The list of products, with an explanation of each part."""

_Kind = Literal["accounts", "programs", "engines"]
_KINDS: tuple[_Kind, ...] = ("accounts", "programs", "engines")
_TEXT = 400
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*|[.!?\n:]")
_QUOTES = ('"', "'", "`")
_SERVER_WORD = re.compile(r"[A-Za-z0-9]+")
_SPOKEN_OF = 0.3
"""A server is made for a product that this share of its tools mention, and at least two of them."""
_LEAD = 0.75
"""A server is also made for an account that this share of the tools with any account mention,"""
_LEAST_SPOKEN_OF = 0.2
"""if at least this share of all its tools mention the account."""
_MOST = 0.6
_FEWEST = 3
"""A first word in tool names may name the server's product if at least this many tools, and the
share ``_MOST`` of them, begin with it.
"""
_RARE = 0.55
"""An unlisted word in a server's name is a product if its weight is at least this."""
FILE_FORMATS = frozenset(
    "json xml csv yaml toml html markdown pdf docx xlsx png jpg jpeg gif svg txt tsv".split()
)
_COMMON = frozenset(
    """mcp server servers client js ts py python node api apps app tool tools the io com org
    ai""".split()
)
"""Words in servers' names that are not products."""


@dataclass(frozen=True, slots=True)
class Products:
    """The products for which a tool is made.

    ``accounts`` store things for their users, ``programs`` work on anybody's data, and ``engines``
    answer from an index or model of their own. ``unlisted`` are words in the server's name that its
    tools use as a name; an abbreviation such as *SSH* names a kind of thing, unless it is a format.
    """

    accounts: frozenset[str] = frozenset()
    programs: frozenset[str] = frozenset()
    engines: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()


def products_of(tools: Sequence[Tool]) -> tuple[Products, ...]:
    """The products of each tool, in the order of the tools. They depend only on the tool and its
    own server.
    """
    products = [_own_products(tool) for tool in tools]
    rows_by_server = grouped(range(len(tools)), lambda row: tools[row].server)
    results = dict(enumerate(products))
    for server, rows in rows_by_server.items():
        own = [products[row] for row in rows]
        counts = Counter(name for one in own for name in (*one.accounts, *one.unlisted))
        named = _spoken_of_suites(server, counts.keys())
        if server:
            named = _or_else(named, _named_first([tools[row] for row in rows]))
            named = _or_else(named, Products(accounts=_mostly_spoken_of(own)))
        least = max(2, _SPOKEN_OF * len(rows))
        profile = frozenset(name for name, n in counts.items() if server and n >= least)
        unlisted = frozenset[str]().union(*(one.unlisted for one in own))
        named = replace(named, unlisted=profile & unlisted)
        for row in rows:
            suite = _of_its_suite(tools[row], named.accounts)
            of_tool = replace(products[row], accounts=products[row].accounts | suite)
            results[row] = _with_server(of_tool, named, profile)
    return tuple(results.values())


def _or_else(named: Products, other: Products) -> Products:
    """The first products, where each kind that is empty is taken from the others; unlisted words
    stay.
    """
    return Products(
        named.accounts or other.accounts,
        named.programs or other.programs,
        named.engines or other.engines,
        named.unlisted,
    )


def _named_first(tools: Sequence[Tool]) -> Products:
    """The products with which the names of most tools of a server begin: ``slack_list_users``."""
    first = Counter(words[0] for words in map(tool_name_words, tools) if len(words) > 1)
    usual = [word for word, n in first.items() if n >= max(_FEWEST, _MOST * len(tools))]
    return server_products("_".join(usual))


def _mostly_spoken_of(products: Sequence[Products]) -> frozenset[str]:
    """The account, or the suite of accounts, that nearly all tools with an account mention.

    Of 322 servers of *toucan*, *etom* and other catalogs with an account in their names, this and
    the tools' names find 204 without the server's name, and a wrong one for 3.
    """
    spoken_of = [one.accounts for one in products if one.accounts]
    least = max(2, _LEAD * len(spoken_of), _LEAST_SPOKEN_OF * len(products))
    for suite in _suites():
        own = [accounts & suite for accounts in spoken_of if accounts & suite]
        if len(own) >= least and len(frozenset[str]().union(*own)) > 1:
            return suite
    counts = Counter(account for accounts in spoken_of for account in accounts)
    return frozenset(account for account, n in counts.most_common(1) if n >= least)


def _spoken_of_suites(server: str, spoken_of: Iterable[str]) -> Products:
    """The products in a server's name, without a suite that no tool mentions.

    For example, *workspace* may mean the place where files are.
    """
    named = server_products(server)
    if named.accounts in _suites() and named.accounts.isdisjoint(spoken_of):
        return replace(named, accounts=frozenset())
    return named


def _of_its_suite(tool: Tool, own: frozenset[str]) -> set[str]:
    """The accounts in a suite whose last word is in a tool's name.

    For example, *calendar* means Google's calendar on a server for Google Drive. Only suites that
    contain all of the accounts ``own`` and more are considered.
    """
    words = set(map(stem, tool_name_words(tool)))
    suites = (suite for suite in _suites() if own and own < suite)
    return {one for suite in suites for one in suite if stem(one.split()[-1]) in words}


@lru_cache(maxsize=16_384)
def server_products(server: str) -> Products:
    """The products in a server's name."""
    parts = [_without_affix(part) for part in _SERVER_WORD.findall(server)]
    spellings = ([word for part in parts for word in split_name(part)], [p.lower() for p in parts])
    every = [_mentions([(word, True) for word in words]) for words in spellings]
    products = _products(mention for mentions in every for mention in mentions)
    return replace(products, unlisted=frozenset(filter(_is_unlisted, product_words(server))))


def _without_affix(word: str) -> str:
    """The listed product in a word that adds only a common word to it: ``apitwitter``."""
    lower = word.lower()
    parts = ((lower.removeprefix(one), lower.removesuffix(one)) for one in _COMMON)
    products = (part for part in chain(*parts) if len(part) > 1 and (part,) in _by_spelling())
    return word if (lower,) in _by_spelling() else next(products, word)


def names_a_product(words: str) -> bool:
    """Whether words joined by ``_`` are the name of a listed product."""
    products = server_products(words)
    return bool(products.accounts or products.programs or products.engines)


@lru_cache(maxsize=16_384)
def product_words(server: str) -> frozenset[str]:
    """The words of a server's name that may name a product."""
    return frozenset(re.findall(r"[a-z0-9]{2,}", server.lower())) - _COMMON


@lru_cache(maxsize=16_384)
def share_a_word(one: str, other: str) -> bool:
    """Whether two servers' names share a word that may name a product, or whether such a word in
    one begins with such a word in the other.

    Only words of more than three letters are compared by their beginning.
    """
    ours, theirs = product_words(one), product_words(other)
    return bool(ours & theirs) or any(_begins(a, b) or _begins(b, a) for a in ours for b in theirs)


def of_other_fields(one: Products, other: Products) -> bool:
    """Whether the two products are for different kinds of things, such as mail and cards, or an
    account and a program.
    """
    ours, theirs = map(_fields_of, (one, other))
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _fields_of(products: Products) -> frozenset[str]:
    if products.accounts:
        return frozenset().union(*(_fields()[account] for account in products.accounts))
    return frozenset({"programs"}) if products.programs else frozenset()


def _with_server(own: Products, server: Products, profile: frozenset[str]) -> Products:
    """A tool's own products combined with those in its server's name.

    If the tool mentions no account, the products that the server's other tools mention count too.
    """
    common = own.accounts & server.accounts
    accounts = own.accounts or profile - server.unlisted
    return Products(
        accounts=common or accounts | server.accounts,
        programs=server.programs or own.programs,
        engines=server.engines or own.engines,
        unlisted=server.unlisted,
    )


@lru_cache(maxsize=65_536)
def _own_products(tool: Tool) -> Products:
    """The products in a tool's name and description.

    A spelling that is also an English word counts only if it has a capital inside a sentence and
    does not end a longer name (*Times Square*). A single letter (*X*) never counts.
    """
    name = [(word, _is_a_name(word)) for word in tool_name_words(tool)]
    text, before, end, goes_on = [], ".", 0, False
    for match in _WORD.finditer(tool.description[:_TEXT]):
        word = match[0]
        is_quoted = tool.description[match.start() - 1 : match.start()] in _QUOTES
        is_name = word[0].isupper() and before not in ".!?\n:" and not is_quoted
        goes_on = goes_on and match.start() == end + 1 and before.lower() not in _spellings()
        is_whole = is_name and len(word) > 1 and not goes_on
        text.append((word.lower(), is_whole or _is_a_name(word.lower())))
        before, end, goes_on = word, match.end(), is_name
    products = _products([*_mentions(name), *_mentions(text)])
    own = server_products(tool.server).unlisted
    if not own:
        return products
    written = _WORD.findall(tool.description[:_TEXT])
    acronyms = {word.lower() for word in written if len(word) > 1 and word.isupper()} - FILE_FORMATS
    return replace(
        products,
        unlisted=frozenset(
            word
            for word, is_name in (*name, *text)
            if is_name
            and word not in acronyms
            and _is_unlisted(word)
            and any(_begins(other, word) for other in own)
        ),
    )


@lru_cache(maxsize=65_536)
def _is_unlisted(word: str) -> bool:
    """Whether a word is rare, and in no spelling of a listed product."""
    return word_weight(word) >= _RARE and not any(word in listed for listed in _by_spelling())


def _begins(word: str, part: str) -> bool:
    """Whether a word is or begins with another of more than three letters, as in
    ``share_a_word``.
    """
    return word == part or (len(part) > 3 and word.startswith(part))


def _is_a_name(word: str) -> bool:
    return len(word) > 1 and not is_word(word)


def _mentions(words: Sequence[tuple[str, bool]]) -> Iterator[tuple[_Kind, Iterable[str]]]:
    """The products that the words name; the longest spelling is tried first.

    The flag of each word says whether the word is enough by itself.
    """
    spellings = _spellings()
    at = 0
    while at < len(words):
        for spelling in spellings.get(words[at][0], ()):
            length = len(spelling)
            same = tuple(word for word, _ in words[at : at + length]) == spelling
            if same and (length > 1 or words[at][1]):
                yield _by_spelling()[spelling]
                at += length
                break
        else:
            at += 1


def _products(mentions: Iterable[tuple[_Kind, Iterable[str]]]) -> Products:
    names: dict[_Kind, set[str]] = {kind: set() for kind in _KINDS}
    for kind, products in mentions:
        names[kind].update(products)
    return Products(*(frozenset(names[kind]) for kind in _KINDS))


@lru_cache(maxsize=1)
def _fields() -> Mapping[str, frozenset[str]]:
    """The purposes of each account, each in a word or several."""
    fields: dict[str, set[str]] = {}
    content = json.loads(PRODUCTS.read_text("utf-8"))
    for field, lines in content["accounts"]["lines"].items():
        for line in lines:
            fields.setdefault(line.partition(" | ")[0], set()).add(field)
    return {account: frozenset(own) for account, own in fields.items()}


@lru_cache(maxsize=1)
def _suites() -> frozenset[frozenset[str]]:
    """The accounts that share a name."""
    suites = json.loads(PRODUCTS.read_text("utf-8"))["suites"]["lines"]
    return frozenset(map(frozenset, suites.values()))


@lru_cache(maxsize=1)
def _by_spelling() -> Mapping[tuple[str, ...], tuple[_Kind, Sequence[str]]]:
    """The kind and the products that each spelling names; a spelling is a sequence of words."""
    content = json.loads(PRODUCTS.read_text("utf-8"))
    table: dict[tuple[str, ...], tuple[_Kind, Sequence[str]]] = {}
    content["accounts"]["lines"] = list(chain(*content["accounts"]["lines"].values()))
    for kind in _KINDS:
        for line in content[kind]["lines"]:
            spellings = [tuple(spelling.split()) for spelling in line.split("|")]
            for spelling in spellings:
                table.setdefault(spelling, (kind, (" ".join(spellings[0]),)))
    for line, products in content["suites"]["lines"].items():
        for spelling in line.split("|"):
            table[tuple(spelling.split())] = ("accounts", products)
    return table


@lru_cache(maxsize=1)
def _spellings() -> Mapping[str, Sequence[tuple[str, ...]]]:
    """The spellings that begin with each word, longest first."""
    longest_first = sorted(_by_spelling(), key=len, reverse=True)
    return grouped(longest_first, lambda spelling: spelling[0])
