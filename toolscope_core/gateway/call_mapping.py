"""A call of a merged tool as the call of an original: which one, and its arguments through α."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolscope_core.datamodel import ArgumentMap, JsonObject, Tool, canonical_json
from toolscope_core.gateway.routing import Original, Route
from toolscope_core.merging.calls import unmap_call


def chosen_original(route: Route, arguments: JsonObject) -> Original | None:
    """The original that the arguments choose: the first whose constants they have; a constant that
    the call leaves out counts as its default. ``None`` where they choose none.
    """
    if len(route.originals) == 1:
        return route.originals[0]
    for original in route.originals:
        alpha = route.alphas.get(original.tool_id)
        if alpha is None or _has_constants(route, alpha, arguments):
            return original
    return None


def original_arguments(
    route: Route, original: Original, arguments: JsonObject, declared: Tool | None
) -> JsonObject:
    """The arguments as the original takes them. ``declared`` is the tool as its server has it
    now, from which the types of its parameters are read.
    """
    alpha = route.alphas.get(original.tool_id)
    if alpha is None:
        return arguments
    types = {one.name: one.type for one in declared.parameters} if declared else {}
    return unmap_call(alpha, arguments, types)


def misplaced_arguments(
    route: Route, original: Original, arguments: JsonObject, declared: Tool | None
) -> tuple[str, ...]:
    """What speaks against a call that the merged schema takes: arguments of other originals, and
    those that this original needs, each in a sentence with the names of the merged tool.
    """
    alpha = route.alphas.get(original.tool_id)
    if alpha is None or len(route.originals) == 1:
        return ()
    mine = {move.target: move.source for move in alpha.moves}
    choice = ", ".join(
        f"{name}={canonical_json(value)}" for name, value in sorted(alpha.constants.items())
    )
    declared_here = route.schema.get("properties") or {}
    foreign = [
        f"with {choice}, {name!r} is not taken; leave it out"
        for name in arguments
        if name in declared_here and name not in mine and name not in alpha.constants
    ]
    needed = {one.name for one in declared.parameters if one.required} if declared else set()
    missing = [
        f"with {choice}, {target!r} is needed; give it"
        for target, source in mine.items()
        if source in needed and target not in arguments
    ]
    return (*foreign, *missing)


def choices(route: Route) -> Sequence[JsonObject]:
    """The arguments by which each of several originals is chosen, in their order."""
    alphas = (route.alphas.get(one.tool_id) for one in route.originals)
    return [dict(alpha.constants) if alpha else {} for alpha in alphas]


def _has_constants(route: Route, alpha: ArgumentMap, arguments: JsonObject) -> bool:
    properties = route.schema.get("properties") or {}

    def value(name: str) -> Any:
        schema = properties.get(name)
        default = schema.get("default") if isinstance(schema, dict) else None
        return arguments.get(name, default)

    return all(
        canonical_json(value(name)) == canonical_json(constant)
        for name, constant in alpha.constants.items()
    )
