"""Computes what several schemas together require of values of one type.

The schemas contain no references and no choices.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

from toolscope_core.check.schema_options import SIZES, Schemas, distinct
from toolscope_core.judging.arguments.subschema import refers
from toolscope_core.model.tool import JsonObject

MOST_VALUES = 64
"""The most values of an integer range or a property that are checked one by one."""
VALUE_TYPES = ("null", "boolean", "number", "string", "array", "object")
NEVER: Any = False
_NAMES = frozenset((*VALUE_TYPES, "integer"))
_FIXED: dict[str, list[Any]] = {"null": [None], "boolean": [False, True]}
_EMPTY: dict[str, Any] = {"string": "", "array": [], "object": {}}

Limit = tuple[Fraction, bool]
"""A bound for numbers, and whether the bound itself is excluded; the greater of two is the
tighter. An upper bound is stored as a lower bound of the negated numbers.
"""


@dataclass(frozen=True)
class Case:
    """The values of type ``kind`` that satisfy all ``schemas``.

    ``cases_of`` returns the cases of other schemas. If ``is_closed`` is true, the values have no
    undeclared properties.
    """

    kind: str
    schemas: Schemas
    is_closed: bool
    cases_of: Callable[[Schemas], list["Case"]]

    def all_of(self, key: str) -> list[Any]:
        """The values that the schemas have for a keyword."""
        return [schema[key] for schema in self.schemas if key in schema]

    @cached_property
    def values(self) -> list[Any] | None:
        """All values, if they can be listed; otherwise ``None``."""
        values: list[Any] | None
        lists = [[value] for value in self.all_of("const")] + self.all_of("enum")
        if lists:
            values = lists[0]
        elif self.kind in _FIXED:
            values = _FIXED[self.kind]
        elif self.kind == "number":
            low, high = self.limit("minimum"), self.limit("maximum")
            if (
                not self.is_integer
                or low is None
                or high is None
                or -high[0] - low[0] > MOST_VALUES
            ):
                return None
            values = list(range(int(low[0]), int(-high[0]) + 1))
        elif self.size("max") == 0:
            values = [_EMPTY[self.kind]]
        else:
            values = None
        if values is None:
            return None
        plain = [{"type": self.kind}, *map(_without_references, self.schemas)]
        return [value for value in values if all(is_valid(schema, value) for schema in plain)]

    @cached_property
    def is_integer(self) -> bool:
        """Whether all numbers are integers."""
        return any(
            "integer" in names and "number" not in names for names in map(_names, self.schemas)
        ) or any(step.denominator == 1 for step in self.steps)

    @cached_property
    def steps(self) -> list[Fraction]:
        """The numbers of which every value must be a multiple."""
        return [Fraction(str(step)) for step in self.all_of("multipleOf")]

    def limit(self, side: str) -> Limit | None:
        """The tightest bound on one side (``minimum`` or ``maximum``), rounded to the allowed
        multiples.
        """
        limits = [limit_of(key, bound) for key, bound in self._bounds(side)]
        step = max(self.steps + [Fraction(1)] * self.is_integer, default=None)
        tightest = max(limits, default=None)
        if tightest is None or step is None:
            return tightest
        place = tightest[0] / step
        is_left_out = tightest[1] and place.denominator == 1
        return (ceil(place) + is_left_out) * step, False

    def _bounds(self, side: str) -> Iterator[tuple[str, Any]]:
        for key in (side, f"exclusive{side.capitalize()}"):
            yield from ((key, bound) for bound in self.all_of(key))

    def size(self, side: str) -> Any:
        """The smallest or largest length (``min``, ``max``); ``None`` without an upper limit."""
        name = next((size for size, kind in SIZES.items() if kind == self.kind), "")
        given = self.all_of(f"{side}{name}")
        if side == "min":
            return max([*given, len(self.required) if self.kind == "object" else 0])
        if self.kind == "object" and self.is_listed:
            given.append(len(self.possible_names))
        if self.kind == "array":
            given += [
                len(schema.get("prefixItems", ()))
                for schema in self.schemas
                if schema.get("items") is False
            ]
            given += self._most_items
        return min(given, default=None)

    @property
    def _most_items(self) -> list[int]:
        """The largest number of items, in a list, if the values of the items limit it; otherwise an
        empty list.

        The limit is 0 if no item is possible; otherwise it is one item for each possible value.
        """
        item = self.item(0)
        if self.all_of("prefixItems") or not any(item) or item == (True,) or refers(list(item)):
            return []  # any item is allowed, or the item's schema refers back to this one
        cases = self.cases_of(item)
        is_short = True in self.all_of("uniqueItems") and all(c.values is not None for c in cases)
        return [sum(len(case.values or ()) for case in cases)] if is_short or not cases else []

    def item(self, place: int) -> Schemas:
        """The schemas for the item at a position."""
        parts = []
        for schema in self.schemas:
            first = schema.get("prefixItems", ())
            if place < len(first):
                parts.append(first[place])
            elif "items" in schema:
                parts.append(schema["items"])
        return distinct(parts)

    @cached_property
    def required(self) -> frozenset[str]:
        """The names that every object has, including names that other properties require."""
        names = {name for one in self.all_of("required") for name in one if isinstance(name, str)}
        dependencies = [pair for one in self.all_of("dependentRequired") for pair in one.items()]
        for _ in dependencies:
            names.update(*(needed for name, needed in dependencies if name in names))
        return frozenset(names)

    @cached_property
    def names(self) -> list[str]:
        """The names of properties that are declared or required."""
        declared = {name for one in self.all_of("properties") for name in one}
        return sorted(declared | self.required)

    @property
    def possible_names(self) -> list[str]:
        """The ``names`` of properties that can have a value."""
        return [name for name in self.names if self.at(name) != (NEVER,)]

    @property
    def is_listed(self) -> bool:
        """Whether the object allows no property names other than ``names``."""
        return not self.all_of("patternProperties") and self.further() == (NEVER,)

    def at(self, name: str) -> Schemas:
        """The schemas of the value under a name; ``(False,)`` if there can be no such value."""
        parts: list[Any] = []
        is_declared = False
        for schema in self.schemas:
            own = [schema["properties"][name]] if name in schema.get("properties", {}) else []
            own += [
                sub
                for pattern, sub in schema.get("patternProperties", {}).items()
                if re.search(pattern, name)
            ]
            is_declared = is_declared or bool(own)
            if not own and "additionalProperties" in schema:
                own = [schema["additionalProperties"]]
                is_declared = is_declared or own != [NEVER]
            parts += own
        is_left_out = self._holds_declared and not is_declared and name not in self.required
        return (NEVER,) if is_left_out or NEVER in parts else distinct(parts)

    @property
    def _holds_declared(self) -> bool:
        return (
            self.is_closed
            and bool(self.all_of("properties"))
            and not self.all_of("additionalProperties")
        )

    def further(self, pattern: str = "") -> Schemas:
        """The schemas that certainly apply to an undeclared name that matches the pattern.

        ``(False,)`` if there can be no such name.
        """
        parts: list[Any] = []
        is_patterned = False
        for schema in self.schemas:
            patterns = schema.get("patternProperties", {})
            if pattern in patterns and pattern:
                is_patterned = True
                parts.append(patterns[pattern])
            elif "additionalProperties" in schema and (not patterns or not pattern):
                parts.append(schema["additionalProperties"])
        if self._holds_declared and not is_patterned:
            return (NEVER,)
        return (NEVER,) if NEVER in parts else distinct(parts)


def allows(schemas: Iterable[Any], kind: str) -> bool:
    """Whether a value of this type can satisfy all these schemas; unknown types are ignored."""
    for names in map(_names, schemas):
        is_known = bool(names) and _NAMES.issuperset(names)
        if is_known and kind not in ("number" if name == "integer" else name for name in names):
            return False
    return True


def limit_of(key: str, bound: Any) -> Limit:
    """The bound that a keyword such as ``exclusiveMinimum`` sets."""
    sign = 1 if key.lower().endswith("minimum") else -1
    return sign * Fraction(str(bound)), key.startswith("exclusive")


def is_valid(schema: JsonObject, value: Any) -> bool:
    """Whether a schema without references accepts a value."""
    from jsonschema_rs import is_valid

    return bool(is_valid(dict(schema), value))


def _names(schema: JsonObject) -> list[Any]:
    declared = schema.get("type", [])
    return declared if isinstance(declared, list) else [declared]


def _without_references(schema: JsonObject) -> JsonObject:
    """The schema without the keywords that contain references; it accepts more values."""
    return {key: sub for key, sub in schema.items() if not refers({key: sub})}
