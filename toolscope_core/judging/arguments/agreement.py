"""Which arguments may be one argument of a merged tool: those that mean the same by their words.

``match_parameters`` says how alike two tools are, and takes what is left over for each other. A
call that an agent writes from the merged schema alone needs more: no value may arrive where it
means something else. So each word that only one of the two names says has to be said, or meant, by
the other side too.
"""

import itertools
import re
from collections.abc import Sequence

from toolscope_core.judging.arguments import roles
from toolscope_core.judging.arguments.argument_words import difference
from toolscope_core.judging.arguments.matching import Match, match_parameters
from toolscope_core.judging.arguments.roles import WEAK_WORDS, ParameterReading, Words
from toolscope_core.judging.arguments.subschema import types_meet, types_overlap
from toolscope_core.model.tool import Parameter, Tool
from toolscope_core.wording.tool_text import source_name
from toolscope_core.wording.vocabulary import opposites
from toolscope_core.wording.words import meaning, name_words, plain_words, spelling

_ASPECTS = WEAK_WORDS | frozenset(
    map(
        meaning,
        """key code path url uid string str text title object param parameter query full absolute
        local optional current specific date datetime time timestamp""".split(),
    )
)
"""Words that leave a name what it is: ``file`` and ``file_path``, ``start`` and ``startTime``."""

_COUNTED = re.compile(r"\b(?:number|count|amount) of (?!the|an?\b)\w|\bhow many\b", re.IGNORECASE)
_COUNTS = frozenset(map(meaning, "limit total".split()))
_ID = frozenset({meaning("id")})
_KEYS = frozenset(map(meaning, "id name key identifier".split()))
_LITTLE, _MUCH, _MOST = 0.3, 0.5, 0.75
"""Dice coefficients of two descriptions: alike at all, much the same, nearly the same."""


def agreed_matches(left: Tool, right: Tool) -> tuple[Match, ...]:
    """The matches of ``match_parameters`` whose words agree, in the order of ``left``."""
    ours, theirs = ({p.name: p for p in tool.parameters} for tool in (left, right))
    return tuple(
        match
        for match in match_parameters(left, right)
        if agree(ours[match.left], theirs[match.right], (left, right))
    )


def agree(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> bool:
    """Whether what is meant for ``a`` of the one tool may be given as ``b`` of the other."""
    ours, theirs = roles.read_parameter(a), roles.read_parameter(b)
    if not types_meet(a.schema, b.schema) or difference(a, b):
        return False
    if a.name == b.name or ours.parts == theirs.parts:
        return True
    if opposites(frozenset(ours.parts), frozenset(theirs.parts)) or _are_values_apart(a, b):
        return False
    return _agree_by_words(a, b, tools)


def common_key(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> str:
    """What the names of two have in common where they differ only in what their tools are about:
    ``id`` of ``issue_id`` and ``merge_request_id``; else empty.
    """
    ours, theirs = (roles.read_parameter(one).parts for one in (a, b))
    ends = _common_beginning(ours[::-1], theirs[::-1])[::-1]
    common = ends or _common_beginning(ours, theirs)
    own, other = frozenset(ours) - frozenset(common), frozenset(theirs) - frozenset(common)
    if not common or not _are_subjects(own, other, tools):
        return ""
    return "_".join(common) if types_meet(a.schema, b.schema) and not difference(a, b) else ""


def _common_beginning(ours: Sequence[str], theirs: Sequence[str]) -> Sequence[str]:
    pairs = zip(ours, theirs, strict=False)
    return [one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _are_subjects(own: Words, other: Words, tools: tuple[Tool, Tool]) -> bool:
    """Whether the words are what only the name of the one tool says, and only that of the other:
    plain, or by their meanings.
    """
    return bool(own and other) and any(
        own <= named - others and other <= others - named
        for named, others in (
            tuple(frozenset(plain_words(source_name(tool))) for tool in tools),
            tuple(map(_named, tools)),
        )
    )


def _are_values_apart(a: Parameter, b: Parameter) -> bool:
    """Whether both list their values and none is on both lists."""
    ours, theirs = (frozenset(map(spelling, one.enum)) for one in (a, b))
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _agree_by_words(a: Parameter, b: Parameter, tools: tuple[Tool, Tool]) -> bool:
    ours, theirs = roles.read_parameter(a), roles.read_parameter(b)
    own, other = ours.name - theirs.name, theirs.name - ours.name
    if _are_two_things(a, b) or _are_subjects(own, other, tools):
        return False
    if ours.name == theirs.name or roles.are_equal_but_side(ours.name, theirs.name):
        return True
    unsaid = _unsaid(own, theirs, tools[1]), _unsaid(other, ours, tools[0])
    every_unsaid = unsaid[0] | unsaid[1]
    is_longer, telling = not (own and other), (ours.name & theirs.name) - WEAK_WORDS
    if is_longer and ((own <= _named(tools[0]) and other <= _named(tools[1])) or not every_unsaid):
        return True
    leads = {meaning(one.parts[0]) for one in (ours, theirs)} & every_unsaid & WEAK_WORDS
    if telling and every_unsaid <= _ASPECTS and not leads:
        return True
    return types_overlap(a.schema, b.schema) and _are_told_alike(ours, theirs, unsaid)


def _are_told_alike(a: ParameterReading, b: ParameterReading, unsaid: tuple[Words, Words]) -> bool:
    """Whether the descriptions make up for what the names do not say of each other."""
    if not any(unsaid) and not (a.described and b.described):
        return True
    common = a.described & b.described
    likeness = 2 * len(common) / max(len(a.described) + len(b.described), 1)
    if not any(unsaid):
        return likeness >= _LITTLE
    return len(common) > 1 and likeness >= (_MOST if all(unsaid) else _MUCH)


def _are_two_things(a: Parameter, b: Parameter) -> bool:
    """Whether one is a number of things and the other a key; or one a value and the other its key:
    a status, and the number of one.
    """
    ours, theirs = roles.read_parameter(a), roles.read_parameter(b)
    if _is_counted(a) != _is_counted(b) and _KEYS & (ours.name | theirs.name):
        return True
    is_key_of = ours.name ^ theirs.name == _ID
    are_keys = types_overlap(a.schema, b.schema) and bool(_KEYS & ours.text & theirs.text)
    return is_key_of and not are_keys


def _unsaid(words: Words, other: ParameterReading, tool: Tool) -> Words:
    """The words of a name that neither the other argument nor the name of its tool says."""
    return words - other.text - _named(tool)


def _named(tool: Tool) -> Words:
    return name_words(source_name(tool))


def _is_counted(parameter: Parameter) -> bool:
    """Whether the argument is a number of things."""
    name = roles.read_parameter(parameter).name
    return not name.isdisjoint(_COUNTS) or bool(_COUNTED.search(parameter.description))
