"""Expresses the similarities and differences of two tools as numbers for the offline judge.

The signals depend only on the two tools and their servers, never on the rest of the catalog.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from toolscope_core.embedding.candidate_pairs import (
    PairRows,
    cosines,
    default_threshold,
    server_fields,
)
from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.judging.arguments.matching import INFER_AT, match_parameters
from toolscope_core.judging.arguments.subschema import types_meet
from toolscope_core.judging.distinctions import one_and_several, unshared
from toolscope_core.judging.guards import effect
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool
from toolscope_core.wording import products, vocabulary
from toolscope_core.wording.boilerplate import without_boilerplate
from toolscope_core.wording.reading import ToolReading, read_tool, whole_name
from toolscope_core.wording.vocabulary import opposites, total_weight
from toolscope_core.wording.words import keys_of, plain_words, stem

_MOST_APART = 3
_ONE_FIELD = 0.2
"""Two servers are about one kind of thing if the cosine of their fields is above this."""
_EFFECTS = {"reads": 0.0, "writes": 1.0, "destroys": 2.0}


@dataclass(frozen=True, slots=True)
class PairWords:
    """Two tools compared word by word, independently of the rest of the catalog.

    ``unshared`` has the words that only one of them uses, ``renamed`` the ones from their names,
    and ``signals`` the signals by name.
    """

    unshared: tuple[tuple[str, ...], tuple[str, ...]]
    renamed: tuple[tuple[str, ...], tuple[str, ...]]
    signals: Mapping[str, float]


@lru_cache(maxsize=65_536)
def pair_words(a: ToolReading, b: ToolReading) -> PairWords:
    """The comparison of two tools in this order, cached for judging, explaining and the next
    version of a catalog.

    The signals are the same in either order.
    """
    ours, theirs = unshared(a, b), unshared(b, a)
    names = (
        tuple(word for word in ours if word in a.name_words),
        tuple(word for word in theirs if word in b.name_words),
    )
    weights = total_weight(names[0]), total_weight(names[1])
    return PairWords(
        (ours, theirs),
        names,
        {
            "same_verb": _same_verb(a, b),
            "other_effect": _effects_apart(a, b),
            "opposite_words": float(opposites(frozenset(a.name), frozenset(b.name)) is not None),
            "shared_object": _same_object(a, b),
            "shared_phrase": vocabulary.weighted_jaccard(_stems(a.phrase), _stems(b.phrase)),
            "shared_arguments": _shared_arguments(a, b),
            "required_matched": _required_matched(a.tool, b.tool),
            "common_words": total_weight(_stems(a.words) & _stems(b.words)),
            "words_apart": min(_share(ours, a.words), _share(theirs, b.words)),
            "least_name_words_apart": min(weights),
            "most_name_words_apart": max(weights),
            "one_word_apart": float(_one_word_apart(a, b, names)),
            "one_and_several": float(one_and_several(a, b)),
            "one_server": float(_of_one_server(a, b, names)),
        },
    )


def _of_one_server(a: ToolReading, b: ToolReading, names: Sequence[Sequence[str]]) -> bool:
    if not a.tool.server or a.tool.server != b.tool.server:
        return False
    return (any(names) or a.text != b.text) and not are_aliases(a.tool, b.tool)


@lru_cache(maxsize=16_384)
def are_aliases(one: Tool, other: Tool) -> bool:
    """Whether two tools of one server have equal arguments, and names that are equal without the
    words of the server's name: ``get_services`` and ``ssh_get_services``.
    """
    if not one.server or one.server != other.server or one.schema is None or other.schema is None:
        return False
    servers = products.product_words(one.server)
    names = [[word for word in whole_name(tool) if word not in servers] for tool in (one, other)]
    arguments = [{(p.name, p.required) for p in tool.parameters} for tool in (one, other)]
    return names[0] == names[1] != [] and arguments[0] == arguments[1]


def _same_verb(a: ToolReading, b: ToolReading) -> float:
    if not a.verb or not b.verb:
        return math.nan
    return float(not keys_of(a.verb).isdisjoint(keys_of(b.verb)))


def _effects_apart(a: ToolReading, b: ToolReading) -> float:
    """0 for equal effects, 1 for reading against writing, 2 for reading against destroying."""
    effects = [_EFFECTS.get(effect(side)) for side in (a, b)]
    if effects[0] is None or effects[1] is None:
        return math.nan
    return abs(effects[0] - effects[1])


def _same_object(a: ToolReading, b: ToolReading) -> float:
    if not a.objects or not b.objects:
        return math.nan
    return float(not _stems(a.objects).isdisjoint(_stems(b.objects)))


def _shared_arguments(a: ToolReading, b: ToolReading) -> float:
    if a.arguments is None or b.arguments is None:
        return math.nan
    return vocabulary.weighted_jaccard(_stems(a.arguments), _stems(b.arguments))


def _required_matched(one: Tool, other: Tool) -> float:
    """The share of required arguments that match the other's arguments, on the side with fewer; 1
    if there are none.
    """
    if one.schema is None or other.schema is None:
        return math.nan
    ours, theirs = ({p.name for p in tool.parameters if p.required} for tool in (one, other))
    if ours == theirs and _meet_by_name(one, other, ours):
        return 1.0
    matches = [match for match in match_parameters(one, other) if match.score > INFER_AT]
    shares = [
        len(required & matched) / len(required)
        for required, matched in (
            (ours, {match.left for match in matches}),
            (theirs, {match.right for match in matches}),
        )
        if required
    ]
    return min(shares)


def _meet_by_name(one: Tool, other: Tool, names: Iterable[str]) -> bool:
    """Whether each of these parameters could accept the values of the other tool's parameter."""
    ours, theirs = ({p.name: p.schema for p in tool.parameters} for tool in (one, other))
    return all(types_meet(ours[name], theirs[name]) for name in names)


def _share(words: Iterable[str], of: Iterable[str]) -> float:
    whole = total_weight(of)
    return total_weight(words) / whole if whole else 0.0


def _one_word_apart(a: ToolReading, b: ToolReading, names: Sequence[Sequence[str]]) -> bool:
    """Whether the names are equal except for at most three words of each."""
    if not all(0 < len(words) <= _MOST_APART for words in names):
        return False
    rest = [
        {stem(word) for word in own.name_words if word not in words}
        for own, words in zip((a, b), names, strict=True)
    ]
    return rest[0] == rest[1]


@lru_cache(maxsize=65_536)
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(stem, words))


COUNTS = {
    "closeness": "how similar names and descriptions are",
    "same_verb": "whether their verbs mean the same",
    "other_effect": "whether one reads and the other writes",
    "opposite_words": "whether their names are opposites",
    "shared_object": "whether they work on the same thing",
    "shared_phrase": "how their names describe that thing",
    "shared_arguments": "how similar the names of their arguments are",
    "required_matched": "whether their required arguments match",
    "common_words": "how many words both use",
    "words_apart": "words that only one of them uses",
    "least_name_words_apart": "whether each name has a word that the other lacks",
    "most_name_words_apart": "how many words one name has that the other lacks",
    "one_word_apart": "whether the names differ in one place only",
    "one_and_several": "whether one is about a single thing, the other about several",
    "one_server": "whether they are on the same server",
    "shared_server_word": "whether the names of their servers share a word",
    "shared_product": "whether both are for the same product",
    "other_products": "whether they are for different products",
    "no_product": "whether either is for a product",
    "other_engines": "whether different services answer",
    "programs": "whether they run programs on the user's own data",
    "unlisted_names": "whether a server has a distinctive name of its own",
    "other_stores": "whether each server keeps data of its own",
}
"""What each signal measures, in words that fit whether it speaks for or against merging."""

SIGNALS = tuple(COUNTS)
"""The columns of ``Signals.of_pairs``, explained there."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Signals:
    """A catalog prepared once; ``of_pairs`` gives the signals of any of its pairs.

    ``plain`` are the ``tools`` without boilerplate, as the judge reads them. ``near_at`` is the
    lowest cosine of a candidate pair for the embedding model, so that closeness is comparable
    between models. ``servers`` are the tools' servers as numbers, 0 for none; ``fields`` are the
    subjects of the servers (``server_fields``).
    """

    tools: tuple[Tool, ...]
    plain: tuple[Tool, ...]
    products: tuple[products.Products, ...]
    vectors: Vectors
    near_at: float
    servers: NDArray[np.int64]
    fields: Vectors | None

    @classmethod
    def of(cls, tools: Sequence[Tool], vectors: Vectors, model: str = DEFAULT_MODEL) -> Signals:
        """The signals of a catalog.

        ``vectors`` is float32 of shape (n, d), rows normalised, in the order of ``tools``;
        ``model`` is the name of their embedding model.
        """
        plain, servers = without_boilerplate(tools), codes([tool.server for tool in tools])
        return cls(
            tools=tuple(tools),
            plain=plain,
            products=products.products_of(tools),
            vectors=vectors,
            near_at=default_threshold(model),
            servers=servers,
            fields=server_fields(vectors, servers, model),
        )

    def reading(self, row: int) -> ToolReading:
        """A tool in words, without its boilerplate."""
        return read_tool(self.tools[row], self.plain[row])

    def of_pairs(self, left: PairRows, right: PairRows) -> Matrix:
        """The signals: float64 of shape (m, len(SIGNALS)); the same for (a, b) and (b, a).

        ``closeness``: the cosine above the lowest of a candidate pair, as a share of the distance
        to 1. ``same_verb``: 1 if they share an action in some word. ``other_effect``: 1 if one
        reads and the other writes, 2 if the other destroys. ``opposite_words``: 1 if the names have
        opposites (open, close). ``shared_object``: 1 if they end on the same noun.
        ``shared_phrase`` and ``shared_arguments``: weighted share of common words of the noun
        phrase, and of the parameters' names. ``required_matched``: share of the required arguments
        that match one of the other's by some evidence. ``common_words``: weight of the words that
        both use. ``words_apart``: weight of the words that the other does not express in any form,
        as a share, on the side with less of them. ``least_name_words_apart`` and
        ``most_name_words_apart``: the same for names, not as a share, on the side with less and on
        the side with more. ``one_word_apart``: 1 if the names are equal except for one to three
        words. ``one_and_several``: 1 if one is about a single thing and the other about several.
        ``one_server``: 1 if both are on one server, unless descriptions and the meaning of names
        are equal. ``shared_server_word``: 1 if the names of two servers share a word.
        ``shared_product``: 1 if both are made for one product that stores things for its users;
        ``other_products``: 1 if each is for another; ``no_product``: 1 if neither is for any.
        ``other_engines``: 1 if each answers from an index or model of another maker. ``programs``:
        how many of the two work on data from any source. ``unlisted_names``: how many have an
        unlisted product of their own. ``other_stores``: 1 if two servers without a common product
        each store the thing that the tools work on. Rare words weigh more. NaN if a signal cannot
        be measured.
        """
        left, right = np.minimum(left, right), np.maximum(left, right)
        closeness = (cosines(self.vectors, left, right) - self.near_at) / (1.0 - self.near_at)
        rows = [
            [by_name[signal] for signal in SIGNALS[1:]]
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
            for by_name in [{**self.compare(a, b).signals, **self._on_products(a, b)}]
        ]
        table = np.array(rows, dtype=np.float64).reshape(-1, len(SIGNALS) - 1)
        return np.column_stack([closeness, table])

    def of_one_server(self, left: PairRows, right: PairRows) -> NDArray[np.bool_]:
        """Which pairs are on one server, or in a catalog without servers."""
        ours, theirs = self.servers[left], self.servers[right]
        return np.asarray((ours == theirs) | (ours == 0) | (theirs == 0))

    def compare(self, left: int, right: int) -> PairWords:
        """The comparison of the words of two tools."""
        return pair_words(self.reading(left), self.reading(right))

    def unshared(self, left: int, right: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The words that only one of two tools uses."""
        one, other = self.reading(left), self.reading(right)
        return unshared(one, other), unshared(other, one)

    def are_of_two_products(self, left: int, right: int) -> bool:
        """Whether each of two tools is for a product that the other is not for."""
        ours, theirs = self.products[left].accounts, self.products[right].accounts
        return bool(ours and theirs) and ours.isdisjoint(theirs)

    def is_no_family(self, left: int, right: int) -> bool:
        """Whether the two differ in more than one value.

        This is so if the other does not express the verb of one in any form (*hold*, *release*); if
        the names have opposites (*dependencies*, *dependents*); if the arguments on one server
        differ beyond that value (``author`` in *search by author*); if the tools are for accounts
        or for servers in other fields; or if on two accounts or servers each works on something
        else (*release*, *schedule*).
        """
        pair, two_servers = self.compare(left, right), self._are_on_two_servers(left, right)
        two_owners = two_servers or self.are_of_two_products(left, right)
        if (
            products.of_other_fields(self.products[left], self.products[right])
            or self.are_of_other_fields(left, right)
            or pair.signals["opposite_words"]
            or (two_owners and all(self._things(left, right)))
        ):
            return True
        if any(
            self._verb(row) in words
            for row, words in zip((left, right), pair.unshared, strict=True)
        ):
            return True
        tools = self.plain[left], self.plain[right]
        if two_servers or not all(tool.server for tool in tools):
            return False
        rest = [
            {_stems(plain_words(one.name)) - _stems(words) for one in tool.parameters}
            for tool, words in zip(tools, pair.renamed, strict=True)
        ]
        return rest[0] != rest[1]

    def _things(self, left: int, right: int) -> tuple[list[str], list[str]]:
        """The words of each name that the other lacks, except for the name of a server or an
        account.
        """
        servers = {
            word for row in (left, right) for word in products.product_words(self.plain[row].server)
        }
        accounts = {*self.products[left].accounts, *self.products[right].accounts}
        names = servers.union(*(account.split() for account in accounts))
        ours, theirs = self.compare(left, right).renamed
        return [w for w in ours if w not in names], [w for w in theirs if w not in names]

    def _are_on_two_servers(self, left: int, right: int) -> bool:
        ours, theirs = self.servers[left], self.servers[right]
        return bool(ours and theirs and ours != theirs)

    def are_of_other_fields(self, left: int, right: int) -> bool:
        """Whether two tools are on servers for two kinds of thing."""
        if self.fields is None or not self._are_on_two_servers(left, right):
            return False
        ours, theirs = (self.fields[self.servers[row]] for row in (left, right))
        return float(ours @ theirs) < _ONE_FIELD

    def renamed(self, left: int, right: int) -> tuple[str, str]:
        """The words of the names that only one of the two uses, joined for each tool."""
        ours, theirs = self.compare(left, right).renamed
        return "_".join(ours), "_".join(theirs)

    def _verb(self, row: int) -> str:
        """The verb of a tool: the word that begins both name and description, or else the judge's
        reading.
        """
        own = self.reading(row)
        is_first = own.name and own.text and stem(own.name[0]) == stem(own.text[0])
        return own.name[0] if is_first else own.verb

    def _on_products(self, left: int, right: int) -> dict[str, float]:
        ours, theirs = self.products[left], self.products[right]
        accounts = ours.accounts, theirs.accounts
        engines = ours.engines, theirs.engines
        servers = self.plain[left].server, self.plain[right].server
        two = self._are_on_two_servers(left, right)
        objects = frozenset(self.reading(left).objects) & frozenset(self.reading(right).objects)
        return {
            "shared_server_word": float(products.share_a_word(*servers)) if two else np.nan,
            "shared_product": float(not accounts[0].isdisjoint(accounts[1])),
            "other_products": float(self.are_of_two_products(left, right)),
            "no_product": float(not any(accounts)),
            "other_engines": float(all(engines) and engines[0].isdisjoint(engines[1])),
            "programs": float(bool(ours.programs)) + float(bool(theirs.programs)),
            "other_stores": float(
                two
                and vocabulary.keeps_things(objects)
                and not vocabulary.is_of_the_machine(objects)
                and accounts[0].isdisjoint(accounts[1])
                and ours.unlisted.isdisjoint(theirs.unlisted)
            ),
            "unlisted_names": (
                float(bool(ours.unlisted - theirs.unlisted))
                + float(bool(theirs.unlisted - ours.unlisted))
            ),
        }


def codes(values: Sequence[str]) -> NDArray[np.int64]:
    """Equal numbers for equal texts; 0 for the empty text."""
    numbers = {"": 0}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
