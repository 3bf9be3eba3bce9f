"""What a keyword moved under ``x-invalid`` must take along, so that no valid call is refused.

A schema without one of its keywords admits more. Under ``not``, as a condition, as one option of
``oneOf`` or as what is counted, admitting more refuses more: there the whole keyword goes too.
"""

from typing import Any

from toolscope_core.catalog.schema.keywords import INVALID
from toolscope_core.catalog.schema.walking import map_schemas, objects_in, resolve
from toolscope_core.model.tool import JsonObject

_IN_PLACE = ("allOf", "anyOf", "if", "then", "else", "dependentSchemas", "$ref")


def drop_narrowed(schema: JsonObject) -> JsonObject:
    """The schema (a root) without keywords that refuse more for what is missing inside them.

    ``oneOf`` becomes ``anyOf``; all others are moved under ``x-invalid``.
    """
    if not any(INVALID in node for node in objects_in(schema)):
        return schema
    dropped: JsonObject = map_schemas(schema, _Dropper(schema).drop)
    return dropped


class _Dropper:
    """Drops what is narrowed in the schemas of one (``root``)."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._widened: dict[str, bool] = {}

    def drop(self, schema: dict[str, Any]) -> JsonObject:
        if "oneOf" in schema and self._is_widened(schema["oneOf"]) and "anyOf" not in schema:
            schema["anyOf"] = schema.pop("oneOf")
        narrowed = {key: schema.pop(key) for key in self._narrowed(schema)}
        if not narrowed:
            return schema
        return {**schema, INVALID: {**schema.get(INVALID, {}), **narrowed}}

    def _narrowed(self, schema: JsonObject) -> list[str]:
        """The keywords of a schema that refuse more for what is missing."""
        keys = [key for key in ("not", "oneOf") if self._is_widened(schema.get(key))]
        if self._is_widened(schema.get("if")):
            keys += ["if", "then", "else"]
        if "maxContains" in schema and self._is_widened(schema.get("contains")):
            keys += ["contains", "minContains", "maxContains"]
        if INVALID in schema or any(self._is_widened(schema.get(key)) for key in _IN_PLACE):
            keys += ["unevaluatedProperties", "unevaluatedItems"]
        return [key for key in keys if key in schema]

    def _is_widened(self, value: Any) -> bool:
        """Whether a keyword is missing in a value, or in what it refers to."""
        nodes = objects_in(value)
        return any(INVALID in node or self._leads_to_widened(node.get("$ref")) for node in nodes)

    def _leads_to_widened(self, reference: Any) -> bool:
        if not isinstance(reference, str):
            return False
        if reference not in self._widened:
            self._widened[reference] = False  # until the circle is closed
            self._widened[reference] = self._is_widened(resolve(self._root, reference))
        return self._widened[reference]
