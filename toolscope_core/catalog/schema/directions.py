"""Properties that only an answer has (``readOnly``), or only a request (``writeOnly``)."""

from typing import Any, Literal

from toolscope_core.catalog.limits import MAX_DEPTH
from toolscope_core.catalog.schema.walking import map_objects, objects_in, properties_of, resolve
from toolscope_core.model.tool import JsonObject

Mark = Literal["readOnly", "writeOnly"]


def is_marked(schema: Any, root: JsonObject, mark: Mark) -> bool:
    """Whether a property, or what it refers to inside ``root``, has the mark."""
    for _ in range(MAX_DEPTH):
        if not isinstance(schema, dict):
            return False
        if schema.get(mark) is True:
            return True
        schema = resolve(root, schema.get("$ref"))
    return False


def without_marked(schema: JsonObject, mark: Mark) -> JsonObject:
    """The schema (a root) without the properties below its own that have the mark, wherever they
    are declared or required.
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
