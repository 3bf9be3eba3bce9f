"""The offline judge decides whether two tools do one job, or one operation for two values.

It has two logistic models over readable signals: one for the same job and one for a family. Each
model has one version for tools of one server and one for tools of two servers, where other signals
matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from toolscope_core.catalog.scan.hidden import without_hidden
from toolscope_core.embedding.candidate_pairs import PairRows, cosines
from toolscope_core.embedding.minilm import DEFAULT_MODEL
from toolscope_core.judging import distinctions
from toolscope_core.judging.arguments.alignment import argument_map, serving, unmappable
from toolscope_core.judging.arguments.matching import match_parameters
from toolscope_core.judging.explanation import ToolComparison, explain
from toolscope_core.judging.far_pairs import actions_across
from toolscope_core.judging.guards import effect
from toolscope_core.judging.selector import FIXED, NameTemplate, kind_of_values, rows_by_template
from toolscope_core.judging.signals import COUNTS, SIGNALS, Matrix, Signals, codes
from toolscope_core.judging.weights import EVEN, Weights, shipped_weights
from toolscope_core.model.pair import Pair, Verdict
from toolscope_core.model.protocols import Vectors
from toolscope_core.model.tool import Tool
from toolscope_core.wording.products import Products
from toolscope_core.wording.reading import ToolReading
from toolscope_core.wording.tool_text import source_name
from toolscope_core.wording.vocabulary import is_foreign
from toolscope_core.wording.words import is_empty, is_english, stem, words_of


@dataclass(frozen=True)
class ToolFacts:
    """Facts by row of ``tools``.

    ``mappable`` says for which tools calls can be mapped; ``general`` has the id of the general
    tool of each instance. ``actions`` are the rows of tools and those of other servers' tools that
    do the same by one value of an argument (``actions_across``).
    """

    tools: tuple[Tool, ...]
    general: Mapping[str, str]
    mappable: NDArray[np.bool_]
    actions: tuple[PairRows, PairRows]
    _undeclared: NDArray[np.bool_]
    _undescribed: NDArray[np.bool_]
    _contents: NDArray[np.int64]
    _generals: NDArray[np.int64]

    @classmethod
    def of(cls, tools: Sequence[Tool], products: Sequence[Products]) -> ToolFacts:
        general = general_tools(tools)
        heads = set(general.values())
        generals = [general.get(tool.id, tool.id if tool.id in heads else "") for tool in tools]
        return cls(
            tools=tuple(tools),
            general=general,
            mappable=np.array([unmappable(tool) is None for tool in tools], dtype=np.bool_),
            actions=actions_across(tools, products),
            _undeclared=np.array([tool.schema is None for tool in tools], dtype=np.bool_),
            _undescribed=np.array([not tool.description.strip() for tool in tools], dtype=np.bool_),
            _contents=codes([_visible_content(tool) for tool in tools]),
            _generals=codes(generals),
        )

    @cached_property
    def by_template(self) -> Mapping[NameTemplate, Sequence[int]]:
        """The rows of the tools that have each template of a name."""
        return rows_by_template(self.tools)

    def general_of(self, row: int) -> str:
        """Id of the general tool that a tool is or is an instance of; empty if it is neither."""
        tool = self.tools[row].id
        return self.general.get(tool, tool if self._generals[row] else "")

    def general_name(self, left: int, right: int) -> str:
        """The name of the general tool of which both are forms; empty if there is none."""
        rows = np.array([left], np.int32), np.array([right], np.int32)
        if self._do_one_action(*rows)[0]:
            return next(self.tools[row].name for row in (left, right) if row in self.actions[1])
        if not self._generals[left] or self._generals[left] != self._generals[right]:
            return ""
        head = self.general_of(left)
        return next(tool.name for tool in self.tools if tool.id == head)

    def of_one_general(self, left: PairRows, right: PairRows) -> NDArray[np.bool_]:
        """Which pairs are two instances of one general tool, or that tool and an instance of it."""
        ours = self._generals[left]
        are_forms = (ours == self._generals[right]) & (ours > 0)
        return np.asarray(are_forms | self._do_one_action(left, right))

    def _do_one_action(self, left: PairRows, right: PairRows) -> NDArray[np.bool_]:
        """Which pairs are a tool and one of another server that does the same by an argument."""
        special, general = self.actions
        size = len(self.tools)
        doing = np.minimum(special, general).astype(np.int64) * size + np.maximum(special, general)
        pairs = np.minimum(left, right).astype(np.int64) * size + np.maximum(left, right)
        return np.isin(pairs, doing)

    def too_little_known(self, left: PairRows, right: PairRows) -> NDArray[np.bool_]:
        """Which pairs a person must review because too little is known.

        The calls of one tool cannot be mapped (unless both leave their parameters open), or one has
        no description.
        """
        comparable = self.mappable[left] & self.mappable[right]
        comparable |= self._undeclared[left] & self._undeclared[right]
        return np.asarray(~comparable | self._undescribed[left] | self._undescribed[right])

    def are_undescribed_across(self, left: int, right: int) -> bool:
        """Whether two tools are on two servers and at least one has no description."""
        servers = self.tools[left].server, self.tools[right].server
        undescribed = bool(self._undescribed[left] or self._undescribed[right])
        return undescribed and all(servers) and servers[0] != servers[1]

    def are_copies(self, left: PairRows, right: PairRows) -> NDArray[np.bool_]:
        """Which pairs look identical to a person."""
        return np.asarray(self._contents[left] == self._contents[right])


def general_tools(tools: Sequence[Tool]) -> dict[str, str]:
    """For each instance of a general tool on the same server, the general tool's id, by tool id.

    If several tools fit, the first id is used. General tools are not in the result.
    ``translate_to_french(text)`` is ``translate(text, language)`` if ``language`` lists French: the
    name is the general tool's plus one of its values, and every call can be mapped.
    """
    by_words: dict[tuple[str, frozenset[str]], list[Tool]] = {}
    for tool in tools:
        own = _name_words(source_name(tool))
        for parameter in tool.parameters:
            for value in parameter.enum:
                value_words = _name_words(value) - own if isinstance(value, str) else frozenset()
                if value_words:
                    by_words.setdefault((tool.server, own | value_words), []).append(tool)
    general_by_id: dict[str, str] = {}
    for tool in tools:
        fitting = [
            general
            for general in by_words.get((tool.server, _name_words(source_name(tool))), ())
            if general.id != tool.id
            and (alpha := argument_map(tool, general)).exact
            and alpha.constants
        ]
        if fitting:
            general_by_id[tool.id] = min(general.id for general in fitting)
    return {
        tool: general for tool, general in general_by_id.items() if general not in general_by_id
    }


def _visible_content(tool: Tool) -> str:
    """The hash of the content that a person sees, without hidden characters.

    The hash of a tool with nothing but a name differs from all others.
    """
    if tool.schema is None and not tool.description.strip():
        return tool.id
    visible = without_hidden(tool.description)
    return (
        tool.content_hash
        if visible == tool.description
        else replace(tool, description=visible).content_hash
    )


def _name_words(name: str) -> frozenset[str]:
    """The informative words of a name: ``translate_to_french`` has two."""
    return frozenset(stem(word) for word in words_of(name) if not is_empty(word))


_BLOCK = 4096
_DIGITS = 6
OF_ONE_GENERAL = 0.97
"""Two instances of one general tool, or it and an instance: a fact read from names and schemas."""
_CERTAIN = 16.0
"""The log-odds shown for the probabilities 0 and 1, which would be infinite; six digits make no
difference.
"""
_JUST_BELOW = 0.001
_OF_ANOTHER_THING = 0.65
"""Below this two tools of one server that are about different things are no family."""
_REMOVING = frozenset({"deletes"})


@dataclass(frozen=True, slots=True)
class PairProbabilities:
    """Probabilities that pairs do the same job, and that they form a family: float64 of shape (m,)
    in [0, 1].

    At most one of them reaches its threshold.
    """

    same_job: NDArray[np.float64]
    family: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Share:
    """A contribution to the log-odds that two tools do one job; ``name`` is in words."""

    name: str
    log_odds: float


@dataclass(frozen=True, slots=True)
class OfflineJudge:
    """A judge prepared for one catalog; pairs are given as row numbers of its tools.

    A pair is at most *unsure* if one tool has calls that cannot be mapped, or no description. Two
    tools without declared parameters are judged by their words. Exact copies (equal except for
    hidden characters) have probability 1, unless they are made for two products, such as the
    *query* of two databases.
    """

    tools: tuple[Tool, ...]
    signals: Signals
    weights: Weights
    facts: ToolFacts

    @classmethod
    def of(
        cls,
        tools: Sequence[Tool],
        vectors: Vectors,
        weights: Weights | None = None,
        model: str = DEFAULT_MODEL,
    ) -> OfflineJudge:
        """A judge for these tools.

        ``vectors`` is float32 of shape (n, d), rows normalised, in the order of ``tools``, from the
        embedding model ``model``.
        """
        signals = Signals.of(tools, vectors, model)
        return cls(
            tools=tuple(tools),
            signals=signals,
            weights=weights or shipped_weights(),
            facts=ToolFacts.of(tools, signals.products),
        )

    @property
    def name(self) -> str:
        """Version and hash of the weights; judges with equal names judge equally."""
        return self.weights.name

    def pair_probabilities(self, left: PairRows, right: PairRows) -> PairProbabilities:
        """The judge's probabilities for each pair of rows.

        They are symmetric, do not depend on the other pairs, and are rounded to six digits.
        """
        parts = [
            self._pair_probabilities(
                left[part], right[part], self.signals.of_pairs(left[part], right[part])
            )
            for part in _parts(len(left))
        ]
        empty = np.empty(0)
        return PairProbabilities(
            np.concatenate([empty, *(part.same_job for part in parts)]),
            np.concatenate([empty, *(part.family for part in parts)]),
        )

    def probabilities(self, left: PairRows, right: PairRows) -> NDArray[np.float64]:
        """Probability that each pair of rows does the same job, as in ``pair_probabilities``."""
        return self.pair_probabilities(left, right).same_job

    def standard_signals(self, left: PairRows, right: PairRows) -> Matrix:
        """The standardised signals of pairs of rows, left < right: float64 (m, len(SIGNALS))."""
        signals, weights = self.signals.of_pairs(left, right), self.weights
        return np.where(
            self.signals.of_one_server(left, right)[:, None],
            weights.job_beside.standard(signals),
            weights.job_across.standard(signals),
        )

    def verdict(self, left: int, right: int) -> Verdict:
        """The verdict on one pair of rows; see ``verdicts``."""
        rows = np.array([left], dtype=np.int32), np.array([right], dtype=np.int32)
        return self.verdicts(*rows)[0]

    def verdicts(self, left: PairRows, right: PairRows, brief: bool = False) -> tuple[Verdict, ...]:
        """The verdict on each pair of rows, with its reasons as plain-text sentences.

        ``brief`` leaves out the arguments of pairs that are *keep* or *family*. The sentences quote
        names and words of the catalog, which are untrusted.
        """
        left, right = np.minimum(left, right), np.maximum(left, right)
        parts = [self._explained(left[part], right[part], brief) for part in _parts(len(left))]
        return tuple(verdict for part in parts for verdict in part)

    def shares(self, left: int, right: int) -> tuple[Share, ...]:
        """The contributions to the log-odds of a pair of rows, which sum to them.

        First comes the start, then every signal in the order of ``SIGNALS``, then other effects:
        being forms of a general tool, a family, text that needs a review, being exact copies.
        """
        a, b = (np.array([side], dtype=np.int32) for side in sorted((left, right)))
        signals = self.signals.of_pairs(a, b)
        model = self.weights.job(bool(self.signals.of_one_server(a, b)[0]))
        terms = model.contributions(signals)[0].tolist()
        shares = [Share("starting value of every pair", model.intercept)]
        shares += [Share(COUNTS[name], value) for name, value in zip(SIGNALS, terms, strict=True)]
        odds = sum(share.log_odds for share in shares)
        stages = self._stages(a, b, signals, self._family(a, b, signals))
        for (_, before), (name, after) in pairwise(stages):
            if after[0] != before[0]:
                shares.append(Share(name, _log_odds(float(after[0])) - odds))
                odds += shares[-1].log_odds
        return tuple(shares)

    def comparison(
        self, a: int, b: int, similarity: float, probabilities: tuple[float, float], brief: bool
    ) -> ToolComparison:
        """The comparison of two rows with this cosine and these probabilities of one job and of a
        family.

        ``brief`` leaves out the arguments of tools that are more likely not one job.
        """
        tools, same_job = (self.tools[a], self.tools[b]), probabilities[0]
        unshared = self.signals.unshared(a, b)
        if tools[0].content_hash == tools[1].content_hash:
            similarity = 1.0  # boilerplate on one server need not be boilerplate on the other
        matches = () if brief and same_job < EVEN else match_parameters(*tools)
        perhaps = EVEN <= same_job < self.weights.merge_at
        distinctions = tuple(self._distinctions(a, b)) if perhaps else ()
        as_is = "none" if distinctions or same_job < EVEN else serving(*tools, matches)
        relation, serves = self.weights.relation(similarity, probabilities, unshared, as_is)
        return ToolComparison(
            tools=tools,
            readings=self._readings(a, b),
            similarity=similarity,
            relation=relation,
            serves=serves,
            unshared=unshared,
            matches=matches,
            distinctions=distinctions,
            general=self.facts.general_name(a, b),
            are_of_two_products=self.signals.are_of_two_products(a, b),
        )

    def _explained(self, left: PairRows, right: PairRows, brief: bool) -> Iterator[Verdict]:
        signals = self.signals.of_pairs(left, right)
        near = cosines(self.signals.vectors, left, right).tolist()
        probabilities = self._pair_probabilities(left, right, signals)
        same_server = self.signals.of_one_server(left, right)
        log_odds = self.weights.job_contributions(signals, same_server).tolist()
        rows = zip(left.tolist(), right.tolist(), strict=True)
        for at, (a, b) in enumerate(rows):
            same_job, family = float(probabilities.same_job[at]), float(probabilities.family[at])
            outcome = self.weights.outcome(same_job, family)
            short = brief and outcome in ("keep", "family")
            comparison = self.comparison(a, b, near[at], (same_job, family), short)
            yield Verdict(
                pair=Pair.of(self.tools[a].id, self.tools[b].id),
                similarity=comparison.similarity,
                same_job=same_job,
                outcome=outcome,
                evidence=explain(comparison, dict(zip(SIGNALS, log_odds[at], strict=True)), short),
                judge=self.name,
                relation=comparison.relation,
                family=family,
                serves=comparison.serves,
                differs=comparison.unshared,
            )

    def _pair_probabilities(
        self, left: PairRows, right: PairRows, signals: Matrix
    ) -> PairProbabilities:
        family = self._family(left, right, signals)
        same_job = self._stages(left, right, signals, family)[-1][1].round(_DIGITS)
        is_merge = (same_job >= self.weights.merge_at) | self.facts.of_one_general(left, right)
        lower = np.minimum(family, self.weights.family_at - _JUST_BELOW)
        return PairProbabilities(same_job, np.where(is_merge, lower, family).round(_DIGITS))

    def _family(self, left: PairRows, right: PairRows, signals: Matrix) -> NDArray[np.float64]:
        """The probability of a family according to the signals.

        It is below *family* if the actions of the tools differ, or if tools of two servers say too
        little or are about other things.
        """
        weights = self.weights
        one_server = self.signals.of_one_server(left, right)
        family = weights.family_probability(signals, one_server)
        family[self._other_values(left, right, family)] = weights.family_at
        for at in np.flatnonzero(family >= weights.family_at).tolist():
            pair = int(left[at]), int(right[at])
            readings = self._readings(*pair)
            if (
                self.facts.are_undescribed_across(*pair)
                or self.signals.is_no_family(*pair)
                or self._may_be_foreign_opposites(*pair)
                or distinctions.one_and_several(*readings)
                or distinctions.part_apart(*readings)
                or distinctions.moved_only(*readings)
                or distinctions.choices_apart(*readings)
                or (
                    all(one.tool.server for one in readings)
                    and (not one_server[at] or family[at] < _OF_ANOTHER_THING)
                    and distinctions.things_apart(*readings)
                )
            ):
                family[at] = weights.family_at - _JUST_BELOW
        return family

    def _may_be_foreign_opposites(self, left: int, right: int) -> bool:
        """Whether tools in another language differ in words that are not known values.

        Such words may be opposite actions (*öffnen*, *schließen*).
        """
        words, tools = [self.signals.reading(row).name for row in (left, right)], self.signals.plain
        are_foreign = all(is_foreign(tools[row].description) for row in (left, right))
        if not are_foreign and any(map(is_english, chain.from_iterable(words))):
            return False
        values = self.signals.renamed(left, right)
        return not (all(values) and kind_of_values(values))

    def _other_values(
        self, left: PairRows, right: PairRows, probabilities: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """The pairs with at least even ``probabilities`` whose names differ in values of one kind.

        For example *daily* and *hourly*.
        """
        mask = np.zeros(len(left), dtype=np.bool_)
        for at in np.flatnonzero(probabilities >= EVEN).tolist():
            values = self.signals.renamed(int(left[at]), int(right[at]))
            mask[at] = all(values) and kind_of_values(values) in FIXED
        return mask

    def _stages(
        self, left: PairRows, right: PairRows, signals: Matrix, family: NDArray[np.float64]
    ) -> list[tuple[str, NDArray[np.float64]]]:
        """The probabilities according to the signals, then after each rule that
        may overrule them.
        """
        weights = self.weights
        first = weights.job_probability(signals, self.signals.of_one_server(left, right))
        below = np.minimum(first, weights.merge_at - _JUST_BELOW)
        single = np.where((family > first) & (family >= weights.family_at), below, first)
        fixed = self._other_values(left, right, single)
        single = np.where(fixed, np.minimum(single, below), single)
        contrary = signals[:, SIGNALS.index("opposite_words")] > 0
        contrary_or_distinct = contrary | self._have_distinctions(left, right, single)
        distinct = np.where(contrary_or_distinct, np.minimum(single, below), single)
        of_one = self.facts.of_one_general(left, right)
        general = np.where(of_one, np.maximum(distinct, OF_ONE_GENERAL), distinct)
        cautious = np.where(
            self.facts.too_little_known(left, right), self._cautious(general), general
        )
        of_two_products = signals[:, SIGNALS.index("other_products")] > 0
        copies = self.facts.are_copies(left, right) & ~of_two_products
        return [
            ("signals", first),
            ("another provider or value: not the same job", single),
            ("a fact that tells them apart", distinct),
            ("forms of one general tool", general),
            ("held back for a person to review", cautious),
            ("exact copies", np.where(copies, 1.0, cautious)),
        ]

    def _have_distinctions(
        self, left: PairRows, right: PairRows, same_job: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """The pairs that ``same_job`` would merge but that have a distinction."""
        distinct = np.zeros(len(left), dtype=np.bool_)
        for at in np.flatnonzero(same_job >= self.weights.merge_at).tolist():
            distinct[at] = any(self._distinctions(int(left[at]), int(right[at])))
        return distinct

    def _distinctions(self, left: int, right: int) -> Iterator[str]:
        one, other = self._readings(left, right)
        yield from distinctions.all_distinctions(one, other)
        ours, theirs = self.signals.products[left], self.signals.products[right]
        across = one.tool.server != other.tool.server and ours.accounts and theirs.accounts
        if across and (part := distinctions.part_apart(one, other)):
            yield f"one is about the {part[0]}, the other about its {part[1]}"
        if (one.classes == _REMOVING) != (other.classes == _REMOVING):
            yield "one removes something, the other does not"
        on_servers = bool(one.tool.server and other.tool.server)
        acts = ("writes", "destroys") if on_servers else ("destroys",)
        both_change = effect(one) == effect(other) in acts
        if both_change and (things := distinctions.changed_apart(one, other)):
            yield f"one changes {things[0]}, the other {things[1]}"
        if distinctions.fixed_one(one, other):
            yield "one returns one fixed item of what the other lists"
        if moved := distinctions.moved_only(one, other):
            yield moved
        if parts := distinctions.belongings_apart(one, other):
            yield f"one is about {parts[0]}, the other about their {parts[1]}"
        elif things := distinctions.unmentioned_objects(one, other):
            yield f"one is about “{things[0]}”, the other about “{things[1]}”"

    def _readings(self, left: int, right: int) -> tuple[ToolReading, ToolReading]:
        return self.signals.reading(left), self.signals.reading(right)

    def _cautious(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probabilities, with the range above *unsure* compressed to stay below *merge*, in the
        same order.
        """
        floor, ceiling = self.weights.unsure_at, self.weights.merge_at - _JUST_BELOW
        above = np.maximum(probability - floor, 0.0) / (1.0 - floor)
        return np.minimum(probability, floor + above * (ceiling - floor))


def _log_odds(probability: float) -> float:
    if not 0.0 < probability < 1.0:
        return math.copysign(_CERTAIN, probability - 0.5)
    return math.log(probability / (1.0 - probability))


def _parts(length: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, length, _BLOCK))
