"""Walks through a JSON Schema: through its subschemas, or through all objects anywhere in it."""

from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal
from urllib.parse import unquote

from toolscope_core.catalog.flaws import MAX_DEPTH, below
from toolscope_core.catalog.schema.keywords import INVALID, LIST_KEYWORDS, MAPS, SINGLE
from toolscope_core.model.tool import JsonObject

VALUES = ("default", "enum", "const", "examples", INVALID)
"""Keywords whose values contain no schemas."""


def map_subschemas(
    schema: JsonObject, change: Callable[[Any, str], Any], where: str = ""
) -> dict[str, Any]:
    """The schema with each direct subschema replaced by ``change(subschema, place)``."""
    result = dict(schema)
    for key, value in schema.items():
        place = below(where, key)
        if key in MAPS and isinstance(value, dict):
            result[key] = {name: change(sub, below(place, name)) for name, sub in value.items()}
        elif key in (*LIST_KEYWORDS, "items") and isinstance(value, list):
            result[key] = [change(sub, below(place, row)) for row, sub in enumerate(value)]
        elif key in SINGLE and (isinstance(value, dict) or key == "items"):
            result[key] = change(value, place)
    return result


def map_schemas(schema: Any, change: Callable[[dict[str, Any]], JsonObject]) -> Any:
    """The schema with every schema object inside it replaced, inner ones first.

    ``change`` gets a copy in which the inner schemas have already been changed.
    """
    if not isinstance(schema, dict):
        return schema
    return change(map_subschemas(schema, lambda sub, _: map_schemas(sub, change)))


def subschemas(schema: JsonObject) -> Iterator[Any]:
    """The direct subschemas, which are the ones that ``map_subschemas`` changes."""
    return (sub for _, _, sub in placed_subschemas(schema, ""))


def placed_subschemas(schema: JsonObject, where: str) -> Iterator[tuple[str, str, Any]]:
    """The direct subschemas, each with its keyword and its place."""
    for key, value in schema.items():
        place = below(where, key)
        if key in MAPS and isinstance(value, dict):
            yield from ((key, below(place, name), sub) for name, sub in value.items())
        elif key in (*LIST_KEYWORDS, "items") and isinstance(value, list):
            yield from ((key, below(place, row), sub) for row, sub in enumerate(value))
        elif key in SINGLE and (isinstance(value, dict) or key == "items"):
            yield key, place, value


def object_at(value: Any, *keys: str) -> JsonObject:
    """The object at the path of ``keys``; an empty one if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def list_at(value: Any, key: str) -> list[Any]:
    """The list under a key of an object; empty if there is no such list."""
    items = object_at(value).get(key)
    return items if isinstance(items, list) else []


def properties_of(schema: JsonObject) -> JsonObject:
    """The declared properties of a schema; empty if they are malformed."""
    return object_at(schema, "properties")


def required_of(schema: JsonObject) -> list[str]:
    """The names that a schema requires."""
    return [name for name in list_at(schema, "required") if isinstance(name, str)]


def every_schema(schema: Any) -> Iterator[JsonObject]:
    """The schema and every schema object inside it, outer ones first."""
    if isinstance(schema, dict):
        yield schema
        for sub in subschemas(schema):
            yield from every_schema(sub)


def objects_in(value: Any, skip: Collection[str] = ()) -> Iterator[JsonObject]:
    """Every object in a JSON value, outer objects first, except those under ``skip`` keys."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack += [sub for key, sub in value.items() if key not in skip][::-1]
        elif isinstance(value, list):
            stack += value[::-1]


def map_objects(
    value: Any, change: Callable[[dict[str, Any]], JsonObject], skipped: Collection[str] = ()
) -> Any:
    """The JSON value with every object replaced, inner objects first.

    ``change`` gets a copy in which the inner objects have already been changed. Values under
    ``skipped`` keys do not change.
    """
    if isinstance(value, list):
        return [map_objects(item, change, skipped) for item in value]
    if not isinstance(value, dict):
        return value
    return change(
        {
            key: sub if key in skipped else map_objects(sub, change, skipped)
            for key, sub in value.items()
        }
    )


def references_in(value: Any, skipped: Collection[str] = ()) -> Iterator[str]:
    """Every ``$ref`` in a JSON value, in its order, with repeats."""
    for node in objects_in(value, skipped):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]


def map_references(
    value: Any, change: Callable[[str], str | None], skipped: Collection[str] = ()
) -> Any:
    """The JSON value with every ``$ref`` changed, or removed if ``change`` returns ``None``."""

    def changed(node: dict[str, Any]) -> JsonObject:
        reference = node.get("$ref")
        if isinstance(reference, str):
            node["$ref"] = change(reference)
            if node["$ref"] is None:
                del node["$ref"]
        return node

    return map_objects(value, changed, skipped)


def resolve(root: JsonObject, reference: Any) -> Any:
    """The target inside ``root`` of a reference such as ``#/$defs/pet``; ``None`` if there is
    none.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        return None
    value: Any = root
    for word in pointer.split("/")[1:]:
        key = word.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return None
    return value


Mark = Literal["readOnly", "writeOnly"]


def is_marked(schema: Any, root: JsonObject, mark: Mark) -> bool:
    """Whether a property, or the schema in ``root`` to which it refers, has the mark."""
    for _ in range(MAX_DEPTH):
        if not isinstance(schema, dict):
            return False
        if schema.get(mark) is True:
            return True
        schema = resolve(root, schema.get("$ref"))
    return False


def without_marked(schema: JsonObject, mark: Mark) -> JsonObject:
    """The schema (a root) without marked properties below its top level.

    They are removed wherever they are declared or required.
    """
    inside = {key: part for key, part in schema.items() if key != "required"}
    if not any(node.get(mark) is True for node in objects_in(inside)):
        return schema
    declared = [properties_of(node) for node in objects_in([*inside.values()])]
    gone, kept = set[str](), set[str]()
    for name, sub in (row for properties in declared for row in properties.items()):
        (gone if is_marked(sub, schema, mark) else kept).add(name)
    nowhere = gone - kept

    def without(node: dict[str, Any]) -> JsonObject:
        properties, required = node.get("properties"), node.get("required")
        here = nowhere
        if isinstance(properties, dict):
            marked = {name for name, sub in properties.items() if is_marked(sub, schema, mark)}
            node["properties"] = {k: sub for k, sub in properties.items() if k not in marked}
            here = nowhere | marked
        if isinstance(required, list):
            node["required"] = [name for name in required if name not in here]
        return node

    own = {name: map_objects(sub, without) for name, sub in properties_of(schema).items()}
    others = {key: map_objects(sub, without) for key, sub in inside.items() if key != "properties"}
    return {**schema, **others, **({"properties": own} if own else {})}


COMBINED = ("allOf", "anyOf", "oneOf")


def without_arguments(schema: JsonObject | None, names: Collection[str]) -> JsonObject | None:
    """An object schema without these properties; ``None`` if its top level requires one of them."""
    if schema is None or not names:
        return schema
    kept = dict(schema)
    if isinstance(schema.get("properties"), dict):
        kept["properties"] = {k: sub for k, sub in schema["properties"].items() if k not in names}
    if isinstance(schema.get("required"), list):
        kept["required"] = [name for name in schema["required"] if name not in names]
    for key in COMBINED:
        if isinstance(schema.get(key), list):
            kept[key] = [
                without_arguments(sub, names) if isinstance(sub, dict) else sub
                for sub in schema[key]
            ]
    return kept
