"""Matches the parameters of two tools one to one: the best first, then the rest."""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from toolscope_core.judging.arguments import roles
from toolscope_core.judging.arguments.roles import WEAK_WORDS, ParameterReading, Words
from toolscope_core.judging.arguments.subschema import types_meet, types_overlap
from toolscope_core.judging.arguments.units import same_but_unit
from toolscope_core.model.tool import Parameter, Tool
from toolscope_core.wording.tool_text import source_name
from toolscope_core.wording.words import meaning, plain_words

MATCH_AT = 0.6
"""The lowest score at which two parameters are matched."""

_DOUBTED = MATCH_AT - 0.01
"""A doubtful match gets at most this score, so it is at most inferred."""

_OTHER_TYPE = 0.85
"""The factor for a score if the types only fit through a list of one or a number as text."""

_SAME_VALUES = 0.4
"""The score for two arguments whose names end in different kinds but whose texts list the same
values: ``species_name`` and ``bird_type``, both *e.g. parrot, owl*.
"""

_SHARED_VALUES = 0.4
"""The bonus if all values that one text names are named in the other text too."""

_OF_THE_SUBJECT = 0.55

_USUAL = frozenset(map(meaning, "start source new".split()))
"""Words that one tool may leave out: the start of something may be called its time, the source of a
conversion the value, and a new value just the value.
"""

_HOW = frozenset("by for from with without in on at using via during of to and".split())
_ID = frozenset({meaning("id")})
_KEYS = frozenset(map(meaning, "id number code".split()))

_OF_ONE_KIND = {
    **dict.fromkeys(roles.KINDS, 0.1),
    "calendar": 0.3,
    "moment": 0.3,
    "span": 0.3,
    "place": 0.3,
    "money": 0.3,
}
"""The bonus if both are of one kind. It is below ``MATCH_AT``, because an id may belong to another
thing.
"""


def likeness(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> float:
    """How certain it is that ``a`` of one tool is ``b`` of the other, in [0, 1].

    It is 0 if their types do not fit.
    """
    if not types_meet(a.schema, b.schema):
        return 0.0
    ours, theirs = roles.read_parameter(a), roles.read_parameter(b)
    if same_but_unit(a.name, b.name) or _spelt_alike(ours, theirs):
        return 0.95
    if roles.are_apart(ours, theirs):
        same_values = len(ours.values & theirs.values) > 1 and ours.turning == theirs.turning
        return _SAME_VALUES if same_values else 0.0
    declare = any(one.required for tool in tools for one in tool.parameters)
    may_be_left_out = declare and not (a.required or b.required)
    are_of_two = may_be_left_out and _are_ids_of_two(ours, theirs)
    if are_of_two or _may_be_other_sides(ours, theirs, tools):
        return 0.0
    score = _by_words(ours, theirs, tools)
    if score < MATCH_AT:
        by_values = min(score + _SHARED_VALUES * _shared_values(ours, theirs), _DOUBTED)
        score = max(by_values, _by_subject(ours, theirs, tools))
    elif not roles.share_a_stem(ours, theirs) or (score < 1.0 and _is_doubtful(ours, theirs)):
        score = _DOUBTED
    if a.type == b.type == "boolean":  # a flag means exactly what its name says
        two = ours.name - theirs.name and theirs.name - ours.name
        return 0.0 if two or score < MATCH_AT else score
    same_type = score in (0.0, 1.0) or types_overlap(a.schema, b.schema)
    return score if same_type else _OTHER_TYPE * score


def _spelt_alike(a: ParameterReading, b: ParameterReading) -> bool:
    """Whether two names are spelt alike, such as ``bit_rate`` and ``bitrate``."""
    joined = "".join(a.parts)
    return bool(joined) and joined == "".join(b.parts)


def _by_words(a: ParameterReading, b: ParameterReading, tools: tuple[Tool, Tool]) -> float:
    if a.name == b.name:
        return 1.0 if a.name else 0.0
    if roles.are_equal_but_side(a.name, b.name):
        return 0.9
    kinds = a.name_kinds & b.name_kinds
    turned = _turned(a, b)
    if a.described == b.described and len(a.described) > 1:
        return _DOUBTED if turned else 0.95
    if turned and not _is_usual(a, b, turned, tools):
        return 0.0
    described = _overlap(a.described, b.described)
    own, others = a.name - WEAK_WORDS, b.name - WEAK_WORDS
    are_two = own & (a.described - b.text) and others & (b.described - a.text)
    score = 0.5 * described if are_two else max(_by_name(a, b, described), _by_text(a, b, tools))
    if score >= MATCH_AT and not turned:
        return score
    of_one_kind = max((_OF_ONE_KIND[kind] for kind in kinds), default=0.0)
    return min(score + of_one_kind, _DOUBTED)


def _turned(a: ParameterReading, b: ParameterReading) -> Words:
    """Words that are in only one of the names and make it a different parameter."""
    ours, theirs = (a.head - b.head) & roles.TURNING_WORDS, (b.head - a.head) & roles.TURNING_WORDS
    if roles.are_of_one_side(ours, theirs):
        return frozenset()
    turned = (ours | theirs) - (a.text & b.text)
    if a.name <= WEAK_WORDS or b.name <= WEAK_WORDS:
        turned -= WEAK_WORDS
    return turned


def _is_usual(
    a: ParameterReading, b: ParameterReading, turned: Words, tools: tuple[Tool, Tool]
) -> bool:
    """Whether the name may still mean the same without the words in ``turned``."""
    if turned <= roles.SIDES and not any(map(_has_other_side, (a, b), tools)):
        return True
    return turned <= _USUAL


def _may_be_other_sides(a: ParameterReading, b: ParameterReading, tools: tuple[Tool, Tool]) -> bool:
    """Whether only synonyms give the two the same side, and only one tool names the other side.

    For example, ``base`` of a pull request has ``head`` as its other side, and ``source_branch``
    has ``destination_branch``.
    """
    shared = a.name & b.name & roles.SIDES
    if not shared or not set(a.parts).isdisjoint(b.parts):
        return False
    return _has_other_side(a, tools[0]) != _has_other_side(b, tools[1])


def _has_other_side(reading: ParameterReading, tool: Tool) -> bool:
    """Whether the tool has a second parameter whose name differs only in the side."""
    names = (roles.read_parameter(parameter).name for parameter in tool.parameters)
    return any(
        name != reading.name and name - roles.SIDES == reading.name - roles.SIDES for name in names
    )


def _by_name(a: ParameterReading, b: ParameterReading, described: float) -> float:
    if a.name & b.name and (a.name ^ b.name) <= WEAK_WORDS:
        return 0.5 + 0.4 * described
    if a.name < b.name or b.name < a.name:
        return 0.75 + 0.2 * described
    return 0.25 + 0.3 * described if a.name & b.name else 0.0


def _by_text(a: ParameterReading, b: ParameterReading, tools: tuple[Tool, Tool]) -> float:
    """How similar the descriptions are, and how much of each name occurs in the other's words."""
    if a.text.isdisjoint(b.text) or not (a.described or b.described):
        return 0.0
    ours, theirs = (
        _word_weights(tuple(roles.read_parameter(parameter).text for parameter in tool.parameters))
        for tool in tools
    )
    described = (
        _share(a.described, b.described, ours) + _share(b.described, a.described, theirs)
    ) / 2
    cited = (_share(a.name, b.text, ours) + _share(b.name, a.text, theirs)) / 2
    return 0.5 * described + 0.45 * cited


def _by_subject(a: ParameterReading, b: ParameterReading, tools: tuple[Tool, Tool]) -> float:
    """Whether the names differ only as the tools' names do.

    For example ``drone_id`` of ``getDroneSpeed`` and ``ship_id`` of ``getShipSpeed``.
    """
    ours, theirs = a.name - b.name, b.name - a.name
    if not ours or not theirs or (ours | theirs) & roles.TURNING_WORDS:
        return 0.0
    one, other = (_subject(source_name(tool)) for tool in tools)
    return _OF_THE_SUBJECT if ours <= one - other and theirs <= other - one else 0.0


@lru_cache(maxsize=65_536)
def _subject(tool_name: str) -> Words:
    """The words before the first word that says how: ``user`` in ``get_user_by_email``."""
    words = plain_words(tool_name.rsplit(".", 1)[-1])
    return frozenset(map(meaning, itertools.takewhile(lambda word: word not in _HOW, words)))


def _is_doubtful(a: ParameterReading, b: ParameterReading) -> bool:
    return _are_ids_of_two(a, b) or _may_be_of_another(a, b) or _may_be_of_another(b, a)


def _are_ids_of_two(a: ParameterReading, b: ParameterReading) -> bool:
    """Whether both are ids, but for different things: ``user_id`` and ``item_id``."""
    owners = a.name - _KEYS, b.name - _KEYS
    return bool(a.name & b.name & _KEYS) and all(owners) and owners[0].isdisjoint(owners[1])


def _may_be_of_another(a: ParameterReading, b: ParameterReading) -> bool:
    """Whether one may belong to another thing: ``name`` (of an employee) and
    ``department_name``.
    """
    extra = b.name - a.name
    if not extra or not a.name < b.name:
        return False
    vague = a.name <= WEAK_WORDS and extra.isdisjoint(a.text)
    return vague or (extra == _ID and extra.isdisjoint(a.text))


def _shared_values(a: ParameterReading, b: ParameterReading) -> float:
    """The number of named values in common, divided by the number for the argument with fewer."""
    return len(a.values & b.values) / max(min(len(a.values), len(b.values)), 1)


@lru_cache(maxsize=65_536)
def _word_weights(texts: tuple[Words, ...]) -> Mapping[str, float]:
    """For each word, one divided by the number of the tool's parameters with that word.

    A word used in all parameters distinguishes none of them.
    """
    counts = Counter(itertools.chain.from_iterable(texts))
    return {word: 1.0 / number for word, number in counts.items()}


def _share(words: Words, others: Words, weights: Mapping[str, float]) -> float:
    """The weight of the words that are among the others, divided by the weight of all."""
    whole = math.fsum(weights[word] for word in words)
    return math.fsum(weights[word] for word in words & others) / whole if whole else 0.0


def _overlap(a: Words, b: Words) -> float:
    """Dice coefficient of two sets of words, 0 if either is empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


INFER_AT = 0.3
"""The lowest score of two leftover parameters that fit nothing else as well."""

_MARGIN = 0.05
_TELLING_TYPES = frozenset({"integer", "number", "array", "object"})


_ScoredPair = tuple[float, str, str]


@dataclass(frozen=True, slots=True)
class Match:
    """Parameter ``left`` of one tool is parameter ``right`` of the other; score in (0, 1].

    ``inferred`` means that the main evidence is that no other suitable parameter is left.
    """

    left: str
    right: str
    score: float
    inferred: bool = False


def match_parameters(left: Tool, right: Tool) -> tuple[Match, ...]:
    """One-to-one matches between the declared parameters, in the order of ``left``.

    Names with the same spelling come first, then the best scores, with each parameter used at most
    once and ties broken by name. Swapping the tools only swaps the matches. Two of the remaining
    parameters are matched if they fit each other clearly better than anything else; such a match is
    ``inferred``.
    """
    names = {p.name: p for p in right.parameters}
    matches = [
        Match(p.name, p.name, 1.0)
        for p in left.parameters
        if p.name in names and types_meet(p.schema, names[p.name].schema)
    ]
    candidates = _scored_pairs(left, right)
    for score, a, b in sorted(candidates, key=_order):
        if score >= MATCH_AT and _rest([(score, a, b)], matches):
            matches.append(Match(a, b, score))
    rest = _rest(candidates, matches)
    matches += [Match(a, b, score, True) for score, a, b in rest if _stands_out(score, a, b, rest)]
    matches += _only_ones(left, right, matches)
    order = {p.name: at for at, p in enumerate(left.parameters)}
    return tuple(sorted(matches, key=lambda match: order[match.left]))


def _order(row: _ScoredPair) -> tuple[bool, float, list[str], str]:
    """Sort key: names with the same spelling first, then by score."""
    score, a, b = row
    ours, theirs = ("".join(plain_words(name)) for name in (a, b))
    return ours != theirs, -score, sorted((a, b)), a


def turned(matches: Sequence[Match]) -> tuple[Match, ...]:
    """The matches of ``match_parameters`` with the tools swapped, in the same order."""
    return tuple(Match(m.right, m.left, m.score, m.inferred) for m in matches)


def _scored_pairs(left: Tool, right: Tool) -> Sequence[_ScoredPair]:
    """Pairs of parameters that only one tool names; a name in both tools matches
    itself or nothing.
    """
    ours, theirs = _alone(left, right), _alone(right, left)
    if not ours or not theirs:
        return ()
    rows = ((likeness(a, b, (left, right)), a.name, b.name) for a in ours for b in theirs)
    return [row for row in rows if row[0] >= INFER_AT - _MARGIN]


def _alone(tool: Tool, other: Tool) -> list[Parameter]:
    names = {parameter.name for parameter in other.parameters}
    return [parameter for parameter in tool.parameters if parameter.name not in names]


def _rest(candidates: Sequence[_ScoredPair], matches: Sequence[Match]) -> Sequence[_ScoredPair]:
    """The rows whose two parameters are not matched yet."""
    ours, theirs = {match.left for match in matches}, {match.right for match in matches}
    return [row for row in candidates if row[1] not in ours and row[2] not in theirs]


def _only_ones(left: Tool, right: Tool, matches: Sequence[Match]) -> Sequence[Match]:
    """The only required number, list or object left on each side, if others are matched.

    The only text of each tool is also paired, if both are required and no word changes the meaning
    of one of them.
    """
    ours = _required_rest(left, {match.left for match in matches}) if matches else ()
    theirs = _required_rest(right, {match.right for match in matches}) if matches else ()
    if len(ours) != 1 or len(theirs) != 1:
        ours, theirs = _only_text(left), _only_text(right)
    if len(ours) != 1 or len(theirs) != 1:
        return ()
    (a,), (b,) = ours, theirs
    if a not in _alone(left, right) or b not in _alone(right, left):
        return ()
    if any(match.left == a.name or match.right == b.name for match in matches):
        return ()
    fits = types_overlap(a.schema, b.schema) and not roles.tell_apart(a, b)
    return [Match(a.name, b.name, INFER_AT, True)] if fits else ()


def _only_text(tool: Tool) -> Sequence[Parameter]:
    """The tool's only text parameter, if it is required and has a plain name."""
    texts = [p for p in tool.parameters if p.type == "string"]
    return [p for p in texts if p.required and not roles.read_parameter(p).turning][
        : len(texts) == 1
    ]


def _required_rest(tool: Tool, done: set[str]) -> Sequence[Parameter]:
    """Unmatched numbers, lists and objects that are required, or all if
    none is declared required.
    """
    some = any(p.required for p in tool.parameters)
    rest = [p for p in tool.parameters if p.name not in done and (p.required or not some)]
    return [p for p in rest if p.type in _TELLING_TYPES]


def _stands_out(score: float, a: str, b: str, rest: Sequence[_ScoredPair]) -> bool:
    others = (other for other, x, y in rest if (x == a) != (y == b))
    return score >= INFER_AT and all(score >= other + _MARGIN for other in others)
