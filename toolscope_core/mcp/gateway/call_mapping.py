"""A call of a merged tool as the call of an original: which one, and its arguments through α."""

from collections.abc import Sequence
from dataclasses import replace

from toolscope_core.catalog.schema.walking import properties_of
from toolscope_core.mcp.gateway.routing import Original, Route
from toolscope_core.merging.calls import MappedCall, unmap_call
from toolscope_core.model.argument_map import ArgumentMap, ArgumentMove
from toolscope_core.model.tool import JsonObject, Tool, canonical_json


def chosen_original(route: Route, arguments: JsonObject) -> Original | None:
    """The original that the arguments choose: the first whose constants they have; ``None`` where
    they choose none: a constant that the call leaves out is not made up.
    """
    if len(route.originals) == 1:
        return route.originals[0]
    for original in route.originals:
        alpha = route.alphas.get(original.tool_id)
        if alpha is None or _has_constants(alpha, arguments):
            return original
    return None


def original_call(
    route: Route, original: Original, arguments: JsonObject, declared: Tool | None
) -> MappedCall:
    """The call with the arguments as the original takes them. ``declared`` is the tool as its
    server has it now, from which the types of its parameters are read.

    ``lost`` are those that the merged tool does not declare and the original would take for its
    own; where the merged schema is closed, all that it does not declare.
    """
    own = properties_of(route.schema)
    alpha = route.alphas.get(original.tool_id) or ArgumentMap(
        original.tool_id, route.tool_id, tuple(ArgumentMove(name, name) for name in own)
    )
    types = {one.name: one.type for one in declared.parameters} if declared else {}
    call = unmap_call(alpha, arguments, types)
    if (
        route.schema.get("additionalProperties") is False
        and "patternProperties" not in route.schema
    ):
        undeclared = (name for name in arguments if name not in own)
        call = replace(call, lost=tuple(dict.fromkeys((*call.lost, *undeclared))))
    return call


def misplaced_arguments(
    route: Route, original: Original, arguments: JsonObject, declared: Tool | None
) -> tuple[str, ...]:
    """What speaks against a call that the merged schema takes: arguments of other originals, and
    those that this original needs, each in a sentence with the names of the merged tool.
    """
    alpha = route.alphas.get(original.tool_id)
    if alpha is None or (len(route.originals) == 1 and not alpha.constants):
        return ()
    mine = {move.target: move.source for move in alpha.moves}
    choice = _choice(route, alpha)
    declared_here = properties_of(route.schema)
    foreign = [
        f"{choice}{name!r} is not taken; leave it out"
        for name in arguments
        if name in declared_here and name not in mine and name not in alpha.constants
    ]
    needed = {one.name for one in declared.parameters if one.required} if declared else set()
    missing = [
        f"{choice}{target!r} is needed; give it"
        for target, source in mine.items()
        if source in needed and target not in arguments
    ]
    return (*foreign, *missing)


def choices(route: Route) -> Sequence[str]:
    """The arguments by which each of several originals is chosen, in their order, in words."""
    alphas = (route.alphas.get(one.tool_id) for one in route.originals)
    return [", ".join(_constants(route, alpha)) for alpha in alphas if alpha]


def _choice(route: Route, alpha: ArgumentMap) -> str:
    constants = ", ".join(_constants(route, alpha))
    return f"with {constants}, " if constants else ""


def _constants(route: Route, alpha: ArgumentMap) -> list[str]:
    """The constants by which calls choose an original, without those that no call may name."""
    constants = sorted(alpha.constants.items())
    return [f"{n}={canonical_json(value)}" for n, value in constants if n not in route.presets]


def _has_constants(alpha: ArgumentMap, arguments: JsonObject) -> bool:
    return all(
        name in arguments and canonical_json(arguments[name]) == canonical_json(constant)
        for name, constant in alpha.constants.items()
    )
