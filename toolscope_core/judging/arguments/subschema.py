"""Decides whether every value of one JSON Schema is a value of another, from their keywords.

``admits`` is sound but not complete: it says yes only if the keywords that it knows prove it. A
doubt may cost a merge, but never an argument.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from operator import ge, le
from typing import Any

from toolscope_core.catalog.schema.walking import resolve
from toolscope_core.model.tool import JsonObject, Tool, canonical_json

MAX_NODES = 20_000
MAX_LEVELS = 100
"""The depth to which references are followed; larger expansions stay references."""

_ANNOTATION_KEYS = frozenset(
    "description title default examples example $comment deprecated readOnly writeOnly $schema $id"
    " format".split()
)


def admits(wide: Any, narrow: Any) -> bool:
    """Whether every value valid under ``narrow`` is provably valid under ``wide``.

    Sound, not complete: ``False`` may only mean that the keywords known here do not prove it. Both
    are JSON Schemas without remote references.
    """
    if not isinstance(wide, dict) or not isinstance(narrow, dict):
        return wide is True or wide is narrow
    wide, narrow = core(wide), core(narrow)
    if not wide or (wide == narrow and canonical_json(wide) == canonical_json(narrow)):
        return not refers(wide)
    if _BEYOND & (wide.keys() | narrow.keys()) or not (_well_formed(wide) and _well_formed(narrow)):
        return False
    options = narrow.get("anyOf") or narrow.get("oneOf")
    if isinstance(options, list) and options:
        return all(_admits_option(wide, narrow, option) for option in options)
    options = wide.get("anyOf") or wide.get("oneOf")
    if isinstance(options, list) and (set(wide) == {"anyOf"} or _are_of_types(wide, options)):
        return any(admits(option, narrow) for option in options)
    types = type_set(narrow)
    return _types_admit(wide, narrow) and all(
        _KEYWORDS.get(key, _same_keyword(key))(wide, narrow)
        for key in wide
        if key != "type" and not (types and types.isdisjoint(_ON_TYPES.get(key, types)))
    )


def _are_of_types(wide: JsonObject, options: list[Any]) -> bool:
    """Whether a schema consists of exactly these options, and no value fits two of them."""
    types = [type_set(option) if isinstance(option, dict) else frozenset() for option in options]
    if set(wide) != {"oneOf"} or not all(types):
        return False
    whole = [one | {"integer"} if "number" in one else one for one in types]
    return sum(map(len, whole)) == len(frozenset().union(*whole))


def leaves_out(wide: Any, narrow: Any) -> bool:
    """Whether ``narrow`` declares a field, at any depth, for which ``wide`` has no place.

    Values with it may still be valid under ``wide``, which then says nothing about it. An object
    that lists no fields, or declares additional ones, has a place for every field.
    """
    if not isinstance(wide, dict) or not isinstance(narrow, dict):
        return False
    for key in ("anyOf", "oneOf"):
        options = narrow.get(key)
        if isinstance(options, list) and any(leaves_out(wide, option) for option in options):
            return True
        if isinstance(wide.get(key), list) and "properties" not in wide:
            return all(leaves_out(option, narrow) for option in wide[key])
    ours, theirs = wide.get("properties"), narrow.get("properties")
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if "additionalProperties" not in wide and theirs.keys() - ours.keys():
            return True
        if any(leaves_out(ours[name], theirs[name]) for name in ours.keys() & theirs.keys()):
            return True
    deeper = ("items", "additionalProperties")
    return any(leaves_out(wide.get(key), narrow.get(key)) for key in deeper)


def inline_references(schema: JsonObject) -> JsonObject:
    """The schema with its local references (``#/…``) replaced by their targets.

    It is unchanged if a reference is remote, missing, part of a cycle or would grow past
    ``MAX_NODES``; ``admits`` then says no.
    """
    if not refers(schema):
        return schema
    replaced = _inlined(schema, schema, (), iter(range(MAX_NODES)))
    plain = {key: value for key, value in replaced.items() if key not in _DEFINITIONS}
    return schema if refers(plain) else plain


def inlined(tool: Tool) -> Tool:
    """The tool with its schema's local references replaced; the same tool if it has none."""
    declared = inline_references(tool.schema or {})
    return tool if declared is tool.schema else replace(tool, schema=declared)


def refers(node: Any) -> bool:
    """Whether ``$ref`` occurs anywhere in a JSON value, as a key or as a text."""
    if isinstance(node, dict):
        return "$ref" in node or any(refers(value) for value in node.values())
    if isinstance(node, list):
        return any(refers(value) for value in node)
    return isinstance(node, str) and node == "$ref"


def core(schema: JsonObject) -> dict[str, Any]:
    """The schema without descriptive keywords. A format is only advice unless it is asserted."""
    return {key: value for key, value in schema.items() if key not in _ANNOTATION_KEYS}


def _well_formed(schema: JsonObject) -> bool:
    """Whether the known keywords have values of the right kind."""
    return all(
        isinstance(schema[key], kind) and not isinstance(schema[key], bool)
        for key, kind in _KINDS.items()
        if key in schema
    )


def _admits_option(wide: JsonObject, narrow: JsonObject, option: Any) -> bool:
    """Whether ``wide`` admits values valid under ``option`` and the rest of ``narrow``."""
    if admits(wide, option) or not isinstance(option, dict):
        return admits(wide, option)
    rest = {key: value for key, value in narrow.items() if key not in ("anyOf", "oneOf")}
    return not rest.keys() & option.keys() and admits(wide, {**rest, **option})


def type_set(schema: JsonObject) -> frozenset[str]:
    declared = schema.get("type")
    if isinstance(declared, str):
        return frozenset({declared})
    return frozenset(map(str, declared)) if isinstance(declared, list) else frozenset()


def _types_admit(wide: JsonObject, narrow: JsonObject) -> bool:
    allowed, types = type_set(wide), type_set(narrow)
    if not allowed:
        return True
    if "number" in allowed:
        allowed |= {"integer"}
    if types:
        return types <= allowed
    values = narrow.get("enum")
    return isinstance(values, list) and all(_type_of(value) in allowed for value in values)


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    kinds: tuple[tuple[type | tuple[type, ...], str], ...] = (
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (Mapping, "object"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


_KINDS: dict[str, type | tuple[type, ...]] = {
    "enum": list,
    "required": list,
    "properties": Mapping,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (int, float)),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), (int, float)),
}
_NUMBERS = frozenset({"number", "integer"})
_ON_TYPES: dict[str, frozenset[str]] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), frozenset({"string"})),
    **dict.fromkeys(("items", "minItems", "maxItems", "uniqueItems"), frozenset({"array"})),
    **dict.fromkeys(("properties", "required", "additionalProperties"), frozenset({"object"})),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBERS),
    "multipleOf": _NUMBERS,
}
"""The types restricted by each keyword."""
_DEFINITIONS = ("$defs", "definitions")
_BEYOND = frozenset(
    """$ref prefixItems patternProperties contains minContains maxContains unevaluatedProperties
    unevaluatedItems dependentSchemas dependentRequired propertyNames if then else not
    allOf""".split()
)
"""Keywords that lead elsewhere or depend on their neighbours; such schemas must be equal."""

Keyword = Callable[[JsonObject, JsonObject], bool]


def _same_keyword(key: str) -> Keyword:
    return lambda wide, narrow: (
        key in narrow and canonical_json(wide[key]) == canonical_json(narrow[key])
    )


def _enum_admits(wide: JsonObject, narrow: JsonObject) -> bool:
    allowed = {canonical_json(value) for value in wide["enum"]}
    return "enum" in narrow and all(canonical_json(v) in allowed for v in narrow["enum"])


def _bound(key: str, holds: Callable[[Any, Any], bool]) -> Keyword:
    return lambda wide, narrow: key in narrow and holds(narrow[key], wide[key])


def _items_admit(wide: JsonObject, narrow: JsonObject) -> bool:
    ours, theirs = wide["items"], narrow.get("items", {})
    return isinstance(ours, dict) and isinstance(theirs, dict) and admits(ours, theirs)


def _properties_admit(wide: JsonObject, narrow: JsonObject) -> bool:
    ours, theirs = wide["properties"], narrow.get("properties") or {}
    further = narrow.get("additionalProperties", True)
    return all(
        admits(ours[name], theirs.get(name, further)) or (name not in theirs and further is False)
        for name in ours
    )


def _required_admit(wide: JsonObject, narrow: JsonObject) -> bool:
    supplied = narrow.get("required", [])
    return all(name in supplied for name in wide["required"])


def _additional_admit(wide: JsonObject, narrow: JsonObject) -> bool:
    allowed, further = wide["additionalProperties"], narrow.get("additionalProperties", True)
    theirs = narrow.get("properties") or {}
    extra = [theirs[name] for name in theirs if name not in (wide.get("properties") or {})]
    if allowed is False:
        return not extra and further is False
    return all(admits(allowed, schema) for schema in extra) and (
        further is False or admits(allowed, further)
    )


_KEYWORDS: dict[str, Keyword] = {
    "enum": _enum_admits,
    "minimum": _bound("minimum", ge),
    "exclusiveMinimum": _bound("exclusiveMinimum", ge),
    "minLength": _bound("minLength", ge),
    "minItems": _bound("minItems", ge),
    "maximum": _bound("maximum", le),
    "exclusiveMaximum": _bound("exclusiveMaximum", le),
    "maxLength": _bound("maxLength", le),
    "maxItems": _bound("maxItems", le),
    "items": _items_admit,
    "properties": _properties_admit,
    "required": _required_admit,
    "additionalProperties": _additional_admit,
}


def _inlined(
    node: Any, root: JsonObject, path: tuple[str, ...], budget: Iterator[int], level: int = 0
) -> Any:
    if level > MAX_LEVELS or next(budget, None) is None:
        return {"$ref": "#"}
    if isinstance(node, list):
        return [_inlined(item, root, path, budget, level + 1) for item in node]
    if not isinstance(node, dict):
        return node
    pointer = node.get("$ref")
    if not isinstance(pointer, str):
        return {
            key: value if key in _DEFINITIONS else _inlined(value, root, path, budget, level + 1)
            for key, value in node.items()
        }
    target = resolve(root, pointer)
    rest = {key: value for key, value in node.items() if key != "$ref"}
    # where both say a keyword both hold, which one value for it cannot say
    if not isinstance(target, dict) or pointer in path or core(target).keys() & core(rest).keys():
        return dict(node)
    return _inlined({**target, **rest}, root, (*path, pointer), budget, level + 1)


def types_meet(a: JsonObject, b: JsonObject) -> bool:
    """Whether a value of one could serve as a value of the other, directly or by wrap or cast."""
    if _plain(a, b):
        return True
    left, right = _loose_types(a), _loose_types(b)
    return not left or not right or bool(left & right) or _listed(a, right) or _listed(b, left)


def types_overlap(a: JsonObject, b: JsonObject) -> bool:
    """Whether a value can have both types; integers count as numbers."""
    if _plain(a, b):
        return True
    left, right = (
        frozenset("number" if kind == "integer" else kind for kind in type_set(schema) - {"null"})
        for schema in (a, b)
    )
    return not left or not right or bool(left & right)


def _plain(a: JsonObject, b: JsonObject) -> bool:
    kind = a.get("type")
    return isinstance(kind, str) and kind == b.get("type") and kind != "null"


def _listed(schema: JsonObject, others: frozenset[str]) -> bool:
    items = schema.get("items")
    if "array" not in type_set(schema) or not isinstance(items, dict | type(None)):
        return False
    return not items or not _loose_types(items) or bool(_loose_types(items) & others)


def _loose_types(schema: JsonObject) -> frozenset[str]:
    types = type_set(schema) - {"null"}
    if types & {"integer", "number"}:
        types |= {"integer", "number", "string"}
    return types
