"""The parameters of a tool without those whose values are fixed for whoever calls it."""

from collections.abc import Collection

from toolscope_core.model.tool import JsonObject

COMBINED = ("allOf", "anyOf", "oneOf")


def without_arguments(schema: JsonObject | None, names: Collection[str]) -> JsonObject | None:
    """The schema of an object without these properties, which nothing at its top requires."""
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
