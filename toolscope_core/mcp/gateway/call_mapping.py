"""Maps a call of a merged tool to an original: chooses the original, and maps the arguments through
α.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp import MCPError

from toolscope_core.catalog.calls import MappedCall, foreign_arguments, unmap_call
from toolscope_core.catalog.schema.walking import properties_of
from toolscope_core.mcp.gateway.routing import Original, Route, RoutingTable
from toolscope_core.model.cluster import ArgumentMap, ArgumentMove
from toolscope_core.model.errors import ServerConnectionError, ToolScopeError
from toolscope_core.model.masking import masked
from toolscope_core.model.tool import JsonObject, Tool, canonical_json, with_texts


def chosen_original(route: Route, arguments: JsonObject) -> Original | None:
    """The original that the arguments choose: the first one whose constants are all among them. An
    only original is always chosen.

    ``None`` if the arguments choose no original. A constant that the call leaves out is not
    assumed.
    """
    if len(route.originals) == 1:
        return route.originals[0]
    for original in route.originals:
        alpha = route.alphas.get(original.tool_id)
        if alpha is None or _has_constants(alpha, arguments):
            return original
    return None


def default_choice(route: Route) -> JsonObject:
    """The declared defaults of the arguments that choose an original."""
    own = properties_of(route.schema)
    choosing = {name for alpha in route.alphas.values() for name in alpha.constants}
    return {
        name: own[name]["default"]
        for name in choosing
        if isinstance(own.get(name), Mapping) and "default" in own[name]
    }


def original_call(
    route: Route, original: Original, arguments: JsonObject, definition: Tool | None
) -> MappedCall:
    """The call, with its arguments in the form that the original takes.

    The types of parameters are read from ``definition``, the tool as its server declares it now.
    ``losses`` are arguments that the merged tool does not declare and that the original would
    mistake for its own. If the merged schema is closed, ``losses`` has all undeclared arguments.
    """
    own = properties_of(route.schema)
    alpha = route.alphas.get(original.tool_id) or ArgumentMap(
        original.tool_id, route.tool_id, tuple(ArgumentMove(name, name) for name in own)
    )
    types = {one.name: one.type for one in definition.parameters} if definition else {}
    defaults = {name for name, is_it in foreign_arguments(alpha, arguments, own).items() if is_it}
    arguments = {name: value for name, value in arguments.items() if name not in defaults}
    call = unmap_call(alpha, arguments, types)
    if (
        route.schema.get("additionalProperties") is False
        and "patternProperties" not in route.schema
    ):
        undeclared = (name for name in arguments if name not in own)
        call = replace(call, losses=tuple(dict.fromkeys((*call.losses, *undeclared))))
    return call


def misplaced_arguments(
    route: Route, original: Original, arguments: JsonObject, definition: Tool | None
) -> tuple[str, ...]:
    """The objections to a call that the merged schema accepts.

    They name arguments of other originals, and arguments of this original that are missing. Each
    objection is a sentence with the merged tool's names.
    """
    alpha = route.alphas.get(original.tool_id)
    if alpha is None or (len(route.originals) == 1 and not alpha.constants):
        return ()
    source_of = {move.target: move.source for move in alpha.moves}
    choice = _choice(route, alpha)
    others = foreign_arguments(alpha, arguments, properties_of(route.schema))
    foreign = [
        f"{choice}{name!r} is not taken; leave it out"
        for name, is_default in others.items()
        if not is_default
    ]
    required = {one.name for one in definition.parameters if one.required} if definition else set()
    missing = [
        f"{choice}{target!r} is required; add it"
        for target, source in source_of.items()
        if source in required and target not in arguments
    ]
    return (*foreign, *missing)


def names_note(alpha: ArgumentMap | None, text: str) -> str:
    """The merged tool's names for the arguments that an original mentions in ``text``.

    Empty if each argument has the same name in both tools.
    """
    words = set(re.findall(r"\w+", text))
    moves = alpha.moves if alpha else ()
    own = {move.target for move in moves}
    return "; ".join(
        f"{move.source!r} is called {move.target!r} here"
        for move in moves
        if move.source in words and move.source not in own
    )


def choices(route: Route) -> Sequence[str]:
    """For each of several originals, in order, the arguments that choose it, in words."""
    alphas = (route.alphas.get(one.tool_id) for one in route.originals)
    return [", ".join(_constants(route, alpha)) for alpha in alphas if alpha]


def _choice(route: Route, alpha: ArgumentMap) -> str:
    constants = ", ".join(_constants(route, alpha))
    return f"with {constants}, " if constants else ""


def _constants(route: Route, alpha: ArgumentMap) -> list[str]:
    """The constants with which calls choose an original, without those that no call may name."""
    constants = sorted(alpha.constants.items())
    return [f"{n}={canonical_json(value)}" for n, value in constants if n not in route.presets]


def _has_constants(alpha: ArgumentMap, arguments: JsonObject) -> bool:
    return all(
        name in arguments and canonical_json(arguments[name]) == canonical_json(constant)
        for name, constant in alpha.constants.items()
    )


FIXED = "[fixed]"
_LONG = 4
"""Texts shorter than this, numbers and truth values are removed only where they stand alone."""


@dataclass(frozen=True, slots=True)
class FixedValues:
    """The fixed values that one server receives. ``texts`` are found anywhere in a text; ``words``
    are found only where they stand alone.
    """

    texts: tuple[str, ...] = ()
    words: re.Pattern[str] | None = field(default=None)

    def cut(self, text: str) -> str:
        """The text without the fixed values."""
        for one in self.texts:
            text = masked(text, one, halves=False, mask=FIXED)
        return self.words.sub(FIXED, text) if self.words else text

    def cut_all(self, value: Any) -> Any:
        """A JSON value without the fixed values, at every depth."""
        if not self.texts and self.words is None:
            return value
        if isinstance(value, bool | int | float):
            return self.cut(canonical_json(value)) if self._is_one(value) else value
        if isinstance(value, Mapping):
            return {self.cut(str(name)): self.cut_all(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.cut_all(part) for part in value]
        return with_texts(value, self.cut)

    def cut_error(self, error: Exception) -> Exception:
        """The error without the fixed values. They are removed from its message, and from the data
        of an error that the server itself sent.
        """
        if isinstance(error, MCPError):
            data = self.cut_all(error.error.data)
            return MCPError(error.error.code, self.cut(error.error.message), data)
        if isinstance(error, ServerConnectionError):
            return ServerConnectionError(self.cut(str(error)), error.kind)
        return type(error)(self.cut(str(error))) if isinstance(error, ToolScopeError) else error

    def _is_one(self, value: bool | float) -> bool:
        return self.words is not None and bool(self.words.fullmatch(canonical_json(value)))


NOTHING_FIXED = FixedValues()


def fixed_values(table: RoutingTable) -> dict[str, FixedValues]:
    """The values that the table fixes for each server, as agents know them and as the server's
    tools know them.
    """
    leaves: dict[str, set[str]] = {}
    for route in table.routes.values():
        for original in route.originals if route.presets else ():
            values = leaves.setdefault(original.server, set())
            values |= {leaf for one in _sent(route, original.tool_id) for leaf in _leaves(one)}
    return {server: _fixed(sorted(values)) for server, values in leaves.items() if values}


def _sent(route: Route, tool_id: str) -> Iterator[JsonObject]:
    """The fixed arguments that are passed on: first under the tool's names, then under the
    original's names.

    Arguments that only choose the original are not passed on.
    """
    alpha = route.alphas.get(tool_id)
    chooses = alpha.constants.keys() if alpha else ()
    yield {name: value for name, value in route.presets.items() if name not in chooses}
    original = next(one for one in route.originals if one.tool_id == tool_id)
    yield original_call(route, original, route.presets, None).arguments


def _leaves(arguments: JsonObject) -> Iterator[str]:
    """The texts of values at every depth, including the names inside them. Numbers and truth values
    are given in each way in which they may be written.
    """

    def inside(value: Any) -> Iterator[str]:
        if isinstance(value, Mapping):
            for name, part in value.items():
                yield str(name)
                yield from inside(part)
        elif isinstance(value, list | tuple):
            for part in value:
                yield from inside(part)
        elif isinstance(value, str):
            yield value.strip()
        elif value is not None:
            yield canonical_json(value)
            yield str(value)
            if isinstance(value, float) and value.is_integer():
                yield str(int(value))

    for value in arguments.values():
        yield from filter(None, inside(value))


def _fixed(leaves: Sequence[str]) -> FixedValues:
    """The fixed values, longest first, because one value may contain another."""
    ordered = sorted(leaves, key=lambda one: (-len(one), one))
    is_text = {one: len(one) >= _LONG and not _is_plain(one) for one in ordered}
    words = [re.escape(one) for one in ordered if not is_text[one]]
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(words)})(?![\w-]|\.\d)") if words else None
    return FixedValues(tuple(one for one in ordered if is_text[one]), pattern)


def _is_plain(leaf: str) -> bool:
    return leaf in ("true", "false", "True", "False") or leaf.lstrip("-").replace(".", "").isdigit()
