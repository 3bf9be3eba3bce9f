"""Maps calls to one tool onto calls to another (α).

An argument map is *lossless* if every argument of every valid call to the old tool has a place in
the merged tool, with a value that the merged schema allows.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from toolscope_core.judging.arguments import subschema
from toolscope_core.judging.arguments.actions import action_of
from toolscope_core.judging.arguments.argument_words import demands, difference
from toolscope_core.judging.arguments.matching import Match, match_parameters, turned
from toolscope_core.judging.arguments.roles import read_parameter
from toolscope_core.judging.arguments.subschema import admits, core, leaves_out, type_set
from toolscope_core.judging.arguments.value_facts import LIST, facts_of
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.pair import Serves
from toolscope_core.model.tool import JsonObject, Parameter, Tool, canonical_json
from toolscope_core.wording.tool_text import source_name
from toolscope_core.wording.words import is_plural, meaning, name_words, plain_words, spelling

_SEVERAL = re.compile(r"\w\(e?s\)|\b(?:one or more|multiple|several|lists?)\b", re.IGNORECASE)
_LARGEST = 2**31 - 1
_COUNTED = frozenset({"count", "key"})
_PAGED = frozenset(map(meaning, "limit max page per offset index size top results items".split()))
"""Kinds and names of parameters that are non-negative integers."""
_WRITTEN = frozenset({"format", "contentEncoding", "contentMediaType"})
"""Keywords for texts that a number written as text violates."""


def move_to(parameter: Parameter, target: str, schema: JsonObject | bool) -> ArgumentMove | None:
    """A reversible move that makes every value of the parameter valid under ``schema``; ``None`` if
    there is none.
    """
    own = parameter.schema
    if not isinstance(schema, dict):
        return ArgumentMove(parameter.name, target) if schema is True else None
    if admits(schema, own):
        return None if leaves_out(schema, own) else ArgumentMove(parameter.name, target)
    values = _value_map(parameter, schema)
    if values:
        return ArgumentMove(parameter.name, target, "map", values)
    if "array" in type_set(own) ^ type_set(schema):
        return _through_a_list(parameter, target, schema)
    kind = type_set(own)
    if (
        len(kind) == 1
        and kind <= {"integer", "number", "boolean"}
        and core(schema) == {"type": "string"}
        and not _WRITTEN & schema.keys()
    ):
        return ArgumentMove(parameter.name, target, "cast")
    return None


def usual_move(
    parameter: Parameter, target: str, schema: JsonObject | bool
) -> tuple[ArgumentMove, tuple[str, ...]] | None:
    """Like ``move_to``, but limits that hardly any call reaches may be violated.

    These limits are returned as sentences. ``None`` if anything else prevents the move.
    """
    if not isinstance(schema, dict):
        return None
    notes: list[str] = []
    move = move_to(parameter, target, _without_limits(schema, parameter, f"`{target}`", notes))
    return (move, tuple(notes)) if move else None


def _without_limits(
    schema: JsonObject, parameter: Parameter, name: str, notes: list[str]
) -> JsonObject:
    """The schema without limits that hardly any call reaches; a sentence on each is added to
    ``notes``.
    """
    loose, own = dict(schema), parameter.schema
    for key in () if "enum" in own or "const" in own else tuple(_unusual(schema, parameter)):
        limit = loose.pop(key)
        if key in ("minLength", "minItems"):
            notes.append(f"{name} must not be empty")
        else:
            bound = {"minimum": "least", "maximum": "most"}.get(key)
            notes.append(f"{name} must be {f'at {bound}' if bound else 'more than'} {limit}")
    if type_set(own) == {"number"} and "integer" in type_set(schema) and _is_counted(parameter):
        loose["type"] = "number"
        notes.append(f"{name} must be a whole number")
    items = loose.get("items")
    if isinstance(items, dict):
        inner = own.get("items")
        of_own = Parameter(parameter.name, False, inner if isinstance(inner, dict) else {})
        loose["items"] = _without_limits(items, of_own, f"each of {name}", notes)
    return loose


def _unusual(schema: JsonObject, parameter: Parameter) -> Iterator[str]:
    """The limits that hardly any call reaches: an empty text or list, or a count or key below 1."""
    for key in ("minLength", "minItems"):
        if schema.get(key) == 1:
            yield key
    is_count = _is_counted(parameter)
    for key, sign, most in (("minimum", -1, 1), ("exclusiveMinimum", -1, 0), ("maximum", 1, None)):
        limit = schema.get(key)
        if not isinstance(limit, int | float):
            continue
        is_low = is_count and most is not None and limit <= most
        if is_low or (key != "exclusiveMinimum" and limit * sign >= _LARGEST):
            yield key


def _is_counted(parameter: Parameter) -> bool:
    """Whether the whole name stands for a count, a key or a page, and more than 1 is allowed.

    Such values are integers from 0 or 1, whatever their schema says.
    """
    most = parameter.schema.get("maximum")
    if isinstance(most, int | float) and most <= 1:
        return False
    reading = read_parameter(parameter)
    counts = not reading.name_kinds.isdisjoint(_COUNTED) and "money" not in reading.name_kinds
    return counts or (bool(reading.name) and reading.name <= _PAGED)


def _through_a_list(parameter: Parameter, target: str, schema: JsonObject) -> ArgumentMove | None:
    """A move of one value into a list of one, or out of a list with exactly one item."""
    own = parameter.schema
    if type_set(own) == {"array"}:
        one = own.get("minItems") == 1 == own.get("maxItems")
        fits = one and admits(schema, own.get("items"))
        return ArgumentMove(parameter.name, target, "unwrap") if fits else None
    if _may_be_several(parameter):
        return None
    array = {"type": "array", "items": own, "minItems": 1, "maxItems": 1}
    fits = bool(type_set(own)) and type_set(schema) == {"array"} and admits(schema, array)
    return ArgumentMove(parameter.name, target, "wrap") if fits else None


def _may_be_several(parameter: Parameter) -> bool:
    """Whether a text may name several things at once, like ``A-1,A-2``.

    In a list, such a text would be a single item that names none of them.
    """
    name = plain_words(parameter.name)
    return bool(
        facts_of(parameter).of(LIST)
        or _SEVERAL.search(parameter.description)
        or (name and is_plural(name[-1]))
    )


def _refusal(parameter: Parameter, target: str, schema: JsonObject | bool) -> str:
    """Why no move was found, as a clause about the parameter."""
    if isinstance(schema, Mapping) and "array" in type_set(parameter.schema) - type_set(schema):
        return f"`{target}` takes one value, but a list may contain several or none"
    if isinstance(schema, Mapping) and leaves_out(schema, parameter.schema):
        return f"`{target}` has no place for some of its fields"
    return f"`{target}` does not take all of its values"


def _value_map(parameter: Parameter, schema: JsonObject) -> tuple[tuple[Any, Any], ...]:
    """A one-to-one map from old to new values with the same spelling, for all old values; empty if
    there is none.
    """
    theirs = schema.get("enum")
    if not parameter.enum or not isinstance(theirs, list):
        return ()
    spelled: dict[str, list[Any]] = {}
    for value in theirs:
        spelled.setdefault(spelling(value), []).append(value)
    pairs = []
    for value in parameter.enum:
        fitting = spelled.get(spelling(value), [])
        if len(fitting) != 1:
            return ()
        pairs.append((value, fitting[0]))
    distinct = {canonical_json(new) for _, new in pairs}
    return tuple(pairs) if len(distinct) == len(pairs) else ()


_DIRECTIONS = frozenset(
    """from except excluding exclude not non no without but never unless minus sans ignore ignoring
    avoid avoiding hide hiding disable disabling remove off nor cannot other un""".split()
)

_CONDITIONS = frozenset("allOf anyOf oneOf if then else dependentSchemas".split())
_PLAIN_KEYWORDS = frozenset(
    "type properties required additionalProperties $defs definitions".split()
)


def argument_map(tool: Tool, target: Tool, matches: Sequence[Match] | None = None) -> ArgumentMap:
    """α from ``tool`` to ``target``, whose schema stays unchanged.

    ``dropped`` lists arguments without a place, ``lossy`` lists those that would be invalid, and
    ``notes`` describes those that are invalid only in unusual calls. If neither tool declares its
    parameters, arguments keep their names, and the map is ``inferred``. ``matches`` is the result
    of ``match_parameters``, if it is known.
    """
    if tool.id != target.id and tool.schema is None and target.schema is None:
        unknown = f"parameters are unknown: neither {tool.id} nor {target.id} declares any"
        return ArgumentMap(tool.id, target.id, inferred=(unknown,))
    if tool.id == target.id or tool.content_hash == target.content_hash:
        moves = tuple(ArgumentMove(p.name, p.name) for p in tool.parameters)
        return ArgumentMap(tool.id, target.id, moves)
    obstacle = unmappable(target)
    if obstacle:
        return ArgumentMap(tool.id, target.id, lossy=(obstacle,))
    matches = match_parameters(tool, target) if matches is None else matches
    action = _action(tool, target)
    pairs = {match.left: match.right for match in matches if match.right not in action}
    constants = action or _fixed_values(tool, target)
    alpha = map_onto(tool, target.id, target.schema or {}, pairs, constants)
    lossy = (*alpha.lossy, *demands(tool, target, alpha.moves, alpha.constants))
    return replace(alpha, lossy=lossy, inferred=inferences(tool, matches))


def serving(left: Tool, right: Tool, matches: Sequence[Match]) -> Serves:
    """Which of the two accepts every call to the other, by their schemas.

    ``matches`` is the result of ``match_parameters``.
    """
    by_left = argument_map(right, left, turned(matches)).exact
    if argument_map(left, right, matches).exact:
        return "both" if by_left else "right"
    return "left" if by_left else "none"


def inferences(tool: Tool, matches: Sequence[Match]) -> tuple[str, ...]:
    """Sentences on arguments of ``tool`` that were matched on weak evidence."""
    return tuple(
        f"`{match.left}` of {tool.id} is only guessed to be `{match.right}`"
        for match in matches
        if match.inferred
    )


@lru_cache(maxsize=65_536)
def unmappable(tool: Tool) -> str | None:
    """A sentence on why no call to the tool can be mapped; ``None`` if calls can be."""
    if tool.schema is None:
        return f"`{tool.name}` does not say what arguments it takes"
    if subschema.refers(subschema.inline_references(tool.schema)):
        return f"the schema of `{tool.name}` refers to itself or to something outside it"
    return None


def map_onto(
    tool: Tool, to: str, schema: JsonObject, pairs: Mapping[str, str], constants: JsonObject
) -> ArgumentMap:
    """α from ``tool`` to the object schema of ``to``, given the pairs of parameters."""
    obstacle = unmappable(tool)
    schema = subschema.inline_references(schema)
    properties: Mapping[str, JsonObject] = schema.get("properties") or {}
    tool = subschema.inlined(tool)
    moves: list[ArgumentMove] = []
    dropped: dict[str, str] = {}
    converted: list[str] = []
    notes: list[str] = []
    for parameter in tool.parameters:
        target = pairs.get(parameter.name)
        if target is None:
            dropped[parameter.name] = "the merged tool has no such parameter"
            continue
        target_schema = properties[target]
        move = move_to(parameter, target, target_schema)
        declared = target_schema if isinstance(target_schema, Mapping) else {}
        unit = difference(parameter, Parameter(target, False, declared))
        if unit:
            converted.append(
                f"`{parameter.name}` of `{tool.name}` would have to be converted: {unit}"
            )
        if move is None and (usual := usual_move(parameter, target, target_schema)):
            move = usual[0]
            notes += (f"{note}, which {tool.id} does not require" for note in usual[1])
        if move is None:
            dropped[parameter.name] = _refusal(parameter, target, target_schema)
        else:
            moves.append(move)
    targets = {move.target for move in moves}
    constants = {k: v for k, v in constants.items() if k not in targets}
    lost = [k for k, v in constants.items() if not _takes(properties.get(k), v)]
    constants = {k: v for k, v in constants.items() if k not in lost}
    lossy = [*converted, *_unsupplied(tool, schema, moves, constants), *_open_ended(tool, schema)]
    lossy += [obstacle] if obstacle else []
    lossy += [f"`{name}` no longer says that `{tool.name}` is meant" for name in lost]
    lossy += _bound_together(tool, schema, moves)
    lossy += _declared_apart(tool, schema, moves)
    return ArgumentMap(
        tool.id, to, tuple(moves), constants, dropped, tuple(lossy), notes=tuple(notes)
    )


def _action(tool: Tool, target: Tool) -> dict[str, str]:
    """The argument of ``target`` and its value that mean what ``tool`` does; empty without one."""
    action = action_of(tool, target)
    return dict([action]) if action else {}


def _fixed_values(tool: Tool, target: Tool) -> dict[str, Any]:
    """Arguments of ``target`` whose value is part of the name of ``tool``.

    ``translate_to_french(text)`` is ``translate(text, language="french")`` if ``language`` lists
    ``french`` among its values and no other parameter does. A name with *from* or *except* fixes
    nothing.
    """
    words = set(plain_words(source_name(tool)))
    if words & _DIRECTIONS:
        return {}
    name_only = name_words(source_name(tool)) - name_words(source_name(target))
    fitting = [
        (parameter.name, value)
        for parameter in target.parameters
        for value in parameter.enum
        if isinstance(value, str) and name_words(value) and name_words(value) <= name_only
    ]
    values = [spelling(value) for _, value in fitting]
    names = [name for name, _ in fitting]
    return {
        name: value
        for name, value in fitting
        if names.count(name) == 1 and values.count(spelling(value)) == 1
    }


def words_apart(tool: Tool, target: Tool) -> tuple[str, ...]:
    """Sentences on arguments whose schemas match but whose words do not, also for tools with equal
    schemas.
    """
    ours, theirs = ({p.name: p for p in one.parameters} for one in (tool, target))
    matches = match_parameters(tool, target)
    differences = [(m, difference(ours[m.left], theirs[m.right])) for m in matches]
    moves = [ArgumentMove(match.left, match.right) for match in matches]
    return (
        *(
            f"`{m.left}` of {tool.id} and `{m.right}` of {target.id} differ: {words}"
            for m, words in differences
            if words
        ),
        *demands(tool, target, moves, _action(tool, target)),
    )


def _unsupplied(
    tool: Tool, schema: JsonObject, moves: Sequence[ArgumentMove], constants: JsonObject
) -> list[str]:
    always = {p.name for p in tool.parameters if p.required}
    supplied = {move.target for move in moves if move.source in always} | set(constants)
    required = schema.get("required")
    missing = (
        [name for name in required if name not in supplied] if isinstance(required, list) else []
    )
    return [
        f"`{name}` is required, but a call to `{tool.name}` may leave it out" for name in missing
    ]


def _bound_together(tool: Tool, schema: JsonObject, moves: Sequence[ArgumentMove]) -> list[str]:
    """Conditions on several arguments; they hold only if both tools have exactly the same
    conditions.
    """
    target, own = core(schema), core(tool.schema or {})
    conditions = target.keys() - _PLAIN_KEYWORDS
    same = all(canonical_json(target[key]) == canonical_json(own.get(key)) for key in conditions)
    if not conditions or (same and all(move.source == move.target for move in moves)):
        return []
    return [f"the merged tool has conditions on its arguments ({', '.join(sorted(conditions))})"]


def _declared_apart(tool: Tool, schema: JsonObject, moves: Sequence[ArgumentMove]) -> list[str]:
    """Conditional or pattern-named arguments; they map only if the target declares exactly the
    same.
    """
    target, own = core(schema), core(tool.schema or {})
    same_names = all(move.source == move.target for move in moves)
    same = {key for key in own if canonical_json(own[key]) == canonical_json(target.get(key))}
    rest = {key: own[key] for key in own.keys() & _CONDITIONS - (same if same_names else set())}
    names = sorted(set(_declared_names(rest)) - {parameter.name for parameter in tool.parameters})
    reasons = [f"`{name}` of `{tool.name}` is declared under a condition" for name in names]
    if "patternProperties" in own.keys() - same:
        reasons.append(f"`{tool.name}` takes arguments whose names match a pattern")
    return reasons


def _declared_names(node: object) -> Iterator[str]:
    """Names of the properties anywhere in an object schema's conditions."""
    if isinstance(node, list):
        for item in node:
            yield from _declared_names(item)
    elif isinstance(node, dict):
        yield from node.get("properties") or {}
        for key in node.keys() & _CONDITIONS:
            below = node[key]
            yield from _declared_names([*below.values()] if key == "dependentSchemas" else below)


def _takes(schema: object, value: object) -> bool:
    """Whether a parameter accepts a constant."""
    if not isinstance(schema, dict):
        return False
    values = schema.get("enum")
    return not isinstance(values, list) or value in values


def _open_ended(tool: Tool, schema: JsonObject) -> list[str]:
    """A reason if the tool accepts any additional argument and the target does not."""
    further = (tool.schema or {}).get("additionalProperties")
    if further in (None, False) or schema.get("additionalProperties") in (True, further):
        return []
    return [f"`{tool.name}` takes arguments with any name"]
