"""The values that a profile fixes, which no message shows: not what a server says beside the result
of a tool, nor what a schema says against a call.

The result of a tool is left as it came. It is what the agent asked for, and a value may stand in it
by chance: a listing of a folder without the number 3 would be wrong.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp import MCPError

from toolscope_core.llm.masking import masked
from toolscope_core.mcp.gateway.call_mapping import original_call
from toolscope_core.mcp.gateway.routing import Route, RoutingTable
from toolscope_core.model.errors import ServerConnectionError, ToolScopeError
from toolscope_core.model.tool import JsonObject, canonical_json, with_texts

FIXED = "[fixed]"
LONG = 4
"""A shorter text, a number or a truth value is cut out only where it stands by itself."""


@dataclass(frozen=True, slots=True)
class FixedValues:
    """Values that one server gets: ``texts`` wherever they stand, ``words`` by themselves."""

    texts: tuple[str, ...] = ()
    words: re.Pattern[str] | None = field(default=None)

    def cut(self, text: str) -> str:
        """The text without them."""
        for one in self.texts:
            text = masked(text, one, halves=False, mask=FIXED)
        return self.words.sub(FIXED, text) if self.words else text

    def cut_all(self, value: Any) -> Any:
        """A JSON value without them, at every depth."""
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
        """The error with its message, and the data of a server's own, without them."""
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
    """By server the values that the table fixes for it, as agents and as its tools know them."""
    leaves: dict[str, set[str]] = {}
    for route in table.routes.values():
        for original in route.originals if route.presets else ():
            values = leaves.setdefault(original.server, set())
            values |= {leaf for one in _sent(route, original.tool_id) for leaf in _leaves(one)}
    return {server: _fixed(sorted(values)) for server, values in leaves.items() if values}


def _sent(route: Route, tool_id: str) -> Iterator[JsonObject]:
    """What is fixed and passed on, under the names of the tool and of its original. What only
    chooses the original is passed to none.
    """
    alpha = route.alphas.get(tool_id)
    chooses = alpha.constants.keys() if alpha else ()
    yield {name: value for name, value in route.presets.items() if name not in chooses}
    original = next(one for one in route.originals if one.tool_id == tool_id)
    yield original_call(route, original, route.presets, None).arguments


def _leaves(arguments: JsonObject) -> Iterator[str]:
    """The texts of values at every depth, names inside them too; numbers as they are written."""

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
    """The longest first: a value may stand in another."""
    ordered = sorted(leaves, key=lambda one: (-len(one), one))
    is_text = {one: len(one) >= LONG and not _is_plain(one) for one in ordered}
    words = [re.escape(one) for one in ordered if not is_text[one]]
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(words)})(?![\w-]|\.\d)") if words else None
    return FixedValues(tuple(one for one in ordered if is_text[one]), pattern)


def _is_plain(leaf: str) -> bool:
    return leaf in ("true", "false", "True", "False") or leaf.lstrip("-").replace(".", "").isdigit()
