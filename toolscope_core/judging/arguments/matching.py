"""Which parameter of one tool is which of another: one to one, best first, then what is left."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolscope_core.judging.arguments.likeness import MATCH_AT, likeness
from toolscope_core.judging.arguments.roles import read_parameter, tell_apart
from toolscope_core.judging.arguments.subschema import types_meet, types_overlap
from toolscope_core.model.tool import Parameter, Tool

INFER_AT = 0.3
"""Least score for two that are left over and fit nothing else as well."""

_MARGIN = 0.05
_TELLING_TYPES = frozenset({"integer", "number", "array", "object"})


@dataclass(frozen=True, slots=True)
class Match:
    """Parameter ``left`` of one tool is parameter ``right`` of the other; score in (0, 1].

    ``inferred`` tells that little speaks for it but that nothing else is left that fits.
    """

    left: str
    right: str
    score: float
    inferred: bool = False


def match_parameters(left: Tool, right: Tool) -> tuple[Match, ...]:
    """One-to-one matches between the declared parameters, in the order of ``left``.

    Best scores first, each parameter at most once, ties by name; swapping the tools swaps the
    matches and nothing else. Of what is then left over, two are matched that fit each other
    clearly better than either fits another: such a match is ``inferred``.
    """
    names = {p.name: p for p in right.parameters}
    matches = [
        Match(p.name, p.name, 1.0)
        for p in left.parameters
        if p.name in names and types_meet(p.schema, names[p.name].schema)
    ]
    scored = _scored(left, right)
    for score, a, b in sorted(scored, key=lambda row: (-row[0], sorted(row[1:]), row[1])):
        if score >= MATCH_AT and _rest([(score, a, b)], matches):
            matches.append(Match(a, b, score))
    rest = _rest(scored, matches)
    matches += [Match(a, b, score, True) for score, a, b in rest if _stands_out(score, a, b, rest)]
    matches += _only_ones(left, right, matches)
    order = {p.name: at for at, p in enumerate(left.parameters)}
    return tuple(sorted(matches, key=lambda match: order[match.left]))


def turned(matches: Sequence[Match]) -> tuple[Match, ...]:
    """The matches of ``match_parameters`` with the tools swapped; their order stays."""
    return tuple(Match(m.right, m.left, m.score, m.inferred) for m in matches)


_Scored = tuple[float, str, str]


def _scored(left: Tool, right: Tool) -> Sequence[_Scored]:
    """Those that only one of the tools names: what both name is that of the other or none of it."""
    ours, theirs = _alone(left, right), _alone(right, left)
    if not ours or not theirs:
        return ()
    rows = ((likeness(a, b, (left, right)), a.name, b.name) for a in ours for b in theirs)
    return [row for row in rows if row[0] >= INFER_AT - _MARGIN]


def _alone(tool: Tool, other: Tool) -> list[Parameter]:
    names = {parameter.name for parameter in other.parameters}
    return [parameter for parameter in tool.parameters if parameter.name not in names]


def _rest(scored: Sequence[_Scored], matches: Sequence[Match]) -> Sequence[_Scored]:
    """The rows of which neither parameter is matched yet."""
    ours, theirs = {match.left for match in matches}, {match.right for match in matches}
    return [row for row in scored if row[1] not in ours and row[2] not in theirs]


def _only_ones(left: Tool, right: Tool, matches: Sequence[Match]) -> Sequence[Match]:
    """The only required number, list or object left on each side, where others are matched; the
    only texts of both tools, where they are required and no word turns one of them.
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
    fits = types_overlap(a.schema, b.schema) and not tell_apart(a, b)
    return [Match(a.name, b.name, INFER_AT, True)] if fits else ()


def _only_text(tool: Tool) -> Sequence[Parameter]:
    """The only text that the tool takes, where it is required and named by a plain word."""
    texts = [p for p in tool.parameters if p.type == "string"]
    return [p for p in texts if p.required and not read_parameter(p).turning][: len(texts) == 1]


def _required_rest(tool: Tool, done: set[str]) -> Sequence[Parameter]:
    """Numbers, lists and objects not matched yet; where none is said to be required, all are."""
    some = any(p.required for p in tool.parameters)
    rest = [p for p in tool.parameters if p.name not in done and (p.required or not some)]
    return [p for p in rest if p.type in _TELLING_TYPES]


def _stands_out(score: float, a: str, b: str, rest: Sequence[_Scored]) -> bool:
    others = (other for other, x, y in rest if (x == a) != (y == b))
    return score >= INFER_AT and all(score >= other + _MARGIN for other in others)
