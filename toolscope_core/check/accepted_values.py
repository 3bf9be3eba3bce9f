"""Whether one JSON Schema takes every value of another, by what the two accept.

Both are read as sets of values: references are followed (also in a circle), what only describes is
passed over, and what the keywords leave is compared, however it is written. A yes is proved; a no
may be a doubt, where a schema is larger than ``MOST_STEPS`` or says what is not followed here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count
from math import ceil, floor
from typing import Any

from toolscope_core.catalog.schema import walking
from toolscope_core.model.tool import JsonObject, canonical_json

MOST_STEPS = 20_000
MOST_CASES = 64
MOST_VALUES = 64
"""Cases of one schema, and values of a range of integers, that are looked at one by one."""
DEEPEST = 12

_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_SIZES = {"Length": "string", "Items": "array", "Properties": "object"}
_KEYWORD_TYPES = {
    **dict.fromkeys(_NUMBERS, "number"),
    **{f"{side}{size}": kind for size, kind in _SIZES.items() for side in ("min", "max")},
    "pattern": "string",
    **dict.fromkeys(
        "items prefixItems additionalItems uniqueItems contains unevaluatedItems".split(), "array"
    ),
    **dict.fromkeys(
        "properties patternProperties additionalProperties required propertyNames dependencies"
        " dependentRequired dependentSchemas unevaluatedProperties".split(),
        "object",
    ),
}
_OTHERS = "$ref $dynamicRef allOf anyOf oneOf not if then else type enum const".split()
KEYWORDS = frozenset((*_KEYWORD_TYPES, *_OTHERS))
"""Keywords that can rule a value out."""
_BESIDE = ("then", "else", "minContains", "maxContains")
"""What only says more of a keyword beside it."""
_OPAQUE = ("$dynamicRef", "contains", "unevaluatedItems", "unevaluatedProperties")
_TYPES = ("null", "boolean", "number", "string", "array", "object")
_NAMES = frozenset((*_TYPES, "integer"))
_FIXED: Mapping[str, list[Any]] = {"null": [None], "boolean": [False, True]}
_NEVER: Any = False
_ANY_TEXT = frozenset(("", "^", "$", ".*", "^.*", ".*$", "^.*$"))


def takes_all(wide: Any, narrow: Any, is_closed: bool = False, others: Any = None) -> bool:
    """Whether every value of ``narrow`` is a value of ``wide``, as far as can be shown.

    With ``is_closed`` only values count that hold what ``narrow`` declares and nothing else.
    A reference of ``wide`` that leads nowhere is looked up in ``others``.
    """
    roots = {"wide": (wide, others), "narrow": (narrow,)}
    comparison = _Comparison(roots, is_closed)
    try:
        return comparison.takes(_marked(wide, "wide"), (_marked(narrow, "narrow"),), frozenset())
    except (_TooLargeError, RecursionError, TypeError, ValueError, AttributeError, re.error):
        return False  # a schema that is none, or too much of one: a doubt


class _TooLargeError(Exception):
    """A comparison that takes too many steps."""


_Schemas = tuple[Any, ...]
"""Schemas that all hold of one value."""
_Promises = frozenset[tuple[str, str]]
"""Comparisons that hold of every smaller value, by the texts of both sides."""


_NAMED = frozenset(
    "properties patternProperties dependencies dependentRequired dependentSchemas".split()
)
_IN_PLACE = frozenset(("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"))


def _marked(schema: Any, root: str) -> Any:
    """The schema with references that say in which root they stand, and ``nullable`` as a type."""
    if isinstance(schema, list):
        return [_marked(item, root) for item in schema]
    if not isinstance(schema, dict):
        return schema
    marked: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "$ref" and isinstance(value, str):
            marked[key] = f"{root}:{value}"
        elif key in _NAMED and isinstance(value, dict):
            marked[key] = {name: _marked(sub, root) for name, sub in value.items()}
        elif key in KEYWORDS:
            marked[key] = value if key in ("enum", "const") else _marked(value, root)
        elif key in ("minContains", "maxContains"):
            marked[key] = value
    if schema.get("nullable") is True and isinstance(schema.get("type"), str):
        marked["type"] = [schema["type"], "null"]
    if "additionalProperties" not in marked and not _IN_PLACE & marked.keys():
        further = marked.pop("unevaluatedProperties", None)
        marked |= {} if further is None else {"additionalProperties": further}
    return marked


class _Comparison:
    def __init__(self, roots: Mapping[str, Sequence[Any]], is_closed: bool) -> None:
        self._roots, self.is_closed = roots, is_closed
        self._steps = count()
        self._targets: dict[str, Any] = {}

    def takes(self, wide: Any, narrow: _Schemas, promises: _Promises) -> bool:
        """Whether ``wide`` takes each value of which all of ``narrow`` hold.

        A comparison may rest on itself only for a part of the value: values are finite.
        """
        if wide is True or wide == {}:
            return True
        if next(self._steps) > MOST_STEPS:
            raise _TooLargeError
        own, text = canonical_json(wide), canonical_json(list(narrow))
        if (own, text) in promises or any(own == canonical_json(one) for one in narrow):
            return True
        deeper = promises | {(own, text)}
        cases = self.cases(narrow)
        return all(self._takes_case(wide, case, promises, deeper) for case in cases)

    def cases(self, schemas: _Schemas) -> list["_Case"]:
        """What a value of all these can be: one type each, and no choice left but in its parts."""
        rows: list[tuple[Any, ...]] = [()]
        for schema in schemas:
            rows = [(*row, *flat) for row in rows for flat in self._flat(schema, frozenset())]
            if len(rows) > MOST_CASES:
                raise _TooLargeError
        cases = (
            _Case(self, kind, _of_type(row, kind))
            for row in rows
            for kind in _TYPES
            if _allows(row, kind)
        )
        return [case for case in cases if not case.is_empty(frozenset())]

    def _flat(self, schema: Any, pointers: frozenset[str]) -> list[tuple[Any, ...]]:
        """Each way to hold of a value, as schemas without references, ``allOf`` and choices."""
        if schema is False:
            return []
        if not isinstance(schema, dict):
            return [()]
        keys = schema.keys() - {"allOf", "anyOf", "oneOf", "if", "then", "else"}
        if "$ref" in keys and self.target(schema["$ref"]) is not None:
            keys.discard("$ref")
        own = {key: sub for key, sub in schema.items() if key in keys}
        rows = [(own,) if own else ()]
        parts: list[list[tuple[Any, ...]]] = [
            self._flat(part, pointers) for part in schema.get("allOf") or ()
        ]
        pointer = schema.get("$ref")
        if pointer is not None:
            target = self.target(pointer)
            if pointer in pointers:
                return []  # a schema that is only itself holds of nothing that can be built
            parts.append([()] if target is None else self._flat(target, pointers | {pointer}))
        parts += [
            [row for option in options for row in self._flat(option, pointers)]
            for options in _choices(schema)
        ]
        for part in parts:
            rows = [(*row, *other) for row in rows for other in part]
            if len(rows) > MOST_CASES:
                raise _TooLargeError
        return rows

    def target(self, pointer: str) -> Any:
        """What a marked reference leads to, ``None`` where it leads nowhere here."""
        if pointer not in self._targets:
            root, _, path = pointer.partition(":")
            found = None
            for document in self._roots.get(root, ()):
                if found is None and isinstance(document, dict):
                    found = document if path == "#" else walking.resolve(document, path)
            self._targets[pointer] = None if found is None else _marked(found, root)
        return self._targets[pointer]

    def is_empty(self, schemas: _Schemas, trail: frozenset[str]) -> bool:
        """Whether no value is of all these, as far as can be shown."""
        text = canonical_json(list(schemas))
        if text in trail or len(trail) > DEEPEST:
            return False
        rows: list[tuple[Any, ...]] = [()]
        for schema in schemas:
            rows = [(*row, *flat) for row in rows for flat in self._flat(schema, frozenset())]
            if len(rows) > MOST_CASES:
                return False
        return all(
            _Case(self, kind, _of_type(row, kind)).is_empty(trail | {text})
            for row in rows
            for kind in _TYPES
            if _allows(row, kind)
        )

    def _takes_case(self, wide: Any, case: "_Case", promises: _Promises, deeper: _Promises) -> bool:
        if wide is False or not isinstance(wide, dict):
            return wide is True
        if case.values is not None and "$ref" not in canonical_json(wide):
            return all(_is_valid(dict(wide), value) for value in case.values)
        return all(self._keyword(key, wide, case, promises, deeper) for key in wide)

    def _keyword(
        self, key: str, wide: JsonObject, case: "_Case", promises: _Promises, deeper: _Promises
    ) -> bool:
        value = wide[key]
        if _KEYWORD_TYPES.get(key, case.kind) != case.kind or key in _BESIDE:
            return True
        if key in _OPAQUE:
            return any(_says_same(key, wide, schema) for schema in case.schemas)
        if key == "allOf":
            return all(self.takes(part, case.schemas, promises) for part in value)
        if key in ("anyOf", "oneOf"):
            return self._takes_one(value, case, promises, is_exact=key == "oneOf")
        if key in _IN_PLACE:
            return self._takes_in_place(key, wide, case, promises)
        return case.meets(key, wide, deeper)

    def _takes_in_place(
        self, key: str, wide: JsonObject, case: "_Case", promises: _Promises
    ) -> bool:
        if key == "not":
            return self.is_empty((*case.schemas, wide["not"]), frozenset())
        if key == "if":
            return self._takes_branches(wide, case, promises)
        target = self.target(wide["$ref"])
        if target is None:
            return any(_same_pointer(wide["$ref"], one.get("$ref")) for one in case.schemas)
        return self.takes(target, case.schemas, promises)

    def _takes_one(
        self, options: Sequence[Any], case: "_Case", promises: _Promises, is_exact: bool = False
    ) -> bool:
        """Whether one of the options takes the case, or each part of it is taken by one; of exact
        ones no other may.
        """
        for at, option in enumerate(options):
            others = [one for place, one in enumerate(options) if place != at]
            if self.takes(option, case.schemas, promises) and not (
                is_exact and not all(self.is_empty((*case.schemas, o), frozenset()) for o in others)
            ):
                return True
        key = "oneOf" if is_exact else "anyOf"
        return any(
            all(self.takes({key: list(options)}, part, promises) for part in parts)
            for parts in case.parts()
        )

    def _takes_branches(self, wide: JsonObject, case: "_Case", promises: _Promises) -> bool:
        """Whether ``then`` takes what ``if`` takes, and ``else`` the rest."""
        condition = wide["if"]
        applies = (*case.schemas, condition)
        if not self.takes(wide.get("then", True), applies, promises):
            return False
        rest = (*case.schemas, {"not": condition})
        return self.takes(condition, case.schemas, promises) or self.takes(
            wide.get("else", True), rest, promises
        )


def _is_valid(schema: dict[str, Any], value: Any) -> bool:
    from jsonschema_rs import is_valid

    return bool(is_valid(schema, value))


def _says_same(key: str, one: JsonObject, other: JsonObject) -> bool:
    """Whether a keyword that is not followed here says the same, as do those that it looks at."""
    is_alone = key == "contains"
    return _same(one, other, (key, *_BESIDE) if is_alone else one.keys() | other.keys())


def _same(one: JsonObject, other: JsonObject, keys: Iterable[str]) -> bool:
    return all(canonical_json(one.get(key)) == canonical_json(other.get(key)) for key in keys)


def _same_pointer(one: Any, other: Any) -> bool:
    ends = [text.partition(":")[2] for text in (one, other) if isinstance(text, str)]
    return len(ends) == 2 and ends[0] == ends[1]


def _choices(schema: JsonObject) -> Iterator[list[Any]]:
    """The options of each choice in a schema, of which one holds; those that shut one another out
    say so.
    """
    if "anyOf" in schema:
        yield schema["anyOf"]
    if "oneOf" in schema:
        options = schema["oneOf"]
        yield [
            {"allOf": [one, *({"not": other} for at, other in enumerate(options) if at != place)]}
            for place, one in enumerate(options)
        ]
    if "if" in schema:
        yield [
            {"allOf": [schema["if"], schema.get("then", True)]},
            {"allOf": [{"not": schema["if"]}, schema.get("else", True)]},
        ]


def _of_type(schemas: _Schemas, kind: str) -> _Schemas:
    """The schemas of a value that is of the type too."""
    return schemas if {"type": kind} in schemas else (*schemas, {"type": kind})


def _allows(schemas: Iterable[Any], kind: str) -> bool:
    """Whether a value of this type can be of all these."""
    for schema in schemas:
        declared = schema.get("type")
        names = [declared] if isinstance(declared, str) else declared
        if not isinstance(names, list) or not _NAMES.issuperset(names):
            continue
        if kind not in ("number" if name == "integer" else name for name in names):
            return False
    return True


@dataclass(frozen=True)
class _Case:
    """The values of one type of which all ``schemas`` hold, as one reads them off: without
    references, ``allOf`` and choices, which are among the schemas.
    """

    comparison: _Comparison
    kind: str
    schemas: _Schemas

    @cached_property
    def values(self) -> list[Any] | None:
        """All values, where these can be listed."""
        lists = [_fixed_values(one) for one in self.schemas if "enum" in one or "const" in one]
        low, high = self.low, self.high
        if lists:
            values = lists[0]
        elif self.kind in _FIXED:
            values = _FIXED[self.kind]
        elif self.kind == "number" and self.is_integer and self._is_short:
            assert low is not None and high is not None
            values = list(range(ceil(low), floor(high) + 1))
        elif self.kind in _SIZES.values() and self.size("max") == 0:
            values = [{"string": "", "array": [], "object": {}}[self.kind]]
        else:
            return None
        return [value for value in values if self._may_be(value)]

    @property
    def _is_short(self) -> bool:
        return self.low is not None and self.high is not None and self.high - self.low < MOST_VALUES

    def _may_be(self, value: Any) -> bool:
        if not _is_valid({"type": self.kind}, value):
            return False
        return all(_is_valid(plain, value) for plain in map(_without_references, self.schemas))

    @cached_property
    def is_integer(self) -> bool:
        def only(declared: Any) -> bool:
            names = declared if isinstance(declared, list) else [declared]
            return "integer" in names and "number" not in names

        return any(only(one.get("type")) for one in self.schemas) or any(
            Fraction(str(m)).denominator == 1 for m in self._all("multipleOf")
        )

    def _all(self, key: str) -> list[Any]:
        return [one[key] for one in self.schemas if key in one]

    @cached_property
    def low(self) -> Any:
        """The least number, or the one that all are above (see ``is_open``)."""
        return max((bound for bound, _ in self._bounds("Minimum", 1)), default=None)

    @cached_property
    def high(self) -> Any:
        return min((bound for bound, _ in self._bounds("Maximum", -1)), default=None)

    def _bounds(self, side: str, step: int) -> Iterator[tuple[Fraction, bool]]:
        """Bounds of numbers and whether they are left out themselves; of multiples none is."""
        grid = [Fraction(str(one)) for one in self._all("multipleOf")]
        raster = max([*grid, *([Fraction(1)] if self.is_integer else [])], default=None)
        for bound, is_open in _bounds_of(self.schemas, side):
            if raster is None:
                yield bound, is_open
                continue
            place = bound / raster
            nearest = ceil(place) if step > 0 else floor(place)
            yield (nearest + step * (is_open and nearest == place)) * raster, False

    def size(self, side: str) -> Any:
        """The least or the largest length, ``None`` without an upper limit."""
        name = next(size for size, kind in _SIZES.items() if kind == self.kind)
        given = self._all(f"{side}{name}")
        if side == "max":
            if self.kind == "object":
                own = [name for name in self.names if self.at(name) != (_NEVER,)]
                given += [len(own)] if self.is_listed else []
            if self.kind == "array":
                given += [
                    len(one.get("prefixItems", ()))
                    for one in map(_with_prefix, self.schemas)
                    if one.get("items") is False
                ]
                given += self._most_items
            return min(given, default=None)
        return max([*given, len(self.required) if self.kind == "object" else 0])

    @property
    def _most_items(self) -> list[int]:
        """How many items there can be by what these are: none, or one of each value."""
        item = self.item(None)
        is_mixed = any("prefixItems" in _with_prefix(one) for one in self.schemas)
        if is_mixed or not any(item) or item == (True,) or "$ref" in canonical_json(list(item)):
            return []  # any item, or one that leads back here
        cases = self.comparison.cases(item)
        is_short = True in self._all("uniqueItems") and all(c.values is not None for c in cases)
        return [sum(len(case.values or ()) for case in cases)] if is_short or not cases else []

    @cached_property
    def required(self) -> frozenset[str]:
        names = {name for one in self._all("required") for name in one if isinstance(name, str)}
        while True:
            more = {
                other
                for name, others in self._dependent_names()
                if name in names
                for other in others
            }
            if more <= names:
                return frozenset(names)
            names |= more

    def _dependent_names(self) -> Iterator[tuple[str, list[str]]]:
        for schema in self.schemas:
            for key in ("dependentRequired", "dependencies"):
                for name, others in (schema.get(key) or {}).items():
                    if isinstance(others, list):
                        yield name, others

    @cached_property
    def names(self) -> list[str]:
        """Names of properties that are declared, or needed."""
        declared = {name for one in self._all("properties") for name in one}
        return sorted(declared | self.required)

    @property
    def is_listed(self) -> bool:
        """Whether no name but ``names`` can stand in the object."""
        return not self._all("patternProperties") and self.further() == (_NEVER,)

    def at(self, name: str) -> _Schemas:
        """What holds of the value under a name."""
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
                is_declared = is_declared or own != [_NEVER]
            parts += own
        is_left_out = self._is_closed and not is_declared and name not in self.required
        return (_NEVER,) if is_left_out or _NEVER in parts else tuple(parts)

    @property
    def _is_closed(self) -> bool:
        return (
            self.comparison.is_closed
            and bool(self._all("properties"))
            and not self._all("additionalProperties")
        )

    def further(self, pattern: str = "") -> _Schemas:
        """What holds of the value under a name that is not declared, at least; ``(False,)`` where
        there is none.
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
        if self._is_closed and not is_patterned:
            return (_NEVER,)
        return (_NEVER,) if _NEVER in parts else tuple(parts)

    def item(self, place: int | None) -> _Schemas:
        """What holds of the item at a place; ``None`` is for those after all with their own."""
        parts = []
        for schema in map(_with_prefix, self.schemas):
            first = schema.get("prefixItems", ())
            if place is not None and place < len(first):
                parts.append(first[place])
            elif "items" in schema:
                parts.append(schema["items"])
        return tuple(parts)

    def is_empty(self, trail: frozenset[str]) -> bool:
        """Whether there is no value, as far as can be shown."""
        if self.values is not None:
            return not self.values
        if any(
            self.comparison.takes(one["not"], self._without_not, frozenset())
            for one in self.schemas
            if "not" in one
        ):
            return True
        if self.kind == "number":
            low, high = self.low, self.high
            if low is None or high is None or low < high:
                return False
            return bool(low > high or self._leaves_out("Minimum") or self._leaves_out("Maximum"))
        most = self.size("max")
        if most is not None and self.size("min") > most:
            return True
        return self.kind == "object" and any(
            self.comparison.is_empty(self.at(name), trail) for name in sorted(self.required)
        )

    @property
    def _without_not(self) -> _Schemas:
        return tuple({key: sub for key, sub in one.items() if key != "not"} for one in self.schemas)

    def _leaves_out(self, side: str) -> bool:
        """Whether the tightest bound is left out itself."""
        bounds = [*self._bounds(side, 1 if side == "Minimum" else -1)]
        tightest = self.low if side == "Minimum" else self.high
        return any(is_open for bound, is_open in bounds if bound == tightest)

    def parts(self) -> Iterator[list[_Schemas]]:
        """The case in parts, by each needed property that has only some values."""
        if self.kind != "object":
            return
        for name in sorted(self.required):
            cases = self.comparison.cases(self.at(name))
            values = [value for case in cases for value in case.values or ()]
            if 1 < len(values) <= MOST_VALUES and all(case.values is not None for case in cases):
                yield [
                    (*self.schemas, {"properties": {name: {"const": value}}}) for value in values
                ]

    def meets(self, key: str, wide: JsonObject, deeper: _Promises) -> bool:
        """Whether each value meets a keyword that speaks of its type, or of values themselves."""
        if key in _NUMBERS:
            return self._meets_number(key, wide[key])
        if key[:3] in ("min", "max"):
            own, limit = self.size(key[:3]), wide[key]
            return own is not None and bool(own >= limit if key[:3] == "min" else own <= limit)
        if key in ("items", "prefixItems", "additionalItems"):
            return self._meets_items(wide, deeper)
        if self.kind == "object" and key in _KEYWORD_TYPES and key != "required":
            return self._meets_named(key, wide, deeper)
        return self._meets_plain(key, wide[key])

    def _meets_plain(self, key: str, value: Any) -> bool:
        """Whether each value meets a keyword that looks at no part of it."""
        if key == "type":
            names = [value] if isinstance(value, str) else value
            is_whole = self.kind == "number" and "integer" in names and self.is_integer
            return is_whole or self.kind in names
        if key in ("enum", "const"):
            texts = {canonical_json(one) for one in (value if key == "enum" else [value])}
            return self.values is not None and texts.issuperset(map(canonical_json, self.values))
        if key == "required":
            return self.required.issuperset(value)
        if key == "uniqueItems":
            most = self.size("max")
            return value is not True or True in self._all(key) or (most is not None and most < 2)
        return key != "pattern" or value in _ANY_TEXT or value in self._all("pattern")

    def _meets_named(self, key: str, wide: JsonObject, deeper: _Promises) -> bool:
        """Whether each value meets a keyword that looks at what stands under names."""
        value, takes = wide[key], self.comparison.takes
        if key == "properties":
            return all(takes(sub, self.at(name), deeper) for name, sub in value.items())
        if key == "patternProperties":
            return all(self._meets_pattern(pattern, sub, deeper) for pattern, sub in value.items())
        if key == "additionalProperties":
            return self._meets_further(wide, deeper)
        if key == "propertyNames":
            named = [name for name in self.names if self.at(name) != (_NEVER,)]
            own = {"enum": named} if self.is_listed else {"type": "string"}
            return takes(value, (own, *self._all(key)), deeper)
        return all(self._meets_dependency(name, sub) for name, sub in value.items())

    def _meets_number(self, key: str, value: Any) -> bool:
        if key == "multipleOf":
            step = Fraction(str(value))
            own = [Fraction(str(one)) for one in self._all(key)] + [Fraction(1)] * self.is_integer
            return any((one / step).denominator == 1 for one in own)
        side = "Minimum" if "inimum" in key else "Maximum"
        for bound, is_open in _bounds_of(({key: value},), side):
            own = self.low if side == "Minimum" else self.high
            if own is None or (own < bound if side == "Minimum" else own > bound):
                return False
            if own == bound and is_open and not self._leaves_out(side):
                return False
        return True

    def _meets_items(self, wide: JsonObject, deeper: _Promises) -> bool:
        rest = _with_prefix(wide)
        first, most = rest.get("prefixItems", ()), self.size("max")
        longest = max(
            [len(first), *(len(_with_prefix(o).get("prefixItems", ())) for o in self.schemas)]
        )
        for place in range(longest + 1):
            if most is not None and place >= most:
                return True
            sub = first[place] if place < len(first) else rest.get("items", True)
            own = self.item(place if place < longest else None)
            if not self.comparison.takes(sub, own, deeper):
                return False
        return True

    def _meets_pattern(self, pattern: str, sub: Any, deeper: _Promises) -> bool:
        named = [name for name in self.names if re.search(pattern, name)]
        return all(self.comparison.takes(sub, self.at(name), deeper) for name in named) and (
            self.is_listed or self.comparison.takes(sub, self.further(pattern), deeper)
        )

    def _meets_further(self, wide: JsonObject, deeper: _Promises) -> bool:
        sub, patterns = wide["additionalProperties"], wide.get("patternProperties") or {}
        takes = self.comparison.takes
        others = [
            name
            for name in self.names
            if name not in (wide.get("properties") or {})
            and not any(re.search(pattern, name) for pattern in patterns)
        ]
        own = {pattern for one in self._all("patternProperties") for pattern in one}
        return (
            all(takes(sub, self.at(name), deeper) for name in others)
            and all(takes(sub, self.further(pattern), deeper) for pattern in own - patterns.keys())
            and takes(sub, self.further(), deeper)
        )

    def _meets_dependency(self, name: str, sub: Any) -> bool:
        """A dependency looks at the value itself: nothing is promised for it."""
        schema = {"required": sub} if isinstance(sub, list) else sub
        return self.comparison.takes(schema, (*self.schemas, {"required": [name]}), frozenset())


def _fixed_values(schema: JsonObject) -> list[Any]:
    values = schema.get("enum", [])
    return [schema["const"]] if "const" in schema else values


def _bounds_of(schemas: Iterable[Any], side: str) -> Iterator[tuple[Fraction, bool]]:
    """The bounds of both kinds; before draft 6 a truth value beside a bound left it out."""
    for schema in schemas:
        plain, exclusive = schema.get(side.lower()), schema.get(f"exclusive{side}")
        if plain is not None:
            yield Fraction(str(plain)), exclusive is True
        if exclusive is not None and not isinstance(exclusive, bool):
            yield Fraction(str(exclusive)), True


def _with_prefix(schema: JsonObject) -> JsonObject:
    """The schema with a list of items as ``prefixItems``, as it is written since 2020."""
    if not isinstance(schema.get("items"), list):
        return schema
    return {**schema, "prefixItems": schema["items"], "items": schema.get("additionalItems", True)}


def _without_references(schema: JsonObject) -> dict[str, Any]:
    """The schema, less what leads elsewhere: a wider one."""
    return {key: sub for key, sub in schema.items() if "$ref" not in canonical_json({key: sub})}
