"""Applies argument maps written by people over the computed maps (α by hand).

An edit of one tool is an object with three parts. ``moves`` maps an old argument to ``to``, the
merged one, and ``values``, pairs of an old and a new value. ``constants`` maps a merged argument to
a value. ``dropped`` maps an old argument to the reason. Other arguments stay as computed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from toolscope_core.catalog.calls import takes, validator_of
from toolscope_core.judging.arguments.alignment import map_onto
from toolscope_core.judging.arguments.subschema import inline_references
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.tool import JsonObject, Parameter, Tool, canonical_json


def with_edited_map(
    tool: Tool,
    alpha: ArgumentMap,
    schema: JsonObject,
    edit: JsonObject,
    renames: Mapping[str, str] = MappingProxyType({}),
) -> ArgumentMap:
    """``alpha`` of ``tool`` with people's edits, for a merged tool with this schema and
    ``renames``.

    ``renames`` maps old parameter names to people's new ones. Edits that cannot be reversed, or no
    longer fit, are described in ``lossy`` and ``dropped``.
    """
    properties: Mapping[str, Any] = schema.get("properties") or {}
    moves, dropped = edit.get("moves") or {}, edit.get("dropped") or {}
    pairs = {move.source: move.target for move in alpha.moves}
    pairs |= {source: str(move["to"]) for source, move in moves.items()}
    new_pairs = {
        source: target if target in properties else renames.get(target, target)
        for source, target in pairs.items()
        if source not in dropped
    }
    pairs = {source: target for source, target in new_pairs.items() if target in properties}
    constants = edit.get("constants", alpha.constants)
    onto_schema = map_onto(tool, alpha.to, schema, pairs, constants)
    by_name = {parameter.name: parameter for parameter in tool.parameters}
    value_maps = {
        source: ArgumentMove(source, pairs[source], "map", tuple((a, b) for a, b in move["values"]))
        for source, move in moves.items()
        if move.get("values") and source in pairs and source in by_name
    }
    moves_by_source = {move.source: move for move in onto_schema.moves} | value_maps
    whole = inline_references(schema).get("properties") or {}
    lossy = [*onto_schema.lossy, *_clashes(tool, pairs)]
    for source, move in value_maps.items():
        lossy += _value_problems(by_name[source], move, whole[move.target])
    unmapped = {name: why for name, why in onto_schema.dropped.items() if name not in value_maps}
    return replace(
        alpha,
        moves=tuple(moves_by_source[name] for name in by_name if name in moves_by_source),
        constants=onto_schema.constants,
        dropped={name: str(dropped.get(name, why)) for name, why in unmapped.items()},
        lossy=tuple(dict.fromkeys(lossy)),
        inferred=(),
        waived=tuple(name for name in unmapped if name in dropped),
    )


def _clashes(tool: Tool, pairs: Mapping[str, str]) -> Iterator[str]:
    """Merged arguments that would receive the values of two old arguments in one call."""
    first: dict[str, str] = {}
    for source, target in pairs.items():
        other = first.setdefault(target, source)
        if other != source:
            yield f"`{other}` and `{source}` of `{tool.name}` would both be `{target}`"


def _value_problems(parameter: Parameter, move: ArgumentMove, schema: object) -> Iterator[str]:
    """Errors in a table of values: gaps, two values that become one, values that the target does
    not accept.
    """
    old = {canonical_json(value) for value, _ in move.values}
    unmapped = [value for value in parameter.enum if canonical_json(value) not in old]
    if unmapped:
        yield f"`{parameter.name}`: {canonical_json(unmapped[0])} has no new value"
    new = [canonical_json(value) for _, value in move.values]
    repeated = next((value for value in new if new.count(value) > 1), None)
    if repeated is not None:
        yield f"`{parameter.name}`: two values become {repeated}, so they cannot be told apart"
    if not parameter.enum:
        yield f"`{parameter.name}` also takes other values, which stay as they are"
    validator = validator_of(schema if isinstance(schema, dict) else None)
    invalid = next((value for _, value in move.values if not takes(validator, value)), None)
    if invalid is not None:
        yield f"`{move.target}` does not take {canonical_json(invalid)}"
