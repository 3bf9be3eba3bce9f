"""New descriptions of two similar tools, short ones first, and their effect on requests."""

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
"""A word among the first two is already in front."""


def leading(tool: Tool, words: Sequence[str], by_server: bool = False) -> str:
    """The description with those ``words`` in front that describe the tool's own job.

    These are words of its name, and of its server if the tools are told apart ``by_server``.
    Unchanged if the description is empty or there are no such words: other words may be asides
    (*important*, *comprehensive*). Only words in Latin letters can be moved. Parameters are not
    mentioned, because that loses more requests than it wins.
    """
    description = " ".join(tool.description.split())
    front = [stem(word.lower()) for word in re.findall(r"\w+", description)[:_FRONT]]
    lead = [word for word in _own_words(tool, words, by_server) if stem(word) not in front]
    if not lead or not description:
        return tool.description
    return f"{', '.join(lead).capitalize()}: {description}"


def leading_clause(tool: Tool, words: Sequence[str], by_server: bool = False) -> str:
    """The description after *Use for* and the first of ``words`` that are nouns or qualify for
    ``leading``.

    Unchanged if the description is empty or there are no such words. The other tool is not
    mentioned: *use it instead for …* makes the two more similar.
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
    """A request that one of two tools answers.

    ``before`` and ``after`` are its cosine with the right tool minus that with the other, with
    the old and the new descriptions.
    """

    text: str
    before: float
    after: float

    @property
    def change(self) -> int:
        """1 if the new descriptions move it to the right tool, -1 if away from it, or else 0."""
        return (self.after > 0) - (self.before > 0)


@dataclass(frozen=True, slots=True)
class TellingEffect:
    """The effect of new descriptions on two tools.

    It has the cosine of their texts before and after, and the requests that only one of them
    answers, most confused first.
    """

    before: float
    after: float
    queries: tuple[ConfusedQuery, ...]

    @property
    def right(self) -> tuple[int, int]:
        """How many requests are closer to the right tool, before and after."""
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
        """The mean gain in closeness to the right tool."""
        return fmean(one.after - one.before for one in self.queries) if self.queries else 0.0

    def part(self, is_chosen_on: bool) -> "TellingEffect":
        """The effect on the requests used for choosing, or on the held-out ones."""
        own = (one for one in self.queries if is_for_choosing(one.text) == is_chosen_on)
        return replace(self, queries=tuple(own))


@dataclass(frozen=True, slots=True)
class RewriteEffect:
    """A rewrite and its effect on ``training`` requests and on ``held_out`` ones."""

    rewrite: Rewrite
    training: TellingEffect
    held_out: TellingEffect

    @property
    def wins(self) -> bool:
        """Whether it can be accepted without a person.

        Both halves have requests, none is lost, at least one is won, and on held-out requests the
        right tools come closer.
        """
        is_even_or_better = self.won > 0 and self.lost == 0
        return is_even_or_better and bool(self.training.queries) and self.held_out.margin > 0

    @property
    def queries(self) -> int:
        return len(self.training.queries) + len(self.held_out.queries)

    @property
    def loses_none(self) -> bool:
        """Whether there are requests to judge by, and none is lost to the other tool."""
        return bool(self.queries) and not self.lost

    @property
    def in_words(self) -> str:
        """Its effect on requests, and whether it can be accepted without a person."""
        if not self.held_out.queries or not self.training.queries:
            return f"not enough requests to tell (n = {self.queries})"
        before, after = self.held_out.right
        n = len(self.held_out.queries)
        rates = (
            f"right answers on held-out requests: {rate_text(before, n)} before, "
            f"{rate_text(after, n)} after"
        )
        if self.wins:
            return f"wins; {quantity(self.won, 'request')} won, none lost; {rates}"
        why = (
            f"{quantity(self.lost, 'request')} would go to the other tool"
            if self.lost
            else "no request is won"
            if not self.won
            else "no gain on held-out requests"
        )
        return f"no gain: {why}; {rates}"

    @property
    def won(self) -> int:
        return self.training.won + self.held_out.won

    @property
    def lost(self) -> int:
        return self.training.lost + self.held_out.lost


def is_for_choosing(request: str) -> bool:
    """Whether the request is used to choose rewrites, not to measure them: half of all, by text."""
    return zlib.crc32(request.encode()) % 2 == 0


def offline_rewrites(
    tools: tuple[Tool, Tool], words: tuple[Sequence[str], Sequence[str]]
) -> tuple[Rewrite, ...]:
    """Rewrites without a model from the ``words`` that only one of the two tools uses, short clause
    first.

    Each way has the variants of ``for_one_or_both``.
    """
    by_server = tools[0].server != tools[1].server
    sides = list(zip(tools, words, strict=True))
    clauses = {tool.id: leading_clause(tool, own, by_server) for tool, own in sides}
    in_front = {tool.id: leading(tool, own, by_server) for tool, own in sides}
    return (*for_one_or_both(CLAUSE, tools, clauses), *for_one_or_both(IN_FRONT, tools, in_front))


def for_one_or_both(
    way: str, tools: Sequence[Tool], descriptions: Mapping[str, str]
) -> Iterator[Rewrite]:
    """New descriptions for both tools, then for one of them; unchanged and repeated ones are left
    out.
    """
    own = {tool.id: tool.description for tool in tools}
    new_texts = {one: text for one, text in descriptions.items() if text != own[one]}
    if new_texts:
        yield Rewrite(way, own | new_texts)
    if len(new_texts) > 1:
        yield from (Rewrite(way, own | {one: text}) for one, text in new_texts.items())


def answers_of(pair: Pair, queries: Iterable[Query]) -> list[tuple[str, str]]:
    """The requests that exactly one of the two answers, each with its id."""
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
    """The effect of each set of descriptions (by tool id) on two tools.

    ``answers`` are requests with the id of the tool that answers.
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
                sign * float(vector @ (left - right)),
                sign * float(vector @ (new_left - new_right)),
            )
            for (text, _), vector, sign in zip(answers, requests, signs, strict=True)
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
    """The best rewrite of each way, with its effect on both halves of the requests.

    On one half, most right requests win, then the closest right tools; the first of equal ones.
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
