"""Decides whether one JSON Schema accepts every value of another.

Both schemas are treated as sets of values. References are followed (even in a cycle), descriptive
keywords are ignored, and the remaining values are compared, no matter how they are written. A yes
is proved. A no may only be a doubt, if a schema uses keywords that are not followed here.
"""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count
from typing import Any

from toolscope_core.check.schema_cases import (
    MOST_VALUES,
    NEVER,
    VALUE_TYPES,
    Case,
    allows,
    is_valid,
    limit_of,
)
from toolscope_core.check.schema_options import (
    BESIDE,
    KEYWORD_TYPES,
    NUMBERS,
    Documents,
    Schemas,
    TooLargeError,
    distinct,
    marked,
)
from toolscope_core.judging.arguments.subschema import refers
from toolscope_core.model.tool import JsonObject, canonical_json

MOST_STEPS = 20_000

_OPAQUE = ("$dynamicRef", "contains", "unevaluatedItems", "unevaluatedProperties")
_ANY_TEXT = frozenset(("", "^", "$", ".*", "^.*", ".*$", "^.*$"))

_Promises = frozenset[tuple[str, str]]
"""Comparisons that are assumed to be true for every smaller value, as the texts of both sides."""
_Pairs = Iterator[tuple[Any, Schemas]]
"""Schemas of the wide side, each paired with the schemas of the narrow side for the same value."""


def takes_all(wide: Any, narrow: Any, is_closed: bool = False, others: Any = None) -> bool | None:
    """Whether every value of ``narrow`` is provably a value of ``wide``.

    ``None`` if the two cannot be compared: one is not a schema, or the comparison takes more than
    ``MOST_STEPS`` steps. If ``is_closed`` is true, a value counts only if all its properties are
    declared in ``narrow``. If a reference in ``wide`` has no target there, it is looked up in
    ``others``.
    """
    documents = Documents({"wide": (wide, others), "narrow": (narrow,)})
    comparison = _Comparison(documents, is_closed)
    try:
        return comparison.takes(marked(wide, "wide"), (marked(narrow, "narrow"),), frozenset())
    except (TooLargeError, RecursionError, TypeError, ValueError, AttributeError, re.error):
        return None


class _Comparison:
    def __init__(self, documents: Documents, is_closed: bool) -> None:
        self._documents, self._is_closed = documents, is_closed
        self._steps = count()
        self._empty: dict[str, bool] = {}

    def takes(self, wide: Any, narrow: Schemas, promises: _Promises) -> bool:
        """Whether ``wide`` accepts each value that satisfies all schemas in ``narrow``.

        A comparison may assume its own result only for a part of the value, because values are
        finite.
        """
        if wide is True or wide == {}:
            return True
        self._count_step()
        narrow = distinct(narrow)
        own, text = canonical_json(wide), canonical_json(list(narrow))
        if (own, text) in promises or any(own == canonical_json(one) for one in narrow):
            return True
        deeper = promises | {(own, text)}
        return all(self._takes_case(wide, case, promises, deeper) for case in self._cases(narrow))

    def _count_step(self) -> None:
        if next(self._steps) > MOST_STEPS:
            raise TooLargeError

    def _cases(self, schemas: Schemas) -> list[Case]:
        """The values that satisfy all these schemas, split by type, with choices left only
        inside the parts.
        """
        cases = (
            Case(kind, distinct((*option, {"type": kind})), self._is_closed, self._cases)
            for option in self._documents.options(schemas)
            for kind in VALUE_TYPES
            if allows(option, kind)
        )
        return [case for case in cases if not self._is_empty_case(case)]

    def _is_empty(self, *schemas: Any) -> bool:
        """Whether provably no value satisfies all of these schemas; false if the proof relies on
        itself.
        """
        text = canonical_json(list(distinct(schemas)))
        if text not in self._empty:
            self._count_step()
            self._empty[text] = False
            try:
                self._empty[text] = not self._cases(schemas)
            except TooLargeError:
                return False
        return self._empty[text]

    def _is_empty_case(self, case: Case) -> bool:
        if case.values is not None:
            return not case.values
        others = tuple(
            {key: sub for key, sub in one.items() if key != "not"} for one in case.schemas
        )
        if any(self.takes(refused, others, frozenset()) for refused in case.all_of("not")):
            return True
        if case.kind == "number":
            low, high = case.limit("minimum"), case.limit("maximum")
            if low is None or high is None or low[0] + high[0] < 0:
                return False
            return low[0] + high[0] > 0 or low[1] or high[1]
        most = case.size("max")
        if most is not None and case.size("min") > most:
            return True
        return case.kind == "object" and any(
            self._is_empty(*case.at(name)) for name in sorted(case.required)
        )

    def _takes_case(self, wide: Any, case: Case, promises: _Promises, deeper: _Promises) -> bool:
        if not isinstance(wide, dict):
            return wide is True
        if case.values is not None and not refers(wide):
            return all(is_valid(wide, value) for value in case.values)
        return all(
            self._takes_in_place(key, wide, case, promises)
            and self._takes_parts(key, wide, case, deeper)
            and _meets(key, wide, case)
            for key in wide
            if KEYWORD_TYPES.get(key, case.kind) == case.kind
        )

    def _takes_in_place(self, key: str, wide: JsonObject, case: Case, promises: _Promises) -> bool:
        """Whether the case satisfies a keyword that applies other schemas to the value itself."""
        if key in ("anyOf", "oneOf"):
            return self._takes_one(key, wide[key], case, promises)
        if key == "not":
            return self._is_empty(*case.schemas, wide[key])
        if key == "$ref" and self._documents.target(wide[key]) is None:
            path = wide[key].partition(":")[2]
            return any(own.partition(":")[2] == path for own in case.all_of("$ref"))
        pairs = self._in_place(key, wide, case.schemas)
        return all(self.takes(sub, own, promises) for sub, own in pairs)

    def _in_place(self, key: str, wide: JsonObject, schemas: Schemas) -> _Pairs:
        value = wide[key]
        if key == "$ref":
            yield self._documents.target(value), schemas
        elif key == "allOf":
            yield from ((part, schemas) for part in value)
        elif key == "if":
            yield wide.get("then", True), (*schemas, value)
            yield wide.get("else", True), (*schemas, {"not": value})
        elif key in ("dependentSchemas", "dependentRequired"):
            for name, needed in value.items():
                sub = {"required": needed} if key == "dependentRequired" else needed
                yield sub, (*schemas, {"required": [name]})

    def _takes_one(
        self, key: str, branches: Sequence[Any], case: Case, promises: _Promises
    ) -> bool:
        """Whether one branch accepts the whole case, or each part of the case is accepted by some
        branch.

        Under ``oneOf``, no other branch may accept the same values.
        """
        for at, branch in enumerate(branches):
            others = [*branches[:at], *branches[at + 1 :]] if key == "oneOf" else []
            if self.takes(branch, case.schemas, promises) and all(
                self._is_empty(*case.schemas, other) for other in others
            ):
                return True
        return any(
            all(self.takes({key: branches}, part, promises) for part in parts)
            for parts in self._splits(case)
        )

    def _splits(self, case: Case) -> Iterator[list[Schemas]]:
        """The ways to split the case into parts.

        It is split by required properties with few values, and by properties that an object may
        lack although a schema requires them.
        """
        if case.kind != "object":
            return
        for name in sorted(case.required):
            cases = self._cases(case.at(name))
            values = [value for one in cases for value in one.values or ()]
            if 1 < len(values) <= MOST_VALUES and all(one.values is not None for one in cases):
                yield [
                    (*case.schemas, {"properties": {name: {"const": value}}}) for value in values
                ]
        for refused in case.all_of("not"):
            reasons = _reasons(refused, case)
            if reasons and not any(reason in case.schemas for reason in reasons):
                yield [(*case.schemas, reason) for reason in reasons]
                return

    def _takes_parts(self, key: str, wide: JsonObject, case: Case, deeper: _Promises) -> bool:
        """Whether the case satisfies a keyword about the parts of a value."""
        if key in ("items", "prefixItems"):
            pairs = _items(wide, case)
        elif key == "properties":
            pairs = ((sub, case.at(name)) for name, sub in wide[key].items())
        elif key == "patternProperties":
            pairs = _patterned(wide, case)
        elif key == "additionalProperties":
            pairs = _further(wide, case)
        elif key == "propertyNames":
            own = {"enum": case.possible_names} if case.is_listed else {"type": "string"}
            pairs = iter([(wide[key], (own, *case.all_of(key)))])
        else:
            return True
        return all(self.takes(sub, own, deeper) for sub, own in pairs)


def _reasons(refused: Any, case: Case) -> list[JsonObject]:
    """The possible reasons why a schema refuses an object of the case; empty if they are
    unknown.
    """
    if not isinstance(refused, dict) or not refused.keys() <= {"type", "properties", "required"}:
        return []
    if refused.get("type", "object") != "object":
        return []
    return [
        {"required": [name], "properties": {name: {"not": sub}}}
        for name, sub in refused.get("properties", {}).items()
        if case.at(name) != (NEVER,)
    ] + [
        {"properties": {name: False}}
        for name in refused.get("required", ())
        if name not in case.required
    ]


def _items(wide: JsonObject, case: Case) -> _Pairs:
    first = wide.get("prefixItems", ())
    places = 1 + max(map(len, [first, *case.all_of("prefixItems")]))
    most = case.size("max")
    for place in range(places if most is None else min(places, most)):
        yield first[place] if place < len(first) else wide.get("items", True), case.item(place)


def _patterned(wide: JsonObject, case: Case) -> _Pairs:
    for pattern, sub in wide["patternProperties"].items():
        yield from ((sub, case.at(name)) for name in case.names if re.search(pattern, name))
        if not case.is_listed:
            yield sub, case.further(pattern)


def _further(wide: JsonObject, case: Case) -> _Pairs:
    sub, patterns = wide["additionalProperties"], wide.get("patternProperties", {})
    for name in case.names:
        is_declared = name in wide.get("properties", {})
        if not is_declared and not any(re.search(pattern, name) for pattern in patterns):
            yield sub, case.at(name)
    own = {pattern for one in case.all_of("patternProperties") for pattern in one}
    yield from ((sub, case.further(pattern)) for pattern in sorted(own - patterns.keys()))
    yield sub, case.further()


def _meets(key: str, wide: JsonObject, case: Case) -> bool:
    """Whether each value of the case satisfies a keyword that concerns no parts of the value."""
    value = wide[key]
    if key in _OPAQUE:
        return any(_says_same(key, wide, schema) for schema in case.schemas)
    if key in NUMBERS:
        return _meets_number(key, value, case)
    if key == "type":
        names = [value] if isinstance(value, str) else value
        return case.kind in names or (
            case.kind == "number" and "integer" in names and case.is_integer
        )
    if key in ("enum", "const"):
        texts = {canonical_json(one) for one in (value if key == "enum" else [value])}
        return case.values is not None and texts.issuperset(map(canonical_json, case.values))
    if key == "required":
        return case.required.issuperset(value)
    return _meets_extent(key, value, case)


def _meets_extent(key: str, value: Any, case: Case) -> bool:
    """Whether each text, list or object has the length and form that the keyword requires."""
    if key == "pattern":
        return value in _ANY_TEXT or value in case.all_of("pattern")
    if key not in KEYWORD_TYPES or not key.startswith(("min", "max", "unique")):
        return True
    most = case.size("max")
    if key == "uniqueItems":
        return value is not True or True in case.all_of(key) or (most is not None and most < 2)
    if key.startswith("max"):
        return most is not None and bool(most <= value)
    return bool(case.size("min") >= value)


def _meets_number(key: str, value: Any, case: Case) -> bool:
    if key == "multipleOf":
        steps = case.steps + [Fraction(1)] * case.is_integer
        return any((step / Fraction(str(value))).denominator == 1 for step in steps)
    limit = case.limit("minimum" if key.lower().endswith("minimum") else "maximum")
    return limit is not None and limit >= limit_of(key, value)


def _says_same(key: str, wide: JsonObject, schema: JsonObject) -> bool:
    """Whether an unsupported keyword is the same in both schemas, with the keywords that it
    depends on.
    """
    keys = (key, *BESIDE) if key == "contains" else wide.keys() | schema.keys()
    return all(canonical_json(wide.get(one)) == canonical_json(schema.get(one)) for one in keys)
