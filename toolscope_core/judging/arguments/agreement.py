"""Finds arguments that may become one argument of a merged tool because their words mean the same.

``match_parameters`` measures how similar two tools are, and pairs leftover arguments. An agent may
write a call from the merged schema alone, so no value may arrive where it means something else.
Each word that is in only one of the two names must therefore also be said or meant by the other
side.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from toolscope_core.judging.arguments import roles
from toolscope_core.judging.arguments.argument_words import difference
from toolscope_core.judging.arguments.matching import MATCH_AT, Match, match_parameters
from toolscope_core.judging.arguments.roles import WEAK_WORDS, ParameterReading, Words
from toolscope_core.judging.arguments.subschema import types_meet, types_overlap
from toolscope_core.model.tool import Parameter, Tool
from toolscope_core.wording.tool_text import source_name
from toolscope_core.wording.vocabulary import opposites
from toolscope_core.wording.words import meaning, name_words, plain_words, singular, spelling

_ASPECTS = WEAK_WORDS | frozenset(
    map(
        meaning,
        """key code path url uid string str text title object param parameter query full absolute
        local input output save optional current specific""".split(),
    )
)
"""Words that do not change the meaning of a name: ``file`` and ``file_path``."""
_MOMENTS = frozenset(map(meaning, "date datetime time timestamp".split()))
"""Words in names for moments that say which side they are on: ``start`` and ``startTime``."""
_HOW_MANY = frozenset(map(meaning, "number limit result return item".split()))
"""A name for a result count consists only of these words: ``count``, ``max_results``."""

_COUNTED = re.compile(r"\b(?:number|count|amount) of (?!the|an?\b)\w|\bhow many\b", re.IGNORECASE)
_COUNTS = frozenset(map(meaning, "limit total".split()))
_NUMBER = meaning("number")
_ID = frozenset({meaning("id")})
_KEYS = frozenset(map(meaning, "id name key identifier".split()))
_KINDS_OF_VALUES = frozenset("place span moment calendar language".split())
"""Kinds for which two arguments are the same if both name the same values."""
_SHORT = 4
_LITTLE, _MUCH, _MOST = 0.3, 0.5, 0.75
"""Dice coefficients of two descriptions: slightly, largely and nearly equal."""


def agreed_matches(
    left: Tool, right: Tool, owners: Mapping[str, Tool] = MappingProxyType({})
) -> tuple[Match, ...]:
    """The matches of ``match_parameters`` whose words agree, in the order of ``left``.

    Leftover arguments whose names say the same in other words follow as ``inferred``. ``owners``
    maps the names of ``right``'s parameters to their tools.
    """
    ours, theirs = ({p.name: p for p in tool.parameters} for tool in (left, right))
    matches = [
        match
        for match in match_parameters(left, right)
        if agree(ours[match.left], theirs[match.right], (left, owners.get(match.right, right)))
    ]
    done = {match.left for match in matches}, {match.right for match in matches}
    rest = [
        (a.name, b.name)
        for a in left.parameters
        for b in right.parameters
        if a.name not in done[0] | theirs.keys() and b.name not in done[1] | ours.keys()
        if not (_speak_against(a, b) or roles.tell_apart(a, b))
        if _have_one_name(a, b, (left, owners.get(b.name, right)))
    ]
    matches += [
        Match(a, b, MATCH_AT, inferred=True)
        for a, b in rest
        if sum(a == x or b == y for x, y in rest) == 1
    ]
    order = {p.name: at for at, p in enumerate(left.parameters)}
    return tuple(sorted(matches, key=lambda match: order[match.left]))


def agree(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> bool:
    """Whether a value meant for ``a`` of one tool may be passed as ``b`` of the other."""
    return not _speak_against(a, b) and (
        _have_one_name(a, b, tools) or _are_told_alike(a, b, tools)
    )


def common_key(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> str:
    """The common part of two key names that differ only in their tools' subjects.

    For example ``id`` for ``issue_id`` and ``merge_request_id``; empty if there is none.
    """
    ours, theirs = (roles.read_parameter(one).parts for one in (a, b))
    ends = _common_beginning(ours[::-1], theirs[::-1])[::-1]
    common = frozenset(ends or _common_beginning(ours, theirs))
    if not common or difference(a, b) or not _tell_tools_apart(_plain(ours), _plain(theirs), tools):
        return ""
    return "_".join(part for part in ours if part in common)


def _common_beginning(ours: Sequence[str], theirs: Sequence[str]) -> Sequence[str]:
    pairs = zip(ours, theirs, strict=False)
    return [one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _speak_against(a: Parameter, b: Parameter) -> bool:
    """Whether the two cannot be the same argument, because their types, values, forms or sides
    differ.
    """
    ours, theirs = roles.read_parameter(a), roles.read_parameter(b)
    return (
        not types_meet(a.schema, b.schema)
        or bool(difference(a, b))
        or (a.name != b.name and (_are_values_apart(a, b) or _are_two_things(a, b)))
        or bool(opposites(frozenset(ours.parts), frozenset(theirs.parts)))
    )


def _are_values_apart(a: Parameter, b: Parameter) -> bool:
    """Whether both list their values and share none."""
    ours, theirs = (frozenset(map(spelling, one.enum)) for one in (a, b))
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _have_one_name(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> bool:
    """Whether the names say the same, apart from words that do not change their meaning."""
    ours, theirs = roles.read_parameter(a), roles.read_parameter(b)
    if a.name == b.name or ours.parts == theirs.parts:
        return True
    if _tell_tools_apart(_plain(ours.parts), _plain(theirs.parts), tools):
        return False
    if ours.name == theirs.name or roles.are_equal_but_side(ours.name, theirs.name):
        return True
    if ours.name | theirs.name <= _HOW_MANY and "array" not in (a.type, b.type):
        return True
    unsaid = frozenset().union(*_unsaid(ours, theirs, tools))
    telling = (ours.name & theirs.name) - WEAK_WORDS
    leads = (
        {meaning(word) for one in (ours, theirs) for word in one.parts[:1]} & unsaid & WEAK_WORDS
    )
    aspects = _ASPECTS | _MOMENTS if telling & roles.SIDES else _ASPECTS
    return bool(telling) and unsaid <= aspects and not leads


def _are_told_alike(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> bool:
    """Whether the descriptions and the tools' names cover what the argument names leave out."""
    ours, theirs = roles.read_parameter(a), roles.read_parameter(b)
    common = ours.described & theirs.described
    likeness = 2 * len(common) / max(len(ours.described) + len(theirs.described), 1)
    plain = _plain(ours.parts), _plain(theirs.parts)
    is_longer = ours.name <= theirs.name or theirs.name <= ours.name
    is_told = is_longer and likeness >= _MOST
    if not is_told and any(
        _tell_tools_apart(*two, tools) for two in (plain, (ours.name, theirs.name))
    ):
        return False
    unsaid = _unsaid(ours, theirs, tools)
    if is_longer and not any(unsaid):
        return True
    if not types_overlap(a.schema, b.schema):
        return False
    if (
        _KINDS_OF_VALUES & ours.name_kinds & theirs.name_kinds
        and len(ours.values & theirs.values) > 1
    ):
        return True
    if not any(unsaid):
        return likeness >= _LITTLE or not (ours.described and theirs.described)
    return len(common) > 1 and likeness >= (_MOST if all(unsaid) else _MUCH)


def _plain(words: Sequence[str]) -> Words:
    return frozenset(map(singular, words))


def _tell_tools_apart(ours: Words, theirs: Words, tools: tuple[Tool, Tool]) -> bool:
    """Whether two names differ exactly like those of their tools.

    For example ``title`` of ``search_by_title`` and ``subject`` of ``search_by_subject``.
    """
    named, others = (frozenset(plain_words(source_name(tool))) | _named(tool) for tool in tools)
    own, other = ours - theirs, theirs - ours
    return bool(own or other) and own <= named - others and other <= others - named


def _are_two_things(a: Parameter, b: Parameter) -> bool:
    """Whether the two are different things: a count and a key or number, or a value and its key.

    For example, a status and the id of a status differ.
    """
    ours, theirs = roles.read_parameter(a), roles.read_parameter(b)
    last_words = {meaning(word) for word in (*ours.parts[-1:], *theirs.parts[-1:])}
    is_one_named = _NUMBER in last_words or not _KEYS.isdisjoint(ours.name | theirs.name)
    if _is_counted(a) != _is_counted(b) and is_one_named:
        return True
    is_key_of = ours.name ^ theirs.name == _ID
    are_keys = types_overlap(a.schema, b.schema) and bool(_KEYS & ours.text & theirs.text)
    return is_key_of and not are_keys


def _unsaid(
    a: ParameterReading, b: ParameterReading, tools: tuple[Tool, Tool]
) -> tuple[Words, Words]:
    """The words of each name that are said, in full or short, neither by the other argument nor by
    the name of its tool.
    """

    def unsaid(one: ParameterReading, other: ParameterReading, tool: Tool) -> Words:
        names = other.name | _named(tool)
        words = one.name - names - other.text
        return frozenset(word for word in words if not any(_is_short(word, name) for name in names))

    return unsaid(a, b, tools[1]), unsaid(b, a, tools[0])


def _is_short(word: str, other: str) -> bool:
    """Whether one word abbreviates the other, as ``tz`` does *timezone*."""
    short, long = sorted((word, other), key=len)
    return len(short) <= _SHORT and roles.is_short_for(short, long)


def _named(tool: Tool) -> Words:
    return name_words(source_name(tool))


def _is_counted(parameter: Parameter) -> bool:
    """Whether the argument is for a count."""
    reading = roles.read_parameter(parameter)
    is_number_of = len(reading.parts) > 1 and meaning(reading.parts[0]) == _NUMBER
    return (
        is_number_of
        or not reading.name.isdisjoint(_COUNTS)
        or bool(_COUNTED.search(parameter.description))
    )
