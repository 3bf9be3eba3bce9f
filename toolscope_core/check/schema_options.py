"""The alternatives by which a value can satisfy several schemas at once.

An option contains no references, ``allOf`` or choices, except inside the parts of a value. Older
keywords are read as their current equivalents, and descriptive keywords are ignored.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolscope_core.catalog.schema import walking
from toolscope_core.catalog.schema.references import IN_PLACE
from toolscope_core.model.tool import JsonObject, canonical_json

MOST_OPTIONS = 64
NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
SIZES = {"Length": "string", "Items": "array", "Properties": "object"}
KEYWORD_TYPES = {
    **dict.fromkeys(NUMBERS, "number"),
    **{f"{side}{size}": kind for size, kind in SIZES.items() for side in ("min", "max")},
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
"""The type of values that each keyword restricts."""
KEYWORDS = frozenset((*KEYWORD_TYPES, *IN_PLACE, "$ref", "$dynamicRef", "type", "enum", "const"))
"""Keywords that can exclude a value."""
BESIDE = ("then", "else", "minContains", "maxContains")
"""Keywords that only modify a neighbouring keyword."""
_DECLARES_BESIDE = frozenset((*IN_PLACE, "$ref", "$dynamicRef", "dependentSchemas"))

Schemas = tuple[Any, ...]
"""Schemas that all apply to the same value."""


class TooLargeError(Exception):
    """Raised if a comparison takes too many steps."""


def marked(schema: Any, document: str) -> Any:
    """The schema with current keywords, and with references that name their document."""
    if not isinstance(schema, dict):
        return schema
    own = {k: sub for k, sub in _current(schema).items() if k in KEYWORDS or k in BESIDE}
    if isinstance(own.get("$ref"), str):
        own["$ref"] = f"{document}:{own['$ref']}"
    return walking.map_subschemas(own, lambda sub, _: marked(sub, document))


def _current(schema: JsonObject) -> JsonObject:
    """The schema with keywords of older drafts and of OpenAPI 3.0 converted to draft 2020-12."""
    current = dict(schema)
    if schema.get("nullable") is True and isinstance(schema.get("type"), str):
        current["type"] = [schema["type"], "null"]
    further_items = current.pop("additionalItems", True)
    if isinstance(schema.get("items"), list):
        current |= {"prefixItems": schema["items"], "items": further_items}
    for name, needed in current.pop("dependencies", {}).items():
        key = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
        current[key] = {**current.get(key, {}), name: needed}
    for plain, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(exclusive), bool):
            is_open = current.pop(exclusive)
            if is_open and plain in current:
                current[exclusive] = current.pop(plain)
    if "additionalProperties" not in current and not _DECLARES_BESIDE & current.keys():
        further = current.pop("unevaluatedProperties", None)
        current |= {} if further is None else {"additionalProperties": further}
    return current


class Documents:
    """The documents in which references are looked up, by name.

    The documents under one name are in the order in which they are searched.
    """

    def __init__(self, documents: Mapping[str, Sequence[Any]]) -> None:
        self._documents = documents
        self._targets: dict[str, Any] = {}

    def target(self, pointer: str) -> Any:
        """The target of a marked reference; ``None`` if the documents do not contain it."""
        if pointer not in self._targets:
            name, _, path = pointer.partition(":")
            targets = (
                document if path == "#" else walking.resolve(document, path)
                for document in self._documents[name]
                if isinstance(document, dict)
            )
            target = next((one for one in targets if one is not None), None)
            self._targets[pointer] = marked(target, name)
        return self._targets[pointer]

    def options(self, schemas: Schemas, pointers: frozenset[str] = frozenset()) -> list[Schemas]:
        """The ways in which all these schemas can apply to a value.

        ``pointers`` are the references that are being followed. Raises ``TooLargeError`` for more
        than ``MOST_OPTIONS``.
        """
        return _combined(self._of_one(schema, pointers) for schema in schemas)

    def _of_one(self, schema: Any, pointers: frozenset[str]) -> list[Schemas]:
        if schema is False:
            return []
        if not isinstance(schema, dict):
            return [()]
        pointer = schema.get("$ref")
        target = None if pointer is None else self.target(pointer)
        read = {"allOf", "anyOf", "oneOf", "if", "then", "else"}
        if target is not None:
            read.add("$ref")
        own = {key: sub for key, sub in schema.items() if key not in read}
        parts = [[(own,) if own else ()], self.options(tuple(schema.get("allOf", ())), pointers)]
        if pointer is not None and target is not None:
            # no value can be built from a schema that consists only of itself
            is_circle = pointer in pointers
            parts.append([] if is_circle else self._of_one(target, pointers | {pointer}))
        parts += [
            [option for choice in choices for option in self._of_one(choice, pointers)]
            for choices in _choices(schema)
        ]
        return _combined(parts)


def distinct(schemas: Iterable[Any]) -> Schemas:
    """The schemas without duplicates."""
    return tuple({canonical_json(schema): schema for schema in schemas}.values())


def _combined(parts: Iterable[list[Schemas]]) -> list[Schemas]:
    """All ways to take one option from each part."""
    rows: list[Schemas] = [()]
    for part in parts:
        rows = [distinct((*row, *option)) for row in rows for option in part]
        if len(rows) > MOST_OPTIONS:
            raise TooLargeError
    return rows


def _choices(schema: JsonObject) -> Iterator[list[Any]]:
    """The branches of each choice in a schema; exclusive branches are marked as exclusive."""
    if "anyOf" in schema:
        yield schema["anyOf"]
    if "oneOf" in schema:
        branches = schema["oneOf"]
        yield [
            {"allOf": [one, *({"not": other} for at, other in enumerate(branches) if at != place)]}
            for place, one in enumerate(branches)
        ]
    if "if" in schema:
        yield [
            {"allOf": [schema["if"], schema.get("then", True)]},
            {"allOf": [{"not": schema["if"]}, schema.get("else", True)]},
        ]
