"""New descriptions of two tools that sound alike, short ones first, and what each does to requests
that only one of the two answers.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from toolscope_core.evaluation.intervals import rate_text
from toolscope_core.evaluation.query_sets import Query
from toolscope_core.model.numbers import quantity
from toolscope_core.model.pair import Pair
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool
from toolscope_core.wording.tool_text import split_name, tool_text
from toolscope_core.wording.wordnet import kinds_of
from toolscope_core.wording.words import STOP_WORDS, stem

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
    telling = [word for word in _plain(words) if kinds_of(word) or stem(word) in own_words]
    description = " ".join(tool.description.split())
    if not telling or not description:
        return tool.description
    return f"Use for {', '.join(telling[:MOST_IN_CLAUSE])}: {description}"


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


CLAUSE, IN_FRONT = "a short clause in front", "own words first"

Embed = Callable[[list[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Descriptions of two tools, by id, and the way in which they were made."""

    way: str
    descriptions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ConfusedQuery:
    """A request that one of two tools answers: by how much its cosine with the ``right`` one is
    above that with the other, with the descriptions as they are and with the new ones.
    """

    text: str
    right: str
    before: float
    after: float

    @property
    def change(self) -> int:
        """1 where the new descriptions bring it to the right tool, -1 where they take it away."""
        return (self.after > 0) - (self.before > 0)


@dataclass(frozen=True, slots=True)
class TellingEffect:
    """What new descriptions do to two tools: the cosine of their texts before and after, and the
    requests that only one of them answers, the most confused first.
    """

    before: float
    after: float
    queries: tuple[ConfusedQuery, ...]

    @property
    def right(self) -> tuple[int, int]:
        """How many requests are nearer to the right tool, before and after."""
        return (
            sum(one.before > 0 for one in self.queries),
            sum(one.after > 0 for one in self.queries),
        )

    @property
    def won(self) -> int:
        return sum(one.change > 0 for one in self.queries)

    @property
    def lost(self) -> int:
        return sum(one.change < 0 for one in self.queries)

    @property
    def margin(self) -> float:
        """By how much more requests are nearer to the right tool, on average."""
        return fmean(one.after - one.before for one in self.queries) if self.queries else 0.0

    def part(self, is_chosen_on: bool) -> TellingEffect:
        """On the half of the requests that a rewrite is chosen on, or on the other half."""
        own = (one for one in self.queries if is_for_choosing(one.text) == is_chosen_on)
        return replace(self, queries=tuple(own))


@dataclass(frozen=True, slots=True)
class RewriteEffect:
    """A rewrite and what it does: to the requests that it was ``training`` on, and to those
    ``held_out``.
    """

    rewrite: Rewrite
    training: TellingEffect
    held_out: TellingEffect

    @property
    def wins(self) -> bool:
        """Whether it can be accepted unseen: both halves have requests, it loses none and wins one,
        and on those held out the right tools come nearer.
        """
        is_even_or_better = self.won > 0 and self.lost == 0
        return is_even_or_better and bool(self.training.queries) and self.held_out.margin > 0

    @property
    def queries(self) -> int:
        return len(self.training.queries) + len(self.held_out.queries)

    @property
    def loses_none(self) -> bool:
        """Whether there is a request to tell by, and none goes to the other tool."""
        return bool(self.queries) and not self.lost

    @property
    def in_words(self) -> str:
        """What it does to requests, and whether it may be accepted unseen."""
        if not self.held_out.queries or not self.training.queries:
            return f"not enough requests to tell (n = {self.queries})"
        before, after = self.held_out.right
        n = len(self.held_out.queries)
        rates = (
            f"right answers for the requests it was not chosen on: {rate_text(before, n)} "
            f"before, {rate_text(after, n)} after"
        )
        if self.wins:
            return f"wins; {quantity(self.won, 'request')} won, none lost; {rates}"
        why = (
            f"{quantity(self.lost, 'request')} would go to the other tool"
            if self.lost
            else "no request is won"
            if not self.won
            else "no gain on the requests left out"
        )
        return f"no gain: {why}; {rates}"

    @property
    def won(self) -> int:
        return self.training.won + self.held_out.won

    @property
    def lost(self) -> int:
        return self.training.lost + self.held_out.lost


def is_for_choosing(request: str) -> bool:
    """Whether rewrites are chosen on the request, not measured: half of all, by their text."""
    return zlib.crc32(request.encode()) % 2 == 0


def offline_rewrites(
    tools: tuple[Tool, Tool], words: tuple[Sequence[str], Sequence[str]]
) -> tuple[Rewrite, ...]:
    """What can be made without a model of the ``words`` that only one of the two tools says, the
    short clause first: of each way as ``for_one_or_both`` has it.
    """
    by_server = tools[0].server != tools[1].server
    sides = list(zip(tools, words, strict=True))
    clauses = {tool.id: leading_clause(tool, own, by_server) for tool, own in sides}
    in_front = {tool.id: leading(tool, own, by_server) for tool, own in sides}
    return (*for_one_or_both(CLAUSE, tools, clauses), *for_one_or_both(IN_FRONT, tools, in_front))


def for_one_or_both(
    way: str, tools: Sequence[Tool], descriptions: Mapping[str, str]
) -> Iterator[Rewrite]:
    """The descriptions of both tools, then of one beside the other's own; none that change nothing,
    and none twice.
    """
    own = {tool.id: tool.description for tool in tools}
    new_texts = {one: text for one, text in descriptions.items() if text != own[one]}
    if new_texts:
        yield Rewrite(way, own | new_texts)
    if len(new_texts) > 1:
        yield from (Rewrite(way, own | {one: text}) for one, text in new_texts.items())


def answers_of(pair: Pair, queries: Iterable[Query]) -> list[tuple[str, str]]:
    """The requests that exactly one of the two answers, each with that one's id."""
    answers = []
    for query in queries:
        right = [one for one in (pair.left, pair.right) if any(one in need for need in query.gold)]
        answers += [(query.text, right[0])] if len(right) == 1 else []
    return answers


def effects_of(
    tools: tuple[Tool, Tool],
    rewrites: Sequence[Mapping[str, str]],
    answers: Sequence[tuple[str, str]],
    embed: Embed,
) -> list[TellingEffect]:
    """What each of several descriptions, by tool id, does to two tools; ``answers`` are requests
    with the id of the one that answers.
    """
    variants = [replace(one, description=new[one.id]) for new in rewrites for one in tools]
    texts = [tool_text(one) for one in (*tools, *variants)] + [text for text, _ in answers]
    rows = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    vectors = embed(list(rows))[[rows[text] for text in texts]]
    left, right = vectors[:2]
    requests = vectors[len(texts) - len(answers) :]
    signs = [1.0 if answer == tools[0].id else -1.0 for _, answer in answers]
    effects = []
    for at in range(2, 2 + len(variants), 2):
        new_left, new_right = vectors[at : at + 2]
        queries = [
            ConfusedQuery(
                text,
                answer,
                sign * float(vector @ (left - right)),
                sign * float(vector @ (new_left - new_right)),
            )
            for (text, answer), vector, sign in zip(answers, requests, signs, strict=True)
        ]
        ordered = tuple(sorted(queries, key=lambda one: one.before))
        effects.append(TellingEffect(float(left @ right), float(new_left @ new_right), ordered))
    return effects


def best_rewrites(
    tools: tuple[Tool, Tool],
    rewrites: Sequence[Rewrite],
    answers: Sequence[tuple[str, str]],
    embed: Embed,
) -> tuple[RewriteEffect, ...]:
    """Of each way the rewrite that is best on half of the requests (most of them right, then the
    right tools nearest; the first where none differs), with what it does to both halves.
    """
    if not rewrites:
        return ()
    effects = effects_of(tools, [one.descriptions for one in rewrites], answers, embed)
    by_way: dict[str, list[RewriteEffect]] = {}
    for one, effect in zip(rewrites, effects, strict=True):
        rewrite_effect = RewriteEffect(one, effect.part(True), effect.part(False))
        by_way.setdefault(one.way, []).append(rewrite_effect)
    return tuple(
        max(several, key=lambda one: (one.training.right[1], one.training.margin))
        for several in by_way.values()
    )
